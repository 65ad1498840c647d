#include "compiler/base/json.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sail {
namespace {

constexpr size_t kMaxDepth = 64;

// Looks for what the library accepts and we do not, before anything is built. A callback of the parser would do, but
// with one the library walks through the whole array after each of its objects.
class ShapeCheck : public Json::json_sax_t {
 public:
  const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(size_t /*elements*/) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(size_t /*elements*/) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) problem_ = absl::StrCat("key \"", name, "\" is given twice");
    return problem_.empty();
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/, const Json::exception& /*error*/) override {
    return false;  // told by the parser proper
  }

 private:
  bool Enter() {
    keys_.emplace_back();
    if (keys_.size() > kMaxDepth) problem_ = absl::StrCat("nested deeper than ", kMaxDepth, " levels");
    return problem_.empty();
  }
  bool Leave() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of the objects being read; empty for arrays
  std::string problem_;
};

}  // namespace

absl::StatusOr<Json> ParseJson(absl::string_view text, absl::string_view what) {
  ShapeCheck check;
  Json::sax_parse(text.begin(), text.end(), &check);
  if (!check.problem().empty()) return absl::InvalidArgumentError(absl::StrCat(what, ": ", check.problem()));
  Json json = Json::parse(text.begin(), text.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
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
