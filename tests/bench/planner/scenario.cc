#include "tests/bench/planner/scenario.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status_macros.h"

namespace sail::bench {
namespace {

constexpr int kMostGpus = 1 << 20;

template <class... Parts>
absl::Status Fault(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::StatusOr<double> PositiveNumber(const Json& json, const char* key, const std::string& where) {
  const auto it = json.find(key);  // end() unless `json` is an object
  if (it != json.end() && it->is_number() && it->get<double>() > 0 && std::isfinite(it->get<double>())) {
    return it->get<double>();
  }
  return Fault(where, ".", key, ": expected a positive number");
}

absl::StatusOr<std::string> Text(const Json& json, const char* key, const std::string& where) {
  const auto it = json.find(key);
  if (it != json.end() && it->is_string()) return it->get<std::string>();
  return Fault(where, ".", key, ": expected a text");
}

absl::StatusOr<PublishedResult> ReadPublished(const Json& json, const std::string& where) {
  PublishedResult result;
  SAIL_ASSIGN_OR_RETURN(result.plan, sim::ReadPublicPlan(json, where));
  SAIL_ASSIGN_OR_RETURN(result.throughput, PositiveNumber(json, "throughput_iters_per_s", where));
  SAIL_ASSIGN_OR_RETURN(result.usd, PositiveNumber(json, "cost_usd_per_iter", where));
  SAIL_ASSIGN_OR_RETURN(result.search_s, PositiveNumber(json, "search_s", where));
  return result;
}

// Columns "<gpu>_<zone>".
absl::Status ReadGpus(const Json& json, const std::string& where, Scenario& scenario) {
  if (!json.is_object() || json.empty()) return Fault(where, ": expected an object with members");
  for (const auto& [column, value] : json.items()) {
    const std::vector<std::string> parts = absl::StrSplit(column, absl::MaxSplits('_', 1));
    const bool is_count = value.is_number_integer() && value.get<int64_t>() > 0 && value.get<int64_t>() <= kMostGpus;
    if (parts.size() != 2 || !is_count) return Fault(where, ".", column, ": expected GPUs of a <gpu>_<zone>");
    scenario.gpus[{parts[0], parts[1]}] = value.get<int>();
  }
  return absl::OkStatus();
}

// The limit stands in the name: "…, cost <= 1.2 USD/iter", "…, throughput >= 0.2 iters/s".
absl::StatusOr<std::optional<ir::Constraint>> LimitOf(const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, absl::MaxSplits(", ", 1));
  if (parts.size() == 1) return std::nullopt;
  const std::vector<std::string> words = absl::StrSplit(parts[1], ' ');
  ir::Constraint limit{.name = parts[1]};
  if (words.size() == 4 && absl::SimpleAtod(words[2], &limit.limit)) {
    const std::string kind = absl::StrJoin({words[0], words[1], words[3]}, " ");
    limit.at_most = words[1] == "<=";
    limit.metric = limit.at_most ? ir::Metric::kCostPerIter : ir::Metric::kThroughput;
    if (kind == "cost <= USD/iter" || kind == "throughput >= iters/s") return limit;
  }
  return Fault("scenario \"", name, "\": unknown limit");
}

absl::StatusOr<Scenario> ReadScenario(const Json& json, const std::string& where) {
  Scenario scenario;
  SAIL_ASSIGN_OR_RETURN(scenario.name, Text(json, "scenario", where));
  SAIL_ASSIGN_OR_RETURN(scenario.model, Text(json, "model", where));
  SAIL_ASSIGN_OR_RETURN(const double batch, PositiveNumber(json, "global_batch", where));
  if (batch > kMostGpus || batch != std::floor(batch))
    return Fault(where, ".global_batch: expected a number of samples");
  scenario.global_batch = static_cast<int64_t>(batch);
  SAIL_ASSIGN_OR_RETURN(const std::string objective, Text(json, "objective", where));
  if (objective == "min cost") {
    scenario.objective = {.metric = ir::Metric::kCostPerIter, .maximize = false};
  } else if (objective != "max throughput") {
    return Fault(where, ".objective: unknown objective \"", objective, "\"");
  }
  SAIL_ASSIGN_OR_RETURN(scenario.limit, LimitOf(scenario.name));
  SAIL_RETURN_IF_ERROR(ReadGpus(json.value("gpus", Json()), where + ".gpus", scenario));
  SAIL_ASSIGN_OR_RETURN(scenario.published,
                        ReadPublished(json.value("published_planner", Json()), where + ".published_planner"));
  return scenario;
}

}  // namespace

int Scenario::total_gpus() const {
  int total = 0;
  for (const auto& [place, count] : gpus) total += count;
  return total;
}

std::string Scenario::Gpus() const {
  std::map<std::string, std::map<int, int>> zones;  // gpu → GPUs of a zone → zones
  for (const auto& [place, count] : gpus) ++zones[place.first][count];
  std::vector<std::string> parts;
  for (const auto& [gpu, counts] : zones) {
    for (const auto& [count, repeated] : counts) {
      parts.push_back(repeated == 1 ? absl::StrCat(count, " ", gpu) : absl::StrCat(repeated, " x ", count, " ", gpu));
    }
  }
  return absl::StrJoin(parts, " + ");
}

absl::StatusOr<std::vector<Scenario>> ReadScenarios(const Json& json) {
  const Json list = json.is_object() ? json.value("scenarios", Json()) : Json();
  if (!list.is_array() || list.empty()) return Fault("baselines.json: scenarios: expected a list with entries");
  std::vector<Scenario> scenarios;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string where = absl::StrCat("baselines.json: scenarios[", i, "]");
    if (!list[i].is_object()) return Fault(where, ": expected an object");
    SAIL_ASSIGN_OR_RETURN(Scenario scenario, ReadScenario(list[i], where));
    scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

std::optional<double> KnownReachable(const Scenario& scenario) {
  struct Row {
    const char* scenario;
    const char* model;
    int gpus;
    double value;
  };
  static constexpr Row kRows[] = {
      {"homogeneous", "OPT-350", 32, 0.1297},
      {"homogeneous", "GPT-Neo-2.7", 32, 0.0225},
      {"homogeneous", "GPT-Neo-2.7", 80, 0.0502},
      {"homogeneous", "GPT-Neo-2.7", 128, 0.0748},
      {"heterogeneous", "OPT-350", 128, 0.2035},
      {"heterogeneous", "OPT-350", 320, 0.4131},
      {"heterogeneous", "OPT-350", 512, 0.5862},
      {"heterogeneous", "GPT-Neo-2.7", 128, 0.03245},
      {"heterogeneous", "GPT-Neo-2.7", 320, 0.0716},
      {"heterogeneous", "GPT-Neo-2.7", 512, 0.1034},
      {"five zones", "GPT-Neo-2.7", 400, 0.1511},
      {"five zones", "GPT-Neo-2.7", 640, 0.2190},
      {"max throughput, cost <= 1.2 USD/iter", "OPT-350", 512, 0.7237},
  };
  for (const Row& row : kRows) {
    if (row.scenario == scenario.name && row.model == scenario.model && row.gpus == scenario.total_gpus()) {
      return row.value;
    }
  }
  return std::nullopt;
}

}  // namespace sail::bench
