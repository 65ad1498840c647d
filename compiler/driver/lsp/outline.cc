#include "compiler/driver/lsp/outline.h"

#include <utility>

#include "compiler/driver/lsp/protocol.h"

namespace sail::lsp {
namespace {

// SymbolKind of the protocol.
enum class SymbolKind { kModule = 2, kClass = 5, kVariable = 13, kConstant = 14 };

class OutlineBuilder {
 public:
  explicit OutlineBuilder(const SourceFile& file) : file_(file) {}

  void operator()(const ast::Import& import) {
    Add(import.alias.text, import.path, SymbolKind::kModule, import.range, import.alias.range);
  }
  void operator()(const ast::Param& param) {
    Add(param.name.text, "param", SymbolKind::kVariable, param.range, param.name.range);
  }
  void operator()(const ast::Let& let) { Add(let.name.text, "let", SymbolKind::kConstant, let.range, let.name.range); }
  void operator()(const ast::Block& block) {
    OutlineBuilder inner(file_);
    inner.AddBody(block.body.front());
    const ast::Identifier& name = block.label ? *block.label : block.kind;
    Add(name.text.empty() ? block.kind.text : name.text, block.kind.text, SymbolKind::kClass, block.range, name.range);
    symbols_.back()["children"] = inner.Take();
  }
  void operator()(const ast::For& loop) { AddBody(loop.body.front()); }
  template <class Other>
  void operator()(const Other&) {}  // no declarations

  void AddBody(const ast::Body& body) {
    for (const ast::Statement& statement : body.statements) std::visit(*this, statement);
  }

  Json Take() { return std::move(symbols_); }

 private:
  void Add(const std::string& name, const std::string& detail, SymbolKind kind, const SourceRange& range,
           const SourceRange& name_range) {
    symbols_.push_back({{"name", name},
                        {"detail", detail},
                        {"kind", static_cast<int>(kind)},
                        {"range", RangeJson(file_, range.begin, range.end)},
                        {"selectionRange", RangeJson(file_, name_range.begin, name_range.end)}});
  }

  const SourceFile& file_;
  Json symbols_ = Json::array();
};

}  // namespace

Json Outline(const CheckedDocument& checked) {
  if (checked.analysis == nullptr) return nullptr;
  OutlineBuilder builder(checked.sources.Get(checked.file()));
  for (const ast::Item& item : checked.analysis->modules.main().spec.items) std::visit(builder, item);
  return builder.Take();
}

}  // namespace sail::lsp
