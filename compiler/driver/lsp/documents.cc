#include "compiler/driver/lsp/documents.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/lsp/protocol.h"
#include "compiler/driver/lsp/uri.h"

namespace sail::lsp {
namespace {

// `text` after one element of contentChanges.
absl::StatusOr<std::string> Apply(const Json& change, std::string text) {
  SAIL_ASSIGN_OR_RETURN(std::string inserted, StringAt(change, {"text"}));
  if (FindMember(change, {"range"}) == nullptr) return inserted;
  SAIL_ASSIGN_OR_RETURN(const Position start, PositionIn(change, {"range", "start"}));
  SAIL_ASSIGN_OR_RETURN(const Position end, PositionIn(change, {"range", "end"}));
  const SourceFile before("", std::move(text));
  const int first = OffsetAt(before, start), last = OffsetAt(before, end);
  if (last < first) return absl::InvalidArgumentError("params.contentChanges: a range ends before it starts");
  return absl::StrCat(before.text().substr(0, first), inserted, before.text().substr(last));
}

}  // namespace

absl::Status Documents::Open(const Json& params) {
  Document document;
  SAIL_ASSIGN_OR_RETURN(document.uri, StringAt(params, {"textDocument", "uri"}));
  SAIL_ASSIGN_OR_RETURN(document.version, IntAt(params, {"textDocument", "version"}));
  SAIL_ASSIGN_OR_RETURN(document.text, StringAt(params, {"textDocument", "text"}));
  document.path = PathOfUri(document.uri);
  by_path_[document.path] = std::move(document);
  return absl::OkStatus();
}

absl::Status Documents::Change(const Json& params) {
  SAIL_ASSIGN_OR_RETURN(const Document* found, Find(params));
  SAIL_ASSIGN_OR_RETURN(const int version, IntAt(params, {"textDocument", "version"}));
  const Json* changes = FindMember(params, {"contentChanges"});
  if (changes == nullptr || !changes->is_array()) {
    return absl::InvalidArgumentError("params.contentChanges: expected a list");
  }
  std::string text = found->text;
  for (const Json& change : *changes) {
    SAIL_ASSIGN_OR_RETURN(text, Apply(change, std::move(text)));
  }
  Document& document = by_path_[found->path];
  document.version = version;
  document.text = std::move(text);
  return absl::OkStatus();
}

absl::Status Documents::Close(const Json& params) {
  SAIL_ASSIGN_OR_RETURN(const Document* found, Find(params));
  by_path_.erase(std::string(found->path));
  return absl::OkStatus();
}

absl::StatusOr<const Document*> Documents::Find(const Json& params) const {
  SAIL_ASSIGN_OR_RETURN(const std::string uri, StringAt(params, {"textDocument", "uri"}));
  const auto found = by_path_.find(PathOfUri(uri));
  if (found == by_path_.end()) return absl::InvalidArgumentError(absl::StrCat("'", uri, "' is not open"));
  return &found->second;
}

absl::StatusOr<std::string> Documents::Read(const std::string& path, int64_t max_bytes) const {
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return disk_.Read(path, max_bytes);
  if (static_cast<int64_t>(found->second.text.size()) > max_bytes) {
    return absl::UnavailableError(absl::StrCat("'", path, "' is larger than ", max_bytes, " bytes"));
  }
  return found->second.text;
}

bool Documents::Exists(const std::string& path) const { return by_path_.contains(path) || disk_.Exists(path); }

}  // namespace sail::lsp
