// Phase 4: attributes. They are evaluated and converted to what the schema says; missing ones are filled in or
// reported.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/passes/check_attributes.h"
#include "compiler/passes/convert.h"

namespace sail {
namespace {

class AttributeChecker {
 public:
  AttributeChecker(Evaluator& evaluator, DiagnosticSink& sink) : evaluator_(evaluator), sink_(sink) {}

  void Check(CheckedBlock& checked) {
    const int reports = sink_.reports();
    ReportMissing(checked);
    ReportBothForms(checked);
    std::vector<CheckedAttribute*> wrong;
    for (auto it = checked.attributes.begin(); it != checked.attributes.end();) {
      const bool present = EvaluateAttribute(checked, it->first, it->second, wrong);
      it = present ? std::next(it) : checked.attributes.erase(it);
    }
    ReportDimensions(wrong);
    FillDefaults(checked);
    for (const auto& child : checked.children) {
      Check(*child);
      if (!child->is_sound) checked.is_sound = false;
    }
    for (const auto& [name, copy] : checked.copies) Check(*copy);
    if (sink_.reports() != reports) checked.is_sound = false;
  }

 private:
  // What a base lacks is reported there.
  static bool IsMissingInBase(const CheckedBlock& checked, const std::string& name) {
    return checked.base != nullptr && !checked.base->Has(name) && checked.base->Child(name) == nullptr;
  }

  // One report for a block, however much it lacks.
  void ReportMissing(CheckedBlock& checked) {
    if (checked.lacks_base) return;
    std::vector<std::string> names, notes, helps;
    const auto missing = [&](absl::string_view name, absl::string_view doc, std::string edit) {
      if (checked.excused.contains(std::string(name))) return;
      if (IsMissingInBase(checked, std::string(name))) {
        checked.is_sound = false;
        return;
      }
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
    const bool is_named = checked.kind->label == LabelRule::kRequired;
    const std::string label = is_named ? absl::StrCat(" `", checked.label, "`") : "";
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

  // False if the attribute is `none`: as if it had not been written. A value with a dimension that the attribute does
  // not accept goes to `wrong`: those are reported together.
  bool EvaluateAttribute(CheckedBlock& checked, const std::string& name, CheckedAttribute& attribute,
                         std::vector<CheckedAttribute*>& wrong) {
    const AttributeSchema& schema = *attribute.schema;
    auto value = evaluator_.RawValue(attribute, {name, attribute.name_range});
    if (!value) {
      checked.is_sound = false;  // reported at its first use, perhaps in another block
      return true;
    }
    if (value->As<NoneValue>() != nullptr && schema.presence == Presence::kOptional) return false;
    const auto* quantity = std::get_if<Amount>(&value->content);
    const bool is_scalar =
        schema.type == ValueType::kQuantity || schema.type == ValueType::kPrice || schema.type == ValueType::kQuota;
    if (quantity != nullptr && is_scalar && !DimensionFits(schema, quantity->dimension)) {
      attribute.value = std::move(value);
      wrong.push_back(&attribute);
      checked.is_sound = false;
      return true;
    }
    attribute.value = ConvertValue(schema, *std::move(value), sink_);
    if (!attribute.value) checked.is_sound = false;
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
                                                               .origin = Origin::kDefault,
                                                               .state = Binding::State::kDone,
                                                               .raw = value,
                                                               .value = value});
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
