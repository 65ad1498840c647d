// Phase 2: names. One namespace per scope: imports, lets and labelled top-level blocks.
#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/passes/modules.h"

namespace sail {
namespace {

class Binder {
 public:
  Binder(Module& module, DiagnosticSink& sink) : module_(module), sink_(sink) {}

  void Bind() {
    CheckImportAliases();
    for (const ast::Item& item : module_.spec.items) {
      if (const auto* let = std::get_if<ast::Let>(&item)) BindLet(module_.top, *let);
      const auto* block = std::get_if<ast::Block>(&item);
      if (block == nullptr || !block->label) continue;
      Add(module_.top, *block->label,
          Binding{.range = block->label->range, .let = nullptr, .block = block, .module = nullptr});
    }
    for (const ast::Item& item : module_.spec.items) {
      if (const auto* block = std::get_if<ast::Block>(&item)) BindBody(module_.top, block->body.front());
      if (const auto* link = std::get_if<ast::Link>(&item)) BindBody(module_.top, link->body.front());
    }
  }

 private:
  // The loader bound the first import of each alias.
  void CheckImportAliases() {
    for (const ast::Item& item : module_.spec.items) {
      const auto* import = std::get_if<ast::Import>(&item);
      if (import == nullptr) continue;
      const auto bound = module_.top.names.find(import->alias.text);
      if (bound == module_.top.names.end()) {
        // Its file was not found: bind the name to nothing, so that uses of it are not reported again.
        module_.top.names.emplace(
            import->alias.text,
            Binding{.range = import->alias.range, .let = nullptr, .block = nullptr, .module = nullptr});
      } else if (!(bound->second.range == import->alias.range)) {
        ReportTwice(import->alias, bound->second.range);
      }
    }
  }

  void BindLet(Scope& scope, const ast::Let& let) {
    Add(scope, let.name, Binding{.range = let.name.range, .let = &let, .block = nullptr, .module = nullptr});
  }

  void BindBody(const Scope& parent, const ast::Body& body) {
    Scope& scope = module_.inner.emplace_back();
    scope.parent = &parent;
    module_.body_scopes[&body] = &scope;
    for (const ast::Statement& statement : body.statements) {
      if (const auto* let = std::get_if<ast::Let>(&statement)) BindLet(scope, *let);
    }
    for (const ast::Statement& statement : body.statements) {
      if (const auto* block = std::get_if<ast::Block>(&statement)) BindBody(scope, block->body.front());
      if (const auto* link = std::get_if<ast::Link>(&statement)) BindBody(scope, link->body.front());
    }
  }

  void Add(Scope& scope, const ast::Identifier& name, const Binding& binding) {
    if (const Binding* visible = scope.Find(name.text)) {
      ReportTwice(name, visible->range);
      return;
    }
    scope.names.emplace(name.text, binding);
  }

  void ReportTwice(const ast::Identifier& name, SourceRange first) {
    sink_.Report({.code = DiagnosticCode::kDuplicateLabel,
                  .message = absl::StrCat("`", name.text, "` is declared twice"),
                  .primary = {name.range, "declared again here"},
                  .secondary = {{first, "first declared here"}},
                  .notes = {},
                  .helps = {"rename one of them"}});
  }

  Module& module_;
  DiagnosticSink& sink_;
};

}  // namespace

const Binding* Scope::Find(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    const auto it = scope->names.find(name);
    if (it != scope->names.end()) return &it->second;
  }
  return nullptr;
}

std::vector<std::string> Scope::VisibleNames() const {
  std::vector<std::string> names;
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    for (const auto& [name, binding] : scope->names) names.push_back(name);
  }
  return names;
}

const Scope& ModuleSet::ScopeOf(const ast::Body& body) const {
  for (const auto& module : modules) {
    const auto it = module->body_scopes.find(&body);
    if (it != module->body_scopes.end()) return *it->second;
  }
  SAIL_CHECK(false) << "a body without a scope";
}

void BindNames(ModuleSet& set, DiagnosticSink& sink) {
  for (const auto& module : set.modules) Binder(*module, sink).Bind();
}

}  // namespace sail
