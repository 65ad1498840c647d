// What an expression of the language evaluates to. Every value keeps the range it was read from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/source.h"
#include "compiler/passes/unit_table.h"

namespace sail {

struct CheckedBlock;
struct Module;
struct Value;

struct TextValue {
  std::string text;
};
struct DateValue {
  std::string text;  // "2026-11-30": texts of dates sort like the dates
};
struct NoneValue {};
struct RangeValue {
  Rational first, last;
};  // whole numbers, both ends included
struct ListValue {
  std::vector<Value> elements;
  int64_t total = 0;    // elements, those of inner lists and records included
  bool is_set = false;  // no first element: cannot be indexed
};
// Keys in the order written; no key occurs twice.
struct RecordValue {
  std::vector<std::pair<std::string, Value>> fields;
  int64_t total = 0;  // as in ListValue

  const Value* Find(absl::string_view key) const;
};
// The name of a secret. Its contents are known to the node that runs, never to the compiler.
struct SecretValue {
  std::string name;
};
// A declared block.
struct BlockValue {
  CheckedBlock* block = nullptr;
};
struct ModuleValue {
  Module* module = nullptr;
};
// All blocks of a kind in a block or a module: the `pool` of `na.pool."v100-eu"`.
struct KindValue {
  CheckedBlock* block = nullptr;  // or
  Module* module = nullptr;
  std::string kind;
};

struct Value {
  std::variant<Amount, TextValue, DateValue, bool, NoneValue, RangeValue, ListValue, RecordValue, SecretValue,
               BlockValue, ModuleValue, KindValue>
      content;
  SourceRange range;

  template <class T>
  const T* As() const {
    return std::get_if<T>(&content);
  }
};

// "a bandwidth", "a text", "a list", "machine `a100x4`".
std::string DescribeValue(const Value& value);
// As it would be written: `16 nodes`, `"a"`, `[1, 2]`, `{ "a" = 1 }`; a block is its name.
std::string FormatValue(const Value& value);
// Same kind, dimension and content; blocks are equal when they are the same one.
bool EqualValues(const Value& a, const Value& b);
// A total order within one kind of value: amounts of one dimension by size, texts and dates by their characters.
// nullopt for values that have no order.
std::optional<bool> Less(const Value& a, const Value& b);
// Makes the list a set: in order, without repetitions. Values without an order keep the order written.
void MakeSet(ListValue& list);
// The values a collection holds, counted as ListValue::total does; 1 for anything else, more for long texts.
int64_t SizeOf(const Value& value);
// Add an element; `total` grows by what it holds.
void Append(ListValue& list, Value element);
void Append(RecordValue& record, std::string key, Value element);

}  // namespace sail
