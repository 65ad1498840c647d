#include "compiler/frontend/brackets.h"

#include <utility>

#include "SailLexer.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontend/lex.h"

namespace sail::frontend {
namespace {

using parser::SailLexer;

struct Repair {
  int open = -1;   // the bracket that is never closed, or -1
  int before = 0;  // its closing bracket belongs before this token; or the bracket that closes nothing
};

class Matcher {
 public:
  Matcher(const std::vector<Token>& tokens, const SourceFile& file) : tokens_(tokens), file_(file) {}

  // Closing brackets match the innermost open bracket of their kind. With `by_indentation`, a line that is indented
  // no deeper than the line of an open bracket ends that bracket, unless it begins with the closing one.
  std::vector<Repair> Match(bool by_indentation) {
    std::vector<Repair> repairs;
    std::vector<Open> open;
    int indent = 0;
    for (int i = 0; i < static_cast<int>(tokens_.size()); ++i) {
      const Token& token = tokens_[i];
      if (token.starts_line) indent = token.begin - file_.LineStart(token.line);
      const bool dedents = by_indentation && token.starts_line && token.kind != TokenKind::kEnd;
      while (dedents && !open.empty() && indent <= open.back().indent && !Closes(token, indent, open.back())) {
        repairs.push_back({open.back().token, i});
        open.pop_back();
      }
      if (token.kind == TokenKind::kOpen) {
        open.push_back({i, indent});
      } else if (token.kind == TokenKind::kClose) {
        Close(i, open, repairs);
      }
    }
    for (; !open.empty(); open.pop_back()) repairs.push_back({open.back().token, static_cast<int>(tokens_.size()) - 1});
    return repairs;
  }

 private:
  struct Open {
    int token;
    int indent;  // of its line
  };

  char Text(int i) const { return file_.text()[tokens_[i].begin]; }
  bool SameKind(int open, int close) const {
    const char wanted = Text(open) == '{' ? '}' : Text(open) == '[' ? ']' : ')';
    return Text(close) == wanted;
  }
  bool Closes(const Token& token, int indent, const Open& open) const {
    return token.kind == TokenKind::kClose && indent == open.indent &&
           SameKind(open.token, static_cast<int>(&token - tokens_.data()));
  }

  // A `}` ends brackets of other kinds inside its block; a `]` or `)` without its opening one closes nothing.
  void Close(int i, std::vector<Open>& open, std::vector<Repair>& repairs) {
    const bool is_brace = Text(i) == '}';
    size_t depth = open.size();
    while (depth > 0 && !SameKind(open[depth - 1].token, i) && (is_brace || Text(open[depth - 1].token) != '{')) {
      --depth;
    }
    if (depth == 0 || !SameKind(open[depth - 1].token, i)) {
      repairs.push_back({-1, i});
      return;
    }
    for (; open.size() > depth; open.pop_back()) repairs.push_back({open.back().token, i});
    open.pop_back();
  }

