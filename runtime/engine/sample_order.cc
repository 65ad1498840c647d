#include "runtime/engine/sample_order.h"

#include <bit>

#include "compiler/base/check.h"
#include "compiler/base/rng.h"

namespace sail::rt {
namespace {

int64_t SamplesBefore(const ir::Plan& plan, int pipeline) {
  int64_t samples = 0;
  for (int p = 0; p < pipeline; ++p) samples += plan.pipelines[p].samples();
  return samples;
}

}  // namespace

SampleOrder::SampleOrder(int64_t tokens, int64_t seq_len, uint64_t seed)
    : seq_len_(seq_len), windows_((tokens - 1) / seq_len), seed_(seed) {
  SAIL_CHECK(tokens > seq_len) << tokens << " tokens for samples of " << seq_len;
}

int64_t SampleOrder::FirstToken(int64_t sample) const {
  const int64_t epoch = sample / windows_;
  const uint64_t key = Mix64(Mix64(seed_ ^ HashName("sample order")) ^ static_cast<uint64_t>(epoch));
  return Permute(sample % windows_, windows_, key) * seq_len_;
}

int64_t Permute(int64_t index, int64_t count, uint64_t key) {
  constexpr int kRounds = 6;
  SAIL_CHECK(index >= 0 && index < count) << index << " of " << count;
  const int half = (std::bit_width(static_cast<uint64_t>(count - 1)) + 1) / 2;
  const uint64_t mask = (uint64_t{1} << half) - 1;
  auto value = static_cast<uint64_t>(index);
  do {
    uint64_t left = value >> half;
    uint64_t right = value & mask;
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t mixed = left ^ (Mix64(key ^ (right * kRounds + static_cast<uint64_t>(round))) & mask);
      left = right;
      right = mixed;
    }
    value = left << half | right;
  } while (value >= static_cast<uint64_t>(count));
  return static_cast<int64_t>(value);
}

int64_t FirstSample(const ir::Plan& plan, int pipeline, int micro_batch) {
  return SamplesBefore(plan, pipeline) + int64_t{micro_batch} * plan.pipelines[pipeline].micro_batch;
}

int64_t GlobalBatch(const ir::Plan& plan) { return SamplesBefore(plan, static_cast<int>(plan.pipelines.size())); }

}  // namespace sail::rt
