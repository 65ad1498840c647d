#include "compiler/passes/checked_block.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/check.h"

namespace sail {

CheckedBlock* CheckedBlock::Child(const std::string& child_kind, const std::string& child_label) const {
  const auto found = index.find({child_kind, child_label});
  return found == index.end() ? nullptr : found->second;
}

std::vector<CheckedBlock*> CheckedBlock::Children(absl::string_view child_kind) const {
  std::vector<CheckedBlock*> found;
  for (const auto& child : children) {
    if (child_kind == child->kind->name) found.push_back(child.get());
  }
  return found;
}

std::vector<CheckedBlock*> CheckedBlock::Below(absl::string_view descendant_kind) const {
  std::vector<CheckedBlock*> found = Children(descendant_kind);
  for (const auto& child : children) {
    const std::vector<CheckedBlock*> deeper = child->Below(descendant_kind);
    found.insert(found.end(), deeper.begin(), deeper.end());
  }
  return found;
}

void CheckedBlock::AddChild(std::unique_ptr<CheckedBlock> child) {
  child->parent = this;
  index.emplace(std::pair(std::string(child->kind->name), child->label), child.get());
  children.push_back(std::move(child));
}

const Value& CheckedBlock::Get(const std::string& name) const {
  const auto found = attributes.find(name);
  SAIL_CHECK(found != attributes.end() && found->second.value) << kind->name << "." << name;
  return *found->second.value;
}

SourceRange CheckedBlock::RangeOf(const std::string& name) const {
  const auto found = attributes.find(name);
  if (found == attributes.end() || found->second.expr == nullptr) return header;
  return found->second.expr->range;
}

const Amount& CheckedBlock::GetAmount(const std::string& name) const { return std::get<Amount>(Get(name).content); }
int64_t CheckedBlock::GetInt(const std::string& name) const { return *GetAmount(name).value.ToInt64(); }
bool CheckedBlock::GetBool(const std::string& name) const { return std::get<bool>(Get(name).content); }
const std::string& CheckedBlock::GetText(const std::string& name) const {
  return std::get<TextValue>(Get(name).content).text;
}

std::vector<std::string> CheckedBlock::GetTexts(const std::string& name) const {
  std::vector<std::string> texts;
  for (const Value& element : std::get<ListValue>(Get(name).content).elements) {
    texts.push_back(std::get<TextValue>(element.content).text);
  }
  return texts;
}

CheckedBlock* CheckedBlock::Follow(const std::string& name) const {
  const auto found = attributes.find(name);
  if (found == attributes.end() || !found->second.value) return nullptr;
  return std::get<BlockValue>(found->second.value->content).block;
}

std::string NameOf(const CheckedBlock& block) {
  const bool is_named = block.kind->label == LabelRule::kRequired;
  return is_named ? absl::StrCat(block.kind->name, " `", block.label, "`") : absl::StrCat("`", block.kind->name, "`");
}

std::string LinkLabel(const CheckedBlock& link) {
  const ast::LinkScope scope = link.link->scope;
  const std::string suffix =
      scope == ast::LinkScope::kNone
          ? ""
          : absl::StrCat(scope == ast::LinkScope::kWithin ? "within_" : "across_", link.link->scope_level.text);
  if (link.from.empty() && link.to.empty()) return suffix.empty() ? "any" : suffix;
  const auto end = [](const std::vector<std::string>& parts) {
    return parts.empty() ? "*" : absl::StrJoin(parts, "/");
  };
  return absl::StrCat(end(link.from), link.link->both_ways ? "<->" : "->", end(link.to), suffix.empty() ? "" : " ",
                      suffix);
}

int64_t CopyInherited(const CheckedBlock& source, CheckedBlock& target) {
  int64_t copied = 1;
  target.objective = source.objective;
  for (const auto& [name, attribute] : source.attributes) {
    CheckedAttribute copy = attribute;
    copy.origin = Origin::kInherited;
    target.attributes.emplace(name, std::move(copy));
    ++copied;
  }
  for (const auto& child : source.children) {
    auto copy = std::make_unique<CheckedBlock>();
    copy->kind = child->kind;
    copy->module = child->module;
    copy->base = child.get();
    copy->is_inherited = true;
    copy->label = child->label;
    copy->header = child->header;
    copy->label_range = child->label_range;
    copy->block = child->block;
    copy->link = child->link;
    copy->from = child->from;
    copy->to = child->to;
    copy->scope = child->scope;
    copied += CopyInherited(*child, *copy);
    target.AddChild(std::move(copy));
  }
  target.asserts.insert(target.asserts.end(), source.asserts.begin(), source.asserts.end());
  return copied;
}

}  // namespace sail
