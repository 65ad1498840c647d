// Random edits of good texts: never a crash, every range inside the text, formatting idempotent whenever it parses.
#include <random>

#include "gtest/gtest.h"
#include "tests/unit/compiler/frontend/parsed.h"

namespace sail {
namespace {

constexpr int kMutantsPerText = 1500;

const char* const kCorpus[] = {
    R"(sail 1

import "std/gcp@2026.11" as gcp  # prices
## The only zone.
let target: iters/s = 2 * 0.1 iters/s
gpu A100_40 { memory = 40 GiB, peak_fp16 = 312 TFLOP/s }
machine a100x4 {
  gpu           = A100_40
  gpus_per_node = 4 GPUs
  price { on_demand = $14.69/h, spot = 4.41 USD/h }
}
resources lab {
  region "us-central1" {
    zone "us-central1-a" { pool fast { machine = a100x4, quota = 4 nodes, market = [spot, on_demand] } }
  }
  link * <-> * within zone { bandwidth = 100 Gbps, latency = 30 us, egress = 0 USD/GB }
  link "a" -> na.pool."b-1" { }
}
)",
    R"(sail 1
job smoke {
  model = opt350
  batch { global = 1024 samples, micro = [1, 2,
    4, 8] }
  parallelism {
    tensor   = [1, 2, 4]             # candidates
    pipeline = 1..8
  }
  maximize throughput then minimize cost_per_iter
    subject to {
      memory_headroom: peak_memory <= 92% * gpu.memory
      price_cap:       cost_rate   <= -(90 USD/h - 3) and not (a or b)
      throughput >= 0.1 iters/s
    }
  env { NAME = "a\n\u{e9}", flag = true, off = none }
}
)",
    R"(sail 1
import "./prices.sail"
  sha256 "5f1c0de7" as prices

## What an iteration may cost.
param limit: USD/iter = 0.60 USD/iter where limit > 0 USD/iter
param quota: Map<nodes>? = { "us-1" = 24 nodes, eu = { a = 1 }.a }
let zones: List<String> = ["us-1", "eu-${limit}"]

resources na as base extends prices.us {
  override price.spot = if limit < 1 USD/iter then 2 USD/h else $3/h
  remove pool t4
  remove price
  for z, n in quota if z in zones and n > 0 nodes {
    pool "a-${z}" as p { machine = prices.spot[z].a2(x, hidden = 4096)[0], quota = n }
  }
}
let text = """
    one ${limit}
      two \${x} "quoted"
    """
warn all([l.latency <= 120 ms for l in plan.links if not l.up]),
  "slow since ${day}"
let day = [2026-11-30, {
  a = 1
}]
)"};

const char* const kPieces[] = {"{",
                               "}",
                               "[",
                               "]",
                               "(",
                               ")",
                               ",",
                               "=",
                               ":",
                               ".",
                               "..",
                               "\n",
                               "\r",
                               " ",
                               "#",
                               "\"",
                               "\\",
                               "$",
                               "%",
                               "-",
                               "->",
                               "<->",
                               "<",
                               "not ",
                               "and ",
                               "link ",
                               "let ",
                               "for ",
                               "in ",
                               "if ",
                               "else ",
                               "param ",
                               "where ",
                               "override ",
                               "remove ",
                               "assert ",
                               "warn ",
                               "as ",
                               "?",
                               "\\",
                               "}\"",
                               "subject to ",
                               "minimize ",
                               "then ",
                               "import ",
                               "extends ",
                               "1",
                               "GiB",
                               "x",
                               "/",
                               "\xC3\xA9",
                               "\xFF",
                               "\xEF\xBB\xBF",
                               "\"\"\"",
                               "2026-11-30",
                               "${",
                               "\t",
                               "@",
                               "sail 1"};

std::string Mutate(std::string text, std::mt19937& random) {
  const auto pick = [&random](size_t count) { return static_cast<size_t>(random() % count); };
  for (size_t edits = 1 + pick(3); edits > 0; --edits) {
    const size_t at = pick(text.size() + 1);
    const size_t length = std::min<size_t>(text.size() - at, pick(8));
    switch (pick(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kPieces[pick(std::size(kPieces))]);
        break;
      case 2:
        text.replace(at, length, kPieces[pick(std::size(kPieces))]);
        break;
      default:
        text.insert(pick(text.size() + 1), text.substr(at, pick(40)));
    }
  }
  return text;
}

void CheckText(const std::string& text) {
  SourceManager sources;
  const SourceId id = sources.Add("a", text);
  DiagnosticSink sink;
  const absl::StatusOr<ast::Spec> spec = Parse(sources, id, {}, sink);
  EXPECT_EQ(spec.ok(), !sink.has_errors());
  for (const Diagnostic& diagnostic : sink.diagnostics()) {
    std::vector<Label> labels = diagnostic.secondary;
    labels.push_back(diagnostic.primary);
    for (const Label& label : labels) {
      EXPECT_TRUE(label.range.valid());
      EXPECT_LE(0, label.range.begin);
      EXPECT_LE(label.range.begin, label.range.end);
      EXPECT_LE(label.range.end, static_cast<int>(text.size()));
    }
    EXPECT_FALSE(diagnostic.message.empty());
  }
  EXPECT_LE(sink.error_count(), 2 * ParseLimits().max_syntax_errors + 2);
  EXPECT_FALSE(RenderText(sink.Sorted(), sources, {}).empty() && sink.has_errors());
  if (!spec.ok()) return;
  const std::string formatted = FormatText(text);
  EXPECT_EQ(FormatText(formatted), formatted);
  EXPECT_EQ(ParseText(formatted).tree, PrintAst(*spec));
}

TEST(MutationTest, NoEditBreaksTheFrontEnd) {
  std::mt19937 random(20261130);
  int parsed = 0;
  for (const std::string text : kCorpus) {
    CheckText(text);
    for (int i = 0; i < kMutantsPerText; ++i) {
      const std::string mutant = Mutate(text, random);
      CheckText(mutant);
      if (ParseText(mutant).ok) ++parsed;
      ASSERT_FALSE(HasFailure()) << mutant;
    }
  }
  EXPECT_GT(parsed, kMutantsPerText / 10) << "the edits are too wild to test the formatter";
}

TEST(MutationTest, EveryPrefixOfAText) {
  for (const std::string text : kCorpus) {
    for (size_t length = 0; length <= text.size(); ++length) {
      CheckText(text.substr(0, length));
      ASSERT_FALSE(HasFailure()) << length;
    }
  }
}

}  // namespace
}  // namespace sail
