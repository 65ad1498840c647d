// The texts that the editor has open. They shadow the files of the same path, for the file that is checked and for
// everything that imports it.
#pragma once

#include <map>
#include <string>

#include "compiler/base/file_system.h"
#include "compiler/base/json.h"

namespace sail::lsp {

struct Document {
  std::string uri;  // as the editor spells it
  std::string path;
  int version = 0;
  std::string text;
};

class Documents : public FileSystem {
 public:
  // `disk` holds what is not open, and must outlive this.
  explicit Documents(const FileSystem& disk) : disk_(disk) {}

  // The parameters of textDocument/didOpen, didChange (whole texts and ranges) and didClose. InvalidArgument leaves the
  // documents as they were.
  absl::Status Open(const Json& params);
  absl::Status Change(const Json& params);
  absl::Status Close(const Json& params);

  const std::map<std::string, Document>& by_path() const { return by_path_; }
  // The open document that `params.textDocument` names.
  absl::StatusOr<const Document*> Find(const Json& params) const;

  absl::StatusOr<std::string> Read(const std::string& path, int64_t max_bytes) const override;
  bool Exists(const std::string& path) const override;

 private:
  const FileSystem& disk_;
  std::map<std::string, Document> by_path_;
};

}  // namespace sail::lsp
