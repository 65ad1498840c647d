#include "tests/bench/accuracy/calibration.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/base/file_system.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"

namespace sail::bench {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 24;

// What the program asks for.
constexpr const char* kConstantNames[] = {"a100.matmul",
                                          "a100.ramp",
                                          "a100.memory",
                                          "a100.dispatch",
                                          "a100.intra_node",
                                          "a100.card",
                                          "sailor.step_traffic",
                                          "sailor.framework.GH-96",
                                          "sailor.framework.Titan-RTX",
                                          "sailor.framework.RTX-2080"};

absl::StatusOr<Constant> ReadConstant(const Json& json, const std::string& path) {
  ObjectReader reader(json, path);
  Constant constant;
  reader.Get("value", &constant.value);
  reader.Get("unit", &constant.unit);
  reader.Get("meaning", &constant.meaning);
  if (reader.Has("prior")) reader.Get("prior", &constant.prior.emplace());
  if (reader.Has("spread")) reader.Get("spread", &constant.spread.emplace());
  SAIL_RETURN_IF_ERROR(reader.Finish());
  if (!(constant.value > 0) || !std::isfinite(constant.value)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ".value: expected a positive number"));
  }
  return constant;
}

absl::StatusOr<Datasheet> ReadDatasheet(const Json& json, const std::string& path) {
  ObjectReader reader(json, path);
  Datasheet sheet;
  reader.Get("memory_bytes", &sheet.memory_bytes);
  reader.Get("memory_bytes_per_s", &sheet.memory_bytes_per_s);
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return sheet;
}

}  // namespace

double Calibration::operator()(const std::string& name) const {
  const auto it = constants.find(name);
  SAIL_CHECK(it != constants.end()) << name;
  return it->second.value;
}

absl::StatusOr<Calibration> ReadCalibration(const std::string& path) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, RealFileSystem().Read(path, kMaxBytes));
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  ObjectReader reader(json, path);
  reader.Ignore("about");
  const Json& constants = reader.Raw("constants");
  const Json& gpus = reader.Raw("gpus");
  std::vector<std::string> runs;
  std::vector<std::string> clusters;
  reader.Get("a100_runs", &runs);
  reader.Get("card_per_gpu", &clusters);
  SAIL_RETURN_IF_ERROR(reader.Finish());

  Calibration calibration;
  for (const auto& [name, value] : constants.items()) {
    SAIL_ASSIGN_OR_RETURN(calibration.constants[name], ReadConstant(value, absl::StrCat(path, ": ", name)));
  }
  for (const char* name : kConstantNames) {
    if (!calibration.constants.contains(name)) {
      return absl::InvalidArgumentError(absl::StrCat(path, " lacks the constant ", name));
    }
  }
  for (const auto& [name, value] : gpus.items()) {
    SAIL_ASSIGN_OR_RETURN(calibration.gpus[name], ReadDatasheet(value, absl::StrCat(path, ": ", name)));
  }
  calibration.a100_runs = {runs.begin(), runs.end()};
  calibration.card_per_gpu = {clusters.begin(), clusters.end()};
  return calibration;
}

}  // namespace sail::bench
