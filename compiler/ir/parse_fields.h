// What the readers of parse.cc and parse_cluster.cc share: fields of JSON objects, each checked. A wrong field is
// recorded in its reader.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"
#include "compiler/base/units.h"
#include "compiler/ir/names.h"

namespace sail::ir {

inline constexpr int kLargestMicroBatch = 65'536;  // as in the language
inline constexpr double kLargest = 1e18;           // of any quantity in base units; keeps sums and products finite

template <class Enum, size_t N>
void GetEnum(ObjectReader& reader, absl::string_view key, const NameTable<Enum, N>& table, Enum* out) {
  std::string name;
  reader.Get(key, &name);
  if (const std::optional<Enum> value = ValueOf(table, name)) {
    *out = *value;
  } else {
    reader.Fail(key, absl::StrCat("unknown value \"", name, "\""));
  }
}

template <class T>
void GetQuantity(ObjectReader& reader, absl::string_view key, T* out) {
  double value = 0;
  reader.Get(key, &value);
  *out = T(value);
}

inline void GetBytes(ObjectReader& reader, absl::string_view key, Bytes* out) {
  int64_t value = 0;
  reader.Get(key, &value);
  *out = Bytes(value);
}

// A finite number above zero: times, and speeds that something is divided by.
template <class T>
void GetPositive(ObjectReader& reader, absl::string_view key, T* out) {
  GetQuantity(reader, key, out);
  if (!(out->value() > 0 && out->value() <= kLargest)) reader.Fail(key, "expected a positive number");
}

inline void CheckRange(ObjectReader& reader, absl::string_view key, double value, double least, double most) {
  if (!(value >= least && value <= most)) reader.Fail(key, absl::StrCat("expected ", least, " to ", most));
}

// The same, or null.
template <class T>
void GetOptional(ObjectReader& reader, absl::string_view key, std::optional<T>* out) {
  reader.Ignore(key);
  if (!reader.Has(key)) return;
  double value = 0;
  reader.Get(key, &value);
  if (!(value > 0 && value <= kLargest)) reader.Fail(key, "expected a positive number");
  *out = T(value);
}

inline void GetOptionalBytes(ObjectReader& reader, absl::string_view key, std::optional<Bytes>* out) {
  reader.Ignore(key);
  if (!reader.Has(key)) return;
  GetBytes(reader, key, &out->emplace(Bytes::Zero()));
  CheckRange(reader, key, static_cast<double>((*out)->value()), 0, kLargest);
}

// The index of the element of `list` whose name is `name`; records an error when there is none.
template <class T>
int FindNamed(ObjectReader& reader, absl::string_view key, const std::vector<T>& list) {
  std::string name;
  reader.Get(key, &name);
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return static_cast<int>(i);
  }
  reader.Fail(key, absl::StrCat("unknown name \"", name, "\""));
  return 0;
}

// Calls read(element reader) for every object of a list.
template <class Read>
absl::Status ForEach(ObjectReader& reader, absl::string_view key, Read read) {
  const Json& list = reader.Raw(key);
  if (!list.is_array()) {
    reader.Fail(key, "expected a list");
    return reader.Finish();
  }
  for (size_t i = 0; i < list.size(); ++i) {
    ObjectReader element(list[i], absl::StrCat(reader.PathOf(key), "[", i, "]"));
    SAIL_RETURN_IF_ERROR(read(element));
    SAIL_RETURN_IF_ERROR(element.Finish());
  }
  return absl::OkStatus();
}

}  // namespace sail::ir
