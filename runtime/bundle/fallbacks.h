// Plans for what may be lost, beside the plan of a bundle: how bundle.json lists them and what must hold of them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"
#include "runtime/bundle/bundle.h"

namespace sail::rt {

inline constexpr absl::string_view kFallbackDirectory = "fallbacks/";

// Where the plan file of the fallback lies in the bundle.
std::string FallbackPath(const Fallback& fallback);

// [{"nodes": […]} or {"zone": index}, with "file" if there is a plan].
Json FallbacksJson(const std::vector<Fallback>& fallbacks);
// Without the texts of the plan files, of which those that are listed have the path.
absl::StatusOr<std::vector<Fallback>> ParseFallbacks(const Json& json);

// InvalidArgument naming the fallback: a loss of no node with ranks or of no zone; a plan file that cannot be read,
// that is of another problem (numbers of nodes apart) or was not made from the plan of the bundle, or whose plan is
// unsound or not trained by the runtime.
absl::Status CheckFallbacks(const Bundle& bundle);

}  // namespace sail::rt
