// The one pseudo-random generator (SplitMix64, Steele et al. 2014) and our own distributions, so that equal seeds give
// equal numbers on every platform and library. Also the keyed hash that makes initialisation independent of the plan.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace sail {

// One SplitMix64 output for a state: a bijective mixing of 64 bits.
constexpr uint64_t Mix64(uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// FNV-1a over bytes, mixed; a stable 64-bit key of a name.
constexpr uint64_t HashName(absl::string_view name) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return Mix64(hash);
}

class Rng {
 public:
  explicit constexpr Rng(uint64_t seed) : state_(seed) {}
  constexpr uint64_t Next() {
    const uint64_t value = Mix64(state_);
    state_ += 0x9e3779b97f4a7c15ULL;
    return value;
  }
  // Uniform in [0, bound); bound > 0. Multiply-shift, bias below 2^-64 * bound.
  constexpr int64_t Below(int64_t bound) {
    return static_cast<int64_t>((static_cast<unsigned __int128>(Next()) * static_cast<uint64_t>(bound)) >> 64);
  }
  constexpr double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }  // [0, 1)

 private:
  uint64_t state_;
};

}  // namespace sail
