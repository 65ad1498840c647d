#include "compiler/driver/report_page.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/driver/alike_pipelines.h"
#include "compiler/driver/front.h"
#include "compiler/driver/html_text.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/report_tables.h"
#include "compiler/driver/svg_cost.h"
#include "compiler/driver/svg_front.h"
#include "compiler/driver/svg_map.h"
#include "compiler/driver/svg_memory.h"
#include "compiler/driver/svg_timeline.h"
#include "compiler/ir/names.h"

namespace sail::driver {
namespace {

// (class of the swatch, what it stands for)
using Legend = std::vector<std::pair<std::string, std::string>>;

std::string LegendHtml(const Legend& legend) {
  std::string html = "<ul class=\"legend\">";
  for (const auto& [swatch, what] : legend) {
    absl::StrAppend(&html, "<li><span class=\"", swatch, "\"></span>", EscapeHtml(what), "</li>");
  }
  return absl::StrCat(html, "</ul>\n");
}

std::string Section(absl::string_view title, absl::string_view content) {
  return absl::StrCat("<section>\n<h2>", title, "</h2>\n", content, "</section>\n");
}

std::string Figure(absl::string_view what, const std::string& value, const std::string& detail) {
  return absl::StrCat("<div><dt>", what, "</dt><dd>", EscapeHtml(value), "<small>", EscapeHtml(detail),
                      "</small></dd></div>\n");
}

std::string ModelText(const ir::Problem& problem) {
  return absl::StrCat("model ", problem.model.name, " (",
                      absl::StrFormat("%.4g", static_cast<double>(ir::TotalParameters(problem.model)) / 1e6),
                      " M parameters, ", problem.model.layer_count(), " layers) on ", problem.cluster.name,
                      ", batches of ", problem.job.global_batch, " samples of ", problem.model.seq_len, " tokens, ",
                      ir::ToString(problem.job.precision));
}

std::string SpotFigure(const ir::Report& report) {
  if (!report.spot) return "";
  const ir::SpotForecast& spot = *report.spot;
  if (!MakesProgress(spot)) return Figure("expected with preemptions", "no end", kNoProgress);
  return Figure("expected with preemptions", MetricText(ir::Metric::kCostPerIter, spot.cost_per_iteration.value()),
                absl::StrCat(PercentText(spot.goodput), " of the time makes progress, a checkpoint every ",
                             SecondsText(spot.checkpoint_interval)));
}

std::string KeyFigures(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report) {
  const double steps = static_cast<double>(problem.job.steps);
  const size_t pipelines = plan.pipelines.size();
  return absl::StrCat(
      "<dl class=\"figures\">\n",
      Figure("iteration", SecondsText(report.iteration), absl::StrCat(ir::ToString(report.timing), " times")),
      Figure("throughput", MetricText(ir::Metric::kTokenRate, report.tokens_per_second),
             MetricText(ir::Metric::kSampleRate, report.samples_per_second)),
      Figure("cost", MetricText(ir::Metric::kCostPerIter, report.cost_per_iteration.value()),
             absl::StrCat(MetricText(ir::Metric::kCostRate, ir::Value(report, ir::Metric::kCostRate)), " for nodes")),
      SpotFigure(report),
      Figure("training", SecondsText(report.iteration * steps),
             absl::StrCat(problem.job.steps, " iterations, ", UsdText(report.cost_per_iteration * steps))),
      Figure("GPUs", absl::StrCat(report.gpus),
             absl::StrCat(report.nodes, report.nodes == 1 ? " node, " : " nodes, ", pipelines,
                          pipelines == 1 ? " pipeline" : " pipelines")),
      Figure("fullest GPU", PercentText(report.peak_memory),
             absl::StrCat("of usable memory, ", PercentText(problem.job.memory_limit), " allowed")),
      "</dl>\n");
}

std::string LimitsSection(const ir::Problem& problem, const ir::Report& report) {
  if (report.constraints.empty()) return Section("Limits", "<p>The job sets none.</p>\n");
  int broken = 0;
  for (const ir::ConstraintReport& constraint : report.constraints) broken += constraint.holds ? 0 : 1;
  const std::string verdict =
      broken == 0 ? "<p class=\"holds\">All limits hold.</p>\n"
                  : absl::StrCat("<p class=\"broken\">Broken: ", broken, " of ", report.constraints.size(), ".</p>\n");
  return Section("Limits", absl::StrCat(verdict, HtmlTable(LimitsTable(problem, report),
                                                           "What the job allows, and the share that is left")));
}

// What the pictures leave out, if anything.
std::string LeftOutNote(const ir::Plan& plan, const std::vector<Alike>& pictured) {
  size_t shown = 0, alike = 0;
  for (const Alike& group : pictured) {
    shown += group.size();
    alike += group.size() - 1;
  }
  std::string note;
  if (alike > 0) absl::StrAppend(&note, "Of pipelines that are alike the first is drawn. ");
  if (shown < plan.pipelines.size()) {
    absl::StrAppend(&note, plan.pipelines.size() - shown,
                    " pipelines of other shapes are not drawn; the tables have all.");
  }
  return note.empty() ? "" : absl::StrCat("<p class=\"muted\">", note, "</p>\n");
}

std::string TimeSections(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report,
                         const sim::Recording& recording, const std::vector<Alike>& pictured) {
  const std::string timeline = TimelinePicture(problem, plan, report, recording, pictured);
  Legend legend{{"fwd", "forward"}, {"bwd", "backward"}};
  if (absl::StrContains(timeline, "\"mix\" x=")) legend.emplace_back("mix", "forward and backward in turn");
  legend.emplace_back("sync", "gradient synchronisation");
  legend.emplace_back("step", "optimizer step");
  legend.emplace_back("idle", "waiting");
  return absl::StrCat(
      Section("Where the time goes",
              absl::StrCat(LegendHtml({{"p-fill", "fill"},
                                       {"p-steady", "steady"},
                                       {"p-drain", "drain"},
                                       {"sync", "gradient synchronisation"},
                                       {"step", "optimizer"}}),
                           PartsPicture(report), HtmlTable(PartsTable(report), "Along the slowest pipeline"))),
      Section("Timeline of an iteration",
              absl::StrCat(LegendHtml(legend), LeftOutNote(plan, pictured), timeline,
                           HtmlTable(BusyTable(plan, report), "Seconds that the GPUs of a stage compute and wait"))));
}

std::string PlanSection(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report) {
  std::string html;
  for (const Alike& group : GroupAlike(plan)) {
    const ir::Pipeline& shape = plan.pipelines[group[0]];
    html += HtmlTable(
        StageTable(problem, plan, report, group),
        absl::StrCat(PipelinesText(group), ": ", shape.micro_batches,
                     shape.micro_batches == 1 ? " micro-batch of " : " micro-batches of ", shape.micro_batch,
                     group.size() == 1 ? "" : " each", ", ", shape.samples() * static_cast<int64_t>(group.size()),
                     " of ", problem.job.global_batch, " samples"));
  }
  return Section("Who runs what", html);
}

std::string MemorySection(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report,
                          const std::vector<Alike>& pictured) {
  Legend legend;
  const std::vector<std::string> terms = MemoryTermNames(report);
  for (size_t i = 0; i < terms.size(); ++i) legend.emplace_back(absl::StrCat("t", i % kMemoryColours), terms[i]);
  legend.emplace_back("limit", "limit");
  std::string html =
      absl::StrCat(LegendHtml(legend), LeftOutNote(plan, pictured), MemoryPicture(problem, plan, report, pictured));
  for (const Alike& group : GroupAlike(plan)) {
    const int last = static_cast<int>(plan.pipelines[group[0]].stages.size()) - 1;
    html += HtmlTable(MemoryTable(plan, report, group, 0, last),
                      absl::StrCat("Memory of each GPU of ", PipelinesText(group)));
  }
  return Section("Memory", html);
}

std::string MapSection(const ir::Problem& problem, const ir::Report& report) {
  const std::string traffic = report.traffic.empty() ? "<p class=\"muted\">Nothing moves between nodes.</p>\n"
                                                     : HtmlTable(TrafficTable(problem, report), "Bytes between nodes");
  return Section("Zones and links", absl::StrCat(MapPicture(problem, report), traffic));
}

std::string CostSection(const ir::Problem& problem, const ir::Report& report) {
  const std::string picture = CostPicture(problem, report);
  if (picture.empty()) return Section("Cost of an iteration", "<p>Nothing here has a price.</p>\n");
  return Section("Cost of an iteration",
                 absl::StrCat(LegendHtml({{"nodes", "nodes"}, {"egress", "egress"}}), picture,
                              HtmlTable(MoneyTable(problem, report), "Nodes by pool, egress by link")));
}

// Only where the plan file has one.
std::string FrontSection(const std::vector<ir::FrontPoint>& front) {
  if (front.empty()) return "";
  return Section(
      "Faster or cheaper",
      absl::StrCat(LegendHtml({{"total", "this plan"}, {"nodes", "others that keep the limits"}}), FrontPicture(front),
                   HtmlTable(FrontTable(front), "Plans that no other beats in time and money at once")));
}

}  // namespace

std::string ReportPage(const ir::PlanFile& file, const ir::Report& report, const sim::Recording& recording) {
  const ir::Problem& problem = file.problem;
  const ir::Plan& plan = file.plan;
  const std::string title = EscapeHtml(absl::StrCat("Plan of job ", problem.job.name));
  const std::vector<Alike> pictured = PicturedGroups(plan);
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      title, "</title>\n<style>", ReportStyle(), "</style>\n</head>\n<body>\n<header>\n<h1>", title,
      "</h1>\n<p class=\"muted\">", EscapeHtml(ModelText(problem)), "</p>\n", KeyFigures(problem, plan, report),
      "</header>\n<main>\n", LimitsSection(problem, report), PlanSection(problem, plan, report),
      TimeSections(problem, plan, report, recording, pictured), MemorySection(problem, plan, report, pictured),
      MapSection(problem, report), CostSection(problem, report), FrontSection(file.front),
      "</main>\n<footer>Forecast by sailc ", SAIL_VERSION, "; plan ", EscapeHtml(file.plan_hash),
      "</footer>\n</body>\n</html>\n");
}

}  // namespace sail::driver
