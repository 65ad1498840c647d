// Names and what they stand for. A scope belongs to a module, a block body, one round of a loop or of a comprehension;
// scopes are made while blocks are expanded, because each round of a `for` has its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/frontend/ast.h"
#include "compiler/passes/value.h"

namespace sail {

struct Scope;

// What a name stands for: a let, a param, a block, an import, or (all pointers null) a value that a loop gave it or
// nothing at all, after an error.
struct Binding {
  SourceRange range;  // of the name where it is declared
  const ast::Let* let = nullptr;
  const ast::Param* param = nullptr;
  const ast::Block* block = nullptr;
  Module* module = nullptr;
  CheckedBlock* parent = nullptr;  // the block that `block` is a child of; null at the top level

  enum class State { kOpen, kDone };
  State state = State::kOpen;
  std::optional<Value> value;  // when done; absent after an error
  bool is_used = false;

  bool is_import() const { return module != nullptr; }
};

struct Scope {
  Scope* parent = nullptr;
  Module* module = nullptr;
  std::map<std::string, Binding> names;

  struct Found {
    Binding* binding = nullptr;
    Scope* owner = nullptr;
  };
  Found Find(const std::string& name);
  std::vector<std::string> VisibleNames() const;
};

}  // namespace sail
