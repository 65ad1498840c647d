#include "tests/bench/accuracy/sailor_runs.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "tests/bench/accuracy/data_files.h"

namespace sail::bench {
namespace {

// A positive number; what is null, zero or absent was not measured.
std::optional<double> Measured(const Json& run, const char* key) {
  const auto it = run.find(key);
  if (it == run.end() || !it->is_number() || !(it->get<double>() > 0) || !std::isfinite(it->get<double>())) {
    return std::nullopt;
  }
  return it->get<double>();
}

absl::StatusOr<SailorRun> ReadRun(const Json& json) {
  SailorRun run;
  const std::pair<const char*, std::string*> texts[] = {
      {"id", &run.id}, {"cluster", &run.cluster}, {"model", &run.model}};
  for (const auto& [key, out] : texts) {
    const auto it = json.find(key);  // end() unless `json` is an object
    if (it == json.end() || !it->is_string()) return absl::InvalidArgumentError(absl::StrCat("no ", key));
    *out = it->get<std::string>();
  }
  SAIL_ASSIGN_OR_RETURN(run.plan, sim::ReadPublicPlan(json, "plan"));
  if (run.plan.global_batch == 0) return absl::InvalidArgumentError("no global batch");
  if (json.value("precision", Json("fp32")) != "fp32") return absl::InvalidArgumentError("precision is not fp32");
  run.seconds = Measured(json, "iteration_s");
  run.bytes = Measured(json, "peak_memory_bytes");
  const Json published = json.value("published_prediction", Json());
  if (published.is_object()) run.published_seconds = Measured(published, "iteration_s");
  return run;
}

// Empty: none.
std::string SetOf(const SailorRun& run) {
  if (run.cluster == "clariden" && run.model == "OPT-350") return "sailor/gh200-opt350";
  if (run.cluster == "clariden" && run.model == "GPT-Neo-2.7") return "sailor/gh200-neo";
  if (run.cluster != "mit") return "";
  return absl::EndsWith(run.id, "/runv1") ? "sailor/mixed-v1" : "sailor/mixed-a";
}

void AddRun(const SailorRun& run, const SailorData& data, Runs& runs) {
  if (!run.seconds) {  // its memory is not trusted, either: no iteration was completed
    runs.messages.push_back(absl::StrCat(run.id, " left out: its time was not measured"));
    return;
  }
  const std::string set = SetOf(run);
  if (set.empty()) {
    runs.messages.push_back(
        absl::StrCat(run.id, " left out: cluster ", run.cluster, " with model ", run.model, " belongs to no set"));
    return;
  }
  runs.runs.push_back(
      {.name = run.id,
       .set = set,
       .fold = run.id.substr(0, run.id.rfind('/')),
       .seconds = run.seconds,
       .bytes = run.bytes,
       .build = [run, &data](const Calibration& calibration) { return BuildSailorCase(run, data, calibration); }});
}

}  // namespace

Runs ReadSailorRuns(const std::string& data_directory, SailorData& data, std::vector<SailorRun>& raw) {
  Runs runs;
  const std::string directory = data_directory + "/sailor";
  const std::vector<std::string> files = FilesIn(directory + "/validation", "runs", ".json");
  if (files.empty()) {
    runs.messages.push_back(absl::StrCat("sailor/* skipped: no ", directory, "/validation/runs*.json"));
    return runs;
  }
  if (const absl::Status read = ReadSailorData(directory, data, runs.messages); !read.ok()) {
    runs.messages.push_back(absl::StrCat("sailor/* skipped: ", read.message()));
    return runs;
  }
  for (const std::string& file : files) {
    const absl::StatusOr<Json> json = ReadDataJson(file);
    if (!json.ok() || !json->is_array()) {
      runs.messages.push_back(
          absl::StrCat(file, " skipped: ", json.ok() ? "expected a list of runs" : json.status().message()));
      continue;
    }
    for (size_t i = 0; i < json->size(); ++i) {
      const absl::StatusOr<SailorRun> run = ReadRun((*json)[i]);
      if (!run.ok()) {
        const std::string id = (*json)[i].is_object() ? (*json)[i].value("id", Json()).dump() : "";
        runs.messages.push_back(absl::StrCat(file, "[", i, "] ", id, " left out: ", run.status().message()));
        continue;
      }
      raw.push_back(*run);
      AddRun(*run, data, runs);
    }
  }
  return runs;
}

}  // namespace sail::bench
