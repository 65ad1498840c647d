#include "compiler/driver/lsp/name_completion.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/driver/lsp/describe.h"
#include "compiler/driver/lsp/tokens.h"
#include "compiler/passes/convert.h"

namespace sail::lsp {
namespace {

// Labels may be any text; only words can be written as names.
bool IsName(const std::string& label) {
  const frontend::LexedFile lexed = Tokenize(SourceFile("", label));
  return lexed.tokens.size() == 2 && lexed.tokens.front().kind == frontend::TokenKind::kName;
}

bool Fits(const AttributeSchema& wanted, const Value& value) {
  const auto* amount = value.As<Amount>();
  const auto* block = value.As<BlockValue>();
  const bool is_number = amount != nullptr && amount->dimension.is_number();
  const bool is_text = value.As<TextValue>() != nullptr, is_list = value.As<ListValue>() != nullptr;
  switch (wanted.type) {
    case ValueType::kQuantity:
    case ValueType::kPrice:
    case ValueType::kQuota:
      return amount != nullptr && DimensionFits(wanted, amount->dimension);
    case ValueType::kInteger:
    case ValueType::kNumber:
    case ValueType::kShare:
      return is_number;
    case ValueType::kIntegerList:
      return is_number || is_list || value.As<RangeValue>() != nullptr;
    case ValueType::kBoolean:
      return value.As<bool>() != nullptr;
    case ValueType::kText:
    case ValueType::kEnum:
      return is_text;
    case ValueType::kTextList:
    case ValueType::kEnumList:
      return is_text || is_list;
    case ValueType::kTextOrSecret:
      return is_text || value.As<SecretValue>() != nullptr;
    case ValueType::kDate:
      return value.As<DateValue>() != nullptr;
    case ValueType::kReference:
      return block != nullptr && absl::string_view(block->block->kind->name) == wanted.unit;
  }
  SAIL_CHECK(false) << "type " << static_cast<int>(wanted.type);
}

class NameFinder {
 public:
  NameFinder(const CursorContext& context, const AttributeSchema* wanted, const CheckedDocument* parsed)
      : context_(context), wanted_(wanted), parsed_(parsed), kind_(context.base_kind) {
    if (wanted != nullptr && wanted->type == ValueType::kReference) kind_ = wanted->unit;
  }

  std::vector<NameProposal> Find() {
    if (!context_.qualifier.empty()) {
      FindMembers();
      return std::move(found_);
    }
    for (auto name = context_.names.rbegin(); name != context_.names.rend(); ++name) AddWritten(*name);
    if (parsed_ == nullptr) return std::move(found_);
    const Module& main = parsed_->analysis->modules.main();
    AddModule(main, "");
    for (const auto& [name, binding] : main.top.names) {
      if (binding.module == nullptr) continue;
      if (!kind_.empty()) AddModule(*binding.module, absl::StrCat(name, "."));
      if (TakesAnything()) Add(name, "import", binding.module->name);
    }
    return std::move(found_);
  }

 private:
  // Any value: of a let, a param or a loop.
  bool TakesAnything() const { return wanted_ == nullptr && kind_.empty(); }
  bool TakesBlock(absl::string_view kind) const { return TakesAnything() || kind == kind_; }

  // `gcp.|` and `gcp.machine.|`.
  void FindMembers() {
    if (parsed_ == nullptr || context_.qualifier.size() > 2) return;
    const auto& names = parsed_->analysis->modules.main().top.names;
    const auto import = names.find(context_.qualifier.front());
    if (import == names.end() || import->second.module == nullptr) return;
    if (context_.qualifier.size() == 2) kind_ = context_.qualifier[1];
    AddModule(*import->second.module, "");
  }

  void AddModule(const Module& module, const std::string& prefix) {
    for (const auto& [name, binding] : module.top.names) {
      if (binding.block != nullptr) {
        if (TakesBlock(binding.block->kind.text)) Add(name, binding.block->kind.text, binding.block->doc, prefix);
      } else if (binding.let != nullptr || binding.param != nullptr) {
        AddValue(name, binding, prefix);
      }
    }
    for (const auto& [name, block] : module.generated) {
      if (TakesBlock(block->kind->name)) Add(name, block->kind->name, block->block->doc, prefix);
    }
  }

  void AddValue(const std::string& name, const Binding& binding, const std::string& prefix) {
    if (!context_.base_kind.empty()) return;
    if (binding.value && wanted_ != nullptr && !Fits(*wanted_, *binding.value)) return;
    const std::string value = binding.value ? absl::StrCat(": ", ValueText(*binding.value)) : "";
    const bool is_let = binding.let != nullptr;
    Add(name, absl::StrCat(is_let ? "let" : "param", value), is_let ? binding.let->doc : binding.param->doc, prefix);
  }

  // The text alone does not say what a let is worth; a checked one of the same name does.
  void AddWritten(const VisibleName& name) {
    const bool is_value = name.what == "let" || name.what == "param" || name.what == "for";
    const bool is_known = parsed_ != nullptr && parsed_->analysis->modules.main().top.names.contains(name.name);
    if (is_known || (is_value && !context_.base_kind.empty())) return;
    if (is_value || TakesBlock(name.what)) Add(name.name, name.what, "");
  }

  void Add(const std::string& name, std::string detail, std::string doc, const std::string& prefix = "") {
    if (name == context_.own_name || !IsName(name) || !seen_.insert(prefix + name).second) return;
    found_.push_back({prefix + name, std::move(detail), std::move(doc)});
  }

  const CursorContext& context_;
  const AttributeSchema* wanted_;
  const CheckedDocument* parsed_;
  std::string kind_;  // of the blocks that fit; empty when blocks are not what is wanted
  std::set<std::string> seen_;
  std::vector<NameProposal> found_;
};

}  // namespace

std::vector<NameProposal> ProposeNames(const CursorContext& context, const AttributeSchema* wanted,
                                       const CheckedDocument* parsed) {
  return NameFinder(context, wanted, parsed).Find();
}

}  // namespace sail::lsp
