// The built-in functions: pure and total, one table.
#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/passes/data_files.h"
#include "compiler/passes/evaluate.h"

namespace sail {
namespace {

constexpr int64_t kMaxDataBytes = 16 << 20;

Value Number(Rational value, SourceRange range) { return {MakeAmount(value, Dimension{}), range}; }

}  // namespace

// One call being evaluated. Methods return nullopt after reporting.
class Builtins {
 public:
  struct Function {
    const char* name;
    int fewest;
    int most;  // -1: any number
    const char* doc;
    std::optional<Value> (Builtins::*apply)();
  };
  static const std::vector<Function>& Table();

  Builtins(Evaluator& evaluator, const ast::CallExpr& call, const Module& module, SourceRange range)
      : evaluator_(evaluator), call_(call), module_(module), range_(range) {}

  std::optional<Value> Run(const Function& function, std::vector<Value> arguments) {
    name_ = function.name;
    arguments_ = std::move(arguments);
    return (this->*function.apply)();
  }

 private:
  std::nullopt_t Fail(size_t argument, std::string message) {
    return evaluator_.Fail(DiagnosticCode::kTypeMismatch, arguments_[argument].range, std::move(message));
  }
  std::nullopt_t Wants(size_t argument, absl::string_view wanted) {
    return Fail(argument,
                absl::StrCat("`", name_, "` needs ", wanted, ", found ", DescribeValue(arguments_[argument])));
  }

  // The values of the only argument, a list or the values of a map, or else of all arguments.
  std::optional<std::vector<Value>> Elements() {
    if (arguments_.size() != 1) return arguments_;
    if (const auto* list = arguments_[0].As<ListValue>()) return list->elements;
    if (const auto* record = arguments_[0].As<RecordValue>()) {
      std::vector<Value> values;
      for (const auto& [key, value] : record->fields) values.push_back(value);
      return values;
    }
    if (arguments_[0].As<RangeValue>() == nullptr) return Wants(0, "a list");
    std::vector<Value> values;
    const bool complete = evaluator_.ForEach(arguments_[0], false, [&](const Value& value, const Value*) {
      values.push_back(value);
      return true;
    });
    return complete ? std::optional(values) : std::nullopt;
  }

  std::optional<std::vector<bool>> Truths() {
    const auto elements = Elements();
    if (!elements) return std::nullopt;
    std::vector<bool> truths;
    for (const Value& element : *elements) {
      const bool* truth = element.As<bool>();
      if (truth == nullptr) return Wants(0, "a list of truth values");
      truths.push_back(*truth);
    }
    return truths;
  }

  std::optional<Value> Len() {
    int64_t size = 0;
    if (const auto* text = arguments_[0].As<TextValue>()) {
      size = std::count_if(text->text.begin(), text->text.end(), [](char c) { return (c & 0xc0) != 0x80; });
    } else if (const auto* list = arguments_[0].As<ListValue>()) {
      size = static_cast<int64_t>(list->elements.size());
    } else if (const auto* record = arguments_[0].As<RecordValue>()) {
      size = static_cast<int64_t>(record->fields.size());
    } else if (const auto* span = arguments_[0].As<RangeValue>()) {
      const auto gap = span->last.Subtract(span->first);
      const auto one_more = gap ? gap->Add(Rational(1)) : std::nullopt;
      const auto count = one_more ? one_more->ToInt64() : std::nullopt;
      if (!count) return Fail(0, "this range is too long to count");
      size = std::max<int64_t>(*count, 0);
    } else {
      return Wants(0, "a list, a map, a range or a text");
    }
    return Number(Rational(size), range_);
  }

  std::optional<Value> Sum() {
    const auto elements = Elements();
    if (!elements) return std::nullopt;
    if (elements->empty()) return Number(Rational(0), range_);
    const auto* first = elements->front().As<Amount>();
    if (first == nullptr) return Wants(0, "numbers");
    Amount total = *first;
    for (size_t i = 1; i < elements->size(); ++i) {
      const auto* amount = (*elements)[i].As<Amount>();
      if (amount == nullptr) return Wants(0, "numbers");
      if (amount->dimension != total.dimension) {
        return evaluator_.Fail(
            DiagnosticCode::kOperatorDimension, range_,
            absl::StrCat("cannot add ", Describe(total.dimension), " and ", Describe(amount->dimension)));
      }
      const auto sum = total.value.Add(amount->value);
      if (!sum) return evaluator_.Fail(DiagnosticCode::kOverflow, range_, "this value is too large to represent");
      total.value = *sum;
    }
    return Value{total, range_};
  }

