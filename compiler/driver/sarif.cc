#include "compiler/driver/sarif.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/file_system.h"
#include "compiler/base/sha256.h"
#include "compiler/driver/explanations.h"

namespace sail::driver {
namespace {

constexpr char kFingerprintKey[] = "primaryLocationLineHash";  // the one that GitHub reads
constexpr char kSchema[] = "https://json.schemastore.org/sarif-2.1.0.json";

const char* LevelOf(Severity severity) { return severity == Severity::kError ? "error" : "warning"; }

Json Text(absl::string_view text) { return {{"text", std::string(text)}}; }

// RFC 3986: everything but unreserved characters and `/` is escaped.
std::string UriOf(const std::string& name) {
  const std::string path = JoinPath("", name);  // without "./"
  std::string uri = absl::StartsWith(path, "/") ? "file://" : "";
  for (const char c : path) {
    const bool plain =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._~/", std::string(1, c));
    absl::StrAppend(&uri, plain ? std::string(1, c) : absl::StrFormat("%%%02X", static_cast<unsigned char>(c)));
  }
  return uri;
}

Json LocationOf(const SourceRange& range, const SourceManager& sources) {
  const SourceFile& file = sources.Get(range.file);
  const LineColumn begin = file.Locate(range.begin);
  const LineColumn end = file.Locate(range.end);
  Json artifact = {{"uri", UriOf(file.name())}};
  if (!absl::StartsWith(file.name(), "/")) artifact["uriBaseId"] = "%SRCROOT%";
  return {{"physicalLocation",
           {{"artifactLocation", std::move(artifact)},
            {"region",
             {{"startLine", begin.line},
              {"startColumn", begin.column},
              {"endLine", end.line},
              {"endColumn", end.column}}}}}};
}

// The paragraph between the title and the examples.
absl::string_view ParagraphOf(absl::string_view explanation) {
  const size_t begin = explanation.find("\n\n") + 2;
  return explanation.substr(begin, explanation.find("\n\n", begin) - begin);
}

Json RuleOf(DiagnosticCode code) {
  const absl::string_view title = TitleOf(code);
  const absl::string_view explanation = ExplanationOf(code);
  Json rule = {{"id", CodeText(code)},
               {"shortDescription", Text(title)},
               {"fullDescription", Text(explanation.empty() ? title : ParagraphOf(explanation))},
               {"help", Text(explanation.empty() ? title : explanation)},
               {"defaultConfiguration", {{"level", LevelOf(SeverityOf(code))}}}};
  if (!explanation.empty()) rule["help"]["markdown"] = std::string(explanation);
  return rule;
}

std::string WithoutBlanks(absl::string_view line) {
  std::string text;
  for (const char c : line) {
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) text += c;
  }
  return text;
}

}  // namespace

std::string SarifLog::Fingerprint(const Diagnostic& diagnostic, const SourceManager& sources) {
  const SourceFile& file = sources.Get(diagnostic.primary.range.file);
  const absl::string_view line = file.Line(file.Locate(diagnostic.primary.range.begin).line);
  const std::string hash = Sha256Hex(absl::StrCat(CodeText(diagnostic.code), "\n", WithoutBlanks(line)));
  return absl::StrCat(hash, ":", ++seen_[absl::StrCat(file.name(), "\n", hash)]);
}

void SarifLog::Add(const std::vector<Diagnostic>& sorted, const SourceManager& sources) {
  for (const Diagnostic& diagnostic : sorted) {
    rules_.insert(diagnostic.code);
    Json result = {{"ruleId", CodeText(diagnostic.code)},
                   {"level", LevelOf(SeverityOf(diagnostic))},
                   {"message", Text(RenderMessage(diagnostic))},
                   {"locations", Json::array()}};
    if (diagnostic.primary.range.valid()) {
      result["locations"].push_back(LocationOf(diagnostic.primary.range, sources));
      result["partialFingerprints"] = {{kFingerprintKey, Fingerprint(diagnostic, sources)}};
    }
    for (const Label& label : diagnostic.secondary) {
      if (!label.range.valid()) continue;
      Json related = LocationOf(label.range, sources);
      related["id"] = result.contains("relatedLocations") ? result["relatedLocations"].size() : 0;
      if (!label.text.empty()) related["message"] = Text(label.text);
      result["relatedLocations"].push_back(std::move(related));
    }
    results_.push_back(std::move(result));
  }
}

void SarifLog::AddError(absl::string_view message) {
  notifications_.push_back({{"level", "error"}, {"message", Text(message)}});
}

std::string SarifLog::Finish(ExitCode code) const {
  Json rules = Json::array();
  for (const DiagnosticCode rule : rules_) rules.push_back(RuleOf(rule));
  Json results = results_;
  for (Json& result : results) {
    const std::string id = result["ruleId"];
    const auto rule = std::find_if(rules.begin(), rules.end(), [&id](const Json& r) { return r["id"] == id; });
    result["ruleIndex"] = std::distance(rules.begin(), rule);
  }
  const bool ran = code == ExitCode::kDone || code == ExitCode::kSourceErrors || code == ExitCode::kInfeasible;
  const Json invocation = {{"executionSuccessful", ran},
                           {"exitCode", static_cast<int>(code)},
                           {"toolExecutionNotifications", notifications_}};
  const Json driver = {{"name", "sailc"}, {"version", SAIL_VERSION}, {"rules", std::move(rules)}};
  const Json run = {{"tool", {{"driver", driver}}},
                    {"columnKind", "unicodeCodePoints"},
                    {"invocations", Json::array({invocation})},
                    {"results", std::move(results)}};
  const Json log = {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  // Bytes that are not UTF-8 (a path may hold any) become U+FFFD.
  return absl::StrCat(log.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace), "\n");
}

}  // namespace sail::driver
