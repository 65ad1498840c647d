// Canonical layout of a .sail file: `sailc fmt`. No options. Comments, doc comments and blank-line groups are kept.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/parse.h"

namespace sail {

// The formatted text. Parses first: a file with syntax errors is not touched (DiagnosedError).
// Format(Format(x)) == Format(x), and both parse to the same tree.
absl::StatusOr<std::string> Format(const SourceManager& sources, SourceId file, const ParseLimits& limits,
                                   DiagnosticSink& sink);

}  // namespace sail