  std::optional<Value> Mean() {
    const auto elements = Elements();
    if (!elements) return std::nullopt;
    if (elements->empty()) return evaluator_.Fail(DiagnosticCode::kDivideByZero, range_, "the mean of no values");
    auto sum = Sum();
    if (!sum) return std::nullopt;
    auto& amount = std::get<Amount>(sum->content);
    const auto mean = amount.value.Divide(Rational(static_cast<int64_t>(elements->size())));
    if (!mean) return evaluator_.Fail(DiagnosticCode::kOverflow, range_, "this value is too large to represent");
    amount.value = *mean;
    return sum;
  }

  std::optional<Value> Extreme(bool largest) {
    const auto elements = Elements();
    if (!elements) return std::nullopt;
    if (elements->empty()) return Fail(0, absl::StrCat("`", name_, "` of no values"));
    const Value* best = &elements->front();
    for (const Value& element : *elements) {
      const auto less = largest ? Less(*best, element) : Less(element, *best);
      if (!less) {
        return Fail(0, absl::StrCat("cannot compare ", DescribeValue(*best), " with ", DescribeValue(element)));
      }
      if (*less) best = &element;
    }
    Value value = *best;
    value.range = range_;
    return value;
  }
  std::optional<Value> Min() { return Extreme(false); }
  std::optional<Value> Max() { return Extreme(true); }

  std::optional<Value> All() {
    const auto truths = Truths();
    if (!truths) return std::nullopt;
    return Value{std::all_of(truths->begin(), truths->end(), [](bool truth) { return truth; }), range_};
  }
  std::optional<Value> Any() {
    const auto truths = Truths();
    if (!truths) return std::nullopt;
    return Value{std::any_of(truths->begin(), truths->end(), [](bool truth) { return truth; }), range_};
  }

  std::optional<Value> Sort() {
    const auto elements = Elements();
    if (!elements) return std::nullopt;
    ListValue list;
    list.elements = *elements;
    for (size_t i = 1; i < list.elements.size(); ++i) {
      if (Less(list.elements[0], list.elements[i])) continue;
      return Fail(0, absl::StrCat("cannot compare ", DescribeValue(list.elements[0]), " with ",
                                  DescribeValue(list.elements[i])));
    }
    std::stable_sort(list.elements.begin(), list.elements.end(),
                     [](const Value& a, const Value& b) { return *Less(a, b); });
    list.total = SizeOf(arguments_[0]);
    return Value{std::move(list), range_};
  }

  std::optional<Value> Unique() {
    const auto elements = Elements();
    if (!elements) return std::nullopt;
    ListValue list;
    list.elements = *elements;
    MakeSet(list);
    list.total = SizeOf(arguments_[0]);
    return Value{std::move(list), range_};
  }

  std::optional<Value> Fields(bool keys) {
    const auto* record = arguments_[0].As<RecordValue>();
    if (record == nullptr) return Wants(0, "a map");
    ListValue list;
    for (const auto& [key, value] : record->fields) {
      list.elements.push_back(keys ? Value{TextValue{key}, range_} : value);
    }
    list.total = record->total;
    return Value{std::move(list), range_};
  }
  std::optional<Value> Keys() { return Fields(true); }
  std::optional<Value> Values() { return Fields(false); }

  std::optional<Value> Clamp() {
    for (size_t i = 1; i < 3; ++i) {
      if (!Less(arguments_[0], arguments_[i])) {
        return Fail(
            i, absl::StrCat("cannot compare ", DescribeValue(arguments_[0]), " with ", DescribeValue(arguments_[i])));
      }
    }
    if (*Less(arguments_[2], arguments_[1])) return Fail(2, "the upper end of `clamp` is below its lower end");
    Value value = *Less(arguments_[0], arguments_[1])   ? arguments_[1]
                  : *Less(arguments_[2], arguments_[0]) ? arguments_[2]
                                                        : arguments_[0];
    value.range = range_;
    return value;
  }

