// Seconds per layer kind, gpu, tensor degree and micro-batch, each measured or derived from a datasheet. A missing
// entry is an error that names it, never zero.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/units.h"
#include "compiler/ir/cluster.h"
#include "compiler/ir/model.h"

namespace sail::ir {

enum class Provenance { kMeasured, kDerived, kAssumed };
absl::string_view ToString(Provenance provenance);

struct ProfileKey {
  LayerKind kind = LayerKind::kBlock;
  GpuId gpu = GpuId(-1);
  int tensor = 1;
  int micro_batch = 1;
  friend auto operator<=>(const ProfileKey&, const ProfileKey&) = default;
};

// One micro-batch through one layer on one tensor group, its tensor-parallel collectives included, and the optimizer
// step of the layer's parameters on one rank (once per iteration).
struct LayerTime {
  Seconds forward = Seconds(0);
  Seconds backward = Seconds(0);
  Seconds optimizer = Seconds(0);
  Provenance provenance = Provenance::kDerived;
  std::optional<Bytes> activations;  // measured: kept on one rank for the backward of the micro-batch
  friend bool operator==(const LayerTime&, const LayerTime&) = default;
};

class Profile {
 public:
  void Set(const ProfileKey& key, const LayerTime& time) { times_.insert_or_assign(key, time); }
  const LayerTime* Find(const ProfileKey& key) const {
    const auto it = times_.find(key);
    return it == times_.end() ? nullptr : &it->second;
  }
  // NotFound naming the entry: "no profile entry for block on A100_40, tensor 2, micro-batch 4".
  absl::StatusOr<LayerTime> Get(const ProfileKey& key, const Cluster& cluster) const;
  const std::map<ProfileKey, LayerTime>& times() const { return times_; }
  friend bool operator==(const Profile&, const Profile&) = default;

 private:
  std::map<ProfileKey, LayerTime> times_;
};

}  // namespace sail::ir
