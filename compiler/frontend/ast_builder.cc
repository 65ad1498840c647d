#include "compiler/frontend/ast_builder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/expression_builder.h"
#include "compiler/frontend/syntax_errors.h"

namespace sail::frontend {
namespace {

using parser::SailParser;

class AstBuilder {
 public:
  explicit AstBuilder(const BuildContext& context) : context_(context) {}

  ast::Spec File(SailParser::FileContext* tree) {
    ast::Spec spec{.file = context_.id};
    if (tree->edition() == nullptr) context_.sink.Report(MissingEdition(context_.tokens[0], context_.id));
    for (SailParser::StatementContext* statement : tree->statement()) {
      if (!BeginsWell(statement)) continue;
      if (statement->importDecl() != nullptr) {
        spec.items.push_back(Import(statement->importDecl()));
      } else if (statement->letDecl() != nullptr) {
        spec.items.push_back(Let(statement->letDecl()));
      } else if (statement->link() != nullptr) {
        spec.items.push_back(Link(statement->link()));
      } else if (statement->objective() != nullptr) {
        ReportOutsideBlock(statement, "an objective stands in a block", {});
      } else if (statement->named()->expr() != nullptr) {
        ReportOutsideBlock(statement, "an assignment stands in a block",
                           {absl::StrCat("write `let ", TextOf(context_.TokenOf(statement->start), context_.file),
                                         " = …` at the top level")});
      } else {
        spec.items.push_back(Block(statement->named()));
      }
    }
    return spec;
  }

 private:
  // False for a statement that the parser gave up.
  bool BeginsWell(const antlr4::ParserRuleContext* statement) {
    if (statement->exception != nullptr) return false;
    const size_t first = statement->start->getTokenIndex();
    // An illegal character before it may have been meant as the separator.
    const bool shares_line =
        SharesLine(context_.tokens, first) &&
        !HasErrorIn(context_.lexed, context_.tokens[first - 1].begin, context_.tokens[first].begin);
    if (shares_line) {
      context_.sink.Report(StatementsOnOneLine(context_.tokens[first], context_.id));
    }
    return true;
  }

  void ReportOutsideBlock(SailParser::StatementContext* statement, std::string message,
                          std::vector<std::string> helps) {
    context_.Report(DiagnosticCode::kMisplacedStatement, context_.RangeOf(context_.TokenOf(statement->start)),
                    std::move(message), std::move(helps));
  }

  ast::Import Import(SailParser::ImportDeclContext* tree) {
    const Token& path = context_.TokenOf(tree->STRING()->getSymbol());
    return {.path = context_.IdentifierOf(path).text,
            .path_range = context_.RangeOf(path),
            .alias = Name(tree->name()),
            .range = context_.RangeOf(tree)};
  }

  ast::Let Let(SailParser::LetDeclContext* tree) {
    ast::Let let{.name = Name(tree->name()), .value = BuildExpression(tree->expr(), context_)};
    let.range = context_.RangeOf(tree);
    if (SailParser::TypeNameContext* type = tree->typeName(); type != nullptr) {
      ast::Identifier text{.range = context_.RangeOf(type)};
      for (size_t i = type->start->getTokenIndex(); i <= type->stop->getTokenIndex(); ++i) {
        absl::StrAppend(&text.text, TextOf(context_.tokens[i], context_.file));
      }
      let.type = ast::Path{.range = text.range};
      let.type->parts.push_back(std::move(text));
    }
    return let;
  }

  ast::Link Link(SailParser::LinkContext* tree) {
    const std::vector<SailParser::LinkEndContext*> ends = tree->linkEnd();
    ast::Link link{.from = LinkEnd(ends[0]), .to = LinkEnd(ends[1]), .both_ways = tree->BOTH_WAYS() != nullptr};
    if (tree->name() != nullptr) {
      link.scope = tree->WITHIN() != nullptr ? ast::LinkScope::kWithin : ast::LinkScope::kAcross;
      link.scope_level = Name(tree->name());
    }
    link.body.push_back(Body(tree->body()));
    link.range = HeaderOf(tree, tree->body());
    return link;
  }

  ast::LinkEnd LinkEnd(SailParser::LinkEndContext* tree) {
    ast::LinkEnd end{.range = context_.RangeOf(tree)};
    if (tree->path() != nullptr) end.zone = Path(tree->path());
    return end;
  }

