#include "compiler/driver/lsp/names.h"

namespace sail::lsp {
namespace {

template <class Visit>
void ForEachBlockIn(const CheckedBlock& block, Visit visit) {
  visit(block);
  for (const auto& child : block.children) ForEachBlockIn(*child, visit);
  for (const auto& [name, copy] : block.copies) ForEachBlockIn(*copy, visit);
}

template <class Visit>
void ForEachBlock(const Analysis& analysis, Visit visit) {
  for (const auto& block : analysis.blocks.top) ForEachBlockIn(*block, visit);
}

template <class Visit>
void ForEachBinding(const Analysis& analysis, Visit visit) {
  for (const auto& module : analysis.modules.modules) {
    for (const auto& [name, binding] : module->top.names) visit(binding);
  }
  for (const Scope& scope : analysis.evaluator->scopes()) {
    for (const auto& [name, binding] : scope.names) visit(binding);
  }
}

bool Covers(const SourceRange& range, SourceId file, int offset) {
  return range.file == file && range.begin <= offset && offset <= range.end;
}

// Blocks without a label and links have the range of their header instead.
bool HasLabel(const CheckedBlock& block) { return !(block.label_range == block.header); }

}  // namespace

bool IsWritten(const CheckedBlock& block) { return block.block != nullptr && !block.is_inherited; }

std::optional<Use> NameAt(const CheckedDocument& checked, int offset) {
  if (checked.analysis == nullptr) return std::nullopt;
  std::optional<Use> found;
  const auto consider = [&](const SourceRange& range, const SourceRange& declaration) {
    if (!Covers(range, checked.file(), offset)) return;
    // Of two names that meet at the cursor, the later one; a name in a text before the text.
    if (!found || range.begin > found->range.begin) found = {range, declaration};
  };
  for (const Use& use : checked.analysis->evaluator->uses()) consider(use.range, use.declaration);
  ForEachBinding(*checked.analysis, [&](const Binding& binding) { consider(binding.range, binding.range); });
  ForEachBlock(*checked.analysis, [&](const CheckedBlock& block) {
    if (HasLabel(block) && IsWritten(block)) consider(block.label_range, block.label_range);
  });
  return found;
}

Declared DeclaredAt(const Analysis& analysis, const SourceRange& declaration) {
  Declared declared;
  const ast::Block* named = nullptr;
  ForEachBinding(analysis, [&](const Binding& binding) {
    if (!(binding.range == declaration)) return;
    declared.bindings.push_back(&binding);
    if (binding.block != nullptr) named = binding.block;
  });
  ForEachBlock(analysis, [&](const CheckedBlock& block) {
    const bool is_named = block.label_range == declaration || block.header == declaration;
    if (IsWritten(block) && (is_named || block.block == named)) declared.blocks.push_back(&block);
    for (const auto& [name, attribute] : block.attributes) {
      const bool is_own = attribute.origin == Origin::kWritten || attribute.origin == Origin::kOverride;
      if (is_own && attribute.name_range == declaration) declared.attributes.push_back(&attribute);
    }
  });
  return declared;
}

std::vector<const CheckedAttribute*> AttributesAt(const CheckedDocument& checked, int offset) {
  std::vector<const CheckedAttribute*> found;
  if (checked.analysis == nullptr) return found;
  ForEachBlock(*checked.analysis, [&](const CheckedBlock& block) {
    for (const auto& [name, attribute] : block.attributes) {
      if (attribute.origin != Origin::kWritten && attribute.origin != Origin::kOverride) continue;
      const bool covers =
          Covers(attribute.name_range, checked.file(), offset) || Covers(attribute.expr->range, checked.file(), offset);
      if (covers) found.push_back(&attribute);
    }
  });
  return found;
}

const ast::Import* ImportAt(const CheckedDocument& checked, int offset) {
  if (checked.analysis == nullptr) return nullptr;
  for (const ast::Item& item : checked.analysis->modules.main().spec.items) {
    const auto* import = std::get_if<ast::Import>(&item);
    if (import != nullptr && Covers(import->range, checked.file(), offset)) return import;
  }
  return nullptr;
}

const Module* ImportedModule(const Analysis& analysis, const ast::Import& import) {
  const auto& names = analysis.modules.main().top.names;
  const auto found = names.find(import.alias.text);
  return found != names.end() && found->second.range == import.alias.range ? found->second.module : nullptr;
}

}  // namespace sail::lsp
