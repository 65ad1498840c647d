#include "compiler/driver/lsp/completion.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/check.h"
#include "compiler/driver/lsp/context.h"
#include "compiler/driver/lsp/name_completion.h"
#include "compiler/ir/names.h"
#include "compiler/passes/convert.h"
#include "compiler/passes/metrics.h"
#include "compiler/passes/schema_text.h"
#include "compiler/passes/unit_readings.h"
#include "stdlib/standard_library.h"

namespace sail::lsp {
namespace {

// CompletionItemKind of the protocol.
enum class ItemKind {
  kModule = 9,
  kProperty = 10,
  kUnit = 11,
  kValue = 12,
  kKeyword = 14,
  kReference = 18,
  kEnumMember = 20,
  kBlock = 22
};

struct Item {
  std::string label;
  ItemKind kind;
  std::string detail;
  std::string documentation;
  std::string inserted;  // empty: the label
};

struct Keyword {
  const char* word;
  const char* where;  // "file", "job", "block" for all but the file, "" for everywhere
  const char* doc;
};

constexpr Keyword kKeywords[] = {
    {"import", "file", "use the declarations of another file: import \"std/gcp@2026.11\" as gcp"},
    {"param", "file", "a value that the command line may set: param steps: iters = 100 iters"},
    {"let", "", "a name for a value: let zone_a = \"us-central1-a\""},
    {"for", "", "blocks from a list: for z in zones { pool \"p-${z}\" { … } }"},
    {"override", "block", "changes an inherited value: override price.spot = 3 USD/h"},
    {"remove", "block", "drops an inherited block: remove pool slow"},
    {"minimize", "job", "the objective: minimize cost_per_iter then maximize throughput subject to { … }"},
    {"maximize", "job", "the objective: maximize throughput subject to { … }"},
    {"assert", "", "a condition on the finished plan"},
    {"warn", "", "a condition on the finished plan that only warns"},
};

std::vector<Item> Statements(const CursorContext& context) {
  std::vector<Item> items;
  const KindSchema* entered = ResolveKind(context.kind(), context.path);
  if (!context.path.empty() && entered == nullptr) return items;
  const std::string kind = context.path.empty() ? context.kind() : entered->name;
  if (kind.empty()) return items;
  for (const AttributeSchema& attribute : Attributes()) {
    if (kind != attribute.kind || absl::string_view(attribute.name) == "*") continue;  // "*" is any name
    items.push_back({attribute.name, ItemKind::kProperty, DescribeType(attribute),
                     absl::StrCat(attribute.doc, "\n\n", DescribePresence(attribute)),
                     absl::StrCat(attribute.name, " = ")});
  }
  for (const KindSchema& child : Kinds()) {
    if (!MayContain(kind, child)) continue;
    items.push_back({child.name, ItemKind::kBlock, child.label == LabelRule::kRequired ? "block with a name" : "block",
                     child.doc, ""});
  }
  if (!context.path.empty()) return items;
  for (const Keyword& keyword : kKeywords) {
    const absl::string_view where = keyword.where;
    const bool fits = where.empty() || where == kind || (where == "block" && kind != "file");
    if (fits) items.push_back({keyword.word, ItemKind::kKeyword, "keyword", keyword.doc, ""});
  }
  return items;
}

void AddWords(const AttributeSchema& attribute, std::vector<Item>& items) {
  const auto add = [&](absl::string_view word, ItemKind kind) {
    const bool is_default = word == attribute.fallback;
    items.push_back(
        {std::string(word), kind, absl::StrCat(attribute.name, is_default ? " (default)" : ""), attribute.doc, ""});
  };
  for (const std::string& word : EnumWords(attribute)) add(word, ItemKind::kEnumMember);
  if (attribute.type != ValueType::kBoolean) return;
  for (const absl::string_view word : {"true", "false"}) add(word, ItemKind::kValue);
}

// Words of the attribute, then names; after a dot names only.
std::vector<Item> Values(const CursorContext& context, const CheckedDocument* parsed) {
  const AttributeSchema* attribute = context.path.empty() ? nullptr : ResolveAttribute(context.kind(), context.path);
  if (attribute == nullptr && !context.path.empty()) return {};
  std::vector<Item> items;
  if (attribute != nullptr && context.qualifier.empty()) AddWords(*attribute, items);
  for (NameProposal& name : ProposeNames(context, attribute, parsed)) {
    items.push_back({std::move(name.name), ItemKind::kReference, std::move(name.detail), std::move(name.doc), ""});
  }
  return items;
}

// Units that `attribute` takes; without one, all of them.
bool Fits(const AttributeSchema* attribute, absl::string_view unit) {
  if (attribute == nullptr) return true;
  switch (attribute->type) {
    case ValueType::kQuantity:
    case ValueType::kPrice:
    case ValueType::kQuota:
      return unit != "%" && DimensionFits(*attribute, KnownUnit(unit).dimension);
    case ValueType::kShare:
      return unit == "%";
    default:
      return false;
  }
}

const char* UnitOfMetric(absl::string_view name) {
  const auto metric = ir::ValueOf(ir::kMetrics, name);
  return metric ? MetricUnit(*metric) : nullptr;
}

std::vector<Item> Units(const CursorContext& context) {
  const AttributeSchema* attribute = ResolveAttribute(context.kind(), context.path);
  const char* metric_unit = UnitOfMetric(context.metric);
  const absl::string_view preferred = metric_unit != nullptr ? metric_unit
                                      : attribute != nullptr ? attribute->unit
                                                             : "";
  std::vector<Item> items;
  for (const std::string& unit : UnitSpellings()) {
    const bool fits = metric_unit != nullptr ? (unit == "%") == preferred.empty() &&
                                                   KnownUnit(unit).dimension == KnownUnit(preferred).dimension
                                             : Fits(attribute, unit);
    if (!fits) continue;
    const auto reading = OtherReading(context.number, unit);
    const std::string literal = absl::StrCat(context.number, unit == "%" ? "" : " ", unit);
    items.push_back({unit, ItemKind::kUnit, Describe(KnownUnit(unit).dimension),
                     reading ? absl::StrCat(literal, " = ", *reading) : literal, ""});
  }
  // The usual unit first.
  std::stable_partition(items.begin(), items.end(), [&](const Item& item) { return item.label == preferred; });
  return items;
}

std::vector<Item> Metrics() {
  std::vector<Item> items;
  for (const auto& [metric, name] : ir::kMetrics) {
    const absl::string_view unit = MetricUnit(metric);
    items.push_back(
        {std::string(name), ItemKind::kValue, unit.empty() ? "%" : std::string(unit), MetricDoc(metric), ""});
  }
  return items;
}

// The first comment of a library file says what is in it.
std::string Introduction(absl::string_view text) {
  std::string introduction;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "# ")) {
      absl::StrAppend(&introduction, introduction.empty() ? "" : " ", line);
    } else if (!introduction.empty()) {
      break;
    }
  }
  return introduction;
}

