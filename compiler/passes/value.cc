#include "compiler/passes/value.h"

#include "absl/strings/str_cat.h"

namespace sail {
namespace {

struct Describer {
  std::string operator()(const Amount& quantity) const { return Describe(quantity.dimension); }
  std::string operator()(const TextValue&) const { return "a text"; }
  std::string operator()(bool) const { return "a truth value"; }
  std::string operator()(const NoneValue&) const { return "`none`"; }
  std::string operator()(const RangeValue&) const { return "a range"; }
  std::string operator()(const ListValue&) const { return "a list"; }
  std::string operator()(const BlockValue& block) const {
    return absl::StrCat(block.block->kind.text, " `", block.block->label ? block.block->label->text : "", "`");
  }
  std::string operator()(const ModuleValue&) const { return "an import"; }
};

}  // namespace

std::string DescribeValue(const Value& value) { return std::visit(Describer(), value.content); }

}  // namespace sail
