// Files and names: a module is one parsed .sail file; its scopes bind the names that its expressions may use.
// Order of declarations never matters, and a name that is visible is never bound again.
#pragma once

#include <deque>
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

namespace sail {

// The gpus that declared ones are compared with.
inline constexpr char kGpuCatalogue[] = "std/gpus";

struct Module;
struct Scope;

// A name and what it stands for: exactly one of the pointers is set.
struct Binding {
  SourceRange range;  // of the name where it is declared
  const ast::Let* let = nullptr;
  const ast::Block* block = nullptr;
  const Module* module = nullptr;  // of an import
};

struct Scope {
  const Scope* parent = nullptr;
  std::map<std::string, Binding> names;

  const Binding* Find(const std::string& name) const;
  std::vector<std::string> VisibleNames() const;
};

struct Module {
  std::string key;        // identity: "std/gcp", or the normal form of the file's path
  std::string name;       // what messages call it
  std::string directory;  // of the file, relative to the directory of the main file; "" for the main file itself
  bool is_standard = false;
  ast::Spec spec;
  Scope top;
  std::deque<Scope> inner;  // scopes of block bodies, owned here
  std::map<const ast::Body*, const Scope*> body_scopes;
};

// All files of one compilation, the main file first. Addresses are stable.
struct ModuleSet {
  std::string base_directory;  // of the main file
  std::vector<std::unique_ptr<Module>> modules;

  const Module& main() const { return *modules.front(); }
  // The scope in which the contents of `body` are evaluated.
  const Scope& ScopeOf(const ast::Body& body) const;
  const Module* Find(const std::string& key) const;  // null if not loaded
};

// Phase 1: reads and parses `path` and, transitively, what it imports. "std/…" comes from the embedded library; other
// imports are files beside the importing one. A module that does not parse is reported and left out; the status is an
// environment error only if `path` itself cannot be read.
absl::StatusOr<ModuleSet> LoadModules(const std::string& path, const FileSystem& files, const ParseLimits& limits,
                                      SourceManager& sources, DiagnosticSink& sink);

// Phase 2: fills the scopes of every module. Reports names that are bound twice (SAIL0111).
void BindNames(ModuleSet& set, DiagnosticSink& sink);

}  // namespace sail
