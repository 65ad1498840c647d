// Measures the layers of a model as training runs them, on this rank among others that are as busy. No Torch types
// here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/placement.h"
#include "compiler/ir/problem.h"
#include "runtime/engine/trainer.h"
#include "runtime/profile/measurements.h"

namespace sail::rt {

// One of `ranks` processes that measure at the same time; `store` is where they meet.
struct ProfileRank {
  ir::Rank rank = ir::Rank(0);
  int ranks = 1;
  StoreAddress store;
};

// Between two rounds of a case all other cases have one, so that a machine that slows down slows all of them alike.
inline constexpr int kProfileRounds = 5;

// For each degree in turn: ranks 0..t-1, t..2t-1, … are tensor groups, each with a chain of embedding, the first blocks
// (4 at most, so that caches see more than one block's weights) and head. A round runs iterations of one micro-batch:
// clear gradients, forward through the chain, backward, update, each layer timed by itself; an iteration before them is
// not counted. `on_round` is called after each round on each rank that is in a group. `problem` must be trainable and
// `cases` those of CasesOf. Errors: see TrainRank.
absl::Status ProfileLayers(const ir::Problem& problem, const std::vector<ProfileCase>& cases, const ProfileRank& self,
                           const std::function<absl::Status(const RoundSamples&)>& on_round);

}  // namespace sail::rt
