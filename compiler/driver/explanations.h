// The long texts behind the codes: docs/diagnostics/SAILnnnn.md, embedded when sailc is built
// (embed_explanations.cmake). tests/lint/explanations.py checks their layout, and that every code has one.
#pragma once

#include "absl/strings/string_view.h"
#include "compiler/base/diagnostic.h"

namespace sail::driver {

// Markdown: "# SAIL0204: title", a paragraph, "## Wrong" and "## Right" with one fenced file each. Empty if there is
// none.
absl::string_view ExplanationOf(DiagnosticCode code);

}  // namespace sail::driver