  // To whole multiples of the unit the value was written in.
  std::optional<Value> Rounded(const std::function<std::optional<Rational>(const Rational&)>& rounding) {
    const auto* amount = arguments_[0].As<Amount>();
    if (amount == nullptr) return Wants(0, "a number");
    const auto in_unit = amount->value.Divide(amount->unit_factor);
    const auto whole = in_unit ? rounding(*in_unit) : std::nullopt;
    const auto value = whole ? whole->Multiply(amount->unit_factor) : std::nullopt;
    if (!value) return evaluator_.Fail(DiagnosticCode::kOverflow, range_, "this value is too large to represent");
    Amount result = *amount;
    result.value = *value;
    return Value{std::move(result), range_};
  }
  static std::optional<Rational> Up(const Rational& value) {
    const auto negated = Rational(0).Subtract(value);
    return negated ? Rational(0).Subtract(negated->Floor()) : std::nullopt;
  }
  std::optional<Value> Floor() {
    return Rounded([](const Rational& value) { return std::optional(value.Floor()); });
  }
  std::optional<Value> Ceil() { return Rounded(&Up); }
  // Halves away from zero.
  std::optional<Value> Round() {
    return Rounded([](const Rational& value) -> std::optional<Rational> {
      const Rational half = *Rational::Create(1, 2);
      const auto moved = value.is_negative() ? value.Subtract(half) : value.Add(half);
      if (!moved) return std::nullopt;
      return value.is_negative() ? Up(*moved) : std::optional(moved->Floor());
    });
  }

  std::optional<Value> Zip() {
    const auto* a = arguments_[0].As<ListValue>();
    const auto* b = arguments_[1].As<ListValue>();
    if (a == nullptr) return Wants(0, "two lists");
    if (b == nullptr) return Wants(1, "two lists");
    if (a->elements.size() != b->elements.size()) {
      return Fail(1, absl::StrCat("`zip` needs lists of equal length, found ", a->elements.size(), " and ",
                                  b->elements.size(), " elements"));
    }
    ListValue pairs;
    for (size_t i = 0; i < a->elements.size(); ++i) {
      ListValue pair;
      Append(pair, a->elements[i]);
      Append(pair, b->elements[i]);
      Append(pairs, {std::move(pair), range_});
    }
    if (!evaluator_.Charge(pairs.total, range_)) return std::nullopt;
    return Value{std::move(pairs), range_};
  }

  std::optional<Value> Join() {
    const auto* list = arguments_[0].As<ListValue>();
    const auto* separator = arguments_[1].As<TextValue>();
    if (list == nullptr) return Wants(0, "a list of texts");
    if (separator == nullptr) return Wants(1, "a text between the elements");
    std::vector<std::string> parts;
    for (const Value& element : list->elements) {
      const auto* text = element.As<TextValue>();
      if (text == nullptr) return Fail(0, absl::StrCat("`join` needs texts, found ", DescribeValue(element)));
      parts.push_back(text->text);
    }
    TextValue joined{absl::StrJoin(parts, separator->text)};
    if (joined.text.size() > kLongestText) return evaluator_.TooLarge(range_, "this text is longer than 1 MiB");
    return Value{std::move(joined), range_};
  }

  std::optional<Value> Secret() {
    const auto* name = std::get_if<ast::StringExpr>(&call_.arguments[0].value.node);
    if (name == nullptr || name->value.empty()) return Fail(0, "the name of a secret is a plain string");
    return Value{SecretValue{name->value}, range_};
  }

  // A file is named by a plain string, so that what a compilation reads can be seen without running it.
  std::optional<std::string> Read() {
    const auto* path = std::get_if<ast::StringExpr>(&call_.arguments[0].value.node);
    if (path == nullptr) return Fail(0, absl::StrCat("`", name_, "` needs the path as a plain string"));
    if (module_.is_standard()) return Fail(0, "the standard library reads no files");
    const std::string resolved = JoinPath(evaluator_.modules_.base_directory, JoinPath(module_.directory, path->value));
    auto text = evaluator_.files_.Read(resolved, kMaxDataBytes);
    if (text.ok()) return *std::move(text);
    evaluator_.sink_.Report({.code = DiagnosticCode::kDataFile,
                             .message = absl::StrCat("cannot read `", path->value, "`"),
                             .primary = {arguments_[0].range, ""},
                             .secondary = {},
                             .notes = {std::string(text.status().message())},
                             .helps = {}});
    return std::nullopt;
  }

  std::optional<Value> Parsed(absl::StatusOr<Value> value) {
    if (!value.ok()) {
      return evaluator_.Fail(DiagnosticCode::kDataFile, arguments_[0].range, std::string(value.status().message()));
    }
    if (!evaluator_.Charge(SizeOf(*value), range_)) return std::nullopt;
    return *std::move(value);
  }

  std::optional<Value> File() {
    auto text = Read();
    if (!text) return std::nullopt;
    return Value{TextValue{*std::move(text)}, range_};
  }
  std::optional<Value> JsonFile() {
    const auto text = Read();
    return text ? Parsed(ValueOfJson(*text, arguments_[0].As<TextValue>()->text, range_)) : std::nullopt;
  }
  std::optional<Value> Csv() {
    const auto text = Read();
    return text ? Parsed(ValueOfCsv(*text, arguments_[0].As<TextValue>()->text, range_)) : std::nullopt;
  }

