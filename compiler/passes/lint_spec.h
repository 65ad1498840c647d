// Warnings about what is legal and yet probably not meant, or not acted on.
#pragma once

#include <optional>
#include <string>

#include "compiler/passes/analysis.h"

namespace sail {

// Imports, lets and params of the user's files that nothing uses (SAIL0312). What a file without jobs declares at its
// top level is for others.
void LintUnused(Analysis& analysis, DiagnosticSink& sink);

// Blocks that are checked and that nothing acts on yet (SAIL0604).
void LintInert(const CheckedBlocks& blocks, DiagnosticSink& sink);

// Prices of zero (SAIL0408), prices that nothing is bought at (SAIL0312) and, when the day is known, price lists older
// than sixty days (SAIL0409).
void LintPrices(const CheckedBlocks& blocks, const std::optional<std::string>& today, DiagnosticSink& sink);

}  // namespace sail
