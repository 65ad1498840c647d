#include "compiler/driver/lsp/checked_document.h"

#include <utility>

#include "absl/strings/match.h"
#include "compiler/driver/lsp/protocol.h"
#include "compiler/driver/lsp/uri.h"
#include "compiler/passes/pipeline.h"

namespace sail::lsp {
namespace {

std::shared_ptr<const CheckedDocument> Check(const std::string& path, const FileSystem& files) {
  auto checked = std::make_shared<CheckedDocument>();
  SpecView view = ViewFile(path, files, ParseLimits(), checked->sources, checked->sink);
  if (!view.status.ok() && !IsDiagnosedError(view.status)) checked->failure = std::string(view.status.message());
  checked->analysis = std::move(view.analysis);
  return checked;
}

}  // namespace

void CheckedDocuments::Refresh(const Documents& documents) {
  current_.clear();
  ByPath parsed;
  for (const auto& [path, document] : documents.by_path()) {
    const auto& checked = current_[path] = Check(path, documents);
    if (checked->analysis != nullptr) {
      parsed[path] = checked;
    } else if (const auto before = parsed_.find(path); before != parsed_.end()) {
      parsed[path] = before->second;
    }
  }
  parsed_ = std::move(parsed);
}

const CheckedDocument* CheckedDocuments::LastParsed(const Document& document) const {
  const auto found = parsed_.find(document.path);
  return found != parsed_.end() ? found->second.get() : nullptr;
}

bool IsShown(const SourceFile& file) { return !absl::StartsWith(file.name(), "std/"); }

std::string UriOf(const SourceFile& file, const Documents& documents) {
  const auto open = documents.by_path().find(file.name());
  return open != documents.by_path().end() ? open->second.uri : UriOfPath(file.name());
}

Json LocationJson(const SourceRange& range, const SourceManager& sources, const Documents& documents) {
  const SourceFile& file = sources.Get(range.file);
  if (!IsShown(file)) return nullptr;
  return {{"uri", UriOf(file, documents)}, {"range", RangeJson(file, range.begin, range.end)}};
}

}  // namespace sail::lsp
