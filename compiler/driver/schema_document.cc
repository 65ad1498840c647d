#include "compiler/driver/schema_document.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/diagnostic.h"
#include "compiler/driver/table.h"
#include "compiler/frontend/keywords.h"
#include "compiler/ir/names.h"
#include "compiler/passes/metrics.h"
#include "compiler/passes/schema_text.h"
#include "compiler/passes/unit_readings.h"

namespace sail::driver {
namespace {

constexpr char kVersion[] = "1.0";  // readers ignore unknown keys of the same major version

std::string Text(absl::string_view text) { return std::string(text); }

absl::string_view SeverityText(DiagnosticCode code) {
  return SeverityOf(code) == Severity::kError ? "error" : "warning";
}

Json KindToJson(const KindSchema& kind) {
  const std::vector<std::string> parents = absl::StrSplit(kind.parents, '|');
  return {{"name", kind.name},
          {"doc", kind.doc},
          {"parents", parents},
          {"label", kind.label == LabelRule::kRequired ? "required" : "none"},
          {"required_in", kind.required_in},
          {"at_most_one", kind.at_most_one},
          {"open", kind.is_open}};
}

Json AttributeToJson(const AttributeSchema& attribute) {
  Json json = {{"kind", attribute.kind},
               {"name", attribute.name},
               {"doc", attribute.doc},
               {"type", Text(NameOf(attribute.type))},
               {"expects", DescribeType(attribute)},
               {"required", attribute.presence == Presence::kRequired},
               {"bound", Text(NameOf(attribute.bound))}};
  if (*attribute.fallback != '\0') json["default"] = attribute.fallback;
  if (attribute.largest > 0) json["largest"] = attribute.largest;
  if (!EnumWords(attribute).empty()) {
    json["words"] = EnumWords(attribute);
  } else if (attribute.type == ValueType::kReference) {
    json["refers_to"] = attribute.unit;
  } else if (*attribute.unit != '\0') {
    json["unit"] = attribute.unit;
  }
  return json;
}

// "1 Gbps = 0.125 GB/s", or empty.
std::string ReadingOf(const UnitWord& unit) {
  const auto reading = OtherReading("1", unit.word);
  return reading ? absl::StrCat("1 ", unit.word, " = ", *reading) : "";
}

Json UnitToJson(const UnitWord& unit) {
  Json json = {{"word", unit.word},
               {"meaning", unit.meaning},
               {"dimension", Describe(unit.unit.dimension)},
               {"base", BaseSpelling(unit.unit.dimension)},
               {"factor", unit.unit.factor.ToString()}};
  if (!unit.singular.empty()) json["singular"] = unit.singular;
  if (const std::string reading = ReadingOf(unit); !reading.empty()) json["reading"] = reading;
  return json;
}

template <class Rows, class ToJson>
Json ListOf(const Rows& rows, ToJson to_json) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(to_json(row));
  return list;
}

std::string KindTable() {
  Table table("<<<<<", {"BLOCK", "LABEL", "STANDS IN", "HOW OFTEN", ""});
  for (const KindSchema& kind : Kinds()) {
    const std::string required = *kind.required_in != '\0' ? absl::StrCat("required in ", kind.required_in) : "";
    const std::string at_most = kind.at_most_one ? "at most one" : "";
    table.Add({kind.name, kind.label == LabelRule::kRequired ? "yes" : "no",
               absl::StrJoin(absl::StrSplit(kind.parents, '|'), ", "), required.empty() ? at_most : required,
               kind.doc});
  }
  return table.Render("  ");
}

std::string AttributeTable(const KindSchema& kind) {
  Table table("<<<<", {"", "", "", ""});
  bool any = false;
  for (const AttributeSchema& attribute : Attributes()) {
    if (absl::string_view(attribute.kind) != kind.name) continue;
    table.Add({attribute.name, DescribeType(attribute), DescribePresence(attribute), attribute.doc});
    any = true;
  }
  // The header row is empty: attributes stand under the name of their block.
  return any ? absl::StrCat("\n", kind.name, table.Render("  ")) : "";
}

std::string UnitTable() {
  Table table("<<<<", {"UNIT", "IS", "DIMENSION", "READS"});
  table.Add({"%", "hundredths", "a plain number", "1 % = 0.01"});
  for (const UnitWord& unit : UnitWords()) {
    const std::string word = unit.singular.empty() ? unit.word : absl::StrCat(unit.word, ", ", unit.singular);
    table.Add({word, unit.meaning, Describe(unit.unit.dimension), ReadingOf(unit)});
  }
  return table.Render("  ");
}

std::string MetricTable() {
  Table table("<<<", {"METRIC", "UNIT", ""});
  for (const auto& [metric, name] : ir::kMetrics) {
    const absl::string_view unit = MetricUnit(metric);
    table.Add({Text(name), unit.empty() ? "%" : Text(unit), MetricDoc(metric)});
  }
  return table.Render("  ");
}

std::string CodeTable() {
  Table table("<<<", {"CODE", "", ""});
  for (const DiagnosticCode code : AllCodes())
    table.Add({CodeText(code), Text(SeverityText(code)), Text(TitleOf(code))});
  return table.Render("  ");
}

}  // namespace

Json SchemaDocument() {
  const auto metric = [](const auto& row) {
    return Json{{"name", Text(row.second)}, {"unit", MetricUnit(row.first)}, {"doc", MetricDoc(row.first)}};
  };
  const auto code = [](DiagnosticCode code) {
    return Json{{"code", CodeText(code)}, {"severity", Text(SeverityText(code))}, {"title", Text(TitleOf(code))}};
  };
  return {{"version", kVersion},
          {"kinds", ListOf(Kinds(), KindToJson)},
          {"attributes", ListOf(Attributes(), AttributeToJson)},
          {"units", ListOf(UnitWords(), UnitToJson)},
          {"reserved_units", ReservedUnitWords()},
          {"keywords", {{"reserved", ReservedWords()}, {"soft", SoftWords()}}},
          {"metrics", ListOf(ir::kMetrics, metric)},
          {"diagnostics", ListOf(AllCodes(), code)}};
}

std::string SchemaTables() {
  std::string attributes;
  for (const KindSchema& kind : Kinds()) attributes += AttributeTable(kind);
  return absl::StrCat("Blocks\n", KindTable(), "\nAttributes\n", attributes, "\nUnits\n", UnitTable(),
                      "\nReserved units: ", absl::StrJoin(ReservedUnitWords(), " "), "\n\nMetrics\n", MetricTable(),
                      "\nReserved words: ", absl::StrJoin(ReservedWords(), " "),
                      "\nSoft words: ", absl::StrJoin(SoftWords(), " "), "\n\nDiagnostics\n", CodeTable());
}

}  // namespace sail::driver
