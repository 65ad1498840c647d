// textDocument/publishDiagnostics: what the open documents, and the files they import, have wrong.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/json.h"
#include "compiler/driver/lsp/checked_document.h"
#include "compiler/driver/lsp/documents.h"

namespace sail::lsp {

inline constexpr size_t kMostDiagnostics = 100;  // shown of one file

class DiagnosticsFeature {
 public:
  // The parameters of the notifications to send: for `changed_path` always, for another file when what is known of it
  // differs from what was last sent. A file without faults gets an empty list. Ordered by path.
  std::vector<Json> Refresh(const Documents& documents, const CheckedDocuments& checked,
                            const std::string& changed_path);

 private:
  std::map<std::string, Json> sent_;  // by path; only lists that are not empty
};

}  // namespace sail::lsp
