// Phase 1: files. A module is loaded once, whatever number of files import it.
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
    // More than the parser accepts may be read, so that it reports the size as a diagnostic with a place.
    SAIL_ASSIGN_OR_RETURN(std::string text, files_.Read(path, kLargestRead));
    Module* main = Parse(JoinPath("", path), path, "", /*is_standard=*/false, std::move(text));
    if (main == nullptr) return DiagnosedError();
    for (size_t i = 0; i < set_.modules.size(); ++i) LoadImports(*set_.modules[i]);
    if (DeclaresGpus()) LoadStandard(kGpuCatalogue);
    return std::move(set_);
  }

 private:
  static constexpr int64_t kLargestRead = int64_t{1} << 31;

  Module* Parse(const std::string& key, const std::string& name, std::string directory, bool is_standard,
                std::string text) {
    const SourceId file = sources_.Add(name, std::move(text));
    auto spec = sail::Parse(sources_, file, limits_, sink_);
    if (!spec.ok()) {
      failed_.push_back(key);
      return nullptr;
    }
    auto module = std::make_unique<Module>();
    module->key = key;
    module->name = name;
    module->directory = std::move(directory);
    module->is_standard = is_standard;
    module->spec = *std::move(spec);
    set_.modules.push_back(std::move(module));
    return set_.modules.back().get();
  }

  void LoadImports(Module& module) {
    for (const ast::Item& item : module.spec.items) {
      const auto* import = std::get_if<ast::Import>(&item);
      if (import == nullptr) continue;
      const Module* target = LoadImport(module, *import);
      if (target == nullptr) continue;
      module.top.names.emplace(
          import->alias.text,
          Binding{.range = import->alias.range, .let = nullptr, .block = nullptr, .module = target});
    }
  }

  // Declared gpus are compared with those of the catalogue that have the same name.
  bool DeclaresGpus() const {
    for (const auto& module : set_.modules) {
      for (const ast::Item& item : module->spec.items) {
        const auto* block = std::get_if<ast::Block>(&item);
        if (!module->is_standard && block != nullptr && block->kind.text == "gpu") return true;
      }
    }
    return false;
  }

  const Module* LoadStandard(const std::string& name) {
    if (const Module* loaded = set_.Find(name)) return loaded;
    return Parse(name, name, "", /*is_standard=*/true, std::string(FindStandardFile(name)->text));
  }

  const Module* LoadImport(const Module& importer, const ast::Import& import) {
    const bool is_standard = absl::StartsWith(import.path, "std/");
    const std::string local = JoinPath(importer.directory, import.path);
    const std::string key = is_standard ? import.path : JoinPath(set_.base_directory, local);
    if (const Module* loaded = set_.Find(key)) return loaded;
    for (const std::string& failed : failed_) {
      if (failed == key) return nullptr;  // its errors are already reported
    }
    if (is_standard) {
      return FindStandardFile(key) == nullptr ? NotFound(import, key, StandardNames()) : LoadStandard(key);
    }
    if (importer.is_standard) return NotFound(import, key, StandardNames());
    auto text = files_.Read(key, kLargestRead);
    if (!text.ok())
      return NotFound(import, key, {absl::StrCat("tried `", key, "`"), std::string(text.status().message())});
    return Parse(key, key, DirectoryOf(local), /*is_standard=*/false, *std::move(text));
  }

  static std::vector<std::string> StandardNames() {
    std::vector<std::string> names;
    for (const StandardFile& file : StandardLibrary()) names.push_back(absl::StrCat("`", file.name, "`"));
    return {absl::StrCat("the standard library has ", absl::StrJoin(names, ", "))};
  }

  const Module* NotFound(const ast::Import& import, const std::string& key, std::vector<std::string> notes) {
    failed_.push_back(key);
    sink_.Report({.code = DiagnosticCode::kImportNotFound,
                  .message = absl::StrCat("cannot find `", import.path, "`"),
                  .primary = {import.path_range, ""},
                  .secondary = {},
                  .notes = std::move(notes),
                  .helps = {}});
    return nullptr;
  }

  const FileSystem& files_;
  const ParseLimits& limits_;
  SourceManager& sources_;
  DiagnosticSink& sink_;
  ModuleSet set_;
  std::vector<std::string> failed_;
};

}  // namespace

absl::StatusOr<ModuleSet> LoadModules(const std::string& path, const FileSystem& files, const ParseLimits& limits,
                                      SourceManager& sources, DiagnosticSink& sink) {
  return Loader(files, limits, sources, sink).Load(path);
}

const Module* ModuleSet::Find(const std::string& key) const {
  for (const auto& module : modules) {
    if (module->key == key) return module.get();
  }
  return nullptr;
}

}  // namespace sail
