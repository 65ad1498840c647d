// Blocks as they are after expansion: loops unrolled, bases copied, overrides applied; then with every attribute
// evaluated, converted to what the schema says, and defaults filled in. Lowering reads these and nothing of the tree.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/passes/modules.h"
#include "compiler/passes/schema.h"
#include "compiler/passes/value.h"

namespace sail {

struct CheckedBlock;

// How an attribute got its value.
enum class Origin { kWritten, kDefault, kInherited, kOverride };

struct CheckedAttribute {
  const AttributeSchema* schema = nullptr;
  SourceRange name_range;
  const ast::Expr* expr = nullptr;  // null for a default
  Scope* scope = nullptr;           // of `expr`
  Origin origin = Origin::kWritten;
  SourceRange overridden;  // the inherited value that an override replaced

  Binding::State state = Binding::State::kOpen;  // of `raw`
  std::optional<Value> raw;                      // as evaluated
  std::optional<Value> value;                    // as the schema wants it; absent after an error
};

struct CheckedBlock {
  const KindSchema* kind = nullptr;
  Module* module = nullptr;
  CheckedBlock* parent = nullptr;
  const CheckedBlock* base = nullptr;  // of `extends`, or what this is an inherited copy of
  bool lacks_base = false;             // its base has an error of its own: what is missing is no second mistake
  bool is_inherited = false;           // a child that came with the base of its parent
  std::string label;
  SourceRange header;
  SourceRange label_range;
  const ast::Block* block = nullptr;          // null for a link
  const ast::Link* link = nullptr;            // for a link
  std::vector<std::string> from, to;          // zones of a link: label, or region and label; empty: any zone
  const ast::Objective* objective = nullptr;  // of a job
  Scope* scope = nullptr;
  std::map<std::string, CheckedAttribute> attributes;
  std::vector<std::unique_ptr<CheckedBlock>> children;
  std::map<std::pair<std::string, std::string>, CheckedBlock*> index;  // children by kind and label
  // Copies of blocks that an attribute refers to, made by overrides through it (`override gpu.memory = …`).
  std::map<std::string, std::unique_ptr<CheckedBlock>> copies;
  std::vector<std::pair<const ast::Assert*, Scope*>> asserts;
  bool is_sound = true;  // nothing in it or in its children was reported
  // Names that a reported mistake was meant to be (`quotas`): their absence is no second mistake.
  std::set<std::string> excused;

  CheckedBlock* Child(const std::string& child_kind, const std::string& child_label = "") const;  // or null
  std::vector<CheckedBlock*> Children(absl::string_view child_kind) const;
  void AddChild(std::unique_ptr<CheckedBlock> child);
  // All blocks of a kind below this one: the pools of all zones of some resources have one namespace.
  std::vector<CheckedBlock*> Below(absl::string_view descendant_kind) const;

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
  std::vector<std::string> GetTexts(const std::string& name) const;  // of a list of texts or words
  // What a reference refers to; null when the value is absent.
  CheckedBlock* Follow(const std::string& name) const;
};

// "machine `a100x4`", "price" for a kind without names.
std::string NameOf(const CheckedBlock& block);
// What a link is called in paths: "within_region", "across_zone", "any", or its two ends "a->b".
std::string LinkLabel(const CheckedBlock& link);

// A copy of `source` as the base of a block: its attributes and children are inherited. Returns the number of blocks
// and attributes copied.
int64_t CopyInherited(const CheckedBlock& source, CheckedBlock& target);

// Every block of every module, those of loops included.
struct CheckedBlocks {
  std::vector<std::unique_ptr<CheckedBlock>> top;  // by module, then source order
  // Assertions at the top level of the main file.
  std::vector<std::pair<const ast::Assert*, Scope*>> asserts;
  std::vector<std::unique_ptr<CheckedBlock>> removed;  // by `remove`; values may still point to them
};

}  // namespace sail
