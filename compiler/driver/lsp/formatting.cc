#include "compiler/driver/lsp/formatting.h"

#include "compiler/driver/lsp/protocol.h"
#include "compiler/frontend/format.h"

namespace sail::lsp {

Json Formatting(const Document& document) {
  SourceManager sources;
  DiagnosticSink ignored;  // published already
  const SourceId id = sources.Add(document.path, document.text);
  const absl::StatusOr<std::string> formatted = Format(sources, id, ParseLimits(), ignored);
  if (!formatted.ok()) return nullptr;
  if (*formatted == document.text) return Json::array();
  const Json whole = RangeJson(sources.Get(id), 0, static_cast<int>(document.text.size()));
  return Json::array({{{"range", whole}, {"newText", *formatted}}});
}

}  // namespace sail::lsp
