#pragma once

#include "compiler/base/diagnostic.h"
#include "compiler/passes/checked_block.h"

namespace sail {

// GPU memory in decimal units (SAIL0215), spot prices above on-demand ones (SAIL0407), and figures several times off
// those of the catalogue's gpu of the same name (SAIL0424), in files that are not standard.
void LintCatalogue(const CheckedBlocks& blocks, DiagnosticSink& sink);

// Machines against those of the standard library (lint_machines.cc): one of the same name with another number of GPUs
// (SAIL0425), and a price per GPU several times off those of all machines with the same gpu (SAIL0424).
void LintMachines(const CheckedBlocks& blocks, DiagnosticSink& sink);

}  // namespace sail
