// What sailrun can train. Asked before a bundle is written and again by each worker. No LibTorch here: sailc links it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::rt {

// OPT leaves the first rows of its position table unused.
inline constexpr int64_t kOptPositionOffset = 2;

// InvalidArgument naming the first property of the model or the precision that the runtime does not train, or of the
// trainer or the plan that it does not do.
absl::Status CheckTrainable(const ir::Problem& problem, const ir::Plan& plan);

}  // namespace sail::rt