  ast::Block Block(SailParser::NamedContext* tree) {
    ast::Path kind = Path(tree->path());
    const Token& first = context_.TokenOf(tree->start);
    if (kind.parts.size() != 1 || first.kind == TokenKind::kString) {
      context_.Report(DiagnosticCode::kSyntax, kind.range, "a block begins with its kind, which is one word");
    } else if (first.type != SailParser::IDENT) {
      context_.Report(DiagnosticCode::kMisplacedStatement, kind.range,
                      absl::StrCat("`", kind.parts[0].text, "` is a reserved word, not a block kind"));
    }
    ast::Block block{.kind = std::move(kind.parts[0])};
    if (tree->name() != nullptr) block.label = Name(tree->name());
    if (tree->STRING() != nullptr) {
      block.label = context_.IdentifierOf(context_.TokenOf(tree->STRING()->getSymbol()));
      block.label_is_string = true;
    }
    block.body.push_back(Body(tree->body()));
    block.header = HeaderOf(tree, tree->body());
    block.range = context_.RangeOf(tree);
    return block;
  }

  ast::Body Body(SailParser::BodyContext* tree) {
    ast::Body body{.range = context_.RangeOf(tree)};
    for (SailParser::StatementContext* statement : tree->statement()) {
      if (!BeginsWell(statement)) continue;
      if (statement->importDecl() != nullptr) {
        context_.Report(DiagnosticCode::kMisplacedStatement, context_.RangeOf(context_.TokenOf(statement->start)),
                        "`import` stands at the top level of a file, not in a block");
      } else if (statement->letDecl() != nullptr) {
        body.statements.push_back(Let(statement->letDecl()));
      } else if (statement->link() != nullptr) {
        body.statements.push_back(Link(statement->link()));
      } else if (statement->objective() != nullptr) {
        body.statements.push_back(Objective(statement->objective()));
      } else if (SailParser::NamedContext* named = statement->named(); named->expr() != nullptr) {
        body.statements.push_back(ast::Assignment{.target = Path(named->path()),
                                                  .value = BuildExpression(named->expr(), context_),
                                                  .range = context_.RangeOf(named)});
      } else {
        body.statements.push_back(Block(named));
      }
    }
    return body;
  }

  ast::Objective Objective(SailParser::ObjectiveContext* tree) {
    ast::Objective objective;
    for (SailParser::TermContext* term : tree->term()) {
      objective.terms.push_back({.maximize = term->MAXIMIZE() != nullptr,
                                 .metric = BuildExpression(term->expr(), context_),
                                 .range = context_.RangeOf(term)});
    }
    objective.range = context_.RangeOf(context_.TokenOf(tree->start));
    if (tree->constraints() == nullptr) return objective;
    for (SailParser::ConstraintContext* constraint : tree->constraints()->constraint()) {
      if (BeginsWell(constraint)) objective.constraints.push_back(Constraint(constraint));
    }
    return objective;
  }

  ast::NamedConstraint Constraint(SailParser::ConstraintContext* tree) {
    const std::vector<SailParser::ExprContext*> parts = tree->expr();
    if (parts.size() == 1) return {.condition = BuildExpression(parts[0], context_)};
    ast::Expr name = BuildExpression(parts[0], context_);
    ast::NamedConstraint constraint{.condition = BuildExpression(parts[1], context_)};
    const bool is_word = parts[0]->start == parts[0]->stop;
    if (auto* word = std::get_if<ast::NameExpr>(&name.node); word != nullptr && is_word) {
      constraint.name = std::move(word->name);
    } else {
      context_.Report(DiagnosticCode::kSyntax, name.range, "the name of a constraint is one word");
    }
    return constraint;
  }

  ast::Path Path(SailParser::PathContext* tree) {
    ast::Path path{.range = context_.RangeOf(tree)};
    const size_t last = tree->stop->getTokenIndex();
    for (size_t i = tree->start->getTokenIndex(); i <= last; i += 2) {  // name `.` name …
      path.parts.push_back(context_.IdentifierOf(context_.tokens[i]));
    }
    return path;
  }

  ast::Identifier Name(SailParser::NameContext* tree) { return context_.IdentifierOf(context_.TokenOf(tree->start)); }

  // From the first token of `tree` to the last before its body.
  SourceRange HeaderOf(const antlr4::ParserRuleContext* tree, const SailParser::BodyContext* body) const {
    const Token& last = context_.tokens[body->start->getTokenIndex() - 1];
    return {context_.id, context_.TokenOf(tree->start).begin, last.end};
  }

  const BuildContext& context_;
};

}  // namespace

ast::Spec BuildAst(SailParser::FileContext* tree, const LexedFile& lexed, const SourceFile& file, SourceId id,
                   const ParseLimits& limits, DiagnosticSink& sink) {
  const BuildContext context(lexed, file, id, limits, sink);
  return AstBuilder(context).File(tree);
}

}  // namespace sail::frontend
