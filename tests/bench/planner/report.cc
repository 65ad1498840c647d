#include "tests/bench/planner/report.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sail::bench {
namespace {

constexpr char kNone[] = "-";

std::string NameOf(const Result& result) {
  return absl::StrCat(result.scenario.name, ", ", result.scenario.model, ", ", result.scenario.Gpus());
}

std::string Marked(const Scenario& scenario, const Judgement& judgement) {
  return absl::StrFormat("%.5f%s", ValueOf(scenario, judgement), judgement.fault.empty() ? "" : " (invalid)");
}

// The cost of our cheapest plan that is as fast as the published one, and how far below the published plan's it is.
std::string AsFastText(const Result& result) {
  if (!result.as_fast) return kNone;
  if (!result.as_fast->fault.empty()) return result.as_fast->fault;
  return absl::StrFormat("%.4f (%+.1f %%)", result.as_fast->usd,
                         100 * (result.as_fast->usd / result.published_model.published.usd - 1));
}

std::string Row(const Result& result, const Comparison& comparison, std::optional<double> reachable) {
  const Scenario& scenario = result.scenario;
  const Judgement& ours = comparison.ours.found;
  std::string text = absl::StrFormat("| %s | %s | %s | %.3f | ", NameOf(result), Marked(scenario, comparison.published),
                                     Marked(scenario, ours), Ratio(scenario, ours, comparison.published));
  if (&comparison == &result.published_model) {
    absl::StrAppend(
        &text,
        reachable ? absl::StrFormat("%.5g (%.1f %%)", *reachable, 100 * ValueOf(scenario, ours) / *reachable) : kNone,
        " | ");
  }
  absl::StrAppend(&text, absl::StrFormat("%.4f | %.4f | ", comparison.published.usd, ours.usd));
  if (&comparison == &result.published_model) {
    absl::StrAppendFormat(&text, "%s | %.2f | ", AsFastText(result), scenario.published.search_s);
  }
  const std::optional<double>& gap = comparison.ours.gap;
  absl::StrAppendFormat(&text, "%.3f | %s |\n", comparison.ours.seconds,
                        gap ? absl::StrFormat("%.1f", 100 * *gap) : kNone);
  return text;
}

// Geometric: ratios.
template <class Selects>
std::string Mean(const char* name, const std::vector<Result>& results, Comparison Result::*model, Selects selects) {
  double sum = 0;
  int rows = 0;
  for (const Result& result : results) {
    const Comparison& comparison = result.*model;
    const bool counts = selects(result.scenario) && comparison.published.fault.empty();
    if (!counts) continue;
    sum += std::log(Ratio(result.scenario, comparison.ours.found, comparison.published));
    ++rows;
  }
  if (rows == 0) return "";
  return absl::StrFormat("Mean of ours / published, %s rows with a valid published plan (%d): x%.3f\n", name, rows,
                         std::exp(sum / rows));
}

std::string Means(const std::vector<Result>& results, Comparison Result::*model) {
  return Mean("homogeneous", results, model, [](const Scenario& s) { return s.is_homogeneous(); }) +
         Mean("heterogeneous", results, model, [](const Scenario& s) { return s.is_heterogeneous(); }) +
         Mean("all", results, model, [](const Scenario&) { return true; });
}

std::string Faults(const std::vector<Result>& results, Comparison Result::*model) {
  std::string text;
  for (const Result& result : results) {
    const std::string& fault = (result.*model).published.fault;
    if (!fault.empty()) absl::StrAppend(&text, "Invalid published plan, ", NameOf(result), ": ", fault, "\n");
  }
  return text;
}

}  // namespace

Json ToJson(const std::vector<Result>& results) {
  Json rows = Json::array();
  for (const Result& result : results) {
    const Scenario& scenario = result.scenario;
    const Comparison& published = result.published_model;
    const Comparison& own = result.own_model;
    rows.push_back({{"scenario", scenario.name},
                    {"model", scenario.model},
                    {"gpus", scenario.Gpus()},
                    {"published",
                     {{"value", ValueOf(scenario, published.published)}, {"valid", published.published.fault.empty()}}},
                    {"ours",
                     {{"published_model", ValueOf(scenario, published.ours.found)},
                      {"own_model", ValueOf(scenario, own.ours.found)},
                      {"search_s", published.ours.seconds},
                      {"gap_pct", published.ours.gap ? Json(100 * *published.ours.gap) : Json()},
                      {"valid", published.ours.found.fault.empty() && own.ours.found.fault.empty()}}}});
  }
  return {{"scenarios", std::move(rows)}};
}

std::string RenderComparison(const std::vector<Result>& results) {
  std::string text =
      "Under the published cost model (iters/s; USD/iter where cost is the objective):\n\n"
      "| scenario | published | ours | ratio | known reachable (ours) | published USD/iter | our USD/iter | our least "
      "USD/iter as fast | published search s | our search s | gap % |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Result& result : results) {
    absl::StrAppend(&text, Row(result, result.published_model, KnownReachable(result.scenario)));
  }
  absl::StrAppend(&text, "\n", Means(results, &Result::published_model), Faults(results, &Result::published_model),
                  "\nUnder our own cost model:\n\n"
                  "| scenario | published | ours | ratio | published USD/iter | our USD/iter | our search s | gap % |\n"
                  "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Result& result : results) absl::StrAppend(&text, Row(result, result.own_model, std::nullopt));
  absl::StrAppend(&text, "\n", Means(results, &Result::own_model), Faults(results, &Result::own_model));
  return text;
}

std::string RenderPlans(const std::vector<Result>& results) {
  std::string text;
  for (const Result& result : results) {
    absl::StrAppend(&text, NameOf(result), "\n  published model: ", result.published_model.ours.plan,
                    "\n  own model:       ", result.own_model.ours.plan, "\n");
  }
  return text;
}

}  // namespace sail::bench
