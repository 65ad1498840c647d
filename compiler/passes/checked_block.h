// Blocks whose structure and attributes have been checked against the schema, with values converted to what the schema
// says and defaults filled in. Lowering reads these and nothing of the tree.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/passes/evaluate.h"
#include "compiler/passes/modules.h"
#include "compiler/passes/schema.h"
#include "compiler/passes/value.h"

namespace sail {

struct CheckedBlock;

struct CheckedAttribute {
  const AttributeSchema* schema = nullptr;
  SourceRange name_range;
  const ast::Expr* expr = nullptr;  // null for a default
  const Scope* scope = nullptr;     // of `expr`
  std::optional<Value> value;       // absent after an error
};

struct CheckedBlock {
  const KindSchema* kind = nullptr;
  const Module* module = nullptr;
  const CheckedBlock* parent = nullptr;
  std::string label;
  SourceRange header;
  SourceRange label_range;
  const ast::Block* block = nullptr;          // null for a link
  const ast::Link* link = nullptr;            // for a link
  const ast::Objective* objective = nullptr;  // of a job
  const Scope* scope = nullptr;
  std::map<std::string, CheckedAttribute> attributes;
  std::vector<std::unique_ptr<CheckedBlock>> children;
  bool is_sound = true;  // nothing in it or in its children was reported
  // Names that a reported mistake was meant to be (`quotas`): their absence is no second mistake.
  std::set<std::string> excused;

  const CheckedBlock* Child(absl::string_view child_kind) const;  // of an at-most-one kind, or null
  std::vector<const CheckedBlock*> Children(absl::string_view child_kind) const;

  // Attributes by name. Those with a default or required are always there in a sound block.
  bool Has(const std::string& name) const { return attributes.contains(name); }
  const Value& Get(const std::string& name) const;
  SourceRange RangeOf(const std::string& name) const;  // of the value, or the block's header for a default
  const Amount& GetAmount(const std::string& name) const;
  double GetDouble(const std::string& name) const { return GetAmount(name).value.ToDouble(); }
  int64_t GetInt(const std::string& name) const;
  int64_t GetIntOr(const std::string& name, int64_t fallback) const { return Has(name) ? GetInt(name) : fallback; }
  bool GetBool(const std::string& name) const;
  const std::string& GetText(const std::string& name) const;
};

// Every block of every module.
struct CheckedBlocks {
  std::vector<std::unique_ptr<CheckedBlock>> top;  // by module, then source order
  std::map<const ast::Block*, const CheckedBlock*> by_source;

  // What a kReference attribute of a sound block refers to; null if that block was not checked.
  const CheckedBlock* Follow(const CheckedBlock& from, const std::string& attribute) const;
};

// Phase 3 (build_blocks.cc): the structure; also evaluates every let. Attributes have no values yet.
CheckedBlocks BuildBlocks(const ModuleSet& modules, Evaluator& evaluator, DiagnosticSink& sink);
// Phase 4 (check_attributes.cc): values, defaults, missing attributes.
void CheckAttributes(CheckedBlocks& blocks, Evaluator& evaluator, DiagnosticSink& sink);

// Converts a value to what the schema says (convert.cc); nullopt when an error was reported.
std::optional<Value> ConvertValue(const AttributeSchema& schema, Value value, DiagnosticSink& sink);
// The word of an enumeration, which is no name: checked, not evaluated.
std::optional<Value> ConvertEnum(const AttributeSchema& schema, const ast::Expr& expr, DiagnosticSink& sink);
// The value of a literal default of the schema; nullopt for a computed one ("4 * hidden"), which lowering fills in.
std::optional<Value> DefaultValue(const AttributeSchema& schema);
// Whether a quantity has a dimension that the attribute accepts.
bool DimensionFits(const AttributeSchema& schema, const Dimension& dimension);

}  // namespace sail
