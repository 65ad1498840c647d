#include "compiler/driver/lsp/context.h"

#include <algorithm>
#include <utility>

#include "compiler/driver/lsp/tokens.h"
#include "compiler/passes/schema.h"

namespace sail::lsp {
namespace {

using frontend::LexedFile;
using frontend::Token;
using frontend::TokenKind;

bool IsOneOf(absl::string_view text, std::initializer_list<absl::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool IsOperator(absl::string_view text) {
  return IsOneOf(text, {"=", "==", "!=", "<", "<=", ">",   ">=",  "..", "+",   "-",
                        "*", "/",  ".",  ":", "->", "<->", "and", "or", "not", "in"});
}

// A line that begins so goes on with the statement above.
bool Continues(absl::string_view text) {
  return IsOperator(text) ||
         IsOneOf(text, {"then", "else", "subject", "to", "where", "extends", "as", "within", "across", "{", "(", "["});
}

// After such a word the statement goes on in the next line.
bool Awaits(absl::string_view text) {
  return IsOperator(text) || IsOneOf(text, {"then", "else", "if", "subject", "to", "minimize", "maximize", "where",
                                            "extends", "as", "within", "across"});
}

// A bracket that is open at the cursor. `statement` is where the current statement inside it begins.
struct Frame {
  char bracket = '{';
  std::string kind;
  bool has_constraints = false;  // the braces after `subject to`
  size_t statement = 0;
  std::vector<VisibleName> names = {};  // declared in it
};

// Walks over the words before the cursor and keeps the open brackets.
class Scanner {
 public:
  Scanner(const SourceFile& file, const std::vector<Token>& tokens) : file_(file), tokens_(tokens) {
    frames_.push_back({.bracket = '{', .kind = "file", .has_constraints = false, .statement = 0});
  }

  // Reads tokens [0, end).
  void Run(size_t end) {
    for (size_t i = 0; i < end; ++i) {
      if (i > 0 && StartsStatement(i)) Begin(i);
      const absl::string_view text = Text(i);
      if (tokens_[i].kind == TokenKind::kName) Declare(i);
      if (tokens_[i].kind == TokenKind::kOpen) {
        frames_.push_back(Entered(text[0], i));
      } else if (tokens_[i].kind == TokenKind::kClose) {
        Close(i);
      } else if (text == "," && frames_.back().bracket == '{' && Text(statement()) != "for") {
        Begin(i + 1);  // in `for zone, count in …` the comma separates variables
      }
    }
  }

  // A statement begins at token `i`, whatever brackets before it were left open.
  void Begin(size_t i) { frames_.back().statement = i; }

  absl::string_view Text(size_t i) const { return frontend::TextOf(tokens_[i], file_); }
  const std::vector<Frame>& frames() const { return frames_; }

  // Where the statement at the cursor begins: lists are parts of it.
  size_t statement() const { return frames_.back().statement; }

 private:
  bool StartsStatement(size_t i) {
    if (!tokens_[i].starts_line || Continues(Text(i)) || tokens_[i].kind == TokenKind::kClose) return false;
    if (frames_.back().bracket != '{') {
      // `name =` on a new line: the list above was not closed.
      const bool assigns = tokens_[i].kind == TokenKind::kName && i + 1 < tokens_.size() && Text(i + 1) == "=";
      if (frames_.back().bracket != '[' || !assigns) return false;
      while (frames_.size() > 1 && frames_.back().bracket != '{') frames_.pop_back();
      return true;
    }
    return i <= frames_.back().statement || !Awaits(Text(i - 1));
  }

  // Adds the name at token `i` if a statement declares it there.
  void Declare(size_t i) {
    Frame& frame = frames_.back();
    const size_t first = frame.statement;
    if (i <= first || frame.bracket != '{') return;
    const absl::string_view word = Text(first), before = Text(i - 1);
    const bool is_value = i == first + 1 && (word == "let" || word == "param");
    // Of the blocks inside others only machines are called by their labels.
    const bool is_label = i == first + 1 && FindKind(word) != nullptr && (frames_.size() == 1 || word == "machine");
    const bool is_alias = before == "as" && (word == "import" || FindKind(word) != nullptr);
    if (is_value || is_label || is_alias) frame.names.push_back({std::string(Text(i)), std::string(word)});
  }

  // Of the statement [first, end) before a body.
  std::vector<VisibleName> LoopVariables(size_t first, size_t end) const {
    std::vector<VisibleName> names;
    if (first >= end || Text(first) != "for") return names;
    for (size_t i = first + 1; i < end && Text(i) != "in"; ++i) {
      if (tokens_[i].kind == TokenKind::kName) names.push_back({std::string(Text(i)), "for"});
    }
    return names;
  }

  Frame Entered(char bracket, size_t i) const {
    const Frame& outer = frames_.back();
    if (bracket != '{') return {bracket, outer.kind, outer.has_constraints, outer.statement, {}};
    Frame frame{.bracket = '{', .kind = "", .has_constraints = false, .statement = i + 1};
    frame.names = LoopVariables(outer.statement, i);
    size_t first = outer.statement;
    if (first < i && Text(first) == "override") ++first;
    if (first >= i) return frame;
    bool assigns = false;
    for (size_t k = first; k < i; ++k) assigns |= Text(k) == "=";
    frame.has_constraints = i >= 2 && Text(i - 1) == "to" && Text(i - 2) == "subject";
    if (assigns || frame.has_constraints) return frame;
    // The body of a loop holds what the block around it may hold.
    frame.kind = IsOneOf(Text(first), {"for", "if", "else"}) ? outer.kind : std::string(Text(first));
    if (frame.kind != "file" && FindKind(frame.kind) == nullptr) frame.kind.clear();
    return frame;
  }

  void Close(size_t i) {
    const char open = Text(i) == "}" ? '{' : Text(i) == "]" ? '[' : '(';
    while (frames_.size() > 1 && open == '{' && frames_.back().bracket != '{') frames_.pop_back();
    if (frames_.size() == 1 || frames_.back().bracket != open) return;
    const bool in_list = open != '{';
    frames_.pop_back();
    // What follows a body on its line is a new statement, unless the body is a value.
    if (!in_list && frames_.back().bracket == '{') Begin(i + 1);
  }

  const SourceFile& file_;
  const std::vector<Token>& tokens_;
  std::vector<Frame> frames_;
};

bool IsWord(const Token& token) {
  return token.kind == TokenKind::kName || token.kind == TokenKind::kReserved || token.kind == TokenKind::kUnit ||
         (token.kind == TokenKind::kPrefix && token.end - token.begin > 1);
}

class ContextReader {
 public:
  ContextReader(const SourceFile& file, const LexedFile& lexed)
      : file_(file), lexed_(lexed), tokens_(lexed.tokens), scanner_(file, lexed.tokens) {}

  CursorContext Read() {
    const int offset = static_cast<int>(file_.text().size());
    context_.word_begin = offset;
    end_ = tokens_.size() - 1;  // without kEnd
    if (InComment(offset)) return Finish(Expect::kNothing);
    if (lexed_.unterminated_string) return ReadString();
    // A word that touches the cursor is being written.
    const bool partial = end_ > 0 && tokens_[end_ - 1].end == offset && IsWord(tokens_[end_ - 1]);
    scanner_.Run(end_);
    if (partial) context_.word_begin = tokens_[--end_].begin;
    if (!partial && OnNewLine(offset)) scanner_.Begin(end_);
    first_ = std::min(scanner_.statement(), end_);
    if (end_ > first_ + 1 && tokens_[first_ + 1].kind == TokenKind::kName)
      context_.own_name = std::string(scanner_.Text(first_ + 1));
    return Finish(ReadStatement());
  }

 private:
  CursorContext Finish(Expect expect) {
    context_.expect = expect;
    for (const Frame& frame : scanner_.frames()) {
      if (frame.bracket == '{') context_.kinds.push_back(frame.kind);
      context_.names.insert(context_.names.end(), frame.names.begin(), frame.names.end());
    }
    return std::move(context_);
  }

  bool InComment(int offset) const { return !lexed_.comments.empty() && lexed_.comments.back().end == offset; }

  // Only texts of imports are proposed.
  CursorContext ReadString() {
    const Token& text = tokens_[--end_];
    scanner_.Run(end_);
    const bool is_import = end_ > 0 && scanner_.Text(end_ - 1) == "import";
    context_.word_begin = text.begin + 1;
    return Finish(is_import ? Expect::kImportPath : Expect::kNothing);
  }

  // No word has been written on the line of the cursor, and the statement above is complete.
  bool OnNewLine(int offset) const {
    if (scanner_.frames().back().bracket != '{' || end_ == 0 || Awaits(scanner_.Text(end_ - 1))) return end_ == 0;
    const int from = tokens_[end_ - 1].end;
    return file_.text().substr(from, offset - from).find_first_of("\r\n") != absl::string_view::npos;
  }

  bool Is(size_t i, absl::string_view text) const { return i >= first_ && i < end_ && scanner_.Text(i) == text; }
  bool Empty() const { return first_ >= end_; }

  Expect ReadStatement() {
    while (Is(first_, "override") || Is(first_, "remove")) ++first_;
    if (const Expect unit = ReadUnit(); unit != Expect::kNothing) return unit;
    const bool in_constraints = scanner_.frames().back().has_constraints;
    if (in_constraints || Is(first_, "minimize") || Is(first_, "maximize")) return ReadMetric();
    if (Empty()) return Expect::kStatement;
    if (Is(first_, "import") || Is(first_, "link")) return Expect::kNothing;
    const size_t assign = FindAssign();
    const size_t last = BeforeQualifier();
    if (Is(last - 1, "extends") && FindKind(scanner_.Text(first_)) != nullptr) {
      context_.base_kind = std::string(scanner_.Text(first_));
      return Expect::kBase;
    }
    if (Is(first_, "for")) return Is(last - 1, "in") || Is(last - 1, "if") ? Expect::kValue : Expect::kNothing;
    if (assign == end_) {
      context_.qualifier.clear();
      context_.path = PathIn(first_, end_);
      return Is(end_ - 1, ".") ? Expect::kStatement : Expect::kNothing;
    }
    context_.path = PathIn(first_, assign);
    if (Is(last - 1, "where")) context_.own_name.clear();  // what a param's condition is about
    for (const absl::string_view word : {"=", "[", "(", ",", "+", "*", "if", "then", "else", "where"}) {
      if (Is(last - 1, word)) return Expect::kValue;
    }
    return Expect::kNothing;
  }

  // The index after the words before `gcp.machine.|`; what is skipped is the qualifier.
  size_t BeforeQualifier() {
    size_t last = end_;
    while (Is(last - 1, ".") && last >= first_ + 2 && IsWord(tokens_[last - 2])) {
      context_.qualifier.insert(context_.qualifier.begin(), std::string(scanner_.Text(last - 2)));
      last -= 2;
    }
    return last;
  }

  // `16 Gi|`, `3 USD/|`, `3 |`: the words after the last number of the statement.
  Expect ReadUnit() {
    size_t number = end_;
    int begin = context_.word_begin;
    const auto is_unit_part = [&](size_t i) {
      const Token& token = tokens_[i];
      const bool slash = scanner_.Text(i) == "/" && token.end == begin;
      return token.kind == TokenKind::kUnit || token.kind == TokenKind::kPer || slash;
    };
    while (number > first_ && is_unit_part(number - 1) && tokens_[number - 1].end == begin) {
      begin = tokens_[--number].begin;
    }
    if (number == first_ || tokens_[number - 1].kind != TokenKind::kNumber) return Expect::kNothing;
    const Token& digits = tokens_[number - 1];
    const absl::string_view between = file_.text().substr(digits.end, begin - digits.end);
    const bool is_sail_or_dollar = number >= first_ + 2 && (Is(number - 2, "sail") || Is(number - 2, "$"));
    if (is_sail_or_dollar || between.find_first_of("\r\n") != absl::string_view::npos) return Expect::kNothing;
    context_.word_begin = begin;
    context_.number = std::string(frontend::TextOf(digits, file_));
    const size_t assign = FindAssign();
    // Factors of a product have units of their own.
    bool is_factor = false;
    for (size_t i = first_; i < number; ++i) is_factor |= Is(i, "*") || Is(i, "/");
    if (is_factor) return Expect::kUnit;
    if (assign < end_) context_.path = PathIn(first_, assign);
    for (size_t i = first_; i < number; ++i) {
      if (i > first_ && Is(i - 1, ":") && tokens_[i].kind == TokenKind::kName)
        context_.metric = std::string(scanner_.Text(i));
    }
    return Expect::kUnit;
  }

  Expect ReadMetric() const {
    const bool after_keyword = Is(end_ - 1, "minimize") || Is(end_ - 1, "maximize") || Is(end_ - 1, ":");
    return !Empty() && after_keyword ? Expect::kMetric : Expect::kNothing;
  }

  size_t FindAssign() const {
    size_t i = first_;
    while (i < end_ && scanner_.Text(i) != "=") ++i;
    return i;
  }

  // The names of `price.spot`; empty for anything else (`let x`, a label).
  std::vector<std::string> PathIn(size_t first, size_t end) const {
    std::vector<std::string> path;
    for (size_t i = first; i < end; ++i) {
      const bool is_dot = (i - first) % 2 == 1;
      if (is_dot != (scanner_.Text(i) == ".")) return {};
      if (!is_dot) path.push_back(std::string(scanner_.Text(i)));
    }
    return path;
  }

  const SourceFile& file_;
  const LexedFile& lexed_;
  const std::vector<Token>& tokens_;
  Scanner scanner_;
  CursorContext context_;
  size_t first_ = 0;  // of the statement at the cursor
  size_t end_ = 0;    // after its last complete word
};

}  // namespace

CursorContext ContextAt(absl::string_view text, int offset) {
  const SourceFile before("", std::string(text.substr(0, offset)));
  const LexedFile lexed = Tokenize(before);
  return ContextReader(before, lexed).Read();
}

}  // namespace sail::lsp
