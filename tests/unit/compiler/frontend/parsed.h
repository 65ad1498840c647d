// One text through the parser or the formatter, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/base/diagnostic.h"
#include "compiler/frontend/format.h"
#include "compiler/frontend/parse.h"

namespace sail {

struct Parsed {
  bool ok = false;
  std::string tree;                     // PrintAst, if ok
  std::vector<Diagnostic> diagnostics;  // sorted
  std::vector<std::string> summaries;   // "SAIL0108 2:3 message"
  std::string text;                     // RenderText
};

inline Parsed ParseText(std::string text, const ParseLimits& limits = {}) {
  SourceManager sources;
  const SourceId id = sources.Add("test.sail", std::move(text));
  DiagnosticSink sink;
  const absl::StatusOr<ast::Spec> spec = Parse(sources, id, limits, sink);
  Parsed parsed{.ok = spec.ok(), .tree = spec.ok() ? PrintAst(*spec) : "", .diagnostics = sink.Sorted()};
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    const LineColumn at = sources.Get(id).Locate(diagnostic.primary.range.begin);
    parsed.summaries.push_back(
        absl::StrCat(CodeText(diagnostic.code), " ", at.line, ":", at.column, " ", diagnostic.message));
  }
  parsed.text = RenderText(parsed.diagnostics, sources, {});
  return parsed;
}

// The formatted text, or "" if it does not parse.
inline std::string FormatText(std::string text) {
  SourceManager sources;
  const SourceId id = sources.Add("test.sail", std::move(text));
  DiagnosticSink sink;
  absl::StatusOr<std::string> formatted = Format(sources, id, {}, sink);
  return formatted.ok() ? *std::move(formatted) : "";
}

inline std::string Repeat(absl::string_view text, int count) {
  std::string repeated;
  repeated.reserve(text.size() * count);
  for (int i = 0; i < count; ++i) absl::StrAppend(&repeated, text);
  return repeated;
}

}  // namespace sail