  Evaluator& evaluator_;
  const ast::CallExpr& call_;
  const Module& module_;
  SourceRange range_;
  std::string name_;
  std::vector<Value> arguments_;
};

const std::vector<Builtins::Function>& Builtins::Table() {
  static const auto& table = *new std::vector<Function>{
      {"all", 1, 1, "whether all of a list are true", &Builtins::All},
      {"any", 1, 1, "whether one of a list is true", &Builtins::Any},
      {"ceil", 1, 1, "up to a whole multiple of the unit", &Builtins::Ceil},
      {"clamp", 3, 3, "clamp(x, low, high): x, but not outside [low, high]", &Builtins::Clamp},
      {"csv", 1, 1, "csv(\"PATH\"): the rows of a table with a header line, as maps", &Builtins::Csv},
      {"file", 1, 1, "file(\"PATH\"): the text of a file", &Builtins::File},
      {"floor", 1, 1, "down to a whole multiple of the unit", &Builtins::Floor},
      {"join", 2, 2, "join(texts, separator)", &Builtins::Join},
      {"json", 1, 1, "json(\"PATH\"): the value in a JSON file", &Builtins::JsonFile},
      {"keys", 1, 1, "the keys of a map, in the order written", &Builtins::Keys},
      {"len", 1, 1, "how many elements, keys, numbers or characters", &Builtins::Len},
      {"max", 1, -1, "the largest of a list or of its arguments", &Builtins::Max},
      {"mean", 1, -1, "the mean of a list or of its arguments", &Builtins::Mean},
      {"min", 1, -1, "the smallest of a list or of its arguments", &Builtins::Min},
      {"round", 1, 1, "to the nearest whole multiple of the unit, halves away from zero", &Builtins::Round},
      {"secret", 1, 1, "secret(\"NAME\"): a value that only the running node knows", &Builtins::Secret},
      {"sort", 1, 1, "a list in ascending order", &Builtins::Sort},
      {"sum", 1, -1, "the sum of a list or of its arguments", &Builtins::Sum},
      {"unique", 1, 1, "the set of a list's elements", &Builtins::Unique},
      {"values", 1, 1, "the values of a map, in the order written", &Builtins::Values},
      {"zip", 2, 2, "the pairs of two lists of equal length", &Builtins::Zip},
  };
  return table;
}

std::vector<std::pair<std::string, std::string>> BuiltinFunctions() {
  std::vector<std::pair<std::string, std::string>> functions;
  for (const Builtins::Function& function : Builtins::Table()) functions.emplace_back(function.name, function.doc);
  return functions;
}

std::optional<Value> Evaluator::EvaluateCall(const ast::CallExpr& call, SourceRange range, Scope& scope) {
  const auto* name = std::get_if<ast::NameExpr>(&call.callee.front().node);
  const std::string called = name != nullptr ? name->name.text : "";
  const auto& table = Builtins::Table();
  const auto function =
      std::find_if(table.begin(), table.end(), [&](const Builtins::Function& entry) { return called == entry.name; });
  if (function == table.end()) {
    std::vector<std::string> names;
    for (const Builtins::Function& entry : table) names.push_back(entry.name);
    return Fail(
        DiagnosticCode::kUndefinedName, call.callee.front().range,
        name != nullptr ? absl::StrCat("there is no function `", called, "`") : "only built-in functions can be called",
        "", DidYouMean(Nearest(called, names), "there are " + absl::StrJoin(names, ", ")));
  }
  const int count = static_cast<int>(call.arguments.size());
  if (count < function->fewest || (function->most >= 0 && count > function->most)) {
    return Fail(
        DiagnosticCode::kTypeMismatch, range,
        absl::StrCat("`", called, "` takes ", function->fewest, function->most < 0 ? " or more" : "",
                     function->fewest == 1 && function->most == 1 ? " argument" : " arguments", ", found ", count),
        "", {function->doc});
  }
  std::vector<Value> arguments;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name) {
      return Fail(DiagnosticCode::kTypeMismatch, argument.name->range,
                  absl::StrCat("`", called, "` takes no argument by name"));
    }
    auto value = Evaluate(argument.value, scope);
    if (!value) return std::nullopt;
    if (value->As<SecretValue>() != nullptr) {
      return Fail(DiagnosticCode::kTypeMismatch, argument.value.range, "nothing can be computed from a secret");
    }
    arguments.push_back(*std::move(value));
  }
  return Builtins(*this, call, *scope.module, range).Run(*function, std::move(arguments));
}

}  // namespace sail
