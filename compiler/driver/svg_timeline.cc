#include "compiler/driver/svg_timeline.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/driver/html_text.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/svg.h"
#include "compiler/ir/placement.h"

namespace sail::driver {
namespace {

constexpr double kWidth = 1080;
constexpr double kLeft = 190;  // of the labels
constexpr double kPlot = kWidth - kLeft - 20;
constexpr double kRow = 26;
constexpr double kCompute = 15;  // height of computations
constexpr double kSync = 5;      // height of synchronisation, below
constexpr double kGroupTitle = 28;
constexpr int kMaxRows = 64;
constexpr size_t kMaxComputations = 400;
constexpr double kNumberWidth = 17;  // of a box that its micro-batch is written in

// Light and dark stripes of both colours; local to this drawing.
constexpr char kStripes[] =
    "<pattern id=\"mix\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
    "<rect class=\"fwd\" width=\"4\" height=\"8\"/><rect class=\"bwd\" x=\"4\" width=\"4\" height=\"8\"/></pattern>";

using Spans = std::vector<sim::RankSpan>;

// What one rank computes, and when it synchronises, each in order of time.
struct RankSpans {
  Spans computations;
  Spans reductions;
};

bool StartsEarlier(const sim::RankSpan& a, const sim::RankSpan& b) { return a.start < b.start; }

RankSpans SpansOf(const sim::Recording& recording, ir::Rank rank) {
  RankSpans spans;
  for (const sim::RankSpan& span : recording.ranks) {
    if (span.rank != rank.index()) continue;
    (span.op == sim::Op::kReduce ? spans.reductions : spans.computations).push_back(span);
  }
  std::stable_sort(spans.computations.begin(), spans.computations.end(), StartsEarlier);
  std::stable_sort(spans.reductions.begin(), spans.reductions.end(), StartsEarlier);
  return spans;
}

std::string WhenText(double start, double end) {
  return absl::StrCat(SecondsText(Seconds(start)), " to ", SecondsText(Seconds(end)), " (",
                      SecondsText(Seconds(end - start)), ")");
}

class Timeline {
 public:
  Timeline(Svg& svg, double iteration) : svg_(svg), iteration_(iteration) {}

  double X(double seconds) const { return kLeft + kPlot * seconds / iteration_; }

  void DrawRow(const RankSpans& spans, double y) {
    const Spans& computations = spans.computations;
    svg_.Rect({.x = kLeft, .y = y, .width = kPlot, .height = kCompute}, "idle");
    const auto is_backward = [](const sim::RankSpan& span) { return span.op == sim::Op::kBackward; };
    auto first = std::find_if(computations.begin(), computations.end(), is_backward);
    auto last = first;
    if (computations.size() > kMaxComputations) {
      for (auto it = first; it != computations.end(); ++it) {
        if (it->op == sim::Op::kForward) last = it;
      }
    }
    for (auto it = computations.begin(); it != first; ++it) DrawComputation(*it, y);
    if (last != first) DrawSteady(first, ++last, y);
    for (auto it = last; it != computations.end(); ++it) DrawComputation(*it, y);
    DrawReductions(spans.reductions, y + kCompute + 1);
  }

  void DrawAxis(double top, double bottom) {
    for (const double tick : AxisTicks(iteration_, 10)) {
      svg_.Line(X(tick), top, X(tick), bottom, "grid");
      svg_.Text(X(tick), bottom + 14, "m small", SecondsText(Seconds(tick)));
    }
    svg_.Line(X(iteration_), top, X(iteration_), bottom, "grid");
  }

 private:
  Box BoxOf(double start, double end, double y, double height) const {
    return {.x = X(start), .y = y, .width = X(end) - X(start), .height = height};
  }

  void DrawComputation(const sim::RankSpan& span, double y) {
    const Box box = BoxOf(span.start, span.end, y, kCompute);
    const std::string when = WhenText(span.start, span.end);
    if (span.op == sim::Op::kStep) return svg_.Rect(box, "step", absl::StrCat("optimizer step, ", when));
    const bool forward = span.op == sim::Op::kForward;
    svg_.Rect(box, forward ? "fwd" : "bwd",
              absl::StrCat(forward ? "forward" : "backward", " of micro-batch ", span.index, ", ", when));
    if (box.width >= kNumberWidth) {
      svg_.Text(box.x + box.width / 2, y + kCompute - 4, "m tiny on", absl::StrCat(span.index));
    }
  }

