// Assignments during expansion: paths, overrides, and the words that must announce them.
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/passes/expand.h"

namespace sail {

void Expander::UnknownAttribute(CheckedBlock& block, const ast::Identifier& name) {
  const std::string nearest = Nearest(name.text, AttributeNames(block.kind->name));
  block.excused.insert(nearest);
  sink_.Report(DiagnosticCode::kUnknownAttribute, name.range,
               absl::StrCat(block.kind->name, " has no attribute `", name.text, "`"), DidYouMean(nearest));
}

void Expander::Assign(CheckedBlock& block, const ast::Assignment& assignment, Scope& scope) {
  CheckedBlock* target = &block;
  for (size_t part = 0; part + 1 < assignment.target.parts.size();) {
    target = Step(*target, assignment, part);
    if (target == nullptr) return;
  }
  Set(*target, assignment, scope);
}

// One step of `price.spot`, `link.within_region.bandwidth`, `pool."a".quota` or `gpu.memory` towards the block that has
// the attribute.
CheckedBlock* Expander::Step(CheckedBlock& block, const ast::Assignment& assignment, size_t& part) {
  const std::vector<ast::Identifier>& parts = assignment.target.parts;
  const ast::Identifier& name = parts[part];
  const KindSchema* kind = FindKind(name.text);
  if (kind == nullptr || !MayContain(block.kind->name, *kind)) {
    const AttributeSchema* schema = FindAttribute(block.kind->name, name.text);
    if (schema == nullptr || schema->type != ValueType::kReference) {
      UnknownAttribute(block, schema == nullptr ? name : parts[part + 1]);
      return nullptr;
    }
    ++part;
    return CopyOfReferred(block, name);
  }
  if (kind->at_most_one) {
    ++part;
    if (CheckedBlock* child = block.Child(kind->name)) return child;
    return Child(block, *kind, "", assignment.target.range, assignment.target.range);
  }
  if (part + 2 >= parts.size()) {
    sink_.Report(DiagnosticCode::kUnknownAttribute, name.range,
                 absl::StrCat("`", kind->name, "` stands for several blocks"),
                 {absl::StrCat("name one and an attribute: `", kind->name, ".NAME.…`")});
    return nullptr;
  }
  const ast::Identifier& label = parts[part + 1];
  std::vector<std::string> labels;
  for (CheckedBlock* child : block.Below(kind->name)) {
    labels.push_back(child->label);
    if (child->label != label.text) continue;
    part += 2;
    return child;
  }
  sink_.Report(DiagnosticCode::kUndefinedName, label.range,
               absl::StrCat(NameOf(block), " has no ", kind->name, " `", label.text, "`"),
               DidYouMean(Nearest(label.text, labels)));
  return nullptr;
}

// Others may refer to the same block, so a change through this reference is made to a copy.
CheckedBlock* Expander::CopyOfReferred(CheckedBlock& block, const ast::Identifier& attribute) {
  if (const auto made = block.copies.find(attribute.text); made != block.copies.end()) return made->second.get();
  const auto found = block.attributes.find(attribute.text);
  if (found == block.attributes.end()) {
    sink_.Report(DiagnosticCode::kUndefinedName, attribute.range,
                 absl::StrCat(NameOf(block), " sets no `", attribute.text, "` yet"));
    return nullptr;
  }
  const auto value = evaluator_.RawValue(found->second, attribute);
  const auto* referred = value ? value->As<BlockValue>() : nullptr;
  if (referred == nullptr) {
    if (value) {
      sink_.Report(DiagnosticCode::kTypeMismatch, attribute.range,
                   absl::StrCat("`", attribute.text, "` is ", DescribeValue(*value), ", which has no attributes"));
    }
    return nullptr;
  }
  auto copy = std::make_unique<CheckedBlock>();
  copy->kind = referred->block->kind;
  copy->module = block.module;
  copy->base = referred->block;
  copy->label = referred->block->label;
  copy->header = copy->label_range = attribute.range;
  copy->scope = referred->block->scope;
  if (!evaluator_.Charge(CopyInherited(*referred->block, *copy), attribute.range)) return nullptr;
  found->second.raw = Value{BlockValue{copy.get()}, value->range};
  return block.copies.emplace(attribute.text, std::move(copy)).first->second.get();
}

void Expander::Set(CheckedBlock& block, const ast::Assignment& assignment, Scope& scope) {
  const ast::Identifier& name = assignment.target.parts.back();
  const AttributeSchema* schema = FindAttribute(block.kind->name, block.kind->is_open ? "*" : name.text);
  if (schema == nullptr) {
    const KindSchema* child = FindKind(name.text);
    if (child == nullptr || !MayContain(block.kind->name, *child)) return UnknownAttribute(block, name);
    block.excused.insert(name.text);
    sink_.Report(DiagnosticCode::kTypeMismatch, name.range, absl::StrCat("`", name.text, "` is a block, not a value"),
                 {absl::StrCat("write `", name.text, " { … }`")});
    return;
  }
  CheckedAttribute attribute;
  attribute.schema = schema;
  attribute.name_range = assignment.target.range;
  attribute.expr = &assignment.value;
  attribute.scope = &scope;
  const auto found = block.attributes.find(name.text);
  if (found == block.attributes.end()) {
    if (!assignment.override_word) {
      block.attributes.emplace(name.text, std::move(attribute));
      return;
    }
    std::vector<std::string> inherited;
    for (const auto& [other, value] : block.attributes) {
      if (value.origin == Origin::kInherited) inherited.push_back(other);
    }
    std::vector<Label> secondary;
    if (block.base != nullptr) secondary.push_back({block.base->header, "the base"});
    sink_.Report(DiagnosticCode::kNeedlessOverride, *assignment.override_word,
                 absl::StrCat("no `", name.text, "` is inherited here, so there is nothing to override"),
                 DidYouMean(Nearest(name.text, inherited), "drop the word `override`"), std::move(secondary));
    return;
  }
  if (found->second.origin != Origin::kInherited) {
    sink_.Report(DiagnosticCode::kDuplicateAttribute, assignment.target.range,
                 absl::StrCat("`", name.text, "` is set twice in this block"), {"keep one"},
                 {{found->second.name_range, "first set here"}}, "set again here");
    return;
  }
  const SourceRange inherited = found->second.expr->range;
  if (!assignment.override_word) {
    sink_.Report(DiagnosticCode::kMissingOverride, assignment.target.range,
                 absl::StrCat("`", name.text, "` is already set in the base"),
                 {absl::StrCat("write `override ", sources_.TextOf(assignment.range), "`")},
                 {{inherited, "inherited value"}}, absl::StrCat("changes `", sources_.TextOf(inherited), "`"));
    return;
  }
  if (auto copy = block.copies.extract(name.text)) removed_.push_back(std::move(copy.mapped()));  // of what it was
  attribute.origin = Origin::kOverride;
  attribute.overridden = inherited;
  found->second = std::move(attribute);
}

}  // namespace sail
