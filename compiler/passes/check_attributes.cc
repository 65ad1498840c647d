// Phase 4: attributes. They are evaluated and converted to what the schema says; missing ones are filled in or
// reported.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/passes/checked_block.h"

namespace sail {
namespace {

class AttributeChecker {
 public:
  AttributeChecker(Evaluator& evaluator, DiagnosticSink& sink) : evaluator_(evaluator), sink_(sink) {}

  void Check(CheckedBlock& checked) {
    const int errors = sink_.error_count();
    ReportMissing(checked);
    ReportBothForms(checked);
    std::vector<CheckedAttribute*> wrong;
    for (auto& [name, attribute] : checked.attributes) {
      if (!EvaluateAttribute(checked, attribute)) wrong.push_back(&attribute);
    }
    ReportDimensions(wrong);
    FillDefaults(checked);
    for (const auto& child : checked.children) {
      Check(*child);
      if (!child->is_sound) checked.is_sound = false;
    }
    if (sink_.error_count() != errors) checked.is_sound = false;
  }

 private:
  // One report for a block, however much it lacks.
  void ReportMissing(const CheckedBlock& checked) {
    std::vector<std::string> names, notes, helps;
    const auto missing = [&](absl::string_view name, absl::string_view doc, std::string edit) {
      if (checked.excused.contains(std::string(name))) return;
      names.push_back(absl::StrCat("`", name, "`"));
      notes.push_back(absl::StrCat("`", name, "`: ", doc));
      helps.push_back(absl::StrCat("add `", edit, "`"));
    };
    const absl::string_view kind_name = checked.kind->name;
    for (const AttributeSchema& attribute : Attributes()) {
      if (kind_name != attribute.kind || attribute.presence != Presence::kRequired) continue;
      if (checked.Has(attribute.name)) continue;
      const bool measured = attribute.type == ValueType::kQuantity || attribute.type == ValueType::kPrice ||
                            attribute.type == ValueType::kQuota;
      missing(attribute.name, attribute.doc,
              absl::StrCat(attribute.name, " = …", measured ? " " : "", measured ? attribute.unit : ""));
    }
    for (const KindSchema& kind : Kinds()) {
      if (kind_name != kind.required_in || checked.Child(kind.name) != nullptr) continue;
      missing(kind.name, kind.doc, absl::StrCat(kind.name, " { … }"));
    }
    if (kind_name == "job" && checked.objective == nullptr) {
      missing("minimize/maximize", "what the best plan is", "maximize throughput");
    }
    if (names.empty()) return;
    const std::string label = checked.label.empty() ? "" : absl::StrCat(" `", checked.label, "`");
    sink_.Report({.code = DiagnosticCode::kMissingAttribute,
                  .message = absl::StrCat(kind_name, label, " is missing ", absl::StrJoin(names, ", ")),
                  .primary = {checked.header, ""},
                  .secondary = {},
                  .notes = std::move(notes),
                  .helps = std::move(helps)});
  }

  void ReportBothForms(const CheckedBlock& checked) {
    for (const auto& [name, attribute] : checked.attributes) {
      const CheckedBlock* child = checked.Child(name);
      if (child == nullptr) continue;
      sink_.Report({.code = DiagnosticCode::kDuplicateAttribute,
                    .message = absl::StrCat("`", name, "` is given both as a value and as a block"),
                    .primary = {child->header, ""},
                    .secondary = {{attribute.name_range, "the value"}},
                    .notes = {},
                    .helps = {"keep one"}});
    }
  }

  // False if the value has a dimension that the attribute does not accept: reported together, see ReportDimensions.
  bool EvaluateAttribute(CheckedBlock& checked, CheckedAttribute& attribute) {
    static const AttributeSchema kProfilePath = {"profile",   "path", ValueType::kText,    "", Presence::kOptional, "",
                                                 Bound::kAny, 0,      "a measured profile"};
    const AttributeSchema& schema = checked.kind->is_open ? kProfilePath : *attribute.schema;
    if (schema.type == ValueType::kEnum) {
      attribute.value = ConvertEnum(schema, *attribute.expr, sink_);
      return true;
    }
    auto value = evaluator_.Evaluate(*attribute.expr, *attribute.scope);
    if (!value) {
      checked.is_sound = false;  // reported at its first use, perhaps in another block
      return true;
    }
    const auto* quantity = std::get_if<Amount>(&value->content);
    const bool is_scalar =
        schema.type == ValueType::kQuantity || schema.type == ValueType::kPrice || schema.type == ValueType::kQuota;
    if (quantity != nullptr && is_scalar && !DimensionFits(schema, quantity->dimension)) {
      attribute.value = std::move(value);
      return false;
    }
    attribute.value = ConvertValue(schema, *std::move(value), sink_);
    return true;
  }

  void ReportDimensions(const std::vector<CheckedAttribute*>& wrong) {
    std::vector<bool> done(wrong.size(), false);
    for (size_t i = 0; i < wrong.size(); ++i) {
      if (done[i]) continue;
      const size_t twin = FindSwapped(wrong, i);
      if (twin < wrong.size()) {
        done[twin] = true;
        ReportSwapped(*wrong[i], *wrong[twin]);
      } else {
        ConvertValue(*wrong[i]->schema, *wrong[i]->value, sink_);
      }
    }
    for (CheckedAttribute* attribute : wrong) attribute->value = std::nullopt;
  }

  static const Dimension& DimensionOf(const CheckedAttribute& attribute) {
    return std::get<Amount>(attribute.value->content).dimension;
  }

  // A later sibling such that each of the two holds what the other needs: one mistake, not two.
  static size_t FindSwapped(const std::vector<CheckedAttribute*>& wrong, size_t i) {
    for (size_t j = i + 1; j < wrong.size(); ++j) {
      if (DimensionFits(*wrong[i]->schema, DimensionOf(*wrong[j])) &&
          DimensionFits(*wrong[j]->schema, DimensionOf(*wrong[i]))) {
        return j;
      }
    }
    return wrong.size();
  }

  void ReportSwapped(const CheckedAttribute& a, const CheckedAttribute& b) {
    sink_.Report({.code = DiagnosticCode::kAttributeDimension,
                  .message = absl::StrCat("`", a.schema->name, "` holds ", Describe(DimensionOf(a)), " and `",
                                          b.schema->name, "` holds ", Describe(DimensionOf(b))),
                  .primary = {a.value->range, absl::StrCat("this is ", Describe(DimensionOf(a)))},
                  .secondary = {{b.value->range, absl::StrCat("this is ", Describe(DimensionOf(b)))}},
                  .notes = {},
                  .helps = {"did you swap the two values?"}});
  }

  void FillDefaults(CheckedBlock& checked) {
    for (const AttributeSchema& schema : Attributes()) {
      if (absl::string_view(checked.kind->name) != schema.kind || checked.Has(schema.name)) continue;
      // `optimizer = adam` is not a default where an `optimizer` block stands.
      if (checked.Child(schema.name) != nullptr) continue;
      auto value = DefaultValue(schema);
      if (!value) continue;
      checked.attributes.emplace(schema.name, CheckedAttribute{.schema = &schema,
                                                               .name_range = checked.header,
                                                               .expr = nullptr,
                                                               .scope = nullptr,
                                                               .value = std::move(value)});
    }
  }

  Evaluator& evaluator_;
  DiagnosticSink& sink_;
};

}  // namespace

void CheckAttributes(CheckedBlocks& blocks, Evaluator& evaluator, DiagnosticSink& sink) {
  AttributeChecker checker(evaluator, sink);
  for (const auto& block : blocks.top) checker.Check(*block);
}

}  // namespace sail
