#include "compiler/passes/schema_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/check.h"
#include "compiler/passes/unit_table.h"

namespace sail {

absl::string_view NameOf(ValueType type) {
  switch (type) {
    case ValueType::kQuantity:
      return "quantity";
    case ValueType::kInteger:
      return "integer";
    case ValueType::kNumber:
      return "number";
    case ValueType::kShare:
      return "share";
    case ValueType::kBoolean:
      return "boolean";
    case ValueType::kText:
      return "text";
    case ValueType::kTextList:
      return "text_list";
    case ValueType::kIntegerList:
      return "integer_list";
    case ValueType::kDate:
      return "date";
    case ValueType::kTextOrSecret:
      return "text_or_secret";
    case ValueType::kEnum:
      return "enum";
    case ValueType::kEnumList:
      return "enum_list";
    case ValueType::kReference:
      return "reference";
    case ValueType::kPrice:
      return "price";
    case ValueType::kQuota:
      return "quota";
  }
  SAIL_CHECK(false) << "value type " << static_cast<int>(type);
}

absl::string_view NameOf(Bound bound) {
  switch (bound) {
    case Bound::kAny:
      return "any";
    case Bound::kNotNegative:
      return "not_negative";
    case Bound::kPositive:
      return "positive";
  }
  SAIL_CHECK(false) << "bound " << static_cast<int>(bound);
}

std::string DescribeType(const AttributeSchema& attribute) {
  switch (attribute.type) {
    case ValueType::kQuantity: {
      const Dimension dimension = KnownUnit(attribute.unit).dimension;
      if (dimension.is_count()) return Describe(dimension);
      return absl::StrCat(Describe(dimension), ", usually in ", attribute.unit);
    }
    case ValueType::kInteger:
      return "a whole number";
    case ValueType::kNumber:
      return "a number";
    case ValueType::kShare:
      return "a share from 0% to 100%";
    case ValueType::kBoolean:
      return "true or false";
    case ValueType::kText:
      return "a text";
    case ValueType::kTextList:
      return "a text or a list of texts";
    case ValueType::kIntegerList:
      return "a whole number, a list of them or a range";
    case ValueType::kDate:
      return "a date";
    case ValueType::kTextOrSecret:
      return "a text or a secret";
    case ValueType::kEnum: {
      const std::vector<std::string> words = EnumWords(attribute);
      return absl::StrCat(words.size() > 1 ? "one of " : "", absl::StrJoin(words, ", "));
    }
    case ValueType::kEnumList:
      return absl::StrCat("one or several of ", absl::StrJoin(EnumWords(attribute), ", "));
    case ValueType::kReference:
      return absl::StrCat("a ", attribute.unit);
    case ValueType::kPrice:
      return "a price per time: USD/h of a node, or USD/GPU/h";
    case ValueType::kQuota:
      return "a number of nodes or GPUs";
  }
  SAIL_CHECK(false) << "attribute " << attribute.name;
}

std::string DescribePresence(const AttributeSchema& attribute) {
  if (attribute.presence == Presence::kRequired) return "required";
  const absl::string_view fallback = attribute.fallback;
  return fallback.empty() ? "optional" : absl::StrCat("default: ", fallback);
}

const KindSchema* ResolveKind(absl::string_view kind, absl::Span<const std::string> path) {
  const KindSchema* found = FindKind(kind);
  for (const std::string& part : path) {
    const KindSchema* child = FindKind(part);
    if (child == nullptr || !MayContain(kind, *child)) {
      const AttributeSchema* attribute = FindAttribute(kind, part);
      if (attribute == nullptr || attribute->type != ValueType::kReference) return nullptr;
      child = FindKind(attribute->unit);
    }
    found = child;
    kind = found->name;
  }
  return found;
}

const AttributeSchema* ResolveAttribute(absl::string_view kind, absl::Span<const std::string> path) {
  if (path.empty()) return nullptr;
  const absl::Span<const std::string> blocks = path.first(path.size() - 1);
  if (blocks.empty()) return FindAttribute(kind, path.back());
  const KindSchema* block = ResolveKind(kind, blocks);
  return block != nullptr ? FindAttribute(block->name, path.back()) : nullptr;
}

}  // namespace sail
