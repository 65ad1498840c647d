// Expressions: every operator, built-in and mistake, as text in and text out.
#include <string>

#include "gtest/gtest.h"
#include "tests/unit/compiler/passes/check_source.h"

namespace sail {
namespace {

using test::Evaluated;

struct Row {
  const char* expr;
  const char* value;
};

class EvaluateTest : public ::testing::TestWithParam<Row> {};

TEST_P(EvaluateTest, GivesTheValue) { EXPECT_EQ(Evaluated(GetParam().expr), GetParam().value) << GetParam().expr; }

INSTANTIATE_TEST_SUITE_P(
    Operators, EvaluateTest,
    ::testing::Values(Row{"1 + 2 * 3", "7"}, Row{"(1 + 2) * 3", "9"}, Row{"1 / 3 + 1 / 6", "0.5"}, Row{"-2 - -3", "1"},
                      Row{"4 GPUs/node * 2 nodes", "8 GPUs"}, Row{"8 GPUs / 4 GPUs/node", "2 nodes"},
                      Row{"50% * 8", "4"}, Row{"1 GiB + 1 MiB", "1.0009765625 GiB"}, Row{"16 Gbps == 2 GBps", "true"},
                      Row{"1 h > 59 min", "true"}, Row{"60 s >= 1 min", "true"}, Row{"1 != 2", "true"},
                      Row{"\"a\" == \"a\"", "true"}, Row{"2026-11-30 > 2026-09-01", "true"},
                      Row{"[1, 2] == [1, 2]", "true"}, Row{"none == 1", "false"}, Row{"true and not false", "true"},
                      Row{"false and 1 / 0 == 1", "false"}, Row{"true or 1 / 0 == 1", "true"},
                      Row{"if 1 < 2 then \"yes\" else 1 / 0", "\"yes\""}, Row{"3 in 1..4", "true"},
                      Row{"5 in 1..4", "false"}, Row{"\"a\" in [\"b\", \"a\"]", "true"},
                      Row{"\"k\" in { k = 1 }", "true"}, Row{"2 in [1, 3]", "false"}, Row{"[1, 2, 3][1]", "2"},
                      Row{"{ a = 1, b = 2 }[\"b\"]", "2"}, Row{"{ a = 1 }.a", "1"},
                      Row{"{ \"us-a\" = 3 nodes }.\"us-a\"", "3 nodes"}, Row{"\"a-${1 + 1}-b\"", "\"a-2-b\""},
                      Row{"[n * n for n in 1..4]", "[1, 4, 9, 16]"}, Row{"[n for n in 1..6 if n > 4]", "[5, 6]"},
                      Row{"[k for k in { b = 1, a = 2 }]", "[\"b\", \"a\"]"},
                      Row{"[\"${k}=${v}\" for k, v in { b = 1, a = 2 }]", "[\"b=1\", \"a=2\"]"},
                      Row{"[a + b for a, b in zip([1, 2], [10, 20])]", "[11, 22]"}, Row{"3.67 USD/h * 2", "7.34 USD/h"},
                      Row{"$3.67/h", "3.67 USD/h"}, Row{"1 / (2 s/iter)", "0.5 iters/s"}));

INSTANTIATE_TEST_SUITE_P(
    Builtins, EvaluateTest,
    ::testing::Values(Row{"len([1, 2])", "2"}, Row{"len(\"aé\")", "2"}, Row{"len(1..5)", "5"},
                      Row{"len({ a = 1 })", "1"}, Row{"sum([1 GiB, 1 GiB])", "2 GiB"}, Row{"sum([])", "0"},
                      Row{"sum(1, 2, 3)", "6"}, Row{"sum(1..4)", "10"}, Row{"min([3, 1, 2])", "1"},
                      Row{"max(1 min, 30 s)", "1 min"}, Row{"mean([1, 2])", "1.5"}, Row{"all([true, false])", "false"},
                      Row{"any([n > 2 for n in 1..3])", "true"}, Row{"sort([\"b\", \"a\"])", "[\"a\", \"b\"]"},
                      Row{"unique([2, 1, 2])", "[1, 2]"}, Row{"sort(unique([2, 1, 2]))[0]", "1"},
                      Row{"keys({ b = 1, a = 2 })", "[\"b\", \"a\"]"}, Row{"values({ b = 1, a = 2 })", "[1, 2]"},
                      Row{"clamp(5, 1, 3)", "3"}, Row{"clamp(-5, 1, 3)", "1"}, Row{"ceil(2.5 nodes)", "3 nodes"},
                      Row{"floor(2.5 GiB)", "2 GiB"}, Row{"round(2.5)", "3"}, Row{"round(-2.5)", "-3"},
                      Row{"ceil(-2.5)", "-2"}, Row{"floor(-2.5)", "-3"}, Row{"join([\"a\", \"b\"], \"-\")", "\"a-b\""},
                      Row{"zip([1], [2])", "[[1, 2]]"}, Row{"secret(\"k\")", "secret(\"k\")"}));

INSTANTIATE_TEST_SUITE_P(
    Mistakes, EvaluateTest,
    ::testing::Values(
        Row{"1 GiB + 1 GPU", "SAIL0205 cannot add a data size and a number of GPUs"},
        Row{"1 / 0", "SAIL0320 division by zero"}, Row{"[1, 2][2]", "SAIL0315 index 2 is outside a list of 2 elements"},
        Row{"{ a = 1 }[\"b\"]", "SAIL0315 no key \"b\" in this map"},
        Row{"unique([1])[0]", "SAIL0319 sets have no first element"},
        Row{"\"key ${secret(\"k\")}\"", "SAIL0108 `${` is not closed in this string"},
        Row{"[secret(\"k\")] == [secret(\"k\")] and secret(\"k\") == 1",
            "SAIL0313 `==` cannot compare these, found a secret and a plain number"},
        Row{"len(secret(\"k\"))", "SAIL0313 nothing can be computed from a secret"},
        Row{"lenn([1])", "SAIL0304 there is no function `lenn`"},
        Row{"len()", "SAIL0313 `len` takes 1 argument, found 0"},
        Row{"if 1 then 2 else 3", "SAIL0313 `if` needs a truth value, found a plain number"},
        Row{"[n for n in 5]", "SAIL0313 `for` runs over a list, a set, a range or a map, found a plain number"},
        Row{"[n for n in 1..2000000]", "SAIL0119 evaluation produced more than 1 000 000 values"},
        Row{"zip([1], [])", "SAIL0313 `zip` needs lists of equal length, found 1 and 0 elements"},
        Row{"max([1, \"a\"])", "SAIL0313 cannot compare a plain number with a text"},
        Row{"mean([])", "SAIL0320 the mean of no values"}, Row{"{ a = 1, a = 2 }", "SAIL0110 key \"a\" is given twice"},
        Row{"1.nodes", "SAIL0108 `1.` is not a number: digits follow the point"},
        Row{"len(0..9223372036854775807)", "SAIL0313 this range is too long to count"},
        Row{"none == secret(\"k\")", "SAIL0313 `==` cannot compare these, found `none` and a secret"},
        Row{"file(\"absent.txt\")", "SAIL0422 cannot read `absent.txt`"}));

TEST(EvaluateNames, LetsRefersForwardAndCyclesAreShown) {
  EXPECT_EQ(Evaluated("a + 1", "let a = b\nlet b = 2"), "3");
  EXPECT_EQ(Evaluated("a", "let a = b\nlet b = a"), "SAIL0310 `a` depends on itself: a -> b -> a");
}

TEST(EvaluateNames, ASecretIsNoPartOfAString) {
  EXPECT_EQ(Evaluated("\"k=${s}\"", "let s = secret(\"k\")"), "SAIL0317 a secret cannot be part of a string");
}

TEST(EvaluateNames, NothingIsShadowed) {
  EXPECT_EQ(Evaluated("[a for a in [1]]", "let a = 2"), "SAIL0311 `a` is already visible here");
}

// Each line doubles the values: the bound on values ends it.
TEST(EvaluateLimits, NestedPairsAreCounted) {
  std::string lets = "let a0 = [1]\n";
  for (int i = 1; i <= 40; ++i) absl::StrAppend(&lets, "let a", i, " = zip(a", i - 1, ", a", i - 1, ")\n");
  EXPECT_EQ(Evaluated("len(a40)", lets), "SAIL0119 evaluation produced more than 1 000 000 values");
}

TEST(EvaluateLimits, LongTextsWeighMore) {
  const std::string text = "let s = \"" + std::string(1 << 16, 'x') + "\"";
  EXPECT_EQ(Evaluated("len([s for i in 1..20000])", text), "SAIL0119 evaluation produced more than 1 000 000 values");
}

struct TypeRow {
  const char* type;
  const char* expr;
  const char* value;
};
class TypeTest : public ::testing::TestWithParam<TypeRow> {};
TEST_P(TypeTest, Conforms) {
  const TypeRow& row = GetParam();
  EXPECT_EQ(Evaluated("y", std::string("let y: ") + row.type + " = " + row.expr), row.value) << row.type;
}
INSTANTIATE_TEST_SUITE_P(
    Types, TypeTest,
    ::testing::Values(
        TypeRow{"iters/s", "12 iters/min", "0.2 iters/s"}, TypeRow{"Int", "3", "3"}, TypeRow{"Percent", "92%", "92%"},
        TypeRow{"Bandwidth", "100 Gbps", "100 Gbps"}, TypeRow{"List<String>", "[\"a\"]", "[\"a\"]"},
        TypeRow{"Map<nodes>", "{ a = 3 nodes }", "{ \"a\" = 3 nodes }"}, TypeRow{"Set<Int>", "[2, 1, 2]", "[1, 2]"},
        TypeRow{"market", "spot", "\"spot\""}, TypeRow{"List<market>", "[spot]", "[\"spot\"]"},
        TypeRow{"String?", "none", "none"}, TypeRow{"Date", "2026-11-30", "2026-11-30"},
        TypeRow{"Int", "1.5", "SAIL0313 `y` is declared as a whole number, found a plain number"},
        TypeRow{"String", "none", "SAIL0313 `y` is declared as a text, found `none`"},
        TypeRow{"List<String>", "\"a\"", "SAIL0313 `y` is declared as `List<String>`, found a text"},
        TypeRow{"iters/s", "5 s/iter", "SAIL0206 `y` is in iters/s but this is in s/iter"},
        TypeRow{"GiB", "3", "SAIL0204 `y` expects a data size, found a plain number"},
        TypeRow{"market", "preemptible", "SAIL0314 `y` expects one of spot, on_demand, reserved, found `preemptible`"},
        TypeRow{"List", "[1]", "SAIL0313 `List` takes one type in `< >`"},
        TypeRow{"Lisst<Int>", "[1]", "SAIL0313 `Lisst` takes no types in `< >`"},
        TypeRow{"gib", "1 GiB", "SAIL0202 unit `gib` is not known; unit names are case-sensitive"}));

TEST(EvaluateFiles, JsonAndCsvBecomeValues) {
  const std::map<std::string, std::string> files = {
      {"dir/a.json", R"({"spot": {"us-a": 1.5}, "list": [1, true, null, "t"]})"},
      {"dir/a.csv", "zone,price\n\"us, a\",0.5\nus-b,\"1\"\"\"\n"}};
  EXPECT_EQ(Evaluated("json(\"a.json\").spot.\"us-a\" * 2", "", files), "3");
  EXPECT_EQ(Evaluated("json(\"a.json\").list", "", files), "[1, true, none, \"t\"]");
  EXPECT_EQ(Evaluated("csv(\"a.csv\")", "", files),
            "[{ \"zone\" = \"us, a\", \"price\" = 0.5 }, { \"zone\" = \"us-b\", \"price\" = \"1\\\"\" }]");
  EXPECT_EQ(Evaluated("file(\"a.csv\") == file(\"a.csv\")", "", files), "true");
  EXPECT_EQ(Evaluated("csv(\"a.csv\")", "", {{"dir/a.csv", "a,b\n1\n"}}),
            "SAIL0422 `a.csv` has 1 cells in row 1, but 2 columns");
}

}  // namespace
}  // namespace sail
