// What must hold of a source text before it is split into words.
#pragma once

#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/parse.h"

namespace sail::frontend {

// Size (SAIL0119) and UTF-8 (SAIL0109). One diagnostic at most; false if there was one.
bool CheckText(const SourceFile& file, SourceId id, const ParseLimits& limits, DiagnosticSink& sink);

}  // namespace sail::frontend
