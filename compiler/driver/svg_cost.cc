#include "compiler/driver/svg_cost.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/driver/html_text.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/svg.h"

namespace sail::driver {
namespace {

constexpr double kWidth = 1080;
constexpr double kLeft = 270;
constexpr double kPlot = kWidth - kLeft - 130;  // a column for the amounts
constexpr double kRow = 26;
constexpr double kBar = 17;
constexpr size_t kMaxItems = 20;

struct Item {
  std::string what;
  Usd money = Usd(0);
  const char* colour = "nodes";
};

std::vector<Item> ItemsOf(const ir::Problem& problem, const ir::Report& report) {
  const ir::Cluster& cluster = problem.cluster;
  const auto dearer = [](const Item& a, const Item& b) { return a.money > b.money; };
  std::vector<Item> items;
  for (const ir::PoolCost& pool : report.pools) {
    if (pool.per_iteration == Usd(0)) continue;
    items.push_back({absl::StrCat(Shorten(cluster.pool(pool.pool).name, 26), ", ", pool.nodes,
                                  pool.nodes == 1 ? " node" : " nodes"),
                     pool.per_iteration});
  }
  std::stable_sort(items.begin(), items.end(), dearer);
  const std::ptrdiff_t pools = static_cast<std::ptrdiff_t>(items.size());
  for (const ir::LinkTraffic& link : report.traffic) {
    if (link.egress == Usd(0)) continue;
    items.push_back({absl::StrCat("egress ", Shorten(cluster.zones[link.from.index()].name, 15), " → ",
                                  Shorten(cluster.zones[link.to.index()].name, 15)),
                     link.egress, "egress"});
  }
  std::stable_sort(items.begin() + pools, items.end(), dearer);
  return items;
}

void MergeTheRest(std::vector<Item>& items) {
  if (items.size() <= kMaxItems) return;
  Item rest{absl::StrCat(items.size() - kMaxItems + 1, " more"), Usd(0), "rest"};
  for (size_t i = kMaxItems - 1; i < items.size(); ++i) rest.money += items[i].money;
  items.resize(kMaxItems - 1);
  items.push_back(std::move(rest));
}

}  // namespace

std::string CostPicture(const ir::Problem& problem, const ir::Report& report) {
  const Usd total = report.cost_per_iteration;
  if (!(total > Usd(0))) return "";
  std::vector<Item> items = ItemsOf(problem, report);
  MergeTheRest(items);
  Svg svg(
      kWidth, "cost", "Cost of an iteration",
      "A waterfall of nodes by pool and egress by link that ends in the total. The table beside it has the amounts.");
  const auto x_of = [&](Usd money) { return kLeft + kPlot * (money / total); };
  double y = 4;
  Usd sum(0);
  for (const Item& item : items) {
    const Usd next = sum + item.money;
    svg.Text(0, y + 13, "small", item.what);
    svg.Rect({.x = x_of(sum), .y = y, .width = x_of(next) - x_of(sum), .height = kBar}, item.colour,
             absl::StrCat(item.what, ": ", UsdText(item.money), ", ", PercentText(item.money / total)));
    svg.Line(x_of(next), y + kBar, x_of(next), y + kRow, "step-down");
    svg.Text(kLeft + kPlot + 12, y + 13, "small", UsdText(item.money));
    sum = next;
    y += kRow;
  }
  svg.Text(0, y + 13, "bold", "total");
  svg.Rect({.x = kLeft, .y = y, .width = kPlot, .height = kBar}, "total",
           absl::StrCat("total: ", UsdText(total), " per iteration"));
  svg.Text(kLeft + kPlot + 12, y + 13, "bold", UsdText(total));
  return svg.Finish(y + kRow);
}

}  // namespace sail::driver
