// Evaluated values to what the schema says: dimension, wholeness, bounds, words.
#pragma once

#include <optional>

#include "compiler/base/diagnostic.h"
#include "compiler/passes/schema.h"
#include "compiler/passes/value.h"

namespace sail {

// nullopt when an error was reported.
std::optional<Value> ConvertValue(const AttributeSchema& schema, Value value, DiagnosticSink& sink);
// The value of a literal default of the schema; nullopt for a computed one ("4 * hidden"), which lowering fills in.
std::optional<Value> DefaultValue(const AttributeSchema& schema);
// Whether a quantity has a dimension that the attribute accepts.
bool DimensionFits(const AttributeSchema& schema, const Dimension& dimension);

}  // namespace sail
