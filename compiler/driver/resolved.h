// A specification with everything in place: loops unrolled, bases copied, overrides and defaults applied, names
// replaced by values. `sailc expand` prints it, as Sail or as JSON, with where each value comes from.
#pragma once

#include <string>

#include "compiler/base/json.h"
#include "compiler/base/source.h"
#include "compiler/passes/pipeline.h"

namespace sail::driver {

// The blocks of the main file, and of imported files those that they lead to. `why` adds a comment to every attribute.
std::string PrintResolved(const CheckedSpec& spec, const SourceManager& sources, bool why);
Json ResolvedJson(const CheckedSpec& spec, const SourceManager& sources);

}  // namespace sail::driver
