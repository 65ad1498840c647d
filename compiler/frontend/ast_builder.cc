#include "compiler/frontend/ast_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/frontend/expression_builder.h"
#include "compiler/frontend/literal_builder.h"
#include "compiler/frontend/syntax_errors.h"

namespace sail::frontend {
namespace {

using parser::SailParser;

class AstBuilder {
 public:
  explicit AstBuilder(const BuildContext& context) : context_(context) {}

  ast::Spec File(SailParser::FileContext* tree) {
    ast::Spec spec{.file = context_.id};
    if (tree->edition() == nullptr) context_.Report(MissingEdition(context_.tokens[0], context_.id));
    for (SailParser::StatementContext* statement : tree->statement()) {
      if (!Begins(statement) || AddAnywhere(statement, spec.items)) continue;
      if (statement->importDecl() != nullptr) {
        spec.items.push_back(Import(statement->importDecl()));
      } else if (statement->paramDecl() != nullptr) {
        spec.items.push_back(Param(statement->paramDecl()));
      } else {
        ReportOutsideBlock(statement);
      }
    }
    return spec;
  }

  std::vector<ast::Assignment> Assignments(SailParser::FileContext* tree) {
    std::vector<ast::Assignment> assignments;
    for (SailParser::StatementContext* statement : tree->statement()) {
      if (!Begins(statement)) continue;
      if (statement->named() == nullptr || statement->named()->expr() == nullptr) {
        ReportMisplaced(statement, "only values for params stand here, as `name = value`");
        continue;
      }
      ast::Assignment assignment = Assignment(statement->named());
      const bool is_word =
          assignment.target.parts.size() == 1 && context_.TokenOf(statement->start).kind == TokenKind::kName;
      if (!is_word) {
        context_.Report(DiagnosticCode::kSyntax, assignment.target.range, "the name of a param is one word");
      }
      assignments.push_back(std::move(assignment));
    }
    return assignments;
  }

 private:
  // False for a statement that the parser gave up.
  bool Begins(const antlr4::ParserRuleContext* statement) {
    if (statement->exception != nullptr) return false;
    context_.CheckSeparated(statement);
    return true;
  }

  // Statements that may stand at the top level and in blocks. False if it is none of them.
  template <class Node>
  bool AddAnywhere(SailParser::StatementContext* statement, std::vector<Node>& out) {
    if (statement->letDecl() != nullptr) {
      out.push_back(Let(statement->letDecl()));
    } else if (statement->assertion() != nullptr) {
      out.push_back(Assert(statement->assertion()));
    } else if (statement->forBlock() != nullptr) {
      out.push_back(For(statement->forBlock()));
    } else if (statement->link() != nullptr) {
      out.push_back(Link(statement->link()));
    } else if (statement->named() != nullptr && statement->named()->expr() == nullptr) {
      out.push_back(Block(statement->named()));
    } else {
      return false;
    }
    return true;
  }

  void ReportMisplaced(SailParser::StatementContext* statement, std::string message,
                       std::vector<std::string> helps = {}) {
    context_.Report(DiagnosticCode::kMisplacedStatement, context_.RangeOf(context_.TokenOf(statement->start)),
                    std::move(message), std::move(helps));
  }
  void ReportOutsideBlock(SailParser::StatementContext* statement) {
    if (statement->objective() != nullptr) {
      ReportMisplaced(statement, "an objective stands in a block");
    } else if (statement->named() != nullptr) {
      const absl::string_view name = TextOf(context_.TokenOf(statement->start), context_.file);
      ReportMisplaced(statement, "an assignment stands in a block",
                      {absl::StrCat("write `let ", name, " = …` at the top level")});
    } else {
      const absl::string_view word = TextOf(context_.TokenOf(statement->start), context_.file);
      ReportMisplaced(statement, absl::StrCat("`", word, "` stands in a block that extends another"));
    }
  }

  ast::Import Import(SailParser::ImportDeclContext* tree) {
    const Token& path = context_.TokenOf(tree->STRING(0)->getSymbol());
    ast::Import import{.path = context_.IdentifierOf(path).text,
                       .path_range = context_.RangeOf(path),
                       .alias = Name(tree->name()),
                       .range = context_.RangeOf(tree)};
    if (tree->SHA256() != nullptr) {
      import.sha256 = context_.IdentifierOf(context_.TokenOf(tree->STRING(1)->getSymbol()));
    }
    return import;
  }

  ast::Param Param(SailParser::ParamDeclContext* tree) {
    ast::Param param{.name = Name(tree->name()), .type = Type(tree->typeRef())};
    const std::vector<SailParser::ExprContext*> exprs = tree->expr();
    if (tree->ASSIGN() != nullptr) param.value = BuildExpression(exprs.front(), context_);
    if (tree->WHERE() != nullptr) param.where = BuildExpression(exprs.back(), context_);
    param.doc = DocAbove(tree);
    param.range = context_.RangeOf(tree);
    return param;
  }

  ast::Let Let(SailParser::LetDeclContext* tree) {
    ast::Let let{.name = Name(tree->name()), .value = BuildExpression(tree->expr(), context_)};
    if (tree->typeRef() != nullptr) let.type = Type(tree->typeRef());
    let.doc = DocAbove(tree);
    let.range = context_.RangeOf(tree);
    return let;
  }

  ast::TypeRef Type(SailParser::TypeRefContext* tree) {
    ast::TypeRef type{.is_optional = tree->QUESTION() != nullptr, .range = context_.RangeOf(tree)};
    for (SailParser::NameContext* name : tree->name()) {
      absl::StrAppend(&type.name, type.name.empty() ? "" : "/", Name(name).text);
    }
    for (SailParser::TypeRefContext* argument : tree->typeRef()) type.arguments.push_back(Type(argument));
    return type;
  }

