#include "compiler/driver/resolved.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/sha256.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/frontend/keywords.h"
#include "compiler/ir/names.h"
#include "compiler/passes/analysis.h"

namespace sail::driver {
namespace {

// Attributes in the order of the schema, with those of open blocks by name.
std::vector<std::pair<std::string, const CheckedAttribute*>> InOrder(const CheckedBlock& block) {
  std::vector<std::pair<std::string, const CheckedAttribute*>> attributes;
  for (const AttributeSchema& schema : Attributes()) {
    const auto found = block.attributes.find(schema.name);
    if (absl::string_view(block.kind->name) != schema.kind || found == block.attributes.end()) continue;
    attributes.emplace_back(schema.name, &found->second);
  }
  if (!block.kind->is_open) return attributes;
  for (const auto& [name, attribute] : block.attributes) attributes.emplace_back(name, &attribute);
  return attributes;
}

// Blocks to print at the top level, in the order of modules and files, with their names. A copy that an override made
// through a reference (`override gpu.memory = …`) is a block of its own: it comes before the block that refers to it.
struct TopBlock {
  const CheckedBlock* block;
  std::string name;
};

void AddCopies(const CheckedBlock& block, std::vector<TopBlock>& top) {
  for (const auto& [attribute, copy] : block.copies) {
    AddCopies(*copy, top);
    top.push_back({copy.get(), absl::StrCat(block.label, "_", copy->label)});
  }
  for (const auto& child : block.children) AddCopies(*child, top);
}

// `main` and everything it refers to.
std::vector<TopBlock> Reached(const Analysis& analysis) {
  std::set<const CheckedBlock*> reached;
  std::vector<const CheckedBlock*> open;
  const auto visit = [&](const CheckedBlock* block) {
    if (block != nullptr && reached.insert(block).second) open.push_back(block);
  };
  for (const auto& block : analysis.blocks.top) {
    if (block->module == &analysis.modules.main()) visit(block.get());
  }
  while (!open.empty()) {
    const CheckedBlock* block = open.back();
    open.pop_back();
    for (const auto& child : block->children) visit(child.get());
    for (const auto& [name, attribute] : block->attributes) {
      const auto* referred = attribute.value ? attribute.value->As<BlockValue>() : nullptr;
      if (referred != nullptr) visit(referred->block);
    }
  }
  std::vector<TopBlock> top;
  for (const auto& block : analysis.blocks.top) {
    if (!reached.contains(block.get())) continue;
    AddCopies(*block, top);
    top.push_back({block.get(), block->label});
  }
  return top;
}

bool IsInWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool IsIdentifier(const std::string& text) {
  static const std::vector<std::string> kReserved = ReservedWords(), kSoft = SoftWords();
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), IsInWord) &&
         !std::binary_search(kReserved.begin(), kReserved.end(), text) &&
         !std::binary_search(kSoft.begin(), kSoft.end(), text);
}

std::string Quoted(const std::string& text) { return FormatValue(Value{TextValue{text}, {}}); }
std::string Label(const std::string& label) { return IsIdentifier(label) ? label : Quoted(label); }

class Resolver {
 public:
  Resolver(const CheckedSpec& spec, const SourceManager& sources)
      : spec_(spec), sources_(sources), top_(Reached(*spec.analysis)) {
    for (const TopBlock& top : top_) names_[top.block] = top.name;
    for (const TopBlock& top : top_) AddAliases(*top.block);
  }

  std::string Text(bool why) {
    why_ = why;
    std::string text = "sail 1\n";
    for (const TopBlock& top : top_) absl::StrAppend(&text, "\n", Block(*top.block, ""));
    return text;
  }

  Json ToJson() {
    Json imports = Json::array(), blocks = Json::array();
    for (const auto& module : spec_.analysis->modules.modules) {
      const std::string sha256 = Sha256Hex(sources_.Get(module->source).text());
      imports.push_back({{"file", module->name}, {"sha256", sha256}});
    }
    for (const TopBlock& top : top_) blocks.push_back(BlockJson(*top.block));
    return {{"format", "1.0"}, {"files", imports}, {"blocks", blocks}};
  }

 private:
  // What is referred to needs a name that can be written: `machine "a2-8g" as a2_8g`.
  void AddAliases(const CheckedBlock& block) {
    for (const auto& [name, attribute] : block.attributes) {
      const auto* referred = attribute.value ? attribute.value->As<BlockValue>() : nullptr;
      if (referred == nullptr || IsIdentifier(NameOf(*referred->block))) continue;
      std::string alias = absl::StrCat("_", NameOf(*referred->block));
      std::replace_if(
          alias.begin(), alias.end(), [](char c) { return !IsInWord(c); }, '_');
      const auto [it, is_new] = aliases_.emplace(referred->block, alias);
      while (is_new && !taken_.insert(it->second).second) it->second += '_';
    }
    for (const auto& child : block.children) AddAliases(*child);
  }

