// Escapes of string literals.
#pragma once

#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

// The value of a string token: \n \t \" \\ \u{…}. Reports SAIL0108 for other escapes and for `${`, which is reserved.
std::string StringValue(const Token& token, const SourceFile& file, SourceId id, DiagnosticSink& sink);

}  // namespace sail::frontend
