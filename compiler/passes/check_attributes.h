// Phase 4: attributes. They are evaluated and converted to what the schema says; missing ones are filled in or
// reported.
#pragma once

#include "compiler/passes/checked_block.h"
#include "compiler/passes/evaluate.h"

namespace sail {

void CheckAttributes(CheckedBlocks& blocks, Evaluator& evaluator, DiagnosticSink& sink);

}  // namespace sail
