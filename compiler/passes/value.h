// What an expression of the language evaluates to. Every value keeps the range it was read from.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/frontend/ast.h"
#include "compiler/passes/modules.h"
#include "compiler/passes/unit_table.h"

namespace sail {

struct Value;

struct TextValue {
  std::string text;
};
struct NoneValue {};
struct RangeValue {
  Rational first, last;
};  // whole numbers, both ends included
struct ListValue {
  std::vector<Value> elements;
  int64_t total = 0;  // elements, those of inner lists included
};
// A declared block, named by the expression.
struct BlockValue {
  const ast::Block* block = nullptr;
};
struct ModuleValue {
  const Module* module = nullptr;
};

struct Value {
  std::variant<Amount, TextValue, bool, NoneValue, RangeValue, ListValue, BlockValue, ModuleValue> content;
  SourceRange range;
};

// "a bandwidth", "a text", "a list", "machine `a100x4`".
std::string DescribeValue(const Value& value);

}  // namespace sail
