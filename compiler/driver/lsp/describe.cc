#include "compiler/driver/lsp/describe.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "compiler/driver/lsp/names.h"
#include "compiler/passes/schema_text.h"
#include "compiler/passes/unit_readings.h"

namespace sail::lsp {
namespace {

constexpr size_t kMostValues = 4;       // of one name in the rounds of a loop
constexpr size_t kMostAttributes = 24;  // listed of a block
constexpr size_t kLongestValue = 200;   // bytes

std::string Code(absl::string_view text) {
  if (text.size() <= kLongestValue) return absl::StrCat("`", text, "`");
  size_t end = kLongestValue;
  while ((text[end] & 0xC0) == 0x80) --end;  // characters stay whole
  return absl::StrCat("`", text.substr(0, end), "…`");
}

std::string FileText(const CheckedDocument& checked, SourceId file) {
  absl::string_view name = checked.sources.Get(file).name();
  const std::string& directory = checked.analysis->modules.base_directory;
  if (!directory.empty()) absl::ConsumePrefix(&name, absl::StrCat(directory, "/"));
  return std::string(name);
}

// What a value is in the rounds of a loop: each different text once.
template <class Item, class Text>
std::string JoinDifferent(const std::vector<Item>& items, Text text_of) {
  std::vector<std::string> texts;
  for (const Item& item : items) {
    std::string text = text_of(item);
    if (text.empty() || std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
    if (texts.size() == kMostValues) return absl::StrCat(absl::StrJoin(texts, ", "), ", …");
    texts.push_back(std::move(text));
  }
  return absl::StrJoin(texts, ", ");
}

// Words of enumerations are not quoted.
std::string WordsText(const Value& value) {
  const auto* list = value.As<ListValue>();
  if (list == nullptr) return value.As<TextValue>()->text;
  const auto word = [](std::string* out, const Value& element) { *out += element.As<TextValue>()->text; };
  return absl::StrCat("[", absl::StrJoin(list->elements, ", ", word), "]");
}

// The value in the author's units.
std::string EffectiveText(const CheckedAttribute& attribute) {
  if (!attribute.value) return "";
  const Value& value = attribute.raw ? *attribute.raw : *attribute.value;
  return EnumWords(*attribute.schema).empty() ? ValueText(value) : Code(WordsText(value));
}

// The param or let that an attribute's value is, and nothing else.
const Binding* NamedBy(const CheckedAttribute& attribute) {
  if (attribute.expr == nullptr) return nullptr;
  const auto* name = std::get_if<ast::NameExpr>(&attribute.expr->node);
  return name != nullptr ? attribute.scope->Find(name->name.text).binding : nullptr;
}

class Describer {
 public:
  Describer(const CheckedDocument& checked, const SourceRange& declaration)
      : checked_(checked), declaration_(declaration), declared_(DeclaredAt(*checked.analysis, declaration)) {}

  std::string Text() {
    if (!declared_.blocks.empty()) return BlockText(*declared_.blocks.front());
    if (!declared_.bindings.empty()) return BindingText(*declared_.bindings.front());
    if (!declared_.attributes.empty()) {
      Add(DescribeAttribute(checked_, declared_.attributes));
      return Finish();
    }
    return "";
  }

 private:
  void Add(std::string paragraph) {
    if (!paragraph.empty()) paragraphs_.push_back(std::move(paragraph));
  }
  std::string Finish() {
    Add(absl::StrCat("declared at ", PlaceText(checked_, declaration_)));
    return absl::StrJoin(paragraphs_, "\n\n");
  }

  std::string BindingText(const Binding& binding) {
    if (binding.module != nullptr) {
      Add(absl::StrCat("**import** of ", Code(FileText(checked_, binding.module->spec.file))));
    } else if (binding.param != nullptr) {
      const ast::Param& param = *binding.param;
      Add(absl::StrCat("**param** `", param.name.text, ": ", checked_.sources.TextOf(param.type.range),
                       param.where ? absl::StrCat(" where ", checked_.sources.TextOf(param.where->range)) : "", "`"));
      Add(absl::StrCat(param.value ? "default " : "", Values()));
      Add(param.doc);
    } else if (binding.let != nullptr) {
      const ast::Let& let = *binding.let;
      Add(absl::StrCat("**let** `", let.name.text,
                       let.type ? absl::StrCat(": ", checked_.sources.TextOf(let.type->range)) : "", "`"));
      Add(Values());
      Add(let.doc);
    } else if (Values().empty()) {
      return "";  // of an import that was not found
    } else {
      Add(absl::StrCat("**loop variable** `", checked_.sources.TextOf(declaration_), "`"));
      Add(Values());
    }
    return Finish();
  }

  std::string Values() const {
    return JoinDifferent(declared_.bindings,
                         [](const Binding* binding) { return binding->value ? ValueText(*binding->value) : ""; });
  }

  std::string BlockText(const CheckedBlock& block) {
    std::string title =
        absl::StrCat("**", block.kind->name, "** ", JoinDifferent(declared_.blocks, [](const CheckedBlock* other) {
                       return absl::StrCat("`", other->label, "`");
                     }));
    if (block.block->base && block.base != nullptr) {
      absl::StrAppend(&title, " extends `", checked_.sources.TextOf(block.block->base->range), "` (",
                      PlaceText(checked_, block.base->label_range), ")");
    }
    Add(std::move(title));
    Add(block.block->doc);
    if (declared_.blocks.size() == 1) {
      std::string list;
      ListAttributes(block, "", list);
      if (listed_ > kMostAttributes) list += "\n* …";
      Add(std::move(list));
    }
    return Finish();
  }

  // `price.spot` is shown with its block; blocks that there may be many of are not.
  void ListAttributes(const CheckedBlock& block, const std::string& prefix, std::string& list) {
    for (const AttributeSchema& schema : Attributes()) {
      const auto found = block.attributes.find(schema.name);
      if (absl::string_view(schema.kind) != block.kind->name || found == block.attributes.end()) continue;
      const std::string value = EffectiveText(found->second);
      if (value.empty() || ++listed_ > kMostAttributes) continue;
      absl::StrAppend(&list, list.empty() ? "" : "\n", "* ", prefix, schema.name, " = ", value, ": ",
                      ProvenanceText(checked_, found->second));
    }
    for (const auto& child : block.children) {
      if (child->kind->at_most_one) ListAttributes(*child, absl::StrCat(prefix, child->kind->name, "."), list);
    }
  }

  const CheckedDocument& checked_;
  const SourceRange declaration_;
  const Declared declared_;
  std::vector<std::string> paragraphs_;
  size_t listed_ = 0;
};

}  // namespace

std::string ValueText(const Value& value) {
  std::string text = Code(FormatValue(value));
  const auto* amount = value.As<Amount>();
  const auto shown = amount != nullptr ? amount->value.Divide(amount->unit_factor) : std::nullopt;
  if (!shown) return text;
  const auto reading = OtherReading(shown->ToString(), amount->unit);
  return reading ? absl::StrCat(text, " = ", *reading) : text;
}

std::string PlaceText(const CheckedDocument& checked, const SourceRange& range) {
  const SourceFile& file = checked.sources.Get(range.file);
  const LineColumn at = file.Locate(range.begin);
  if (range.file == checked.file()) return absl::StrCat(at.line, ":", at.column);
  return absl::StrCat(FileText(checked, range.file), ":", at.line);
}

std::string ProvenanceText(const CheckedDocument& checked, const CheckedAttribute& attribute) {
  if (attribute.origin == Origin::kDefault) return "default";
  const std::string place = PlaceText(checked, attribute.expr->range);
  std::string text;
  if (attribute.origin == Origin::kInherited) {
    text = absl::StrCat("inherited from ", place);
  } else if (attribute.origin == Origin::kOverride) {
    text = absl::StrCat("override of ", PlaceText(checked, attribute.overridden), " (was ",
                        Code(checked.sources.TextOf(attribute.overridden)), ")");
  } else {
    text = absl::StrCat("written at ", place);
  }
  const Binding* named = NamedBy(attribute);
  if (named == nullptr) return text;
  const std::string declared = PlaceText(checked, named->range);
  if (named->param != nullptr) absl::StrAppend(&text, "; param ", named->param->name.text, ", default at ", declared);
  if (named->let != nullptr) absl::StrAppend(&text, "; let ", named->let->name.text, " at ", declared);
  return text;
}

std::string DescribeName(const CheckedDocument& checked, const SourceRange& declaration) {
  return Describer(checked, declaration).Text();
}

std::string DescribeAttribute(const CheckedDocument& checked, const std::vector<const CheckedAttribute*>& attributes) {
  const CheckedAttribute& first = *attributes.front();
  const std::string value =
      JoinDifferent(attributes, [](const CheckedAttribute* attribute) { return EffectiveText(*attribute); });
  if (value.empty()) return SchemaText(*first.schema);
  return absl::StrCat(value, "\n\n", ProvenanceText(checked, first), "\n\n", SchemaText(*first.schema));
}

std::string SchemaText(const AttributeSchema& attribute) {
  const absl::string_view name = attribute.name;
  return absl::StrCat("**", name == "*" ? "any name" : name, "**: ", DescribeType(attribute), " (",
                      DescribePresence(attribute), ")\n\n", attribute.doc);
}

}  // namespace sail::lsp
