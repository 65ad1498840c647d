#include "compiler/passes/lint_spec.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"

namespace sail {
namespace {

constexpr int kStaleDays = 60;

// What is checked but not acted on: neither the planner nor the bundle reads it.
constexpr const char* kInertBlocks[] = {"checkpoint", "recovery", "env", "emit"};

void LintUnusedIn(Scope& scope, bool is_library, DiagnosticSink& sink) {
  for (const auto& [name, binding] : scope.names) {
    if (binding.is_used) continue;
    const char* what = binding.is_import()        ? "import"
                       : binding.let != nullptr   ? "let"
                       : binding.param != nullptr ? "param"
                                                  : nullptr;
    if (what == nullptr || (is_library && !binding.is_import())) continue;
    sink.Report(DiagnosticCode::kUnused, binding.range, absl::StrCat(what, " `", name, "` is never used"),
                {absl::StrCat("remove the ", what)});
  }
}

std::optional<absl::CivilDay> DayOf(const std::string& text) {
  absl::CivilDay day;
  return absl::ParseCivilTime(text, &day) ? std::optional(day) : std::nullopt;
}

void LintPriceBlock(const CheckedBlock& price, const std::optional<absl::CivilDay>& today, DiagnosticSink& sink) {
  for (const char* market : {"on_demand", "spot", "reserved"}) {
    if (!price.Has(market) || !price.GetAmount(market).value.is_zero()) continue;
    sink.Report(DiagnosticCode::kZeroPrice, price.RangeOf(market),
                absl::StrCat("a ", market, " price of zero: free, or missing?"),
                {"if it is free, say so on the line above: `# allow(0408): our own machines`"});
  }
  if (!today || !price.Has("as_of")) return;
  const auto read = DayOf(std::get<DateValue>(price.Get("as_of").content).text);
  if (!read || *today - *read <= kStaleDays) return;
  sink.Report(DiagnosticCode::kStalePrices, price.RangeOf("as_of"),
              absl::StrCat("these prices are ", *today - *read, " days old"),
              {"read the price list again, or import a newer version of the package"});
}

void LintPricesBelow(const CheckedBlock& block, const std::optional<absl::CivilDay>& today, DiagnosticSink& sink) {
  if (block.is_sound && absl::string_view(block.kind->name) == "price") LintPriceBlock(block, today, sink);
  for (const auto& child : block.children) LintPricesBelow(*child, today, sink);
}

std::vector<const CheckedBlock*> PoolsOf(const CheckedBlocks& blocks) {
  std::vector<const CheckedBlock*> pools;
  for (const auto& block : blocks.top) {
    if (block->module->is_standard()) continue;
    for (const CheckedBlock* pool : block->Below("pool")) {
      if (pool->is_sound) pools.push_back(pool);
    }
  }
  return pools;
}

// Prices that were set for a pool, or for a machine in place of those of its list, and that no pool pays.
void LintUnbought(const std::vector<const CheckedBlock*>& pools, DiagnosticSink& sink) {
  const auto for_each_price = [&](auto visit) {
    for (const CheckedBlock* pool : pools) {
      for (const CheckedBlock* priced : {pool, static_cast<const CheckedBlock*>(pool->Follow("machine"))}) {
        const CheckedBlock* price = priced->Child("price");
        if (price == nullptr) continue;
        for (const auto& [market, attribute] : price->attributes) {
          if (attribute.schema->type == ValueType::kPrice) visit(*pool, *priced, market, attribute);
        }
      }
    }
  };
  std::set<const ast::Expr*> paid;  // inherited prices share the expression
  for_each_price([&](const CheckedBlock& pool, const CheckedBlock&, const std::string& market, const auto& attribute) {
    const std::vector<std::string> markets = pool.GetTexts("market");
    if (std::find(markets.begin(), markets.end(), market) != markets.end()) paid.insert(attribute.expr);
  });
  for_each_price(
      [&](const CheckedBlock& pool, const CheckedBlock& priced, const std::string& market, const auto& attribute) {
        const bool is_set =
            attribute.origin == Origin::kOverride || (&priced == &pool && attribute.origin == Origin::kWritten);
        if (!is_set || paid.contains(attribute.expr)) return;
        sink.Report(DiagnosticCode::kUnused, attribute.name_range,
                    absl::StrCat("nothing is bought at the ", market, " price of ", NameOf(priced)),
                    {absl::StrCat("add `", market, "` to the `market` of its pools, or remove the price")});
      });
}

}  // namespace

void LintUnused(Analysis& analysis, DiagnosticSink& sink) {
  std::set<const Module*> with_jobs;
  for (const auto& block : analysis.blocks.top) {
    if (absl::string_view(block->kind->name) == "job") with_jobs.insert(block->module);
  }
  for (const auto& module : analysis.modules.modules) {
    const bool is_main = module.get() == &analysis.modules.main();
    if (!module->is_standard()) LintUnusedIn(module->top, !is_main || !with_jobs.contains(module.get()), sink);
  }
  for (Scope& scope : analysis.evaluator->scopes()) {
    if (scope.module != nullptr && !scope.module->is_standard()) LintUnusedIn(scope, false, sink);
  }
}

void LintInert(const CheckedBlocks& blocks, DiagnosticSink& sink) {
  for (const auto& block : blocks.top) {
    if (absl::string_view(block->kind->name) != "job" || !block->is_sound) continue;
    for (const char* inert : kInertBlocks) {
      const CheckedBlock* child = block->Child(inert);
      if (child == nullptr) continue;
      sink.Report(DiagnosticCode::kNotUsedYet, child->header,
                  absl::StrCat("`", inert, "` is checked, but nothing acts on it in this version"));
    }
  }
}

void LintPrices(const CheckedBlocks& blocks, const std::optional<std::string>& today, DiagnosticSink& sink) {
  const auto day = today ? DayOf(*today) : std::nullopt;
  const std::vector<const CheckedBlock*> pools = PoolsOf(blocks);
  // Of the prices that were not written for this file, those of the machines it uses.
  std::set<const CheckedBlock*> machines;
  for (const CheckedBlock* pool : pools) machines.insert(pool->Follow("machine"));
  for (const auto& block : blocks.top) {
    if (!block->module->is_standard() || (day && machines.contains(block.get()))) LintPricesBelow(*block, day, sink);
  }
  LintUnbought(pools, sink);
}

}  // namespace sail
