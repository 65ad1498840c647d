#include "runtime/elastic/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"
#include "runtime/elastic/standard_output.h"

namespace sail::rt {

Progress::Progress(const Bundle& bundle, int64_t steps, Verbosity verbosity)
    : bundle_(bundle), steps_(steps), verbosity_(verbosity), terminal_(isatty(STDOUT_FILENO) == 1) {}

absl::Status Progress::Open(const std::string& metrics_path) {
  metrics_path_ = metrics_path;
  metrics_.open(metrics_path, std::ios::binary | std::ios::trunc);
  const Json header = {{"plan_hash", bundle_.plan_hash},
                       {"predicted_iteration_s", bundle_.predicted_iteration.value()},
                       {"ranks", ir::Placement(bundle_.plan).rank_count()}};
  return WriteLine(header.dump());
}

absl::Status Progress::WriteLine(const std::string& line) {
  metrics_ << line << "\n" << std::flush;
  if (metrics_) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write '", metrics_path_, "'"));
}

absl::Status Progress::Step(const StepResult& step) {
  results_.push_back(step);
  const double samples_per_s = static_cast<double>(step.samples) / step.seconds;
  Json line = {{"step", step.step},
               {"seconds", step.seconds},
               {"samples_per_s", samples_per_s},
               {"tokens_per_s", samples_per_s * static_cast<double>(bundle_.problem.model.seq_len)}};
  line["loss"] = std::isfinite(step.loss) ? Json(step.loss) : Json();
  SAIL_RETURN_IF_ERROR(WriteLine(line.dump()));
  const int64_t every = std::max<int64_t>(1, steps_ / 20);
  const bool due = terminal_ || step.step == 1 || step.step == steps_ || step.step % every == 0;
  // A paused terminal must not pause the run: it misses this line.
  if (verbosity_ == Verbosity::kProgress && due && StandardOutputIsReady()) Show(step);
  return absl::OkStatus();
}

void Progress::Show(const StepResult& step) {
  const double samples_per_s = static_cast<double>(step.samples) / step.seconds;
  const std::string line = absl::StrFormat(
      "step %d/%d  loss %.4f  %.1f samples/s  %.0f tokens/s  %.4f s/iteration (predicted %.4f)", step.step, steps_,
      step.loss, samples_per_s, samples_per_s * static_cast<double>(bundle_.problem.model.seq_len), step.seconds,
      bundle_.predicted_iteration.value());
  Print(terminal_ ? absl::StrCat("\r\033[K", line) : absl::StrCat(line, "\n"));
  line_open_ = terminal_;
}

void Progress::Print(absl::string_view text) {
  if (output_.ok()) output_ = WriteStandardOutput(text);
}

void Progress::EndLine() {
  if (!line_open_ || !StandardOutputIsReady()) return;
  Print("\n");
  line_open_ = false;
}

absl::Status Progress::PrintSummary() {
  Print(absl::StrCat(line_open_ ? "\n" : "", Summary(), "\n"));
  return output_;
}

std::string Progress::Summary() const {
  if (results_.empty()) return "no step was run";
  std::vector<double> seconds;
  for (size_t i = results_.size() / 10; i < results_.size(); ++i) seconds.push_back(results_[i].seconds);
  std::sort(seconds.begin(), seconds.end());
  const double median = (seconds[seconds.size() / 2] + seconds[(seconds.size() - 1) / 2]) / 2;
  const double first = results_.front().loss, last = results_.back().loss;
  const double predicted = bundle_.predicted_iteration.value();
  return absl::StrFormat(
      "%d steps: loss %.4f -> %.4f (%.1f %% of the first), %.4f s/iteration, predicted %.4f s (%.2fx)", results_.size(),
      first, last, 100 * last / first, median, predicted, median / predicted);
}

}  // namespace sail::rt
