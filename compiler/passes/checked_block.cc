#include "compiler/passes/checked_block.h"

#include "compiler/base/check.h"

namespace sail {

const CheckedBlock* CheckedBlocks::Follow(const CheckedBlock& from, const std::string& attribute) const {
  const auto found = by_source.find(std::get<BlockValue>(from.Get(attribute).content).block);
  return found == by_source.end() ? nullptr : found->second;
}

const CheckedBlock* CheckedBlock::Child(absl::string_view child_kind) const {
  for (const auto& child : children) {
    if (child_kind == child->kind->name) return child.get();
  }
  return nullptr;
}

std::vector<const CheckedBlock*> CheckedBlock::Children(absl::string_view child_kind) const {
  std::vector<const CheckedBlock*> found;
  for (const auto& child : children) {
    if (child_kind == child->kind->name) found.push_back(child.get());
  }
  return found;
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

}  // namespace sail
