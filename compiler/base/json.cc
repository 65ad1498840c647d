#include "compiler/base/json.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sail {
namespace {

constexpr int kMaxDepth = 64;

}  // namespace

absl::StatusOr<Json> ParseJson(absl::string_view text, absl::string_view what) {
  std::vector<std::set<std::string>> keys;  // of the objects being read, to find duplicates
  std::string problem;
  const auto callback = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second && problem.empty())
        problem = absl::StrCat("key \"", key, "\" is given twice");
    }
    if (depth > kMaxDepth && problem.empty()) problem = absl::StrCat("nested deeper than ", kMaxDepth, " levels");
    return problem.empty();
  };
  Json json = Json::parse(text.begin(), text.end(), callback, /*allow_exceptions=*/false);
  if (!problem.empty()) return absl::InvalidArgumentError(absl::StrCat(what, ": ", problem));
  if (json.is_discarded()) return absl::InvalidArgumentError(absl::StrCat(what, " is not valid JSON"));
  return json;
}

std::string DumpJson(const Json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

ObjectReader::ObjectReader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
  if (!json_.is_object()) status_ = absl::InvalidArgumentError(absl::StrCat(path_, ": expected an object"));
}

std::string ObjectReader::PathOf(absl::string_view key) const { return absl::StrCat(path_, ".", key); }

void ObjectReader::Fail(absl::string_view key, absl::string_view problem) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(PathOf(key), ": ", problem));
}

bool ObjectReader::Has(absl::string_view key) const {
  if (!json_.is_object()) return false;
  const auto it = json_.find(std::string(key));
  return it != json_.end() && !it->is_null();
}

const Json* ObjectReader::Find(absl::string_view key, absl::string_view expected) {
  if (!json_.is_object()) return nullptr;
  read_.insert(std::string(key));
  const auto it = json_.find(std::string(key));
  if (it == json_.end()) {
    Fail(key, absl::StrCat("missing; expected ", expected));
    return nullptr;
  }
  return &*it;
}

void ObjectReader::Get(absl::string_view key, bool* out) {
  const Json* value = Find(key, "true or false");
  if (value == nullptr) return;
  if (!value->is_boolean()) return Fail(key, "expected true or false");
  *out = value->get<bool>();
}

void ObjectReader::Get(absl::string_view key, int64_t* out) {
  const Json* value = Find(key, "an integer");
  if (value == nullptr) return;
  if (!value->is_number_integer()) return Fail(key, "expected an integer");
  if (value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return Fail(key, "integer out of range");
  }
  *out = value->get<int64_t>();
}

void ObjectReader::Get(absl::string_view key, int* out) {
  int64_t wide = 0;
  Get(key, &wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    return Fail(key, "integer out of range");
  }
  *out = static_cast<int>(wide);
}

void ObjectReader::Get(absl::string_view key, double* out) {
  const Json* value = Find(key, "a number");
  if (value == nullptr) return;
  if (!value->is_number()) return Fail(key, "expected a number");
  *out = value->get<double>();
}

void ObjectReader::Get(absl::string_view key, std::string* out) {
  const Json* value = Find(key, "a string");
  if (value == nullptr) return;
  if (!value->is_string()) return Fail(key, "expected a string");
  *out = value->get<std::string>();
}

void ObjectReader::Get(absl::string_view key, std::vector<int>* out) {
  const Json* value = Find(key, "a list of integers");
  if (value == nullptr) return;
  if (!value->is_array()) return Fail(key, "expected a list of integers");
  out->clear();
  for (const Json& element : *value) {
    const bool in_int64 =
        element.is_number_integer() && (!element.is_number_unsigned() || element.get<uint64_t>() <= INT64_MAX);
    const bool fits = in_int64 && element.get<int64_t>() >= std::numeric_limits<int>::min() &&
                      element.get<int64_t>() <= std::numeric_limits<int>::max();
    if (!fits) return Fail(key, "expected a list of integers");
    out->push_back(element.get<int>());
  }
}

void ObjectReader::Get(absl::string_view key, std::vector<std::string>* out) {
  const Json* value = Find(key, "a list of strings");
  if (value == nullptr) return;
  if (!value->is_array()) return Fail(key, "expected a list of strings");
  out->clear();
  for (const Json& element : *value) {
    if (!element.is_string()) return Fail(key, "expected a list of strings");
    out->push_back(element.get<std::string>());
  }
}

const Json& ObjectReader::Raw(absl::string_view key) {
  static const Json kNull;
  const Json* value = Find(key, "a value");
  return value == nullptr ? kNull : *value;
}

absl::Status ObjectReader::Finish() const {
  if (!status_.ok()) return status_;
  for (const auto& [key, value] : json_.items()) {
    if (!read_.contains(key)) return absl::InvalidArgumentError(absl::StrCat(PathOf(key), ": unknown field"));
  }
  return absl::OkStatus();
}

}  // namespace sail