  std::string Place(SourceRange range) const {
    if (!range.valid()) return "";
    const SourceFile& file = sources_.Get(range.file);
    const LineColumn at = file.Locate(range.begin);
    return absl::StrCat(file.name(), ":", at.line, ":", at.column);
  }

  const std::string& NameOf(const CheckedBlock& block) const {
    const auto found = names_.find(&block);
    return found == names_.end() ? block.label : found->second;
  }

  // A value as the attribute would be written: words of enumerations are no strings, references are names.
  std::string Written(const CheckedBlock& block, const CheckedAttribute& attribute) const {
    const Value& value = *attribute.value;
    if (const auto* referred = value.As<BlockValue>()) {
      const auto alias = aliases_.find(referred->block);
      return alias == aliases_.end() ? NameOf(*referred->block) : alias->second;
    }
    if (IsPricePerGpu(value)) return absl::StrCat(FormatValue(value), " * ", GpusPerNode(block));
    if (EnumWords(*attribute.schema).empty()) return FormatValue(value);
    if (const auto* word = value.As<TextValue>()) return word->text;
    const auto element = [](std::string* out, const Value& word) { *out += word.As<TextValue>()->text; };
    return absl::StrCat("[", absl::StrJoin(value.As<ListValue>()->elements, ", ", element), "]");
  }

  static bool IsPricePerGpu(const Value& value) {
    const auto* amount = value.As<Amount>();
    return amount != nullptr && amount->dimension == KnownUnit("USD/GPU/h").dimension;
  }
  // Of the machine whose price, or pool's price, `block` holds.
  static std::string GpusPerNode(const CheckedBlock& block) {
    const CheckedBlock* priced = absl::string_view(block.kind->name) == "price" ? block.parent : &block;
    const CheckedBlock* machine = absl::string_view(priced->kind->name) == "pool" ? priced->Follow("machine") : priced;
    return FormatValue(machine->Get("gpus_per_node"));
  }

  // "override of std/gcp@2026.11:88:5 (`40 GiB`), job.sail:17:22"
  std::string Why(const CheckedAttribute& attribute) const {
    if (attribute.origin == Origin::kDefault || attribute.expr == nullptr) return "default";
    std::string why = Place(attribute.expr->range);
    if (const auto* name = std::get_if<ast::NameExpr>(&attribute.expr->node); name != nullptr) {
      const auto [binding, owner] = attribute.scope->Find(name->name.text);
      if (binding != nullptr && binding->param != nullptr) {
        absl::StrAppend(&why, ", param ", name->name.text, " ", Given(*binding, *owner));
      } else if (binding != nullptr && binding->let != nullptr) {
        absl::StrAppend(&why, ", let ", name->name.text, " ", Place(binding->range));
      }
    }
    if (attribute.origin == Origin::kInherited) return absl::StrCat("inherited, ", why);
    if (attribute.origin == Origin::kOverride) {
      return absl::StrCat("override of ", Place(attribute.overridden), " (", sources_.TextOf(attribute.overridden),
                          "), ", why);
    }
    return why;
  }

  // Where a param has its value from.
  std::string Given(const Binding& param, const Scope& owner) const {
    if (owner.module != &spec_.analysis->modules.main()) return Place(param.range);
    for (auto it = spec_.analysis->definitions.rbegin(); it != spec_.analysis->definitions.rend(); ++it) {
      if (it->target.parts.front().text == param.param->name.text) return Place(it->value.range);
    }
    return Place(param.range);
  }

  std::string Header(const CheckedBlock& block) const {
    if (block.link == nullptr) {
      const bool is_named = block.kind->label == LabelRule::kRequired;
      const auto alias = aliases_.find(&block);
      return absl::StrCat(block.kind->name, is_named ? absl::StrCat(" ", Label(NameOf(block))) : "",
                          alias == aliases_.end() ? "" : " as " + alias->second);
    }
    const auto end = [](const std::vector<std::string>& parts) {
      const auto quoted = [](std::string* out, const std::string& part) { *out += Quoted(part); };
      return parts.empty() ? "*" : absl::StrJoin(parts, ".", quoted);
    };
    const ast::LinkScope scope = block.link->scope;
    return absl::StrCat("link ", end(block.from), block.link->both_ways ? " <-> " : " -> ", end(block.to),
                        scope == ast::LinkScope::kNone     ? ""
                        : scope == ast::LinkScope::kWithin ? " within "
                                                           : " across ",
                        scope == ast::LinkScope::kNone ? "" : block.link->scope_level.text);
  }

