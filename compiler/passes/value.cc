#include "compiler/passes/value.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/json.h"
#include "compiler/passes/checked_block.h"

namespace sail {
namespace {

constexpr size_t kTextCharge = 64;  // bytes of a text that weigh as much as a value

struct Describer {
  std::string operator()(const Amount& quantity) const { return Describe(quantity.dimension); }
  std::string operator()(const TextValue&) const { return "a text"; }
  std::string operator()(const DateValue&) const { return "a date"; }
  std::string operator()(bool) const { return "a truth value"; }
  std::string operator()(const NoneValue&) const { return "`none`"; }
  std::string operator()(const RangeValue&) const { return "a range"; }
  std::string operator()(const ListValue& list) const { return list.is_set ? "a set" : "a list"; }
  std::string operator()(const RecordValue&) const { return "a map"; }
  std::string operator()(const SecretValue&) const { return "a secret"; }
  std::string operator()(const BlockValue& block) const { return NameOf(*block.block); }
  std::string operator()(const ModuleValue&) const { return "an import"; }
  std::string operator()(const KindValue& kind) const { return absl::StrCat("all blocks of kind `", kind.kind, "`"); }
};

struct Formatter {
  std::string operator()(const Amount& quantity) const { return Format(quantity); }
  std::string operator()(const TextValue& text) const { return Json(text.text).dump(); }
  std::string operator()(const DateValue& date) const { return date.text; }
  std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  std::string operator()(const NoneValue&) const { return "none"; }
  std::string operator()(const RangeValue& range) const {
    return absl::StrCat(range.first.ToString(), "..", range.last.ToString());
  }
  std::string operator()(const ListValue& list) const {
    return absl::StrCat(
        "[",
        absl::StrJoin(list.elements, ", ", [](std::string* out, const Value& value) { *out += FormatValue(value); }),
        "]");
  }
  std::string operator()(const RecordValue& record) const {
    const auto field = [](std::string* out, const auto& entry) {
      absl::StrAppend(out, Json(entry.first).dump(), " = ", FormatValue(entry.second));
    };
    return record.fields.empty() ? "{ }" : absl::StrCat("{ ", absl::StrJoin(record.fields, ", ", field), " }");
  }
  std::string operator()(const SecretValue& secret) const {
    return absl::StrCat("secret(", Json(secret.name).dump(), ")");
  }
  std::string operator()(const BlockValue& block) const { return block.block->label; }
  std::string operator()(const ModuleValue& module) const { return module.module->name; }
  std::string operator()(const KindValue& kind) const { return kind.kind; }
};

struct Equality {
  bool operator()(const Amount& a, const Amount& b) const { return a.dimension == b.dimension && a.value == b.value; }
  bool operator()(const TextValue& a, const TextValue& b) const { return a.text == b.text; }
  bool operator()(const DateValue& a, const DateValue& b) const { return a.text == b.text; }
  bool operator()(bool a, bool b) const { return a == b; }
  bool operator()(const NoneValue&, const NoneValue&) const { return true; }
  bool operator()(const RangeValue& a, const RangeValue& b) const { return a.first == b.first && a.last == b.last; }
  bool operator()(const ListValue& a, const ListValue& b) const {
    if (a.elements.size() != b.elements.size()) return false;
    for (size_t i = 0; i < a.elements.size(); ++i) {
      if (!EqualValues(a.elements[i], b.elements[i])) return false;
    }
    return true;
  }
  bool operator()(const RecordValue& a, const RecordValue& b) const {
    if (a.fields.size() != b.fields.size()) return false;
    for (const auto& [key, value] : a.fields) {
      const Value* other = b.Find(key);
      if (other == nullptr || !EqualValues(value, *other)) return false;
    }
    return true;
  }
  bool operator()(const SecretValue& a, const SecretValue& b) const { return a.name == b.name; }
  bool operator()(const BlockValue& a, const BlockValue& b) const { return a.block == b.block; }
  bool operator()(const ModuleValue& a, const ModuleValue& b) const { return a.module == b.module; }
  bool operator()(const KindValue& a, const KindValue& b) const {
    return a.block == b.block && a.module == b.module && a.kind == b.kind;
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

}  // namespace

const Value* RecordValue::Find(absl::string_view key) const {
  for (const auto& [name, value] : fields) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string DescribeValue(const Value& value) { return std::visit(Describer(), value.content); }
std::string FormatValue(const Value& value) { return std::visit(Formatter(), value.content); }
bool EqualValues(const Value& a, const Value& b) { return std::visit(Equality(), a.content, b.content); }

std::optional<bool> Less(const Value& a, const Value& b) {
  const auto* amount_a = a.As<Amount>();
  const auto* amount_b = b.As<Amount>();
  if (amount_a != nullptr && amount_b != nullptr && amount_a->dimension == amount_b->dimension) {
    return amount_a->value < amount_b->value;
  }
  const auto* text_a = a.As<TextValue>();
  const auto* text_b = b.As<TextValue>();
  if (text_a != nullptr && text_b != nullptr) return text_a->text < text_b->text;
  const auto* date_a = a.As<DateValue>();
  const auto* date_b = b.As<DateValue>();
  if (date_a != nullptr && date_b != nullptr) return date_a->text < date_b->text;
  return std::nullopt;
}

void MakeSet(ListValue& list) {
  std::vector<Value>& values = list.elements;
  std::stable_sort(values.begin(), values.end(),
                   [](const Value& a, const Value& b) { return Less(a, b).value_or(false); });
  // Equal values are neighbours where there is an order; elsewhere (blocks, truth values) all earlier ones are looked
  // at.
  std::vector<Value> kept;
  for (Value& value : values) {
    const bool ordered = !kept.empty() && Less(kept.back(), value).has_value();
    const bool repeated =
        ordered ? EqualValues(kept.back(), value)
                : std::any_of(kept.begin(), kept.end(), [&](const Value& other) { return EqualValues(other, value); });
    if (!repeated) kept.push_back(std::move(value));
  }
  values = std::move(kept);
  list.is_set = true;
}

int64_t SizeOf(const Value& value) {
  if (const auto* list = value.As<ListValue>()) return list->total;
  if (const auto* record = value.As<RecordValue>()) return record->total;
  if (const auto* text = value.As<TextValue>()) return 1 + static_cast<int64_t>(text->text.size() / kTextCharge);
  return 1;
}

void Append(ListValue& list, Value element) {
  list.total += 1 + SizeOf(element);
  list.elements.push_back(std::move(element));
}

void Append(RecordValue& record, std::string key, Value element) {
  record.total += 1 + SizeOf(element);
  record.fields.emplace_back(std::move(key), std::move(element));
}

}  // namespace sail
