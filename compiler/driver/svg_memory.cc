#include "compiler/driver/svg_memory.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/driver/html_text.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/svg.h"

namespace sail::driver {
namespace {

constexpr double kWidth = 1080;
constexpr double kLeft = 190;
constexpr double kPlot = kWidth - kLeft - 160;  // a column for the totals
constexpr double kRow = 26;
constexpr double kBar = 17;
constexpr double kGroupTitle = 28;

double ValueOf(Bytes bytes) { return static_cast<double>(bytes.value()); }

class MemoryBars {
 public:
  MemoryBars(Svg& svg, std::vector<std::string> terms, double most)
      : svg_(svg), terms_(std::move(terms)), most_(most) {}

  double X(double bytes) const { return kLeft + kPlot * bytes / most_; }

  void DrawBar(const ir::StageReport& stage, double y) {
    double bytes = 0;
    for (const ir::MemoryTerm& term : stage.memory) {
      const size_t colour = std::find(terms_.begin(), terms_.end(), term.what) - terms_.begin();
      const double end = bytes + ValueOf(term.bytes);
      svg_.Rect({.x = X(bytes), .y = y, .width = X(end) - X(bytes), .height = kBar},
                absl::StrCat("t", colour % kMemoryColours), absl::StrCat(term.what, ": ", BytesText(term.bytes)));
      bytes = end;
    }
    const double limit = X(ValueOf(stage.memory_limit));
    svg_.Line(limit, y - 4, limit, y + kBar + 4, "limit");
    svg_.Text(kLeft + kPlot + 12, y + 13, "small",
              absl::StrCat(BytesText(stage.memory_total), " of ", BytesText(stage.memory_limit)));
  }

  // Ticks at round numbers of the largest binary unit that leaves a few of them.
  void DrawAxis(double top, double bottom) {
    const double unit = std::exp2(10 * std::floor(std::log2(most_) / 10));
    for (const double tick : AxisTicks(most_ / unit, 9)) {
      const double x = X(tick * unit);
      svg_.Line(x, top, x, bottom, "grid");
      svg_.Text(x, bottom + 14, "m small", BytesText(Bytes(std::llround(tick * unit))));
    }
  }

 private:
  Svg& svg_;
  std::vector<std::string> terms_;
  double most_;
};

}  // namespace

std::vector<std::string> MemoryTermNames(const ir::Report& report) {
  std::vector<std::string> names;
  for (const ir::StageReport& stage : report.stages) {
    for (const ir::MemoryTerm& term : stage.memory) {
      if (std::find(names.begin(), names.end(), term.what) == names.end()) names.push_back(term.what);
    }
  }
  return names;
}

std::string MemoryPicture(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report,
                          const std::vector<Alike>& groups) {
  const std::vector<int> offsets = StageOffsets(plan);
  double most = 0;
  double height = 4;
  for (const Alike& group : groups) {
    height += kGroupTitle;
    for (size_t s = 0; s < plan.pipelines[group[0]].stages.size(); ++s, height += kRow) {
      const ir::StageReport& stage = report.stages[offsets[group[0]] + s];
      most = std::max({most, ValueOf(stage.memory_total), ValueOf(stage.memory_limit)});
    }
  }
  Svg svg(kWidth, "memory", "Memory of a GPU, by stage and term",
          "A stacked bar for each stage and a mark at its limit. The tables beside it have every term in bytes.");
  MemoryBars bars(svg, MemoryTermNames(report), most);
  bars.DrawAxis(kGroupTitle - 4, height);
  double y = 0;
  for (const Alike& group : groups) {
    y += kGroupTitle;
    svg.Text(0, y - 8, "bold", PipelinesText(group));
    const std::vector<ir::Stage>& stages = plan.pipelines[group[0]].stages;
    for (size_t s = 0; s < stages.size(); ++s, y += kRow) {
      svg.Open(absl::StrCat(group[0], ".", s));
      svg.Text(0, y + 13, "small",
               absl::StrCat("stage ", s, "  ", Shorten(problem.cluster.gpu(stages[s].group.pool).name, 17)));
      bars.DrawBar(report.stages[offsets[group[0]] + s], y);
      svg.Close();
    }
  }
  return svg.Finish(height + 20);
}

}  // namespace sail::driver