  ast::Assert Assert(SailParser::AssertionContext* tree) {
    ast::Assert assertion{.is_warning = tree->WARN() != nullptr,
                          .condition = BuildExpression(tree->expr(), context_),
                          .range = context_.RangeOf(tree)};
    if (tree->MESSAGE() != nullptr) assertion.message = BuildText(context_.TokenOf(tree->stop), context_);
    return assertion;
  }

  ast::For For(SailParser::ForBlockContext* tree) {
    const Generator generator = GeneratorOf(tree->generator(), context_);
    ast::For loop{.first = generator.first,
                  .second = generator.second,
                  .collection = BuildExpression(generator.collection, context_)};
    if (generator.condition != nullptr) loop.condition = BuildExpression(generator.condition, context_);
    loop.body.push_back(Body(tree->body()));
    loop.header = HeaderOf(tree, tree->body());
    loop.range = context_.RangeOf(tree);
    return loop;
  }

  ast::Remove Remove(SailParser::RemovalContext* tree) {
    ast::Remove removal{.kind = Name(tree->name()), .range = context_.RangeOf(tree)};
    if (tree->LABEL() != nullptr) removal.label = context_.IdentifierOf(context_.TokenOf(tree->stop));
    return removal;
  }

  // Of a `named` with a value, or an `overriding`.
  template <class Tree>
  ast::Assignment Assignment(Tree* tree) {
    return {.target = Path(tree->path()),
            .value = BuildExpression(tree->expr(), context_),
            .range = context_.RangeOf(tree)};
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
    if (tree->reference() == nullptr) return end;
    end.zone = Path(tree->reference());
    end.is_string = tree->start == tree->stop && context_.TokenOf(tree->start).kind == TokenKind::kString;
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
    SailParser::HeaderContext* header = tree->header();
    if (header->label() != nullptr) block.label = context_.IdentifierOf(context_.TokenOf(header->start));
    if (header->STRING() != nullptr) Label(context_.TokenOf(header->start), block);
    if (header->name() != nullptr) block.alias = Name(header->name());
    if (header->reference() != nullptr) block.base = Path(header->reference());
    block.body.push_back(Body(tree->body()));
    block.doc = DocAbove(tree);
    block.header = HeaderOf(tree, tree->body());
    block.range = context_.RangeOf(tree);
    return block;
  }

  void Label(const Token& token, ast::Block& block) {
    block.label_is_string = true;
    ast::Expr text = BuildText(token, context_);
    if (const auto* fixed = std::get_if<ast::StringExpr>(&text.node); fixed != nullptr) {
      block.label = ast::Identifier{fixed->value, context_.RangeOf(token)};
      return;
    }
    const absl::string_view quoted = TextOf(token, context_.file);
    block.label = ast::Identifier{std::string(quoted.substr(1, quoted.size() - 2)), context_.RangeOf(token)};
    block.label_template.push_back(std::move(text));
  }

  ast::Body Body(SailParser::BodyContext* tree) {
    ast::Body body{.range = context_.RangeOf(tree)};
    for (SailParser::StatementContext* statement : tree->statement()) {
      if (!Begins(statement) || AddAnywhere(statement, body.statements)) continue;
      if (statement->objective() != nullptr) {
        body.statements.push_back(Objective(statement->objective()));
      } else if (statement->removal() != nullptr) {
        body.statements.push_back(Remove(statement->removal()));
      } else if (SailParser::OverridingContext* overriding = statement->overriding(); overriding != nullptr) {
        ast::Assignment assignment = Assignment(overriding);
        assignment.override_word = context_.RangeOf(context_.TokenOf(overriding->start));
        body.statements.push_back(std::move(assignment));
      } else if (statement->named() != nullptr) {
        body.statements.push_back(Assignment(statement->named()));
      } else {
        const absl::string_view word = TextOf(context_.TokenOf(statement->start), context_.file);
        ReportMisplaced(statement, absl::StrCat("`", word, "` stands at the top level of a file, not in a block"));
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
      if (Begins(constraint)) objective.constraints.push_back(Constraint(constraint));
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

  // Of a `path` or a `reference`.
  ast::Path Path(const antlr4::ParserRuleContext* tree) {
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

  // The `##` lines directly above, without the marks and one blank after them.
  std::string DocAbove(const antlr4::ParserRuleContext* tree) const {
    const Token& token = context_.TokenOf(tree->start);
    if (!token.starts_line) return "";
    const std::vector<Token>& comments = context_.lexed.comments;
    const auto end = std::lower_bound(comments.begin(), comments.end(), token.begin,
                                      [](const Token& comment, int offset) { return comment.begin < offset; });
    auto begin = end;
    for (int line = token.line - 1; begin != comments.begin(); --begin, --line) {
      const Token& comment = *(begin - 1);
      if (comment.line != line || !comment.starts_line || TextOf(comment, context_.file).substr(0, 2) != "##") break;
    }
    std::string doc;
    for (auto comment = begin; comment != end; ++comment) {
      absl::string_view line = TextOf(*comment, context_.file).substr(2);
      absl::ConsumePrefix(&line, " ");
      absl::StrAppend(&doc, comment == begin ? "" : "\n", absl::StripTrailingAsciiWhitespace(line));
    }
    return doc;
  }

  const BuildContext& context_;
};

}  // namespace

ast::Spec BuildAst(SailParser::FileContext* tree, const BuildContext& context) {
  return AstBuilder(context).File(tree);
}

std::vector<ast::Assignment> BuildAssignments(SailParser::FileContext* tree, const BuildContext& context) {
  return AstBuilder(context).Assignments(tree);
}

}  // namespace sail::frontend
