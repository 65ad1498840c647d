// What the language consists of: kinds, attributes, units, words, diagnostics, metrics. `sailc schema` prints it;
// editor support is generated from it.
#pragma once

#include <string>

#include "compiler/base/json.h"

namespace sail::driver {

Json SchemaDocument();
// The same for people, as tables.
std::string SchemaTables();

}  // namespace sail::driver
