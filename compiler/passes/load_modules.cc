// Phase 1: files. A module is loaded once, whatever number of files import it.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status_macros.h"
#include "compiler/passes/modules.h"
#include "stdlib/standard_library.h"

namespace sail {
namespace {

class Loader {
 public:
  Loader(const FileSystem& files, const ParseLimits& limits, SourceManager& sources, DiagnosticSink& sink)
      : files_(files), limits_(limits), sources_(sources), sink_(sink) {}

  absl::StatusOr<ModuleSet> Load(const std::string& path) {
    set_.base_directory = DirectoryOf(path);
    SAIL_ASSIGN_OR_RETURN(std::string text, files_.Read(path, kMaxSourceBytes));
    Module* main = Parse(JoinPath("", path), path, "", "", std::move(text));
    if (main == nullptr) return DiagnosedError();
    size_t loaded = 0;
    for (; loaded < set_.modules.size(); ++loaded) LoadImports(*set_.modules[loaded]);
    ReportCycles();
    LoadRelated();
    for (; loaded < set_.modules.size(); ++loaded) LoadImports(*set_.modules[loaded]);
    return std::move(set_);
  }

 private:
  struct Edge {
    const Module* target;
    SourceRange range;  // of the import
  };

  Module* Parse(const std::string& key, const std::string& name, std::string directory, std::string package,
                std::string text) {
    const SourceId file = sources_.Add(name, std::move(text));
    auto spec = sail::Parse(sources_, file, limits_, sink_);
    if (!spec.ok()) {
      failed_.insert(key);
      return nullptr;
    }
    auto module = std::make_unique<Module>();
    module->key = key;
    module->name = name;
    module->directory = std::move(directory);
    module->package = std::move(package);
    module->source = file;
    module->spec = *std::move(spec);
    set_.modules.push_back(std::move(module));
    return set_.modules.back().get();
  }

  void LoadImports(Module& module) {
    for (const ast::Item& item : module.spec.items) {
      const auto* import = std::get_if<ast::Import>(&item);
      if (import == nullptr) continue;
      Module* target = LoadImport(module, *import);
      if (target == nullptr) continue;
      edges_[&module].push_back({target, import->path_range});
      CheckHash(*import, *target);
      Binding binding;
      binding.range = import->alias.range;
      binding.module = target;
      module.top.names.emplace(import->alias.text, std::move(binding));
    }
  }

  // Declared gpus and machines are compared with those of the standard library that have the same name, or the same
  // gpu. A package is only parsed when its text has such a name.
  void LoadRelated() {
    std::vector<std::string> needles;
    for (const auto& module : set_.modules) {
      if (module->is_standard()) continue;
      for (const ast::Item& item : module->spec.items) {
        if (const auto* block = std::get_if<ast::Block>(&item)) AddNeedles(*block, needles);
      }
    }
    if (needles.empty()) return;
    for (const StandardFile& file : StandardLibrary()) {
      if (HasPackage(file.package) || NewestStandardFile(file.package) != &file) continue;
      const std::string text = absl::AsciiStrToLower(file.text);
      const bool related = std::any_of(needles.begin(), needles.end(),
                                       [&](const std::string& needle) { return absl::StrContains(text, needle); });
      if (related) LoadStandard(file);
    }
  }

  static void AddNeedles(const ast::Block& block, std::vector<std::string>& needles) {
    const bool is_named = block.label && !block.label->text.empty();
    if (is_named && (block.kind.text == "gpu" || block.kind.text == "machine")) {
      needles.push_back(absl::AsciiStrToLower(absl::StrCat("\n", block.kind.text, " ", block.label->text, " {")));
    }
    if (block.kind.text != "machine") return;
    for (const ast::Statement& statement : block.body.front().statements) {
      const auto* assignment = std::get_if<ast::Assignment>(&statement);
      if (assignment == nullptr || assignment->target.parts.front().text != "gpu") continue;
      const auto* name = std::get_if<ast::NameExpr>(&assignment->value.node);
      const auto* member = std::get_if<ast::MemberExpr>(&assignment->value.node);
      const std::string gpu = name != nullptr ? name->name.text : member != nullptr ? member->member.text : "";
      if (!gpu.empty()) needles.push_back(absl::AsciiStrToLower(absl::StrCat("gpus.", gpu, "\n")));
    }
  }

  bool HasPackage(absl::string_view package) const {
    return std::any_of(set_.modules.begin(), set_.modules.end(),
                       [&](const auto& module) { return module->package == package; });
  }

  static std::string KeyOf(const StandardFile& file) { return absl::StrCat(file.package, "@", file.version); }

  Module* LoadStandard(const StandardFile& file) {
    const std::string key = KeyOf(file);
    if (Module* loaded = set_.Find(key)) return loaded;
    return Parse(key, key, "", file.package, std::string(file.text));
  }

