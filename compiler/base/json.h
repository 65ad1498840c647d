// JSON artefacts: canonical writing (sorted keys, two blanks, LF, final newline, shortest round-trip numbers) and
// strict reading (no duplicate or unknown keys, every error names its path in the document). nlohmann-json does the
// rest.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace sail {

using Json = nlohmann::json;  // std::map underneath: keys come out sorted

// `what` names the document in errors ("profile 'a.json'"). Rejects duplicate keys, trailing text, depth over 64.
absl::StatusOr<Json> ParseJson(absl::string_view text, absl::string_view what);
std::string DumpJson(const Json& json);

// Reads the fields of one object. Getters record the first error; Finish() returns it, or names an unread field.
//   ObjectReader reader(json, "plan.pipelines[2]");
//   reader.Get("micro_batch", &pipeline.micro_batch);
//   SAIL_RETURN_IF_ERROR(reader.Finish());
class ObjectReader {
 public:
  ObjectReader(const Json& json, std::string path);

  void Get(absl::string_view key, bool* out);
  void Get(absl::string_view key, int* out);
  void Get(absl::string_view key, int64_t* out);
  void Get(absl::string_view key, double* out);
  void Get(absl::string_view key, std::string* out);
  void Get(absl::string_view key, std::vector<int>* out);
  void Get(absl::string_view key, std::vector<std::string>* out);
  // The raw value, or null if absent (which is recorded as an error).
  const Json& Raw(absl::string_view key);
  bool Has(absl::string_view key) const;  // for optional fields; null counts as absent
  void Ignore(absl::string_view key) { read_.insert(std::string(key)); }
  std::string PathOf(absl::string_view key) const;

  void Fail(absl::string_view key, absl::string_view problem);
  absl::Status Finish() const;

 private:
  const Json* Find(absl::string_view key, absl::string_view expected);

  const Json& json_;
  std::string path_;
  std::set<std::string> read_;
  absl::Status status_;
};

}  // namespace sail
