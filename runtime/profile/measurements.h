// What is measured for a profile, how ranks report it, and the file that it becomes (docs/profile_format.md). Pure; no
// LibTorch here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/problem.h"

namespace sail::rt {

// One size at which every layer kind is measured.
struct ProfileCase {
  int tensor = 1;
  int micro_batch = 1;
  friend auto operator<=>(const ProfileCase&, const ProfileCase&) = default;
};

// Every tensor degree of the job that a machine of one of these gpus holds × every micro-batch of the job, by degree,
// then micro-batch. Machines without quota do not count.
std::vector<ProfileCase> CasesOf(const ir::Problem& problem, const std::vector<ir::GpuId>& gpus);

// The gpus named in a comma-separated list, or the only one of the problem's pools with quota if the list is empty.
// InvalidArgument: a name that no such pool uses, one that is listed twice, one that this build cannot compute on, or
// no name where there are several.
absl::StatusOr<std::vector<ir::GpuId>> GpusToProfile(const ir::Problem& problem, absl::string_view names);

// Seconds of one layer in one iteration of one micro-batch.
struct LayerSeconds {
  double forward = 0;
  double backward = 0;
  double optimizer = 0;
  friend bool operator==(const LayerSeconds&, const LayerSeconds&) = default;
};

// What one rank measured in one round of one case.
struct RoundSamples {
  ProfileCase size;
  std::map<ir::LayerKind, std::vector<LayerSeconds>> layers;
  friend bool operator==(const RoundSamples&, const RoundSamples&) = default;
};
std::string PrintRoundSamples(const RoundSamples& samples);  // one line of JSON, with line end
// InvalidArgument for any other text, and for times that are negative or not finite.
absl::StatusOr<RoundSamples> ParseRoundSamples(absl::string_view line);

// The middle value, or the mean of the middle two; requires one at least.
double Median(std::vector<double> values);

// The mean without the tenth at either end; requires one at least. An iteration is a sum of layer times: the mean of a
// sum is the sum of the means, while medians of skewed times add up to too little.
double TrimmedMean(std::vector<double> values);

struct ProfileEntry {
  ir::LayerKind layer = ir::LayerKind::kBlock;
  ProfileCase size;
  LayerSeconds seconds;  // trimmed means over ranks, rounds and repetitions
  double spread = 0;     // of forward + backward: (third − first quartile) / median
};
// By layer kind, degree, micro-batch, whatever the order of the samples.
std::vector<ProfileEntry> EntriesOf(const std::vector<RoundSamples>& samples);

// The text of a measured profile of `gpu`; AddMeasuredProfile (simulator/profiles.h) reads it.
std::string ProfileText(const ir::Problem& problem, ir::GpuId gpu, const std::vector<ProfileEntry>& entries);

}  // namespace sail::rt
