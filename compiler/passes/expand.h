// Phase 3: from the tree to blocks. Loops are unrolled, the blocks of a base are copied and overridden, and the
// statements of each body are sorted into attributes and children; unknown, misplaced and repeated ones are reported. A
// block is expanded when it is first needed, by name, by `extends` or by its place in the file.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes/checked_block.h"
#include "compiler/passes/evaluate.h"

namespace sail {

class Expander : public BlockSource {
 public:
  Expander(ModuleSet& modules, const SourceManager& sources, Evaluator& evaluator, DiagnosticSink& sink)
      : modules_(modules), sources_(sources), evaluator_(evaluator), sink_(sink) {}

  // Every block of every module; lets and params are evaluated too. Attributes have no values yet.
  CheckedBlocks Expand();

  CheckedBlock* BlockOf(Binding& binding, Scope& scope, const ast::Identifier& use) override;
  void ExpandLoops(Module& module) override;

 private:
  // The loops around a statement: labels must contain their variables.
  struct Loop {
    const Loop* outer = nullptr;
    const ast::For* statement = nullptr;
  };
  // A block statement where it stands: each round of a loop has its own scope, and so its own block.
  struct Built {
    std::unique_ptr<CheckedBlock> top;  // owns it while it has no parent
    CheckedBlock* block = nullptr;
    bool is_done = false;
  };

  void ExpandItem(Module& module, const ast::Item& item, CheckedBlocks& blocks);
  CheckedBlock* BlockAt(const ast::Block& block, CheckedBlock* parent, Scope& scope, const Loop* loop,
                        const ast::Identifier& use);
  void Build(const ast::Block& block, CheckedBlock* parent, Scope& scope, const Loop* loop, Built& built);
  // The schema of a block, if it may stand inside `parent` ("file" at the top level); else null, and reported.
  const KindSchema* AllowedKind(const ast::Block& block, absl::string_view parent);
  bool LabelFits(const ast::Block& block, const KindSchema& kind);
  std::optional<std::string> LabelOf(const ast::Block& block, const KindSchema& kind, Scope& scope, const Loop* loop);
  // `label`, unless it holds characters that cannot be printed, which is reported.
  std::optional<std::string> AsName(const std::string& label, SourceRange range);
  // Opens an inherited child again, or makes a new one; null if there is one already.
  CheckedBlock* Child(CheckedBlock& parent, const KindSchema& kind, const std::string& label, SourceRange header,
                      SourceRange label_range);
  bool CopyBase(const ast::Block& block, CheckedBlock& derived, Scope& scope);

  void FillBody(CheckedBlock* block, const ast::Body& body, Scope& scope, const Loop* loop);
  void AddStatement(CheckedBlock* block, const ast::Statement& statement, Scope& scope, const Loop* loop);
  void AddBlock(CheckedBlock* parent, const ast::Block& block, Scope& scope, const Loop* loop);
  void AddLink(CheckedBlock* parent, const ast::Link& link, Scope& scope, const Loop* loop);
  std::vector<std::string> LinkEnd(const ast::LinkEnd& end, Scope& scope);
  void AddObjective(CheckedBlock& block, const ast::Objective& objective);
  void Remove(CheckedBlock& block, const ast::Remove& remove);
  void ExpandFor(CheckedBlock* parent, const ast::For& loop, Scope& scope, const Loop* outer);
  void Force(Scope& scope, const ast::Identifier& name);

  // Assignments: `override gpu.memory = 80 GiB` (expand_assignments.cc).
  void Assign(CheckedBlock& block, const ast::Assignment& assignment, Scope& scope);
  CheckedBlock* Step(CheckedBlock& block, const ast::Assignment& assignment, size_t& part);
  CheckedBlock* CopyOfReferred(CheckedBlock& block, const ast::Identifier& attribute);
  void Set(CheckedBlock& block, const ast::Assignment& assignment, Scope& scope);
  void UnknownAttribute(CheckedBlock& block, const ast::Identifier& name);

  bool IsOpenedElsewhere(const KindSchema& kind, const std::string& label, const CheckedBlock& parent,
                         SourceRange header);
  void Misplaced(SourceRange range, std::string message) {
    sink_.Report(DiagnosticCode::kMisplacedStatement, range, std::move(message));
  }

  ModuleSet& modules_;
  const SourceManager& sources_;
  Evaluator& evaluator_;
  DiagnosticSink& sink_;
  std::map<std::pair<const ast::Block*, const Scope*>, Built> built_;
  std::map<const ast::For*, std::vector<Built*>> generated_;  // of loops at the top level
  std::map<const Module*, bool> loops_started_;
  std::vector<std::pair<const ast::Assert*, Scope*>> top_asserts_;  // of loops at the top level
  std::vector<std::unique_ptr<CheckedBlock>> removed_;              // values may still point to them
};

}  // namespace sail
