// The `.name` and `[index]` of the evaluator: into imports, blocks, maps and lists.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/passes/convert.h"
#include "compiler/passes/evaluate.h"

namespace sail {
namespace {

constexpr size_t kMostNamesListed = 12;

std::string ListOf(const std::vector<std::string>& names) {
  const std::vector<std::string> shown(names.begin(), names.begin() + std::min(names.size(), kMostNamesListed));
  return absl::StrCat(absl::StrJoin(shown, ", "),
                      names.size() > shown.size() ? absl::StrCat(" and ", names.size() - shown.size(), " more") : "");
}

}  // namespace

std::nullopt_t Evaluator::NoMember(const ast::Identifier& member, std::string message,
                                   const std::vector<std::string>& names, DiagnosticCode code) {
  const std::string nearest = Nearest(member.text, names);
  return Fail(code, member.range, std::move(message), "",
              DidYouMean(nearest != member.text ? nearest : "", names.empty() ? "" : "it has " + ListOf(names)));
}

std::optional<Value> Evaluator::EvaluateMember(const ast::MemberExpr& member, SourceRange range, Scope& scope) {
  const auto base = Evaluate(member.base.front(), scope);
  if (!base) return std::nullopt;
  auto value = MemberOf(*base, member.member);
  if (value) value->range = range;
  return value;
}

std::optional<Value> Evaluator::EvaluatePath(const ast::Path& path, Scope& scope) {
  auto value = EvaluateName(path.parts.front(), scope);
  for (size_t i = 1; value && i < path.parts.size(); ++i) value = MemberOf(*value, path.parts[i]);
  if (value) value->range = path.range;
  return value;
}

std::optional<Value> Evaluator::MemberOf(const Value& base, const ast::Identifier& member) {
  if (const auto* module = base.As<ModuleValue>()) return MemberOfModule(*module->module, member);
  if (const auto* block = base.As<BlockValue>()) return MemberOfBlock(*block->block, member);
  if (const auto* kind = base.As<KindValue>()) return MemberOfKind(*kind, member);
  if (const auto* record = base.As<RecordValue>()) {
    if (const Value* value = record->Find(member.text)) return *value;
    std::vector<std::string> keys;
    for (const auto& [key, value] : record->fields) keys.push_back(key);
    return NoMember(member, absl::StrCat("no key \"", member.text, "\" in this map"), keys, DiagnosticCode::kNoSuchKey);
  }
  return Fail(DiagnosticCode::kTypeMismatch, member.range, absl::StrCat(DescribeValue(base), " has no members"));
}

std::optional<Value> Evaluator::MemberOfModule(Module& module, const ast::Identifier& member) {
  const auto found = module.top.names.find(member.text);
  // What an imported file imports is its own affair.
  if (found != module.top.names.end() && !found->second.is_import()) {
    return ValueOf(found->second, module.top, member);
  }
  blocks_->ExpandLoops(module);
  if (const auto made = module.generated.find(member.text); made != module.generated.end()) {
    RecordUse(member.range, made->second->label_range);
    return Value{BlockValue{made->second}, member.range};
  }
  const KindSchema* kind = FindKind(member.text);
  if (kind != nullptr && MayContain("file", *kind)) {
    return Value{KindValue{.module = &module, .kind = member.text}, member.range};
  }
  std::vector<std::string> names;
  for (const auto& [name, binding] : module.top.names) {
    if (!binding.is_import()) names.push_back(name);
  }
  return NoMember(member, absl::StrCat("`", module.name, "` has no `", member.text, "`"), names);
}

// A block of a kind and label.
std::optional<Value> Evaluator::MemberOfKind(const KindValue& kind, const ast::Identifier& member) {
  if (kind.module != nullptr) {
    auto value = MemberOfModule(*kind.module, member);
    const auto* block = value ? value->As<BlockValue>() : nullptr;
    if (!value || (block != nullptr && kind.kind == block->block->kind->name)) return value;
    return Fail(DiagnosticCode::kUndefinedName, member.range,
                absl::StrCat("`", kind.module->name, "` has no ", kind.kind, " `", member.text, "`"));
  }
  std::vector<std::string> labels;
  for (CheckedBlock* child : kind.block->Below(kind.kind)) {
    if (child->label == member.text) {
      RecordUse(member.range, child->label_range);
      return Value{BlockValue{child}, member.range};
    }
    labels.push_back(child->label);
  }
  return NoMember(member, absl::StrCat(NameOf(*kind.block), " has no ", kind.kind, " `", member.text, "`"), labels);
}

// An attribute, a child block that stands alone, or the children of a kind.
std::optional<Value> Evaluator::MemberOfBlock(CheckedBlock& block, const ast::Identifier& member) {
  if (const auto found = block.attributes.find(member.text); found != block.attributes.end()) {
    RecordUse(member.range, found->second.name_range);
    return RawValue(found->second, member);
  }
  if (CheckedBlock* child = block.Child(member.text)) {
    RecordUse(member.range, child->header);
    return Value{BlockValue{child}, member.range};
  }
  const KindSchema* kind = FindKind(member.text);
  if (kind != nullptr && MayContain(block.kind->name, *kind) && !kind->at_most_one) {
    return Value{KindValue{.block = &block, .kind = member.text}, member.range};
  }
  if (const AttributeSchema* schema = FindAttribute(block.kind->name, member.text)) {
    if (auto value = DefaultValue(*schema)) return value;
    return Fail(DiagnosticCode::kUndefinedName, member.range,
                absl::StrCat(NameOf(block), " sets no `", member.text, "`"));
  }
  return NoMember(member, absl::StrCat(NameOf(block), " has no `", member.text, "`"), AttributeNames(block.kind->name));
}

std::optional<Value> Evaluator::EvaluateIndex(const ast::IndexExpr& index, SourceRange range, Scope& scope) {
  const auto base = Evaluate(index.operands[0], scope);
  const auto key = Evaluate(index.operands[1], scope);
  if (!base || !key) return std::nullopt;
  const SourceRange at = index.operands[1].range;
  std::optional<Value> value;
  if (const auto* list = base->As<ListValue>()) {
    if (list->is_set) {
      return Fail(DiagnosticCode::kUnorderedSet, at, "sets have no first element", "",
                  {"`sort` makes a list of the set: `sort(x)[0]`"});
    }
    const auto* amount = key->As<Amount>();
    const auto position = amount != nullptr && amount->dimension.is_number() ? amount->value.ToInt64() : std::nullopt;
    if (!position) {
      return Fail(DiagnosticCode::kTypeMismatch, at,
                  absl::StrCat("a list is indexed by a whole number, found ", DescribeValue(*key)));
    }
    const int64_t size = static_cast<int64_t>(list->elements.size());
    if (*position < 0 || *position >= size) {
      return Fail(
          DiagnosticCode::kNoSuchKey, at,
          absl::StrCat("index ", *position, " is outside a list of ", size, size == 1 ? " element" : " elements"), "",
          {size == 0 ? "the list is empty" : absl::StrCat("the last index is ", size - 1)});
    }
    value = list->elements[*position];
  } else if (const auto* text = key->As<TextValue>(); text != nullptr && !base->As<TextValue>()) {
    value = MemberOf(*base, {text->text, at});
  } else {
    return Fail(DiagnosticCode::kTypeMismatch, range,
                absl::StrCat("cannot index ", DescribeValue(*base), " with ", DescribeValue(*key)));
  }
  if (value) value->range = range;
  return value;
}

}  // namespace sail
