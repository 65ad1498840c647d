// Files: a module is one parsed .sail file and the scope of its top level.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/file_system.h"
#include "compiler/base/source.h"
#include "compiler/frontend/ast.h"
#include "compiler/frontend/parse.h"
#include "compiler/passes/scope.h"

namespace sail {

// The package with the gpus that declared ones are compared with.
inline constexpr char kGpuCatalogue[] = "std/gpus";

struct Module {
  std::string key;        // identity: "std/gcp@2026.11", or the normal form of the file's path
  std::string name;       // what messages call it
  std::string directory;  // of the file, relative to the directory of the main file; "" for the main file itself
  std::string package;    // "std/gcp" for a standard one, else empty
  SourceId source = SourceId(-1);  // of its text
  ast::Spec spec;
  Scope top;
  // Blocks that loops at the top level made, by label; the expander fills it.
  std::map<std::string, CheckedBlock*> generated;

  bool is_standard() const { return !package.empty(); }
};

// All files of one compilation, the main file first. Addresses are stable.
struct ModuleSet {
  std::string base_directory;  // of the main file
  std::vector<std::unique_ptr<Module>> modules;

  Module& main() const { return *modules.front(); }
  Module* Find(const std::string& key) const;  // null if not loaded
};

// A path that `module` writes, as a bundle or the planner sees it: relative to the directory of the main file.
std::string FromMainDirectory(const Module& module, const std::string& written);

// Phase 1: reads and parses `path` and, transitively, what it imports, and binds the import's names. "std/…" comes from
// the embedded library, of the version named (`std/gcp@2026.11`) or, with a warning, the newest; other imports are
// files beside the importing one. A module that does not parse is reported and left out; the status is an environment
// error only if `path` itself cannot be read.
absl::StatusOr<ModuleSet> LoadModules(const std::string& path, const FileSystem& files, const ParseLimits& limits,
                                      SourceManager& sources, DiagnosticSink& sink);

// Phase 2: binds the names of every top level. Reports names that are bound twice (SAIL0111).
void BindNames(ModuleSet& set, DiagnosticSink& sink);

// Binds lets, named machines and aliases of a body to its scope; `block` (null at the top level) is the parent of the
// blocks in it. Reports names that are bound twice in it (SAIL0111)
// or visible around it (SAIL0311).
void BindBody(const ast::Body& body, CheckedBlock* block, Scope& scope, DiagnosticSink& sink);
// Binds a name; false, and reported, if it is visible already.
bool BindName(Scope& scope, const ast::Identifier& name, Binding binding, DiagnosticSink& sink);

}  // namespace sail
