// The tree as text. Everything but the ranges is printed, so two trees are the same if their texts are.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/frontend/parse.h"

namespace sail {
namespace {

std::string Quote(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}, {"\t", "\\t"}}),
                      "\"");
}

bool IsWord(absl::string_view text) {
  const auto letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    if (!letter(c) && c != '_' && (c < '0' || c > '9')) return false;
  }
  return true;
}

std::string NameOf(const ast::Identifier& name) { return IsWord(name.text) ? name.text : Quote(name.text); }

std::string PathText(const ast::Path& path) {
  std::string text;
  for (const ast::Identifier& part : path.parts) absl::StrAppend(&text, text.empty() ? "" : ".", NameOf(part));
  return text;
}

absl::string_view OperatorText(ast::BinaryOperator op) {
  constexpr absl::string_view kTexts[] = {"+", "-", "*", "/", "..", "==", "!=", "<", "<=", ">", ">=", "and", "or"};
  return kTexts[static_cast<int>(op)];
}

class AstPrinter {
 public:
  std::string Print(const ast::Spec& spec) {
    Line(absl::StrCat("spec edition ", spec.edition));
    Inside([&] {
      for (const ast::Item& item : spec.items) std::visit(*this, item);
    });
    return std::move(out_);
  }

  void operator()(const ast::Import& import) {
    Line(absl::StrCat("import ", Quote(import.path), " as ", import.alias.text));
  }
  void operator()(const ast::Let& let) {
    Line(absl::StrCat("let ", let.name.text, let.type.has_value() ? ": " : "",
                      let.type.has_value() ? let.type->parts[0].text : ""));
    Inside([&] { Expression(let.value); });
  }
  void operator()(const ast::Link& link) {
    std::string text = absl::StrCat("link ", LinkEnd(link.from), link.both_ways ? " <-> " : " -> ", LinkEnd(link.to));
    if (link.scope != ast::LinkScope::kNone) {
      absl::StrAppend(&text, link.scope == ast::LinkScope::kWithin ? " within " : " across ", link.scope_level.text);
    }
    Line(text);
    Body(link.body[0]);
  }
  void operator()(const ast::Block& block) {
    std::string text = absl::StrCat("block ", NameOf(block.kind));
    if (block.label.has_value()) {
      absl::StrAppend(&text, " ", block.label_is_string ? Quote(block.label->text) : block.label->text);
    }
    Line(text);
    Body(block.body[0]);
  }
  void operator()(const ast::Assignment& assignment) {
    Line(absl::StrCat("set ", PathText(assignment.target)));
    Inside([&] { Expression(assignment.value); });
  }
  void operator()(const ast::Objective& objective) {
    Line("objective");
    Inside([&] {
      for (const ast::ObjectiveTerm& term : objective.terms) {
        Line(term.maximize ? "maximize" : "minimize");
        Inside([&] { Expression(term.metric); });
      }
      for (const ast::NamedConstraint& constraint : objective.constraints) {
        Line(constraint.name.has_value() ? absl::StrCat("constraint ", constraint.name->text) : "constraint");
        Inside([&] { Expression(constraint.condition); });
      }
    });
  }

  void operator()(const ast::NumberExpr& number) {
    Line(absl::StrCat("number ", number.digits, number.unit.empty() ? "" : " ", number.unit));
  }
  void operator()(const ast::StringExpr& string) { Line(absl::StrCat("string ", Quote(string.value))); }
  void operator()(const ast::BoolExpr& boolean) { Line(boolean.value ? "true" : "false"); }
  void operator()(const ast::NoneExpr&) { Line("none"); }
  void operator()(const ast::NameExpr& name) { Line(absl::StrCat("name ", name.name.text)); }
  void operator()(const ast::MemberExpr& member) {
    Line(absl::StrCat("member ", NameOf(member.member)));
    Inside([&] { Expression(member.base[0]); });
  }
  void operator()(const ast::ListExpr& list) {
    Line("list");
    Inside([&] {
      for (const ast::Expr& element : list.elements) Expression(element);
    });
  }
  void operator()(const ast::UnaryExpr& unary) {
    Line(unary.op == ast::UnaryOperator::kNot ? "unary not" : "unary -");
    Inside([&] { Expression(unary.operand[0]); });
  }
  void operator()(const ast::BinaryExpr& binary) {
    Line(absl::StrCat("binary ", OperatorText(binary.op)));
    Inside([&] {
      Expression(binary.operands[0]);
      Expression(binary.operands[1]);
    });
  }

 private:
  void Line(absl::string_view text) { absl::StrAppend(&out_, std::string(2 * depth_, ' '), text, "\n"); }
  template <class Print>
  void Inside(Print print) {
    ++depth_;
    print();
    --depth_;
  }
  void Expression(const ast::Expr& expr) { std::visit(*this, expr.node); }
  void Body(const ast::Body& body) {
    Inside([&] {
      for (const ast::Statement& statement : body.statements) std::visit(*this, statement);
    });
  }
  std::string LinkEnd(const ast::LinkEnd& end) const { return end.zone.has_value() ? PathText(*end.zone) : "*"; }

  int depth_ = 0;
  std::string out_;
};

}  // namespace

std::string PrintAst(const ast::Spec& spec) { return AstPrinter().Print(spec); }

bool SameTree(const ast::Spec& a, const ast::Spec& b) { return PrintAst(a) == PrintAst(b); }

}  // namespace sail
