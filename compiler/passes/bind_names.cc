// Phase 2: names. One namespace per scope: imports, params, lets and labelled blocks.
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/passes/checked_block.h"
#include "compiler/passes/modules.h"

namespace sail {
namespace {

void ReportTwice(const ast::Identifier& name, SourceRange first, DiagnosticSink& sink) {
  sink.Report(DiagnosticCode::kDuplicateLabel, name.range, absl::StrCat("`", name.text, "` is declared twice"),
              {"rename one of them"}, {{first, "first declared here"}}, "declared again here");
}

// The loader bound the first import of each alias.
void CheckImportAliases(Module& module, DiagnosticSink& sink) {
  for (const ast::Item& item : module.spec.items) {
    const auto* import = std::get_if<ast::Import>(&item);
    if (import == nullptr) continue;
    const auto bound = module.top.names.find(import->alias.text);
    if (bound == module.top.names.end()) {
      // Its file was not found: bind the name to nothing, so that uses of it are not reported again.
      Binding nothing;
      nothing.range = import->alias.range;
      nothing.state = Binding::State::kDone;
      nothing.is_used = true;
      module.top.names.emplace(import->alias.text, std::move(nothing));
    } else if (!(bound->second.range == import->alias.range)) {
      ReportTwice(import->alias, bound->second.range, sink);
    }
  }
}

void Declare(Module& module, const ast::Item& item, DiagnosticSink& sink) {
  if (const auto* let = std::get_if<ast::Let>(&item)) {
    Binding binding;
    binding.let = let;
    BindName(module.top, let->name, std::move(binding), sink);
  } else if (const auto* param = std::get_if<ast::Param>(&item)) {
    Binding binding;
    binding.param = param;
    BindName(module.top, param->name, std::move(binding), sink);
  } else if (const auto* block = std::get_if<ast::Block>(&item)) {
    Binding binding;
    binding.block = block;
    if (block->label) BindName(module.top, *block->label, binding, sink);
    if (block->alias) BindName(module.top, *block->alias, binding, sink);
  }
}

}  // namespace

Scope::Found Scope::Find(const std::string& name) {
  for (Scope* scope = this; scope != nullptr; scope = scope->parent) {
    const auto it = scope->names.find(name);
    if (it != scope->names.end()) return {&it->second, scope};
  }
  return {};
}

std::vector<std::string> Scope::VisibleNames() const {
  std::vector<std::string> visible;
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    for (const auto& [name, binding] : scope->names) visible.push_back(name);
  }
  return visible;
}

bool BindName(Scope& scope, const ast::Identifier& name, Binding binding, DiagnosticSink& sink) {
  if (name.text.empty()) return false;  // the expander reports that a block needs a name
  const Scope::Found visible = scope.Find(name.text);
  if (visible.binding != nullptr) {
    if (visible.owner == &scope) {
      ReportTwice(name, visible.binding->range, sink);
    } else {
      sink.Report(DiagnosticCode::kShadowing, name.range, absl::StrCat("`", name.text, "` is already visible here"),
                  {"rename one of them"}, {{visible.binding->range, "declared here"}});
    }
    return false;
  }
  binding.range = name.range;
  scope.names.emplace(name.text, std::move(binding));
  return true;
}

void BindNames(ModuleSet& set, DiagnosticSink& sink) {
  for (const auto& module : set.modules) {
    module->top.module = module.get();
    CheckImportAliases(*module, sink);
    for (const ast::Item& item : module->spec.items) Declare(*module, item, sink);
  }
}

void BindBody(const ast::Body& body, CheckedBlock* block, Scope& scope, DiagnosticSink& sink) {
  for (const ast::Statement& statement : body.statements) {
    if (const auto* let = std::get_if<ast::Let>(&statement)) {
      Binding binding;
      binding.let = let;
      BindName(scope, let->name, std::move(binding), sink);
    }
    const auto* child = std::get_if<ast::Block>(&statement);
    if (child == nullptr) continue;
    Binding binding;
    binding.block = child;
    binding.parent = block;
    // Machines are referred to by name, also those that `resources` declares for itself; other children need an alias.
    const bool is_named = child->kind.text == "machine" && child->label && child->label_template.empty();
    if (is_named && (!child->alias || child->alias->text != child->label->text)) {
      BindName(scope, *child->label, binding, sink);
    }
    if (child->alias) BindName(scope, *child->alias, binding, sink);
  }
}

}  // namespace sail