  const std::vector<Token>& tokens_;
  const SourceFile& file_;
};

void Report(const Repair& repair, const LexedFile& lexed, const SourceFile& file, SourceId id, DiagnosticSink& sink) {
  const Token& at = lexed.tokens[repair.before];
  if (repair.open < 0) {
    sink.Report({.code = DiagnosticCode::kUnbalancedBrace,
                 .message = absl::StrCat("this `", TextOf(at, file), "` closes nothing"),
                 .primary = {.range = {id, at.begin, at.end}}});
    return;
  }
  const Token& open = lexed.tokens[repair.open];
  const char text = file.text()[open.begin];
  const absl::string_view closer = text == '{' ? "}" : text == '[' ? "]" : ")";
  const absl::string_view what = text == '{' ? "block" : text == '[' ? "list" : "parenthesis";
  sink.Report(
      {.code = DiagnosticCode::kUnbalancedBrace,
       .message = absl::StrCat("this ", what, " is never closed"),
       .primary = {.range = {id, open.begin, open.end}},
       .secondary = {{.range = {id, at.begin, at.end}, .text = absl::StrCat("`", closer, "` expected before this")}}});
}

void Apply(const std::vector<Repair>& repairs, const SourceFile& file, std::vector<Token>& tokens) {
  std::vector<Token> balanced;
  size_t next = 0;
  for (int i = 0; i < static_cast<int>(tokens.size()); ++i) {
    bool dropped = false;
    for (; next < repairs.size() && repairs[next].before == i; ++next) {
      if (repairs[next].open < 0) {
        dropped = true;
      } else {
        balanced.push_back(MadeUpCloser(file.text()[tokens[repairs[next].open].begin], tokens[i]));
      }
    }
    if (!dropped) balanced.push_back(tokens[i]);
  }
  tokens = std::move(balanced);
}

}  // namespace

namespace {

// `List<List<…`: angles in a type nest, too. Elsewhere `<` compares.
class TypeNesting {
 public:
  // The open angles after token `i`.
  int After(const std::vector<Token>& tokens, size_t i) {
    const Token& token = tokens[i];
    const int opener = i >= 2 ? tokens[i - 2].type : 0;
    if (token.type == SailLexer::COLON && (opener == SailLexer::LET || opener == SailLexer::PARAM)) {
      in_type_ = true;
      open_ = 0;
    } else if (token.type == SailLexer::LT) {
      ++open_;
    } else if (token.type == SailLexer::GT) {
      --open_;
    } else if (token.kind != TokenKind::kName && token.type != SailLexer::COMMA) {
      in_type_ = false;
    }
    return in_type_ ? open_ : 0;
  }

 private:
  bool in_type_ = false;
  int open_ = 0;
};

}  // namespace

bool CheckNesting(const std::vector<Token>& tokens, SourceId id, const ParseLimits& limits, DiagnosticSink& sink) {
  std::vector<int> outer;  // for every open bracket, the prefix operators that wait for the operand it begins
  int waiting = 0;
  int depth = 0;
  TypeNesting type;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    switch (token.kind) {
      case TokenKind::kPrefix:
        ++waiting;
        ++depth;
        break;
      case TokenKind::kOpen:
        outer.push_back(waiting);
        waiting = 0;
        ++depth;
        break;
      default:
        depth -= waiting;  // the operand of the prefix operators, or something that ends them
        waiting = 0;
        if (token.kind == TokenKind::kClose && !outer.empty()) {
          depth -= 1 + outer.back();
          outer.pop_back();
        }
    }
    if (depth + type.After(tokens, i) > limits.max_nesting) {
      sink.Report(
          {.code = DiagnosticCode::kTooLarge,
           .message = absl::StrCat("brackets and prefix operators are nested more than ", limits.max_nesting, " deep"),
           .primary = {.range = {id, token.begin, token.end}}});
      return false;
    }
  }
  return true;
}

bool BalanceBrackets(LexedFile& lexed, const SourceFile& file, SourceId id, const ParseLimits& limits,
                     DiagnosticSink& sink) {
  Matcher matcher(lexed.tokens, file);
  const std::vector<Repair> plain = matcher.Match(/*by_indentation=*/false);
  if (plain.empty()) return true;
  // A string that runs to the end of its line has swallowed brackets; it was reported.
  if (lexed.unterminated_string) return false;
  const std::vector<Repair> indented = matcher.Match(/*by_indentation=*/true);
  const bool use_indented = indented.size() <= plain.size();
  const std::vector<Repair>& repairs = use_indented ? indented : plain;
  for (size_t i = 0; i < repairs.size() && static_cast<int>(i) < limits.max_syntax_errors; ++i) {
    Report(repairs[i], lexed, file, id, sink);
  }
  if (!use_indented) return false;
  Apply(repairs, file, lexed.tokens);
  return true;
}

}  // namespace sail::frontend
