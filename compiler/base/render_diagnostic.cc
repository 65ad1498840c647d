// Text and JSON forms of diagnostics. Text layout:
//
//   error[SAIL0204]: message
//     --> file:line:column
//      |
//   45 |     source line
//      |     ^^^^^^ primary label
//   47 |     source line
//      |     ------ secondary label
//     ::: other file:line:column
//      = note: …
//      = help: …
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/display_width.h"
#include "compiler/base/json.h"

namespace sail {
namespace {

constexpr int kTabCells = 4;
constexpr int kMaxLineCells = 160;     // longer source lines are clipped …
constexpr int kCellsBeforeLabel = 40;  // … so that this much is seen before the label
constexpr char kEllipsis[] = "...";

constexpr char kRed[] = "\033[1;31m";
constexpr char kYellow[] = "\033[1;33m";
constexpr char kBlue[] = "\033[1;34m";
constexpr char kReset[] = "\033[0m";

struct PlacedLabel {
  const Label* label = nullptr;
  bool primary = false;
  LineColumn at;
};

int CellsOf(const CodePoint& c) {
  if (c.value == '\t') return kTabCells;
  return !c.valid || IsForbiddenCharacter(c.value) ? 1 : CellWidth(c.value);
}

// Cells before byte `offset` of `line`.
int CellColumn(absl::string_view line, int offset) {
  int cells = 0;
  for (size_t i = 0; i < line.size() && static_cast<int>(i) < offset;) {
    const CodePoint c = DecodeUtf8(line, i);
    cells += CellsOf(c);
    i += c.bytes;
  }
  return cells;
}

// The cells [first, last) of a line that are shown.
struct Window {
  int first = 0;
  int last = 0;
  bool clipped_left() const { return first > 0; }
};

Window WindowAround(absl::string_view line, int label_cell) {
  const int width = CellColumn(line, static_cast<int>(line.size()));
  if (width <= kMaxLineCells) return {0, width};
  const int first = std::max(0, label_cell - kCellsBeforeLabel);
  return {first, std::min(width, first + kMaxLineCells)};
}

std::string ClippedLine(absl::string_view line, const Window& window) {
  std::string shown = window.clipped_left() ? kEllipsis : "";
  int cell = 0;
  size_t i = 0;
  while (i < line.size() && cell < window.last) {
    const CodePoint c = DecodeUtf8(line, i);
    const int width = CellsOf(c);
    if (cell >= window.first) {
      absl::StrAppend(&shown, Printable(line.substr(i, c.bytes)));
    } else if (cell + width > window.first) {
      shown.append(cell + width - window.first, ' ');  // the right half of a wide character that is cut
    }
    cell += width;
    i += c.bytes;
  }
  if (i < line.size()) shown += kEllipsis;
  return shown;
}

class TextRenderer {
 public:
  TextRenderer(const SourceManager& sources, const RenderOptions& options) : sources_(sources), options_(options) {}

  void Add(const Diagnostic& diagnostic) {
    const bool is_error = SeverityOf(diagnostic) == Severity::kError;
    severity_color_ = is_error ? kRed : kYellow;
    absl::StrAppend(
        &out_,
        Paint(absl::StrCat(is_error ? "error" : "warning", "[", CodeText(diagnostic.code), "]"), severity_color_), ": ",
        Printable(diagnostic.message), "\n");
    const std::vector<PlacedLabel> labels = PlaceLabels(diagnostic);
    int widest = 1;
    for (const PlacedLabel& label : labels) widest = std::max(widest, label.at.line);
    gutter_ = static_cast<int>(absl::StrCat(widest).size());
    AddSnippets(labels);
    for (const std::string& note : diagnostic.notes) AddRemark("= note: ", note);
    for (const std::string& help : diagnostic.helps) AddRemark("= help: ", help);
    out_ += "\n";
  }

  void AddDropped(int errors) {
    absl::StrAppend(&out_, Paint("error", kRed), ": ", errors, errors == 1 ? " more error is" : " more errors are",
                    " not shown\n");
  }

  std::string Take() {
    if (absl::string_view(out_).substr(std::max<size_t>(out_.size(), 2) - 2) == "\n\n") out_.pop_back();
    return std::move(out_);
  }

 private:
  std::string Paint(absl::string_view text, absl::string_view color) const {
    return options_.color ? absl::StrCat(color, text, kReset) : std::string(text);
  }
  std::string Gutter(absl::string_view mark) const {
    return absl::StrCat(std::string(gutter_, ' '), Paint(mark, kBlue));
  }

  std::vector<PlacedLabel> PlaceLabels(const Diagnostic& diagnostic) const {
    std::vector<PlacedLabel> labels;
    const auto place = [&](const Label& label, bool primary) {
      if (!label.range.valid()) return;
      labels.push_back({&label, primary, sources_.Get(label.range.file).Locate(label.range.begin)});
    };
    place(diagnostic.primary, true);
    for (const Label& label : diagnostic.secondary) place(label, false);
    return labels;
  }

  // The primary label's file first, then the others in the order they are mentioned.
  void AddSnippets(const std::vector<PlacedLabel>& labels) {
    std::vector<SourceId> files;
    for (const PlacedLabel& label : labels) {
      const SourceId file = label.label->range.file;
      if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    }
    for (size_t i = 0; i < files.size(); ++i) {
      std::map<int, std::vector<PlacedLabel>> by_line;
      const PlacedLabel* first = nullptr;
      for (const PlacedLabel& label : labels) {
        if (label.label->range.file != files[i]) continue;
        if (first == nullptr) first = &label;
        by_line[label.at.line].push_back(label);
      }
      const SourceFile& file = sources_.Get(files[i]);
      absl::StrAppend(&out_, Gutter(i == 0 ? "--> " : "::: "), Printable(file.name()), ":", first->at.line, ":",
                      first->at.column, "\n", Gutter(" |"), "\n");
      for (const auto& [line, on_line] : by_line) AddLine(file, line, on_line);
    }
  }

