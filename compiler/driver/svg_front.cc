#include "compiler/driver/svg_front.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/number_text.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/svg.h"

namespace sail::driver {
namespace {

constexpr double kWidth = 1080;
constexpr double kLeft = 110;
constexpr double kPlot = kWidth - kLeft - 60;
constexpr double kTop = 24;
constexpr double kHeight = 260;
constexpr double kMark = 12;

class FrontPlot {
 public:
  FrontPlot(Svg& svg, const std::vector<ir::FrontPoint>& front) : svg_(svg), front_(front) {
    for (const ir::FrontPoint& point : front) {
      seconds_ = std::max(seconds_, point.iteration.value());
      money_ = std::max(money_, point.cost_per_iteration.value());
    }
    seconds_ *= 1.05;
    money_ = money_ > 0 ? money_ * 1.05 : 1;
  }

  void Draw() {
    for (const double tick : AxisTicks(money_, 6)) {
      svg_.Line(kLeft, Y(tick), kLeft + kPlot, Y(tick), "grid");
      svg_.Text(0, Y(tick) + 4, "small", absl::StrCat(FourDigits(tick), " USD/iter"));
    }
    for (const double tick : AxisTicks(seconds_, 9)) {
      svg_.Line(X(tick), kTop, X(tick), kTop + kHeight, "grid");
      svg_.Text(X(tick), kTop + kHeight + 16, "m small", SecondsText(Seconds(tick)));
    }
    const ir::FrontPoint* last = nullptr;
    for (const ir::FrontPoint& point : front_) {
      const bool is_step = last == nullptr || point.cost_per_iteration < last->cost_per_iteration;
      if (last != nullptr && is_step) DrawStep(*last, point);
      if (is_step) last = &point;
    }
    for (const ir::FrontPoint& point : front_) DrawMark(point);
  }

 private:
  double X(double seconds) const { return kLeft + kPlot * seconds / seconds_; }
  double Y(double money) const { return kTop + kHeight * (1 - money / money_); }

  void DrawStep(const ir::FrontPoint& from, const ir::FrontPoint& to) {
    const double x = X(to.iteration.value()), y = Y(from.cost_per_iteration.value());
    svg_.Line(X(from.iteration.value()), y, x, y, "step-down");
    svg_.Line(x, y, x, Y(to.cost_per_iteration.value()), "step-down");
  }

  void DrawMark(const ir::FrontPoint& point) {
    const double size = point.chosen ? kMark + 4 : kMark;
    const double x = X(point.iteration.value()), y = Y(point.cost_per_iteration.value());
    svg_.Rect({.x = x - size / 2, .y = y - size / 2, .width = size, .height = size}, point.chosen ? "total" : "nodes",
              absl::StrCat(SecondsText(point.iteration), ", ",
                           MetricText(ir::Metric::kCostPerIter, point.cost_per_iteration.value()), ", ",
                           CountText(point.gpus, "GPU"), point.chosen ? "; the plan chosen" : ""));
  }

  Svg& svg_;
  const std::vector<ir::FrontPoint>& front_;
  double seconds_ = 0;
  double money_ = 0;
};

}  // namespace

std::string FrontPicture(const std::vector<ir::FrontPoint>& front) {
  Svg svg(kWidth, "front", "Time and money of the plans that no other beats",
          "A mark for each plan, the chosen one larger. The table beside it has the numbers.");
  FrontPlot(svg, front).Draw();
  return svg.Finish(kTop + kHeight + 28);
}

}  // namespace sail::driver