  // Forwards and backwards in turn, from `first` to before `end`.
  void DrawSteady(Spans::const_iterator first, Spans::const_iterator end, double y) {
    const Spans::const_iterator last = end - 1;
    double busy = 0;
    for (auto it = first; it != end; ++it) busy += it->end - it->start;
    svg_.Rect(BoxOf(first->start, last->end, y, kCompute), "mix",
              absl::StrCat(end - first, " forwards and backwards in turn, busy for ",
                           PercentText(busy / (last->end - first->start)), ", ", WhenText(first->start, last->end)));
  }

  // Reductions that follow each other without a break are one box.
  void DrawReductions(const Spans& reductions, double y) {
    for (size_t i = 0; i < reductions.size();) {
      size_t next = i + 1;
      double end = reductions[i].end;
      for (; next < reductions.size() && reductions[next].start <= end; ++next) {
        end = std::max(end, reductions[next].end);
      }
      svg_.Rect(BoxOf(reductions[i].start, end, y, kSync), "sync",
                absl::StrCat("gradient synchronisation, ", next - i, next - i == 1 ? " bucket, " : " buckets, ",
                             WhenText(reductions[i].start, end)));
      i = next;
    }
  }

  Svg& svg_;
  double iteration_;
};

std::string StageLabel(const ir::Problem& problem, const ir::Stage& stage, int s) {
  return absl::StrCat("stage ", s, "  ", Shorten(problem.cluster.pool(stage.group.pool).name, 15), " ×",
                      stage.group.degree());
}

}  // namespace

std::vector<Alike> PicturedGroups(const ir::Plan& plan) {
  std::vector<Alike> groups;
  int rows = 0;
  for (Alike& group : GroupAlike(plan)) {
    rows += static_cast<int>(plan.pipelines[group[0]].stages.size());
    if (!groups.empty() && rows > kMaxRows) break;
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string TimelinePicture(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report,
                            const sim::Recording& recording, const std::vector<Alike>& groups) {
  const ir::Placement placement(plan);
  Svg svg(kWidth, "timeline", "Timeline of one iteration",
          "A row for each stage: forward and backward passes, optimizer step, and gradient synchronisation below. The "
          "table beside it has the seconds that each stage is busy and idle.");
  svg.Define(kStripes);
  double height = 4;
  for (const Alike& group : groups) {
    height += kGroupTitle + kRow * static_cast<double>(plan.pipelines[group[0]].stages.size());
  }
  Timeline timeline(svg, report.iteration.value());
  timeline.DrawAxis(kGroupTitle - 4, height);
  double y = 0;
  for (const Alike& group : groups) {
    const ir::Pipeline& pipeline = plan.pipelines[group[0]];
    y += kGroupTitle;
    svg.Text(
        0, y - 8, "bold",
        absl::StrCat(PipelinesText(group), ": ", pipeline.micro_batches,
                     pipeline.micro_batches == 1 ? " micro-batch of " : " micro-batches of ", pipeline.micro_batch));
    for (int s = 0; s < static_cast<int>(pipeline.stages.size()); ++s, y += kRow) {
      svg.Open(absl::StrCat(group[0], ".", s));
      svg.Text(0, y + 12, "small", StageLabel(problem, pipeline.stages[s], s));
      timeline.DrawRow(SpansOf(recording, placement.rank(group[0], s, 0)), y);
      svg.Close();
    }
  }
  return svg.Finish(height + 20);
}

std::string PartsPicture(const ir::Report& report) {
  Svg svg(kWidth, "parts", "Parts of an iteration",
          "One bar: fill, steady, drain, gradient synchronisation and optimizer along the slowest pipeline.");
  const std::pair<const char*, Seconds> parts[] = {{"fill", report.parts.fill},
                                                   {"steady", report.parts.steady},
                                                   {"drain", report.parts.drain},
                                                   {"gradient synchronisation", report.parts.gradient_sync},
                                                   {"optimizer", report.parts.optimizer}};
  const char* const classes[] = {"p-fill", "p-steady", "p-drain", "sync", "step"};
  double x = 0;
  for (size_t i = 0; i < std::size(parts); ++i) {
    const auto& [name, time] = parts[i];
    const double width = kWidth * (time / report.iteration);
    if (width > 0) {
      svg.Rect({.x = x, .y = 0, .width = width, .height = 28}, classes[i],
               absl::StrCat(name, ": ", SecondsText(time), ", ", PercentText(time / report.iteration)));
    }
    const std::string label = absl::StrCat(name, " ", SecondsText(time));
    if (width > 7.5 * static_cast<double>(label.size())) svg.Text(x + width / 2, 18, "m small on", label);
    x += width;
  }
  return svg.Finish(28);
}

}  // namespace sail::driver
