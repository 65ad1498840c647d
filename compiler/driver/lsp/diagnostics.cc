#include "compiler/driver/lsp/diagnostics.h"

#include <algorithm>
#include <utility>

#include "compiler/driver/lsp/protocol.h"
#include "compiler/driver/lsp/uri.h"

namespace sail::lsp {
namespace {

constexpr char kSource[] = "sailc";
constexpr int kErrorSeverity = 1;
constexpr int kWarningSeverity = 2;

Json DiagnosticToJson(const Diagnostic& diagnostic, const SourceManager& sources, const Documents& documents) {
  const SourceRange& place = diagnostic.primary.range;
  Json json = {{"range", RangeJson(sources.Get(place.file), place.begin, place.end)},
               {"severity", SeverityOf(diagnostic) == Severity::kError ? kErrorSeverity : kWarningSeverity},
               {"code", CodeText(diagnostic.code)},
               {"source", kSource},
               {"message", RenderMessage(diagnostic)}};
  for (const Label& label : diagnostic.secondary) {
    if (!label.range.valid()) continue;
    Json location = LocationJson(label.range, sources, documents);
    if (location.is_null()) continue;
    json["relatedInformation"].push_back({{"location", std::move(location)}, {"message", label.text}});
  }
  return json;
}

// A fault of the environment has no place of its own.
Json FailureToJson(const std::string& failure) {
  const Json start = ToJson(Position{});
  return {{"range", {{"start", start}, {"end", start}}},
          {"severity", kErrorSeverity},
          {"source", kSource},
          {"message", failure}};
}

// Two documents that import one file find the same faults in it.
void Add(Json json, Json& list) {
  if (list.size() < kMostDiagnostics && std::find(list.begin(), list.end(), json) == list.end()) {
    list.push_back(std::move(json));
  }
}

std::map<std::string, Json> DiagnosticsByPath(const Documents& documents, const CheckedDocuments& checked) {
  std::map<std::string, Json> by_path;
  for (const auto& [path, document] : checked.by_path()) {
    if (!document->failure.empty()) Add(FailureToJson(document->failure), by_path[path]);
    for (const Diagnostic& diagnostic : document->sink.Sorted()) {
      if (!diagnostic.primary.range.valid()) continue;
      const SourceFile& file = document->sources.Get(diagnostic.primary.range.file);
      if (IsShown(file)) Add(DiagnosticToJson(diagnostic, document->sources, documents), by_path[file.name()]);
    }
  }
  return by_path;
}

}  // namespace

std::vector<Json> DiagnosticsFeature::Refresh(const Documents& documents, const CheckedDocuments& checked,
                                              const std::string& changed_path) {
  std::map<std::string, Json> found = DiagnosticsByPath(documents, checked);
  std::set<std::string> paths = {changed_path};
  for (const auto& [path, list] : found) {
    if (const auto sent = sent_.find(path); sent == sent_.end() || sent->second != list) paths.insert(path);
  }
  for (const auto& [path, list] : sent_) {
    if (!found.contains(path)) paths.insert(path);
  }

  std::vector<Json> notifications;
  for (const std::string& path : paths) {
    const auto list = found.find(path);
    Json params = {{"diagnostics", list != found.end() ? list->second : Json::array()}};
    const auto open = documents.by_path().find(path);
    params["uri"] = open != documents.by_path().end() ? open->second.uri : UriOfPath(path);
    if (open != documents.by_path().end()) params["version"] = open->second.version;
    notifications.push_back(std::move(params));
  }
  sent_ = std::move(found);
  return notifications;
}

}  // namespace sail::lsp
