// What is known about the open documents after the compiler looked at them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/driver/lsp/documents.h"
#include "compiler/passes/analysis.h"

namespace sail::lsp {

// Ranges refer to `sources`: the document first, then what it imports.
struct CheckedDocument {
  SourceManager sources;
  DiagnosticSink sink;
  std::string failure;                 // of the environment; empty
  std::shared_ptr<Analysis> analysis;  // null when the document cannot be parsed

  SourceId file() const { return SourceId(0); }  // the document itself
};

// One check for each version of the open documents; requests are answered from it.
class CheckedDocuments {
 public:
  using ByPath = std::map<std::string, std::shared_ptr<const CheckedDocument>>;

  // Checks every open document, because any may import any other. `documents` must outlive this.
  void Refresh(const Documents& documents);

  const ByPath& by_path() const { return current_; }
  const CheckedDocument& Of(const Document& document) const { return *current_.at(document.path); }
  // The last version that could be parsed, for completion in half-written text: its places are out of date. Null if
  // there was none since the document was opened.
  const CheckedDocument* LastParsed(const Document& document) const;

 private:
  ByPath current_;
  ByPath parsed_;
};

// Embedded files have no place an editor could open.
bool IsShown(const SourceFile& file);
std::string UriOf(const SourceFile& file, const Documents& documents);
// The protocol's Location; null if the range is in an embedded file.
Json LocationJson(const SourceRange& range, const SourceManager& sources, const Documents& documents);

}  // namespace sail::lsp
