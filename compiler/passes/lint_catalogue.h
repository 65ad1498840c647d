#pragma once

#include "compiler/base/diagnostic.h"
#include "compiler/passes/checked_block.h"

namespace sail {

// GPU memory in decimal units (SAIL0215), spot prices above on-demand ones (SAIL0407), and figures several times off
// those of the catalogue's gpu of the same name (SAIL0424), in files that are not standard.
void LintCatalogue(const CheckedBlocks& blocks, DiagnosticSink& sink);

}  // namespace sail
