#include "compiler/driver/allow_comments.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace sail::driver {
namespace {

constexpr absl::string_view kTextBlock = "\"\"\"";

// Finds where comments begin, line by line: a `#` in a string or a text block is no comment.
class CommentFinder {
 public:
  // The offset of the `#` in `line`, or npos.
  size_t Find(absl::string_view line) {
    size_t i = 0;
    while (i < line.size()) {
      if (in_text_block_) {
        const size_t end = line.find(kTextBlock, i);
        if (end == absl::string_view::npos) return end;
        in_text_block_ = false;
        i = end + kTextBlock.size();
      } else if (line[i] == '#') {
        return i;
      } else if (absl::StartsWith(line.substr(i), kTextBlock)) {
        in_text_block_ = true;
        i += kTextBlock.size();
      } else {
        i = line[i] == '"' ? AfterString(line, i) : i + 1;
      }
    }
    return absl::string_view::npos;
  }

 private:
  // A string that is not closed ends with its line.
  static size_t AfterString(absl::string_view line, size_t quote) {
    for (size_t i = quote + 1; i < line.size(); ++i) {
      if (line[i] == '"') return i + 1;
      if (line[i] == '\\') ++i;
    }
    return line.size();
  }

  bool in_text_block_ = false;
};

struct AllowComment {
  std::optional<DiagnosticCode> code;
  std::string problem;  // why it allows nothing; empty if it does
  std::string help;
};

// `text` is what follows `allow(`.
AllowComment ReadAllowComment(absl::string_view text) {
  const std::string example = "write `# allow(0407): why this is right`";
  const size_t close = text.find(')');
  if (close == absl::string_view::npos) return {{}, "the allow comment has no `)`", example};
  const absl::string_view word = absl::StripAsciiWhitespace(text.substr(0, close));
  const std::optional<DiagnosticCode> code = ParseCode(word);
  if (!code.has_value()) {
    return {
        {}, absl::StrCat("the allow comment names an ", UnknownCodeMessage(word)), "`sailc explain` lists all codes"};
  }
  if (SeverityOf(*code) == Severity::kError) {
    return {{}, absl::StrCat(CodeText(*code), " is an error: only warnings can be allowed"), "remove the comment"};
  }
  absl::string_view reason = absl::StripLeadingAsciiWhitespace(text.substr(close + 1));
  const bool has_colon = absl::ConsumePrefix(&reason, ":");
  if (!has_colon || absl::StripAsciiWhitespace(reason).empty()) {
    return {{}, "the allow comment gives no reason", absl::StrCat("write `# allow(", word, "): why this is right`")};
  }
  return {code, "", ""};
}

// The code that `comment` allows. Nothing for other comments, and for those that are reported.
std::optional<DiagnosticCode> ReadComment(absl::string_view comment, SourceRange range, DiagnosticSink& sink) {
  comment = absl::StripLeadingAsciiWhitespace(comment.substr(1));
  if (!absl::ConsumePrefix(&comment, "allow(")) return std::nullopt;
  AllowComment read = ReadAllowComment(comment);
  if (!read.code.has_value()) {
    sink.Report(DiagnosticCode::kAllowComment, range, std::move(read.problem), {std::move(read.help)});
  }
  return read.code;
}

}  // namespace

AllowComments::AllowComments(const SourceManager& sources, DiagnosticSink& sink) {
  for (int i = 0; i < sources.size(); ++i) ReadFile(SourceId(i), sources.Get(SourceId(i)), sink);
}

void AllowComments::ReadFile(SourceId id, const SourceFile& file, DiagnosticSink& sink) {
  CommentFinder finder;
  std::set<DiagnosticCode> above;  // of the lines directly above that hold nothing but a comment
  for (int number = 1; number <= file.line_count(); ++number) {
    const absl::string_view line = file.Line(number);
    const size_t hash = finder.Find(line);
    std::set<DiagnosticCode> codes = std::exchange(above, {});
    if (hash == absl::string_view::npos) {
      if (!codes.empty()) allowed_[{id, number}] = std::move(codes);
      continue;
    }
    const SourceRange range = {id, file.LineStart(number) + static_cast<int>(hash),
                               file.LineStart(number) + static_cast<int>(line.size())};
    if (const std::optional<DiagnosticCode> code = ReadComment(line.substr(hash), range, sink)) codes.insert(*code);
    const bool only_comment = absl::StripAsciiWhitespace(line.substr(0, hash)).empty();
    (only_comment ? above : allowed_[{id, number}]) = std::move(codes);
  }
}

bool AllowComments::Allow(const Diagnostic& diagnostic, const SourceManager& sources) const {
  const SourceRange& place = diagnostic.primary.range;
  if (SeverityOf(diagnostic.code) == Severity::kError || !place.valid()) return false;
  const auto line = allowed_.find({place.file, sources.Get(place.file).Locate(place.begin).line});
  return line != allowed_.end() && line->second.count(diagnostic.code) > 0;
}

}  // namespace sail::driver