  void AddLine(const SourceFile& file, int number, const std::vector<PlacedLabel>& labels) {
    absl::string_view line = file.Line(number);
    int start = file.LineStart(number);
    if (number == 1 && line.substr(0, 3) == "\xEF\xBB\xBF") {
      line.remove_prefix(3);
      start += 3;
    }
    const auto cell_of = [&](int offset) { return CellColumn(line, std::max(0, offset - start)); };
    const Window window = WindowAround(line, cell_of(labels[0].label->range.begin));
    const std::string digits = absl::StrCat(number);
    const std::string source = ClippedLine(line, window);
    absl::StrAppend(&out_, Paint(absl::StrCat(std::string(gutter_ - digits.size(), ' '), digits, " |"), kBlue),
                    source.empty() ? "" : " ", source, "\n");
    for (const PlacedLabel& label : labels) {
      const int limit = std::max(window.last, window.first + 1);
      const int begin = std::clamp(cell_of(label.label->range.begin), window.first, limit);
      const int end = std::clamp(cell_of(label.label->range.end), begin, limit);
      AddMarks(label, begin - window.first + (window.clipped_left() ? 3 : 0), std::max(1, end - begin));
    }
  }

  void AddMarks(const PlacedLabel& label, int column, int width) {
    std::string marks(width, label.primary ? '^' : '-');
    if (!label.label->text.empty()) absl::StrAppend(&marks, " ", Printable(label.label->text));
    absl::StrAppend(&out_, Gutter(" |"), " ", std::string(column, ' '),
                    Paint(marks, label.primary ? severity_color_ : kBlue), "\n");
  }

  // Further lines of a remark are aligned under its first.
  void AddRemark(absl::string_view mark, absl::string_view text) {
    const std::string indent(gutter_ + 1 + mark.size(), ' ');
    absl::StrAppend(&out_, std::string(gutter_ + 1, ' '), Paint(mark, kBlue),
                    absl::StrReplaceAll(Printable(text), {{"\n", absl::StrCat("\n", indent)}}), "\n");
  }

  const SourceManager& sources_;
  const RenderOptions& options_;
  absl::string_view severity_color_ = kRed;
  int gutter_ = 1;
  std::string out_;
};

// Calls `show` for every diagnostic up to the limit of errors (warnings are always shown); returns how many were not.
template <class Show>
int ForEachShown(const std::vector<Diagnostic>& sorted, int error_limit, Show show) {
  int errors = 0;
  for (const Diagnostic& diagnostic : sorted) {
    const bool is_error = SeverityOf(diagnostic) == Severity::kError;
    if (is_error && ++errors > error_limit) continue;
    show(diagnostic);
  }
  return std::max(0, errors - error_limit);
}

void AddPlace(const SourceRange& range, const SourceManager& sources, Json& json) {
  if (!range.valid()) return;
  const SourceFile& file = sources.Get(range.file);
  const LineColumn begin = file.Locate(range.begin);
  const LineColumn end = file.Locate(range.end);
  json["file"] = file.name();
  json["line"] = begin.line;
  json["column"] = begin.column;
  json["end_line"] = end.line;
  json["end_column"] = end.column;
  json["begin"] = range.begin;
  json["end"] = range.end;
}

Json ToJson(const Diagnostic& diagnostic, const SourceManager& sources) {
  Json json = {{"type", "diagnostic"},
               {"v", "1.0"},
               {"code", CodeText(diagnostic.code)},
               {"severity", SeverityOf(diagnostic) == Severity::kError ? "error" : "warning"},
               {"message", diagnostic.message},
               {"label", diagnostic.primary.text},
               {"labels", Json::array()},
               {"notes", diagnostic.notes},
               {"helps", diagnostic.helps}};
  AddPlace(diagnostic.primary.range, sources, json);
  for (const Label& label : diagnostic.secondary) {
    Json secondary = {{"text", label.text}};
    AddPlace(label.range, sources, secondary);
    json["labels"].push_back(std::move(secondary));
  }
  return json;
}

// One line; bytes that are not UTF-8 become U+FFFD.
std::string JsonLine(const Json& json) {
  return absl::StrCat(json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace), "\n");
}

}  // namespace

std::string RenderText(const std::vector<Diagnostic>& sorted, const SourceManager& sources,
                       const RenderOptions& options) {
  TextRenderer renderer(sources, options);
  const int dropped = ForEachShown(sorted, options.error_limit, [&](const Diagnostic& d) { renderer.Add(d); });
  if (dropped > 0) renderer.AddDropped(dropped);
  return renderer.Take();
}

std::string RenderMessage(const Diagnostic& diagnostic) {
  std::string text = diagnostic.message;
  if (!diagnostic.primary.text.empty()) absl::StrAppend(&text, " (", diagnostic.primary.text, ")");
  for (const std::string& note : diagnostic.notes) absl::StrAppend(&text, "\nnote: ", note);
  for (const std::string& help : diagnostic.helps) absl::StrAppend(&text, "\nhelp: ", help);
  return text;
}

std::string RenderJson(const std::vector<Diagnostic>& sorted, const SourceManager& sources,
                       const RenderOptions& options) {
  std::string out;
  const int dropped =
      ForEachShown(sorted, options.error_limit, [&](const Diagnostic& d) { out += JsonLine(ToJson(d, sources)); });
  if (dropped > 0) out += JsonLine({{"type", "dropped"}, {"v", "1.0"}, {"errors", dropped}});
  return out;
}

}  // namespace sail
