// What the compiler found out about names and attributes, in Markdown.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/lsp/checked_document.h"

namespace sail::lsp {

// `100 Gbps` = 12.5 GB/s
std::string ValueText(const Value& value);
// "8:7" in the document itself, "std/gcp@2026.11:88" elsewhere; files beside the document by their relative path.
std::string PlaceText(const CheckedDocument& checked, const SourceRange& range);
// "written at 8:7", "default", "inherited from std/gcp@2026.11:88", "override of std/gcp@2026.11:88 (was `40 GiB`)",
// and the param or let that the value is: "param max_cost, default at 8:7".
std::string ProvenanceText(const CheckedDocument& checked, const CheckedAttribute& attribute);

// The kind of what is declared at `declaration`, its type, value, comment and place; empty if it is nothing known.
std::string DescribeName(const CheckedDocument& checked, const SourceRange& declaration);
// The value, where it comes from, and what the schema says. Several: one attribute in the rounds of a loop.
std::string DescribeAttribute(const CheckedDocument& checked, const std::vector<const CheckedAttribute*>& attributes);

// What the schema says.
std::string SchemaText(const AttributeSchema& attribute);

}  // namespace sail::lsp
