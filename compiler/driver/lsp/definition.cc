#include "compiler/driver/lsp/definition.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "compiler/driver/lsp/names.h"

namespace sail::lsp {
namespace {

// A place that is the same in every analysis.
using Place = std::tuple<std::string, int, int>;  // file, begin, end

Place PlaceOf(const SourceRange& range, const SourceManager& sources) {
  return {sources.Get(range.file).name(), range.begin, range.end};
}

}  // namespace

Json Definition(const CheckedDocument& checked, const Documents& documents, Position position) {
  const int offset = OffsetAt(checked.sources.Get(checked.file()), position);
  if (const ast::Import* import = ImportAt(checked, offset)) {
    const Module* module = ImportedModule(*checked.analysis, *import);
    if (module == nullptr) return nullptr;
    return LocationJson({.file = module->spec.file, .begin = 0, .end = 0}, checked.sources, documents);
  }
  if (const auto name = NameAt(checked, offset)) return LocationJson(name->declaration, checked.sources, documents);
  for (const CheckedAttribute* attribute : AttributesAt(checked, offset)) {
    const bool on_name = offset <= attribute->name_range.end;
    if (on_name && attribute->overridden.valid())
      return LocationJson(attribute->overridden, checked.sources, documents);
  }
  return nullptr;
}

Json References(const CheckedDocument& checked, const CheckedDocuments& all, const Documents& documents,
                Position position, bool with_declaration) {
  const auto name = NameAt(checked, OffsetAt(checked.sources.Get(checked.file()), position));
  if (!name) return Json::array();
  const Place wanted = PlaceOf(name->declaration, checked.sources);
  std::map<Place, Json> found;
  const auto add = [&](const SourceRange& range, const SourceManager& sources) {
    Json location = LocationJson(range, sources, documents);
    if (!location.is_null()) found.emplace(PlaceOf(range, sources), std::move(location));
  };
  if (with_declaration) add(name->declaration, checked.sources);
  for (const auto& [path, document] : all.by_path()) {
    if (document->analysis == nullptr) continue;
    for (const Use& use : document->analysis->evaluator->uses()) {
      const bool is_declaration = use.range == use.declaration;  // evaluated for its own sake
      if (!is_declaration && PlaceOf(use.declaration, document->sources) == wanted) add(use.range, document->sources);
    }
  }
  Json locations = Json::array();
  for (auto& [place, location] : found) locations.push_back(std::move(location));
  return locations;
}

}  // namespace sail::lsp
