// Phase 3: structure. The statements of each body are sorted into attributes and children; unknown, misplaced and
// repeated ones are reported.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/base/check.h"
#include "compiler/passes/checked_block.h"

namespace sail {
namespace {

class BlockBuilder {
 public:
  BlockBuilder(const ModuleSet& modules, Evaluator& evaluator, DiagnosticSink& sink)
      : modules_(modules), evaluator_(evaluator), sink_(sink) {}

  CheckedBlocks Build() {
    for (const auto& module : modules_.modules) {
      for (const ast::Item& item : module->spec.items) CheckItem(*module, item);
    }
    return std::move(result_);
  }

 private:
  void CheckItem(const Module& module, const ast::Item& item) {
    module_ = &module;
    if (const auto* let = std::get_if<ast::Let>(&item)) evaluator_.EvaluateLet(*let, module.top);
    if (const auto* link = std::get_if<ast::Link>(&item)) {
      Misplaced(link->range, "`link` belongs in a `resources` block");
    }
    const auto* block = std::get_if<ast::Block>(&item);
    if (block == nullptr) return;
    const KindSchema* kind = AllowedKind(*block, "file");
    if (kind == nullptr) return;
    auto checked = BuildBlock(*block, *kind, nullptr);
    result_.by_source[block] = checked.get();
    result_.top.push_back(std::move(checked));
  }

  void Report(DiagnosticCode code, SourceRange range, std::string message, std::string label = "",
              std::vector<std::string> helps = {}) {
    sink_.Report({.code = code,
                  .message = std::move(message),
                  .primary = {range, std::move(label)},
                  .secondary = {},
                  .notes = {},
                  .helps = std::move(helps)});
  }
  void Misplaced(SourceRange range, std::string message) {
    Report(DiagnosticCode::kMisplacedStatement, range, std::move(message));
  }
  static std::vector<std::string> DidYouMean(const std::string& nearest) {
    if (nearest.empty()) return {};
    return {absl::StrCat("did you mean `", nearest, "`?")};
  }

  // The schema of a block, if it may stand inside `parent`.
  const KindSchema* AllowedKind(const ast::Block& block, absl::string_view parent) {
    const KindSchema* kind = FindKind(block.kind.text);
    if (kind == nullptr) {
      std::vector<std::string> helps = DidYouMean(Nearest(block.kind.text, KindNames()));
      if (FindAttribute(parent, block.kind.text) != nullptr) {
        helps = {absl::StrCat("`", block.kind.text, "` is an attribute: write `", block.kind.text, " = …`")};
      }
      Report(DiagnosticCode::kUnknownBlock, block.kind.range, absl::StrCat("unknown block `", block.kind.text, "`"), "",
             std::move(helps));
      return nullptr;
    }
    if (!MayContain(parent, *kind)) {
      const std::string where = absl::StrReplaceAll(kind->parents, {{"|", ", "}, {"file", "the top level"}});
      Report(DiagnosticCode::kMisplacedStatement, block.kind.range,
             absl::StrCat("`", kind->name, "` cannot stand ",
                          parent == "file" ? "at the top level" : absl::StrCat("inside `", parent, "`")),
             "", {absl::StrCat("allowed in: ", where)});
      return nullptr;
    }
    if (kind->label == LabelRule::kRequired && !block.label) {
      Report(DiagnosticCode::kMissingAttribute, block.header, absl::StrCat("`", kind->name, "` needs a name"), "",
             {absl::StrCat("write `", kind->name, " NAME { … }`")});
      return nullptr;
    }
    if (kind->label == LabelRule::kNone && block.label) {
      Misplaced(block.label->range, absl::StrCat("`", kind->name, "` takes no name"));
      return nullptr;
    }
    return kind;
  }

  std::unique_ptr<CheckedBlock> BuildBlock(const ast::Block& block, const KindSchema& kind,
                                           const CheckedBlock* parent) {
    auto checked = std::make_unique<CheckedBlock>();
    checked->kind = &kind;
    checked->module = module_;
    checked->parent = parent;
    checked->label = block.label ? block.label->text : "";
    checked->label_range = block.label ? block.label->range : block.header;
    checked->header = block.header;
    checked->block = &block;
    FillFrom(*checked, block.body.front());
    return checked;
  }

  void FillFrom(CheckedBlock& checked, const ast::Body& body) {
    const int errors = sink_.error_count();
    checked.scope = &modules_.ScopeOf(body);
    for (const ast::Statement& statement : body.statements) {
      if (const auto* assignment = std::get_if<ast::Assignment>(&statement)) {
        AddAssignment(checked, *assignment, 0, *checked.scope);
      } else if (const auto* let = std::get_if<ast::Let>(&statement)) {
        evaluator_.EvaluateLet(*let, *checked.scope);
      } else if (const auto* objective = std::get_if<ast::Objective>(&statement)) {
        AddObjective(checked, *objective);
      } else if (const auto* link = std::get_if<ast::Link>(&statement)) {
        AddLink(checked, *link);
      } else {
        AddBlock(checked, std::get<ast::Block>(statement));
      }
    }
    if (sink_.error_count() != errors) checked.is_sound = false;
  }