  Module* LoadImport(const Module& importer, const ast::Import& import) {
    if (absl::StartsWith(import.path, "std/")) return LoadStandardImport(import);
    if (absl::StrContains(import.path, "://")) {
      sink_.Report(DiagnosticCode::kUnpinnedImport, import.path_range,
                   "a file from elsewhere cannot be imported: nothing would lock its content",
                   {"keep a copy beside this file: `import \"./NAME.sail\" sha256 \"…\" as …`"});
      return nullptr;
    }
    const std::string local = JoinPath(importer.directory, import.path);
    const std::string key = JoinPath(set_.base_directory, local);
    if (Module* loaded = set_.Find(key)) return loaded;
    if (failed_.contains(key)) return nullptr;  // its errors are already reported
    if (importer.is_standard()) return NotFound(import, key, StandardNames());
    auto text = files_.Read(key, kMaxSourceBytes);
    if (!text.ok())
      return NotFound(import, key, {absl::StrCat("tried `", key, "`"), std::string(text.status().message())});
    return Parse(key, key, DirectoryOf(local), "", *std::move(text));
  }

  // "std/gcp@2026.11"; "std/gcp" is the newest, with a warning, because another compiler may bring a newer one.
  Module* LoadStandardImport(const ast::Import& import) {
    const absl::string_view path = import.path;
    const size_t at = std::min(path.find('@'), path.size());
    const std::string package(path.substr(0, at));
    const StandardFile* file =
        at == path.size() ? NewestStandardFile(package) : FindStandardFile(package, path.substr(at + 1));
    if (file == nullptr) return NotFound(import, import.path, StandardNames());
    if (at == path.size()) {
      sink_.Report(DiagnosticCode::kUnpinnedStandard, import.path_range,
                   absl::StrCat("`", package, "` has no version; this compiler's newest is ", file->version),
                   {absl::StrCat("write `import \"", KeyOf(*file), "\"`")});
    }
    return LoadStandard(*file);
  }

  void CheckHash(const ast::Import& import, const Module& target) {
    if (!import.sha256) return;
    const std::string sha256 = Sha256Hex(sources_.Get(target.source).text());
    const std::string& written = import.sha256->text;
    if (absl::EqualsIgnoreCase(written, sha256)) return;
    if (written.size() != sha256.size() || !std::all_of(written.begin(), written.end(), absl::ascii_isxdigit)) {
      sink_.Report(DiagnosticCode::kHashMismatch, import.sha256->range, "a SHA-256 is 64 hexadecimal digits",
                   {absl::StrCat("the hash of `", import.path, "` is \"", sha256, "\"")});
      return;
    }
    sink_.Report(DiagnosticCode::kHashMismatch, import.sha256->range,
                 absl::StrCat("`", import.path, "` has another content than this hash says"),
                 {absl::StrCat("look at what changed; its hash is now \"", sha256, "\"")});
  }

  static std::vector<std::string> StandardNames() {
    std::vector<std::string> names;
    for (const StandardFile& file : StandardLibrary()) names.push_back(absl::StrCat("`", KeyOf(file), "`"));
    return {absl::StrCat("the standard library has ", absl::StrJoin(names, ", "))};
  }

  Module* NotFound(const ast::Import& import, const std::string& key, std::vector<std::string> notes) {
    failed_.insert(key);
    sink_.Report({.code = DiagnosticCode::kImportNotFound,
                  .message = absl::StrCat("cannot find `", import.path, "`"),
                  .primary = {import.path_range, ""},
                  .secondary = {},
                  .notes = std::move(notes),
                  .helps = {}});
    return nullptr;
  }

  // Depth first; an import that leads back to a module on the path closes a circle, and each such import is one report.
  void ReportCycles() {
    std::set<const Module*> finished;
    std::vector<const Module*> path;
    std::vector<size_t> next;  // edge to follow from each module of the path
    path.push_back(set_.modules.front().get());
    next.push_back(0);
    while (!path.empty()) {
      const std::vector<Edge>& edges = edges_[path.back()];
      if (next.back() == edges.size()) {
        finished.insert(path.back());
        path.pop_back();
        next.pop_back();
        continue;
      }
      const Edge& edge = edges[next.back()++];
      const auto start = std::find(path.begin(), path.end(), edge.target);
      if (start != path.end()) {
        std::vector<std::string> names;
        for (auto it = start; it != path.end(); ++it) names.push_back((*it)->name);
        names.push_back(edge.target->name);
        sink_.Report(DiagnosticCode::kImportCycle, edge.range,
                     absl::StrCat("imports form a circle: ", absl::StrJoin(names, " -> ")),
                     {"move what both files need into a third one"});
      } else if (!finished.contains(edge.target)) {
        path.push_back(edge.target);
        next.push_back(0);
      }
    }
  }

  const FileSystem& files_;
  const ParseLimits& limits_;
  SourceManager& sources_;
  DiagnosticSink& sink_;
  ModuleSet set_;
  std::set<std::string> failed_;
  std::map<const Module*, std::vector<Edge>> edges_;
};

}  // namespace

std::string FromMainDirectory(const Module& module, const std::string& written) {
  return module.directory.empty() ? written : JoinPath(module.directory, written);
}

absl::StatusOr<ModuleSet> LoadModules(const std::string& path, const FileSystem& files, const ParseLimits& limits,
                                      SourceManager& sources, DiagnosticSink& sink) {
  return Loader(files, limits, sources, sink).Load(path);
}

Module* ModuleSet::Find(const std::string& key) const {
  for (const auto& module : modules) {
    if (module->key == key) return module.get();
  }
  return nullptr;
}

}  // namespace sail
