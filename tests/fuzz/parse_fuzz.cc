// libFuzzer target: any bytes through the parser, and what parses through the formatter, which must keep the tree and
// be idempotent. The bytes are also read as values for params.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/format.h"
#include "compiler/frontend/parse.h"

namespace sail {
namespace {

// Empty if `text` has errors, each of which must lie inside it.
std::string TreeOf(const std::string& text) {
  SourceManager sources;
  const SourceId id = sources.Add("input.sail", text);
  DiagnosticSink sink;
  const absl::StatusOr<ast::Spec> spec = Parse(sources, id, {}, sink);
  SAIL_CHECK(spec.ok() != sink.has_errors()) << "errors and no tree, or neither";
  for (const Diagnostic& diagnostic : sink.diagnostics()) {
    const SourceRange& range = diagnostic.primary.range;
    const bool inside =
        range.valid() && 0 <= range.begin && range.begin <= range.end && range.end <= static_cast<int>(text.size());
    SAIL_CHECK(inside) << diagnostic.message;
  }
  return spec.ok() ? PrintAst(*spec) : "";
}

std::string FormattedOf(const std::string& text) {
  SourceManager sources;
  const SourceId id = sources.Add("input.sail", text);
  DiagnosticSink sink;
  absl::StatusOr<std::string> formatted = Format(sources, id, {}, sink);
  SAIL_CHECK(formatted.ok()) << "what parses can be formatted";
  return *std::move(formatted);
}

void CheckAssignments(const std::string& text) {
  SourceManager sources;
  const SourceId id = sources.Add("-D", text);
  DiagnosticSink sink;
  const bool ok = ParseAssignments(sources, id, {}, sink).ok();
  SAIL_CHECK(ok != sink.has_errors()) << "errors and values, or neither";
}

}  // namespace
}  // namespace sail

// How a failed SAIL_CHECK ends; the fuzzer only notices and keeps what aborts.
extern "C" void _Exit(int) noexcept { std::abort(); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  sail::CheckAssignments(text);
  const std::string tree = sail::TreeOf(text);
  if (tree.empty()) return 0;
  const std::string formatted = sail::FormattedOf(text);
  SAIL_CHECK(sail::TreeOf(formatted) == tree) << "formatting changed the tree";
  SAIL_CHECK(sail::FormattedOf(formatted) == formatted) << "formatting twice differs";
  return 0;
}
