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

std::string TypeText(const ast::TypeRef& type) {
  std::string text = type.name;
  for (size_t i = 0; i < type.arguments.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "<" : ", ", TypeText(type.arguments[i]));
  }
  return absl::StrCat(text, type.arguments.empty() ? "" : ">", type.is_optional ? "?" : "");
}

std::string Variables(const ast::Identifier& first, const std::optional<ast::Identifier>& second) {
  return absl::StrCat(first.text, second.has_value() ? ", " : "", second.has_value() ? second->text : "");
}

absl::string_view OperatorText(ast::BinaryOperator op) {
  constexpr absl::string_view kTexts[] = {
      "+", "-", "*", "/", "..", "==", "!=", "<", "<=", ">", ">=", "in", "and", "or"};
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
    const std::string hash = import.sha256.has_value() ? absl::StrCat(" sha256 ", Quote(import.sha256->text)) : "";
    Line(absl::StrCat("import ", Quote(import.path), hash, " as ", import.alias.text));
  }
  void operator()(const ast::Param& param) {
    Line(absl::StrCat("param ", param.name.text, ": ", TypeText(param.type)));
    Inside([&] {
      Doc(param.doc);
      if (param.value.has_value()) Expression(*param.value);
      if (param.where.has_value()) Labelled("where", {&*param.where});
    });
  }
  void operator()(const ast::Let& let) {
    Line(absl::StrCat("let ", let.name.text, let.type.has_value() ? ": " : "",
                      let.type.has_value() ? TypeText(*let.type) : ""));
    Inside([&] {
      Doc(let.doc);
      Expression(let.value);
    });
  }
  void operator()(const ast::For& loop) {
    Line(absl::StrCat("for ", Variables(loop.first, loop.second)));
    Inside([&] {
      Labelled("in", {&loop.collection});
      if (loop.condition.has_value()) Labelled("if", {&*loop.condition});
    });
    Body(loop.body[0]);
  }
  void operator()(const ast::Remove& removal) {
    Line(absl::StrCat("remove ", removal.kind.text, removal.label.has_value() ? " " : "",
                      removal.label.has_value() ? NameOf(*removal.label) : ""));
  }
  void operator()(const ast::Assert& assertion) {
    Line(assertion.is_warning ? "warn" : "assert");
    Inside([&] {
      Expression(assertion.condition);
      if (assertion.message.has_value()) Expression(*assertion.message);
    });
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
    if (block.alias.has_value()) absl::StrAppend(&text, " as ", block.alias->text);
    if (block.base.has_value()) absl::StrAppend(&text, " extends ", PathText(*block.base));
    Line(text);
    Inside([&] {
      Doc(block.doc);
      for (const ast::Expr& label : block.label_template) Expression(label);
    });
    Body(block.body[0]);
  }
  void operator()(const ast::Assignment& assignment) {
    Line(absl::StrCat(assignment.override_word.has_value() ? "override " : "set ", PathText(assignment.target)));
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
  void operator()(const ast::TemplateExpr& text) {
    Line("template");
    Inside([&] {
      for (size_t i = 0; i < text.texts.size(); ++i) {
        Line(absl::StrCat("text ", Quote(text.texts[i])));
        if (i < text.values.size()) Expression(text.values[i]);
      }
    });
  }
  void operator()(const ast::DateExpr& date) { Line(absl::StrCat("date ", date.text)); }
  void operator()(const ast::BoolExpr& boolean) { Line(boolean.value ? "true" : "false"); }
  void operator()(const ast::NoneExpr&) { Line("none"); }
  void operator()(const ast::NameExpr& name) { Line(absl::StrCat("name ", name.name.text)); }
  void operator()(const ast::MemberExpr& member) {
    Line(absl::StrCat("member ", NameOf(member.member)));
    Inside([&] { Expression(member.base[0]); });
  }
  void operator()(const ast::IndexExpr& index) { Labelled("index", Pointers(index.operands)); }
  void operator()(const ast::CallExpr& call) {
    Line("call");
    Inside([&] {
      Expression(call.callee[0]);
      for (const ast::Argument& argument : call.arguments) {
        Labelled(argument.name.has_value() ? absl::StrCat("argument ", argument.name->text) : "argument",
                 {&argument.value});
      }
    });
  }
  void operator()(const ast::ListExpr& list) { Labelled("list", Pointers(list.elements)); }
  void operator()(const ast::RecordExpr& record) {
    Line("record");
    Inside([&] {
      for (const ast::Field& field : record.fields) {
        Labelled(absl::StrCat("field ", NameOf(field.key)), {&field.value});
      }
    });
  }
  void operator()(const ast::ConditionalExpr& conditional) { Labelled("if", Pointers(conditional.operands)); }
  void operator()(const ast::ComprehensionExpr& comprehension) {
    Labelled(absl::StrCat("comprehension ", Variables(comprehension.first, comprehension.second)),
             Pointers(comprehension.operands));
  }
  void operator()(const ast::UnaryExpr& unary) {
    Line(unary.op == ast::UnaryOperator::kNot ? "unary not" : "unary -");
    Inside([&] { Expression(unary.operand[0]); });
  }
  void operator()(const ast::BinaryExpr& binary) {
    Labelled(absl::StrCat("binary ", OperatorText(binary.op)), Pointers(binary.operands));
  }

 private:
  void Line(absl::string_view text) { absl::StrAppend(&out_, std::string(2 * depth_, ' '), text, "\n"); }
  template <class Print>
  void Inside(Print print) {
    ++depth_;
    print();
    --depth_;
  }
  void Labelled(absl::string_view label, const std::vector<const ast::Expr*>& operands) {
    Line(label);
    Inside([&] {
      for (const ast::Expr* operand : operands) Expression(*operand);
    });
  }
  static std::vector<const ast::Expr*> Pointers(const std::vector<ast::Expr>& expressions) {
    std::vector<const ast::Expr*> pointers;
    for (const ast::Expr& expression : expressions) pointers.push_back(&expression);
    return pointers;
  }
  void Doc(absl::string_view doc) {
    if (!doc.empty()) Line(absl::StrCat("doc ", Quote(doc)));
  }
  void Expression(const ast::Expr& expr) { std::visit(*this, expr.node); }
  void Body(const ast::Body& body) {
    Inside([&] {
      for (const ast::Statement& statement : body.statements) std::visit(*this, statement);
    });
  }
  std::string LinkEnd(const ast::LinkEnd& end) const {
    if (!end.zone.has_value()) return "*";
    return end.is_string ? Quote(end.zone->parts[0].text) : PathText(*end.zone);
  }

  int depth_ = 0;
  std::string out_;
};

}  // namespace

std::string PrintAst(const ast::Spec& spec) { return AstPrinter().Print(spec); }

}  // namespace sail