  std::string Block(const CheckedBlock& block, const std::string& margin) {
    std::string text =
        absl::StrCat(margin, Header(block), " {", why_ ? absl::StrCat("  # ", Place(block.header)) : "", "\n");
    const std::string inner = margin + "  ";
    size_t widest_name = 0, widest_value = 0;
    std::vector<std::pair<std::string, std::string>> lines;
    const auto attributes = InOrder(block);
    for (const auto& [name, attribute] : attributes) {
      lines.emplace_back(Label(name), Written(block, *attribute));
      widest_name = std::max(widest_name, lines.back().first.size());
      widest_value = std::max(widest_value, lines.back().second.size());
    }
    for (size_t i = 0; i < lines.size(); ++i) {
      const auto& [name, value] = lines[i];
      absl::StrAppend(&text, inner, name, std::string(widest_name - name.size(), ' '), " = ", value);
      if (why_) {
        absl::StrAppend(&text, std::string(widest_value - value.size() + 2, ' '), "# ", Why(*attributes[i].second));
      }
      text += '\n';
    }
    for (const auto& child : block.children) text += Block(*child, inner);
    if (block.objective != nullptr) text += Objective(block, inner);
    absl::StrAppend(&text, margin, "}\n");
    return text;
  }

  const ir::Job* JobOf(const CheckedBlock& block) const {
    for (const LoweredJob& job : spec_.jobs) {
      if (job.block == &block) return &job.problem.job;
    }
    return nullptr;
  }

  static std::string Limit(const ir::Constraint& constraint) {
    return absl::StrCat(constraint.name, ": ", ir::ToString(constraint.metric),
                        constraint.at_most ? " <= " : " >= ", ExactMetricText(constraint.metric, constraint.limit),
                        constraint.metric == ir::Metric::kPeakMemory ? " * gpu.memory" : "");
  }

  std::string Objective(const CheckedBlock& block, const std::string& margin) {
    const ir::Job* job = JobOf(block);
    if (job == nullptr) return "";
    const auto term = [](std::string* out, const ir::ObjectiveTerm& objective) {
      absl::StrAppend(out, objective.maximize ? "maximize " : "minimize ", ir::ToString(objective.metric));
    };
    std::string text = absl::StrCat(margin, absl::StrJoin(job->objective, " then ", term));
    if (job->constraints.empty()) return text + "\n";
    absl::StrAppend(&text, "\n", margin, "  subject to {\n");
    for (const ir::Constraint& constraint : job->constraints) {
      absl::StrAppend(&text, margin, "    ", Limit(constraint), "\n");
    }
    absl::StrAppend(&text, margin, "  }\n");
    return text;
  }

  Json BlockJson(const CheckedBlock& block) {
    Json attributes = Json::object(), children = Json::array();
    for (const auto& [name, attribute] : InOrder(block)) {
      static constexpr const char* kOrigins[] = {"written", "default", "inherited", "override"};
      Json entry = {{"value", Written(block, *attribute)}, {"origin", kOrigins[static_cast<int>(attribute->origin)]}};
      if (attribute->expr != nullptr) entry["at"] = Place(attribute->expr->range);
      if (attribute->overridden.valid()) entry["overrides"] = Place(attribute->overridden);
      attributes[name] = std::move(entry);
    }
    for (const auto& child : block.children) children.push_back(BlockJson(*child));
    Json json = {{"kind", block.kind->name}, {"at", Place(block.header)}, {"attributes", attributes}};
    if (!block.label.empty()) json["label"] = NameOf(block);
    if (!children.empty()) json["children"] = std::move(children);
    if (const ir::Job* job = JobOf(block)) {
      json["objective"] = Json::array();
      for (const ir::ObjectiveTerm& term : job->objective) {
        json["objective"].push_back(absl::StrCat(term.maximize ? "maximize " : "minimize ", ir::ToString(term.metric)));
      }
      json["limits"] = Json::array();
      for (const ir::Constraint& constraint : job->constraints) json["limits"].push_back(Limit(constraint));
    }
    return json;
  }

  const CheckedSpec& spec_;
  const SourceManager& sources_;
  std::vector<TopBlock> top_;
  std::map<const CheckedBlock*, std::string> names_, aliases_;
  std::set<std::string> taken_;  // aliases
  bool why_ = false;
};

}  // namespace

std::string PrintResolved(const CheckedSpec& spec, const SourceManager& sources, bool why) {
  return Resolver(spec, sources).Text(why);
}

Json ResolvedJson(const CheckedSpec& spec, const SourceManager& sources) { return Resolver(spec, sources).ToJson(); }

}  // namespace sail::driver
