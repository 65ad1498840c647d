// How the published simulator (published_model.h) sees the pipelines of a plan: which are alike, and which layers are
// reduced together; and its constants.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "compiler/base/units.h"
#include "compiler/ir/plan.h"

namespace sail::sim {

inline constexpr int kFloatBytes = 4;
inline constexpr int kStateBytes = 24;  // per parameter
inline constexpr double kChunkBytes = 500e6;
inline constexpr Bytes kMoreThanAnyGpu = Bytes(int64_t{1} << 60);
inline Bytes FrameworkBytes(int tensor) { return Bytes(tensor == 1 ? 2'000'000'000 : 3'000'000'000); }
inline constexpr int kLargestDivisor = 4;  // of weights that are reduced

// Seconds to reduce `bytes` in chunks, given those of one chunk: ring(bytes of it).
template <class Ring>
double SecondsInChunks(double bytes, const Ring& ring) {
  const double chunks = std::floor(bytes / kChunkBytes);
  const double rest = bytes - chunks * kChunkBytes;
  return (chunks > 0 ? chunks * ring(kChunkBytes) : 0) + (rest > 0 ? ring(rest) : 0);
}

// Whether both cut the layers at the same places and have the same micro-batch.
bool IsSameShape(const ir::Pipeline& a, const ir::Pipeline& b);

// Layers that are reduced together, as the largest stage that holds them; what each pipeline has of them.
struct PublishedReduction {
  int first_layer = 0;
  int last_layer = 0;
  std::vector<std::vector<const ir::Stage*>> owners;  // by pipeline
};

// Each layer goes with the largest stage that holds it, the first such stage of the first such pipeline. The stages
// belong to `plan`.
std::vector<PublishedReduction> PublishedReductions(const ir::Plan& plan, int layers);

}  // namespace sail::sim
