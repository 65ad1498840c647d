// The schema in words, for `sailc schema`, hover and completion.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "compiler/passes/schema.h"

namespace sail {

absl::string_view NameOf(ValueType type);  // "quantity", "integer_list"
absl::string_view NameOf(Bound bound);     // "any", "not_negative", "positive"

// What the attribute expects: "a bandwidth in Gbps", "one of spot, on_demand, reserved", "a machine".
std::string DescribeType(const AttributeSchema& attribute);
// "required", "default: 100 iters", "optional".
std::string DescribePresence(const AttributeSchema& attribute);

// Following a dotted name from a block of `kind`: "price.spot" enters a child block, "gpu.memory" follows a reference.
// Null when it leads nowhere. The top level is the kind "file".
const KindSchema* ResolveKind(absl::string_view kind, absl::Span<const std::string> path);
const AttributeSchema* ResolveAttribute(absl::string_view kind, absl::Span<const std::string> path);

}  // namespace sail
