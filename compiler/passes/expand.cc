#include "compiler/passes/expand.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/base/display_width.h"

namespace sail {
namespace {

constexpr int64_t kBlockCharge = 10;  // a block weighs about as much as ten values

bool Mentions(const ast::Expr& expr, const std::string& name) {
  return ast::AnyPart(expr, [&](const ast::Expr& part) {
    const auto* word = std::get_if<ast::NameExpr>(&part.node);
    return word != nullptr && word->name.text == name;
  });
}

// What a label in a loop keeps of the one written: nothing when that was the variable itself.
std::string Prefix(const ast::Block& block, const std::string& variable) {
  const bool is_variable = !block.label || block.label->text.empty() || block.label->text == variable;
  return is_variable ? "" : absl::StrCat(block.label->text, "-");
}

}  // namespace

CheckedBlocks Expander::Expand() {
  CheckedBlocks blocks;
  for (const auto& module : modules_.modules) {
    ExpandLoops(*module);
    for (const ast::Item& item : module->spec.items) ExpandItem(*module, item, blocks);
  }
  blocks.removed = std::move(removed_);
  for (const auto& [assertion, scope] : top_asserts_) {
    if (scope->module == &modules_.main()) blocks.asserts.emplace_back(assertion, scope);
  }
  return blocks;
}

void Expander::ExpandItem(Module& module, const ast::Item& item, CheckedBlocks& blocks) {
  const auto keep = [&](Built& built) {
    if (built.top != nullptr) blocks.top.push_back(std::move(built.top));
  };
  if (const auto* let = std::get_if<ast::Let>(&item)) {
    Force(module.top, let->name);
  } else if (const auto* param = std::get_if<ast::Param>(&item)) {
    Force(module.top, param->name);
  } else if (const auto* link = std::get_if<ast::Link>(&item)) {
    Misplaced(link->range, "`link` belongs in a `resources` block");
  } else if (const auto* assertion = std::get_if<ast::Assert>(&item)) {
    if (&module == &modules_.main()) blocks.asserts.emplace_back(assertion, &module.top);
  } else if (const auto* block = std::get_if<ast::Block>(&item)) {
    BlockAt(*block, nullptr, module.top, nullptr, block->label ? *block->label : block->kind);
    keep(built_[{block, &module.top}]);
  } else if (const auto* loop = std::get_if<ast::For>(&item)) {
    for (Built* built : generated_[loop]) keep(*built);
  }
}

// Evaluates a let or param that nobody may use.
void Expander::Force(Scope& scope, const ast::Identifier& name) {
  const auto found = scope.names.find(name.text);
  if (found == scope.names.end() || !(found->second.range == name.range)) return;  // a second one of the name
  const bool is_used = found->second.is_used;
  evaluator_.ValueOf(found->second, scope, name);
  found->second.is_used = is_used;
}

void Expander::ExpandLoops(Module& module) {
  if (std::exchange(loops_started_[&module], true)) return;
  for (const ast::Item& item : module.spec.items) {
    if (const auto* loop = std::get_if<ast::For>(&item)) ExpandFor(nullptr, *loop, module.top, nullptr);
  }
}

CheckedBlock* Expander::BlockOf(Binding& binding, Scope& scope, const ast::Identifier& use) {
  return BlockAt(*binding.block, binding.parent, scope, nullptr, use);
}

CheckedBlock* Expander::BlockAt(const ast::Block& block, CheckedBlock* parent, Scope& scope, const Loop* loop,
                                const ast::Identifier& use) {
  Built& built = built_[{&block, &scope}];
  if (built.is_done) return built.block;
  if (!evaluator_.Enter(&built, use)) return nullptr;
  Build(block, parent, scope, loop, built);
  built.is_done = true;
  evaluator_.Leave();
  return built.block;
}

void Expander::Build(const ast::Block& block, CheckedBlock* parent, Scope& scope, const Loop* loop, Built& built) {
  const absl::string_view place = parent != nullptr ? parent->kind->name : "file";
  const KindSchema* kind = AllowedKind(block, place);
  if (kind == nullptr) {
    if (parent == nullptr) return;
    const bool is_known = FindKind(block.kind.text) != nullptr || FindAttribute(place, block.kind.text) != nullptr;
    parent->excused.insert(is_known ? block.kind.text : Nearest(block.kind.text, AttributeNames(place)));
    return;
  }
  const auto label = LabelOf(block, *kind, scope, loop);
  if (!label ||
      !evaluator_.Charge(kBlockCharge + static_cast<int64_t>(block.body.front().statements.size()), block.header)) {
    if (parent != nullptr) parent->is_sound = false;
    return;
  }
  const SourceRange label_range = block.label ? block.label->range : block.header;
  CheckedBlock* checked = nullptr;
  if (parent != nullptr && IsOpenedElsewhere(*kind, *label, *parent, block.header)) return;
  if (parent != nullptr) {
    checked = Child(*parent, *kind, *label, block.header, label_range);
    if (checked == nullptr) return;
  } else {
    built.top = std::make_unique<CheckedBlock>();
    checked = built.top.get();
    checked->kind = kind;
    checked->label = *label;
    checked->header = block.header;
    checked->label_range = label_range;
  }
  checked->module = scope.module;
  checked->block = &block;
  const int reports = sink_.reports();
  const bool has_base = CopyBase(block, *checked, scope);
  checked->lacks_base = !has_base;
  if (has_base) FillBody(checked, block.body.front(), evaluator_.NewScope(&scope), nullptr);
  if (!has_base || sink_.reports() != reports) checked->is_sound = false;
  built.block = checked;
}

// A pool of the base is opened again where it stands, for its name is that of one pool in all zones.
bool Expander::IsOpenedElsewhere(const KindSchema& kind, const std::string& label, const CheckedBlock& parent,
                                 SourceRange header) {
  if (absl::string_view(kind.name) != "pool") return false;
  const CheckedBlock* resources = &parent;
  while (resources->parent != nullptr) resources = resources->parent;
  if (resources->base == nullptr) return false;  // nothing is inherited; do not look through every pool for each
  for (const CheckedBlock* pool : resources->Below("pool")) {
    if (pool->label != label || !pool->is_inherited || pool->parent == &parent) continue;
    std::string opened = absl::StrCat("pool ", label, " { … }");
    for (const CheckedBlock* place = pool->parent; place != resources; place = place->parent) {
      opened = absl::StrCat(place->kind->name, " \"", place->label, "\" { ", opened, " }");
    }
    sink_.Report(DiagnosticCode::kDuplicateLabel, header,
                 absl::StrCat("pool `", label, "` of the base stands in ", NameOf(*pool->parent)),
                 {absl::StrCat("open it there, `", opened, "`, or remove it first")},
                 {{pool->header, "first declared here"}}, "declared again here");
    return true;
  }
  return false;
}

const KindSchema* Expander::AllowedKind(const ast::Block& block, absl::string_view parent) {
  const KindSchema* kind = FindKind(block.kind.text);
  if (kind == nullptr) {
    std::vector<std::string> helps = DidYouMean(Nearest(block.kind.text, KindNames()));
    if (FindAttribute(parent, block.kind.text) != nullptr) {
      helps = {absl::StrCat("`", block.kind.text, "` is an attribute: write `", block.kind.text, " = …`")};
    }
    sink_.Report(DiagnosticCode::kUnknownBlock, block.kind.range, absl::StrCat("unknown block `", block.kind.text, "`"),
                 std::move(helps));
    return nullptr;
  }
  if (!MayContain(parent, *kind)) {
    const std::string where = absl::StrReplaceAll(kind->parents, {{"|", ", "}, {"file", "the top level"}});
    sink_.Report(DiagnosticCode::kMisplacedStatement, block.kind.range,
                 absl::StrCat("`", kind->name, "` cannot stand ",
                              parent == "file" ? "at the top level" : absl::StrCat("inside `", parent, "`")),
                 {absl::StrCat("allowed in: ", where)});
    return nullptr;
  }
  return LabelFits(block, *kind) ? kind : nullptr;
}

bool Expander::LabelFits(const ast::Block& block, const KindSchema& kind) {
  const bool has_label = block.label && (!block.label->text.empty() || !block.label_template.empty());
  if (kind.label == LabelRule::kRequired && !has_label) {
    sink_.Report(DiagnosticCode::kMissingAttribute, block.header, absl::StrCat("`", kind.name, "` needs a name"),
                 {absl::StrCat("write `", kind.name, " NAME { … }`")});
    return false;
  }
  if (kind.label == LabelRule::kNone && block.label) {
    Misplaced(block.label->range, absl::StrCat("`", kind.name, "` takes no name"));
    return false;
  }
  const std::vector<std::string> words = LabelWords(kind);
  if (words.empty() || std::find(words.begin(), words.end(), block.label->text) != words.end()) return true;
  sink_.Report(DiagnosticCode::kEnumValue, block.label->range,
               absl::StrCat(kind.name, " `", block.label->text, "` is not one of ", absl::StrJoin(words, ", ")),
               DidYouMean(Nearest(block.label->text, words)));
  return false;
}

std::optional<std::string> Expander::LabelOf(const ast::Block& block, const KindSchema& kind, Scope& scope,
                                             const Loop* loop) {
  for (; loop != nullptr; loop = loop->outer) {
    const ast::Identifier& variable = loop->statement->first;
    const bool is_keyed = !block.label_template.empty() && Mentions(block.label_template.front(), variable.text);
    if (is_keyed) continue;
    sink_.Report(
        DiagnosticCode::kUnkeyedLoop, block.label ? block.label->range : block.header,
        absl::StrCat("the name of a block in a loop must contain the loop variable `", variable.text, "`"),
        {kind.label == LabelRule::kRequired
             ? absl::StrCat("write `", kind.name, " \"", Prefix(block, variable.text), "${", variable.text, "}\"`")
             : absl::StrCat("move `", kind.name, "` out of the loop")},
        {{variable.range, "the loop variable"}});
    return std::nullopt;
  }
  if (!block.label) return "";
  if (block.label_template.empty()) return AsName(block.label->text, block.label->range);
  const auto value = evaluator_.Evaluate(block.label_template.front(), scope);
  const auto* text = value ? value->As<TextValue>() : nullptr;
  return text != nullptr ? AsName(text->text, block.label->range) : std::nullopt;
}

// Names are printed in tables, one to a line.
std::optional<std::string> Expander::AsName(const std::string& label, SourceRange range) {
  if (label.empty()) {
    sink_.Report(DiagnosticCode::kMissingAttribute, range, "the name of this block is empty");
    return std::nullopt;
  }
  for (size_t i = 0; i < label.size();) {
    const CodePoint c = DecodeUtf8(label, i);
    i += c.bytes;
    if (c.value >= 0x20 && !IsForbiddenCharacter(c.value)) continue;
    sink_.Report(DiagnosticCode::kIllegalCharacter, range,
                 absl::StrCat("character ", CodePointName(c.value), " is not allowed in a name"), {"remove it"});
    return std::nullopt;
  }
  return label;
}

CheckedBlock* Expander::Child(CheckedBlock& parent, const KindSchema& kind, const std::string& label,
                              SourceRange header, SourceRange label_range) {
  CheckedBlock* existing = parent.Child(kind.name, label);
  if (existing != nullptr && existing->is_inherited) {
    existing->is_inherited = false;  // opened again, once
    existing->header = header;
    existing->label_range = label_range;
    return existing;
  }
  if (existing != nullptr && absl::string_view(kind.name) != "link") {
    sink_.Report(DiagnosticCode::kDuplicateLabel, header,
                 kind.at_most_one ? absl::StrCat("`", kind.name, "` is given twice")
                                  : absl::StrCat(kind.name, " `", label, "` is declared twice"),
                 {}, {{existing->header, "first declared here"}}, "declared again here");
    return nullptr;
  }
  auto child = std::make_unique<CheckedBlock>();
  CheckedBlock* added = child.get();
  child->kind = &kind;
  child->label = label;
  child->header = header;
  child->label_range = label_range;
  child->module = parent.module;
  parent.AddChild(std::move(child));
  return added;
}

// A block without a base is its own.
bool Expander::CopyBase(const ast::Block& block, CheckedBlock& derived, Scope& scope) {
  if (!block.base) return true;
  const auto value = evaluator_.EvaluatePath(*block.base, scope);
  if (!value) return false;
  const auto* base = value->As<BlockValue>();
  if (base == nullptr || base->block->kind != derived.kind) {
    std::vector<Label> secondary;
    if (base != nullptr) secondary.push_back({base->block->header, "declared here"});
    sink_.Report(
        DiagnosticCode::kWrongReference, block.base->range,
        absl::StrCat("a ", derived.kind->name, " extends a ", derived.kind->name, ", found ", DescribeValue(*value)),
        {}, std::move(secondary));
    return false;
  }
  derived.base = base->block;
  return evaluator_.Charge(CopyInherited(*base->block, derived), block.header);
}

void Expander::FillBody(CheckedBlock* block, const ast::Body& body, Scope& scope, const Loop* loop) {
  if (block != nullptr && loop == nullptr) block->scope = &scope;
  BindBody(body, block, scope, sink_);
  for (const ast::Statement& statement : body.statements) AddStatement(block, statement, scope, loop);
}

void Expander::AddStatement(CheckedBlock* block, const ast::Statement& statement, Scope& scope, const Loop* loop) {
  if (const auto* let = std::get_if<ast::Let>(&statement)) {
    Force(scope, let->name);
  } else if (const auto* child = std::get_if<ast::Block>(&statement)) {
    AddBlock(block, *child, scope, loop);
  } else if (const auto* inner = std::get_if<ast::For>(&statement)) {
    ExpandFor(block, *inner, scope, loop);
  } else if (const auto* link = std::get_if<ast::Link>(&statement)) {
    AddLink(block, *link, scope, loop);
  } else if (const auto* assertion = std::get_if<ast::Assert>(&statement)) {
    (block != nullptr ? block->asserts : top_asserts_).emplace_back(assertion, &scope);
  } else if (loop != nullptr) {
    const SourceRange range = std::visit([](const auto& node) { return node.range; }, statement);
    Misplaced(range, "a `for` makes blocks and links; this statement stands outside of it");
  } else if (const auto* assignment = std::get_if<ast::Assignment>(&statement)) {
    Assign(*block, *assignment, scope);
  } else if (const auto* objective = std::get_if<ast::Objective>(&statement)) {
    AddObjective(*block, *objective);
  } else {
    Remove(*block, std::get<ast::Remove>(statement));
  }
}

void Expander::AddBlock(CheckedBlock* parent, const ast::Block& block, Scope& scope, const Loop* loop) {
  CheckedBlock* added = BlockAt(block, parent, scope, loop, block.label ? *block.label : block.kind);
  if (parent != nullptr) return;
  // A loop at the top level.
  const Loop* outermost = loop;
  while (outermost->outer != nullptr) outermost = outermost->outer;
  if (added == nullptr) return;
  generated_[outermost->statement].push_back(&built_[{&block, &scope}]);
  Module& module = *scope.module;
  const auto declared = module.top.names.find(added->label);
  const auto [other, is_new] = module.generated.emplace(added->label, added);
  if (is_new && declared == module.top.names.end()) return;
  sink_.Report(DiagnosticCode::kDuplicateLabel, added->header, absl::StrCat("`", added->label, "` is declared twice"),
               {}, {{is_new ? declared->second.range : other->second->header, "first declared here"}});
}

void Expander::AddLink(CheckedBlock* parent, const ast::Link& link, Scope& scope, const Loop* loop) {
  if (parent == nullptr || absl::string_view(parent->kind->name) != "resources") {
    Misplaced(link.range, "`link` belongs in a `resources` block");
    return;
  }
  for (; loop != nullptr; loop = loop->outer) {
    const ast::Identifier& variable = loop->statement->first;
    const auto names = [&](const ast::LinkEnd& end) {
      return end.zone && !end.is_string && end.zone->parts.front().text == variable.text;
    };
    if (names(link.from) || names(link.to)) continue;
    sink_.Report(DiagnosticCode::kUnkeyedLoop, link.range,
                 absl::StrCat("a link in a loop must name the loop variable `", variable.text, "`"), {},
                 {{variable.range, "the loop variable"}});
    return;
  }
  CheckedBlock named;
  named.link = &link;
  named.from = LinkEnd(link.from, scope);
  named.to = LinkEnd(link.to, scope);
  const int reports = sink_.reports();
  CheckedBlock& child = *Child(*parent, *FindKind("link"), LinkLabel(named), link.range, link.range);
  child.link = &link;
  child.from = named.from;
  child.to = named.to;
  child.module = scope.module;
  FillBody(&child, link.body.front(), evaluator_.NewScope(&scope), nullptr);
  if (sink_.reports() != reports) child.is_sound = false;
}

// A name may be that of a value that holds the zone: `link z <-> …` in a loop over zones, or a member of such a value.
std::vector<std::string> Expander::LinkEnd(const ast::LinkEnd& end, Scope& scope) {
  if (!end.zone) return {};
  const Scope::Found found = end.is_string ? Scope::Found{} : scope.Find(end.zone->parts.front().text);
  if (found.binding != nullptr && found.binding->block == nullptr && found.binding->module == nullptr) {
    const auto value = evaluator_.EvaluatePath(*end.zone, scope);
    if (!value) return {};
    if (const auto* text = value->As<TextValue>()) return {text->text};
    sink_.Report(DiagnosticCode::kTypeMismatch, end.range,
                 absl::StrCat("the end of a link is the name of a zone, found ", DescribeValue(*value)));
    return {};
  }
  std::vector<std::string> parts;
  for (const ast::Identifier& part : end.zone->parts) parts.push_back(part.text);
  return parts;
}

// An objective replaces an inherited one as a whole.
void Expander::AddObjective(CheckedBlock& block, const ast::Objective& objective) {
  const bool is_inherited = block.base != nullptr && block.objective == block.base->objective;
  if (absl::string_view(block.kind->name) != "job") {
    Misplaced(objective.range, "an objective belongs in a `job` block");
  } else if (block.objective != nullptr && !is_inherited) {
    sink_.Report(DiagnosticCode::kDuplicateAttribute, objective.range, "the objective is given twice",
                 {"join them: `minimize a then maximize b`"}, {{block.objective->range, "first given here"}});
  } else {
    block.objective = &objective;
  }
}

void Expander::Remove(CheckedBlock& block, const ast::Remove& remove) {
  const std::string label = remove.label ? remove.label->text : "";
  const std::string name =
      label.empty() ? absl::StrCat("`", remove.kind.text, "`") : absl::StrCat(remove.kind.text, " `", label, "`");
  std::vector<std::string> labels;
  for (CheckedBlock* child : block.Below(remove.kind.text)) {
    if (child->is_inherited) labels.push_back(child->label);
    if (child->label != label || !child->is_inherited) continue;
    CheckedBlock& parent = *child->parent;
    parent.index.erase({child->kind->name, label});
    const auto place = std::find_if(parent.children.begin(), parent.children.end(),
                                    [&](const auto& owned) { return owned.get() == child; });
    removed_.push_back(std::move(*place));
    parent.children.erase(place);
    return;
  }
  std::vector<Label> secondary;
  if (block.base != nullptr) secondary.push_back({block.base->header, "the base"});
  sink_.Report(DiagnosticCode::kRemoveNothing, remove.range,
               block.base == nullptr ? absl::StrCat("there is nothing to remove: ", NameOf(block), " extends nothing")
                                     : absl::StrCat("the base has no ", name, " to remove"),
               DidYouMean(Nearest(label, labels)), std::move(secondary));
}

void Expander::ExpandFor(CheckedBlock* parent, const ast::For& loop, Scope& scope, const Loop* outer) {
  const Loop around{outer, &loop};
  sink_.DeclareRepeated(loop.range);
  const int reports = sink_.reports();
  const auto collection = evaluator_.Evaluate(loop.collection, scope);
  const auto round = [&](const Value& first, const Value* second) {
    Scope& inner = evaluator_.NewScope(&scope);
    Binding variable;
    variable.state = Binding::State::kDone;
    variable.value = first;
    if (!BindName(inner, loop.first, variable, sink_)) return false;
    if (loop.second) {
      variable.value = *second;
      if (!BindName(inner, *loop.second, variable, sink_)) return false;
    }
    if (loop.condition) {
      const auto keep = evaluator_.Evaluate(*loop.condition, inner);
      const bool* truth = keep ? keep->As<bool>() : nullptr;
      if (keep && truth == nullptr) {
        sink_.Report(DiagnosticCode::kTypeMismatch, loop.condition->range,
                     absl::StrCat("the condition of a loop needs a truth value, found ", DescribeValue(*keep)));
      }
      if (truth == nullptr) return false;
      if (!*truth) return true;
    }
    FillBody(parent, loop.body.front(), inner, &around);
    return true;
  };
  if (collection) evaluator_.ForEach(*collection, loop.second.has_value(), round);
  if (parent != nullptr && (!collection || sink_.reports() != reports)) parent->is_sound = false;
}

}  // namespace sail
