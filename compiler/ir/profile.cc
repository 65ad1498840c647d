#include "compiler/ir/profile.h"

#include "absl/strings/str_cat.h"

namespace sail::ir {

absl::StatusOr<LayerTime> Profile::Get(const ProfileKey& key, const Cluster& cluster) const {
  if (const LayerTime* time = Find(key)) return *time;
  return absl::NotFoundError(absl::StrCat("no profile entry for ", ToString(key.kind), " on ",
                                          cluster.gpus[key.gpu.index()].name, ", tensor ", key.tensor, ", micro-batch ",
                                          key.micro_batch));
}

}  // namespace sail::ir