std::vector<Item> Imports() {
  std::vector<Item> items;
  for (const StandardFile& file : StandardLibrary()) {
    items.push_back({absl::StrCat(file.package, "@", file.version), ItemKind::kModule, "standard library",
                     Introduction(file.text), ""});
  }
  return items;
}

std::vector<Item> ItemsFor(const CursorContext& context, const CheckedDocument* parsed) {
  switch (context.expect) {
    case Expect::kNothing:
      return {};
    case Expect::kStatement:
      return Statements(context);
    case Expect::kValue:
    case Expect::kBase:
      return Values(context, parsed);
    case Expect::kUnit:
      return Units(context);
    case Expect::kMetric:
      return Metrics();
    case Expect::kImportPath:
      return Imports();
  }
  SAIL_CHECK(false) << "context " << static_cast<int>(context.expect);
}

}  // namespace

Json Completion(const Document& document, const CheckedDocument* parsed, Position position, absl::string_view typed) {
  const SourceFile file(document.path, document.text);
  const int offset = OffsetAt(file, position);
  const CursorContext context = ContextAt(file.text(), offset);
  Json list = Json::array();
  if (typed == " " && context.expect == Expect::kStatement) return list;
  const Json range = RangeJson(file, context.word_begin, offset);
  for (const Item& item : ItemsFor(context, parsed)) {
    Json json = {{"label", item.label},
                 {"kind", static_cast<int>(item.kind)},
                 {"detail", item.detail},
                 {"documentation", item.documentation},
                 {"sortText", absl::StrFormat("%03d", list.size())},  // editors sort: keep our order
                 {"textEdit", {{"range", range}, {"newText", item.inserted.empty() ? item.label : item.inserted}}}};
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace sail::lsp
