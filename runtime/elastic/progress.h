// What a user sees of a run: the progress line, metrics.jsonl and the summary. Fed with the steps of rank 0.
//
// metrics.jsonl: {"plan_hash","predicted_iteration_s","ranks"} and then, per step, {"step","loss","seconds",
// "samples_per_s","tokens_per_s"}; a loss that is not finite is null.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/bundle/bundle.h"
#include "runtime/engine/trainer.h"

namespace sail::rt {

enum class Verbosity { kProgress, kSummaryOnly };

class Progress {
 public:
  // `steps` is what this run will do. `bundle` outlives this object.
  Progress(const Bundle& bundle, int64_t steps, Verbosity verbosity);
  // Creates or empties the file and writes the header. Unavailable if that fails.
  absl::Status Open(const std::string& metrics_path);
  // Unavailable if the metrics cannot be written (a full disk).
  absl::Status Step(const StepResult& step);
  // Ends an overwritten progress line, unless the terminal is paused.
  void EndLine();
  // Waits while the terminal is paused. Unavailable if standard output could not be written, now or before: the run
  // goes on without it.
  absl::Status PrintSummary();
  // "20 steps: loss 5.54 -> 2.31 (42 % of the first), 0.123 s/iteration, predicted 0.110 s (1.12x)".
  // The measured time is the median without the first tenth of the steps, which warm up caches.
  std::string Summary() const;

 private:
  void Show(const StepResult& step);
  void Print(absl::string_view text);
  absl::Status WriteLine(const std::string& line);

  const Bundle& bundle_;
  const int64_t steps_;
  const Verbosity verbosity_;
  const bool terminal_;  // overwrite one line; otherwise about twenty lines per run
  bool line_open_ = false;
  absl::Status output_;  // the first failure of standard output
  std::string metrics_path_;
  std::ofstream metrics_;
  std::vector<StepResult> results_;
};

}  // namespace sail::rt