  void AddObjective(CheckedBlock& checked, const ast::Objective& objective) {
    if (absl::string_view(checked.kind->name) != "job") {
      Misplaced(objective.range, "an objective belongs in a `job` block");
    } else if (checked.objective != nullptr) {
      sink_.Report({.code = DiagnosticCode::kDuplicateAttribute,
                    .message = "the objective is given twice",
                    .primary = {objective.range, ""},
                    .secondary = {{checked.objective->range, "first given here"}},
                    .notes = {},
                    .helps = {"join them: `minimize a then maximize b`"}});
    } else {
      checked.objective = &objective;
    }
  }

  void AddLink(CheckedBlock& checked, const ast::Link& link) {
    if (absl::string_view(checked.kind->name) != "resources") {
      Misplaced(link.range, "`link` belongs in a `resources` block");
      return;
    }
    auto child = std::make_unique<CheckedBlock>();
    child->kind = FindKind("link");
    child->module = module_;
    child->parent = &checked;
    child->header = child->label_range = link.range;
    child->link = &link;
    FillFrom(*child, link.body.front());
    checked.children.push_back(std::move(child));
  }

  void AddBlock(CheckedBlock& checked, const ast::Block& block) {
    const KindSchema* kind = AllowedKind(block, checked.kind->name);
    if (kind == nullptr) {
      const bool is_known = FindKind(block.kind.text) != nullptr || FindAttribute(checked.kind->name, block.kind.text);
      checked.excused.insert(is_known ? block.kind.text : Nearest(block.kind.text, AttributeNames(checked.kind->name)));
      return;
    }
    for (const auto& sibling : checked.children) {
      const bool same = sibling->kind == kind && (kind->at_most_one || sibling->label == LabelOf(block));
      if (!same || sibling->link != nullptr) continue;
      sink_.Report({.code = DiagnosticCode::kDuplicateLabel,
                    .message = kind->at_most_one
                                   ? absl::StrCat("`", kind->name, "` is given twice")
                                   : absl::StrCat(kind->name, " `", sibling->label, "` is declared twice"),
                    .primary = {block.header, "declared again here"},
                    .secondary = {{sibling->header, "first declared here"}},
                    .notes = {},
                    .helps = {}});
      return;
    }
    checked.children.push_back(BuildBlock(block, *kind, &checked));
  }

  static std::string LabelOf(const ast::Block& block) { return block.label ? block.label->text : ""; }

  // `price.spot = …` sets an attribute of the child `price`; `depth` is the part that names an attribute of `checked`.
  void AddAssignment(CheckedBlock& checked, const ast::Assignment& assignment, size_t depth, const Scope& scope) {
    const ast::Identifier& name = assignment.target.parts[depth];
    const KindSchema* child_kind = FindKind(name.text);
    const bool is_child =
        child_kind != nullptr && child_kind->at_most_one && MayContain(checked.kind->name, *child_kind);
    if (depth + 1 < assignment.target.parts.size() && is_child) {
      AddAssignment(FindOrAddChild(checked, *child_kind, assignment), assignment, depth + 1, scope);
      return;
    }
    const AttributeSchema* schema = FindAttribute(checked.kind->name, name.text);
    const bool is_known = checked.kind->is_open || (schema != nullptr && depth + 1 == assignment.target.parts.size());
    if (!is_known) {
      if (is_child) {
        checked.excused.insert(name.text);
        Report(DiagnosticCode::kTypeMismatch, name.range, absl::StrCat("`", name.text, "` is a block, not a value"), "",
               {absl::StrCat("write `", name.text, " { … }`")});
        return;
      }
      const std::string nearest = Nearest(name.text, AttributeNames(checked.kind->name));
      checked.excused.insert(nearest);
      Report(DiagnosticCode::kUnknownAttribute, name.range,
             absl::StrCat(checked.kind->name, " has no attribute `", name.text, "`"), "", DidYouMean(nearest));
      return;
    }
    const ast::Identifier& key = checked.kind->is_open ? assignment.target.parts.back() : name;
    const auto [it, is_new] =
        checked.attributes.emplace(key.text, CheckedAttribute{.schema = schema,
                                                              .name_range = assignment.target.range,
                                                              .expr = &assignment.value,
                                                              .scope = &scope,
                                                              .value = std::nullopt});
    if (is_new) return;
    sink_.Report({.code = DiagnosticCode::kDuplicateAttribute,
                  .message = absl::StrCat("`", key.text, "` is set twice in this block"),
                  .primary = {assignment.target.range, "set again here"},
                  .secondary = {{it->second.name_range, "first set here"}},
                  .notes = {},
                  .helps = {"keep one"}});
  }

  CheckedBlock& FindOrAddChild(CheckedBlock& checked, const KindSchema& kind, const ast::Assignment& assignment) {
    for (const auto& child : checked.children) {
      if (child->kind == &kind) return *child;
    }
    auto child = std::make_unique<CheckedBlock>();
    child->kind = &kind;
    child->module = module_;
    child->parent = &checked;
    child->header = child->label_range = assignment.target.range;
    child->scope = checked.scope;
    checked.children.push_back(std::move(child));
    return *checked.children.back();
  }

  const ModuleSet& modules_;
  Evaluator& evaluator_;
  DiagnosticSink& sink_;
  const Module* module_ = nullptr;
  CheckedBlocks result_;
};

}  // namespace

CheckedBlocks BuildBlocks(const ModuleSet& modules, Evaluator& evaluator, DiagnosticSink& sink) {
  return BlockBuilder(modules, evaluator, sink).Build();
}

}  // namespace sail
