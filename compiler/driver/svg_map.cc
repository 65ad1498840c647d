#include "compiler/driver/svg_map.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/number_text.h"
#include "compiler/driver/html_text.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/svg.h"

namespace sail::driver {
namespace {

constexpr double kColumn = 216;  // of one zone
constexpr double kBox = 176;
constexpr double kLine = 17;
constexpr double kLevel = 52;   // apex of an arc, per column that it spans
constexpr double kRegion = 26;  // from the zone's box to its region's
constexpr size_t kMaxIdleZones = 8;
constexpr size_t kMaxPools = 4;  // named in a box

struct ZoneBox {
  ir::ZoneId zone = ir::ZoneId(-1);
  std::vector<std::string> lines;
  bool is_used = false;
};

std::vector<std::string> PoolLines(const ir::Problem& problem, const ir::Report& report, ir::ZoneId zone) {
  std::vector<std::string> lines;
  for (const bool used : {true, false}) {
    for (int p = 0; p < static_cast<int>(problem.cluster.pools.size()); ++p) {
      const ir::Pool& pool = problem.cluster.pools[p];
      if (pool.zone != zone) continue;
      int nodes = 0;
      for (const ir::PoolCost& cost : report.pools) nodes += cost.pool == ir::PoolId(p) ? cost.nodes : 0;
      if ((nodes > 0) != used) continue;
      lines.push_back(absl::StrCat(Shorten(pool.name, 15), " ", nodes, " of ", pool.quota));
    }
  }
  if (lines.size() > kMaxPools) {
    const size_t rest = lines.size() - kMaxPools + 1;
    lines.resize(kMaxPools - 1);
    lines.push_back(absl::StrCat(rest, " more pools"));
  }
  return lines;
}

std::vector<ZoneBox> BoxesOf(const ir::Problem& problem, const ir::Report& report) {
  const ir::Cluster& cluster = problem.cluster;
  std::vector<char> used(cluster.zones.size(), 0);
  for (const ir::PoolCost& pool : report.pools) used[cluster.pool(pool.pool).zone.index()] = 1;
  std::vector<ZoneBox> boxes;
  for (int z = 0; z < static_cast<int>(cluster.zones.size()); ++z) {
    const ir::ZoneId zone(z);
    if (!used[z] && cluster.zones.size() > kMaxIdleZones) continue;
    ZoneBox box{.zone = zone, .lines = PoolLines(problem, report, zone), .is_used = used[z] != 0};
    for (const ir::LinkTraffic& link : report.traffic) {
      if (link.from == zone && link.to == zone) box.lines.push_back(absl::StrCat("within: ", BytesText(link.bytes)));
    }
    boxes.push_back(std::move(box));
  }
  std::stable_sort(boxes.begin(), boxes.end(), [&](const ZoneBox& a, const ZoneBox& b) {
    return cluster.zones[a.zone.index()].region < cluster.zones[b.zone.index()].region;
  });
  return boxes;
}

class Map {
 public:
  Map(const ir::Problem& problem, const ir::Report& report)
      : problem_(problem), report_(report), boxes_(BoxesOf(problem, report)) {
    for (const ir::LinkTraffic& link : report.traffic) {
      const int span = ColumnOf(link.to) - ColumnOf(link.from);
      above_ = std::max(above_, span);
      below_ = std::max(below_, -span);
      most_bytes_ = std::max(most_bytes_, link.from == link.to ? 0.0 : static_cast<double>(link.bytes.value()));
    }
    size_t lines = 0;
    for (const ZoneBox& box : boxes_) lines = std::max(lines, box.lines.size());
    box_top_ = kRegion + 8 + (above_ > 0 ? kLevel * above_ + 30 : 0);
    box_height_ = 30 + kLine * static_cast<double>(lines);
  }

  std::string Draw() {
    const double width = std::max(1080.0, kColumn * static_cast<double>(boxes_.size()));
    left_ = (width - kColumn * static_cast<double>(boxes_.size())) / 2;
    Svg svg(width, "map", "Zones and links with traffic",
            "Boxes are zones inside their regions; arcs carry bytes between nodes of different zones. The table beside "
            "it has every link with its traffic and price.");
    svg.Define(
        "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" "
        "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker>");
    DrawRegions(svg);
    for (size_t i = 0; i < boxes_.size(); ++i) DrawZone(svg, i);
    for (const ir::LinkTraffic& link : report_.traffic) {
      if (link.from != link.to) DrawArc(svg, link);
    }
    for (const ir::LinkTraffic& link : report_.traffic) {
      if (link.from != link.to) DrawLabel(svg, link);
    }
    return svg.Finish(box_top_ + box_height_ + 18 + (below_ > 0 ? kLevel * below_ + 34 : 0));
  }

 private:
  int ColumnOf(ir::ZoneId zone) const {
    const auto is_it = [&](const ZoneBox& box) { return box.zone == zone; };
    return static_cast<int>(std::find_if(boxes_.begin(), boxes_.end(), is_it) - boxes_.begin());
  }
  double CentreOf(int column) const { return left_ + kColumn * (column + 0.5); }
  ir::RegionId RegionOf(size_t box) const { return problem_.cluster.zones[boxes_[box].zone.index()].region; }

  void DrawRegions(Svg& svg) {
    for (size_t first = 0; first < boxes_.size();) {
      size_t next = first + 1;
      while (next < boxes_.size() && RegionOf(next) == RegionOf(first)) ++next;
      const double x = left_ + kColumn * static_cast<double>(first) + 6;
      svg.Rect({.x = x,
                .y = box_top_ - kRegion,
                .width = kColumn * static_cast<double>(next - first) - 12,
                .height = box_height_ + kRegion + 12},
               "region");
      svg.Text(x + 12, box_top_ - 9, "small muted",
               Shorten(problem_.cluster.regions[RegionOf(first).index()], first + 1 == next ? 14 : 26));
      first = next;
    }
  }

  void DrawZone(Svg& svg, size_t column) {
    const ZoneBox& box = boxes_[column];
    const double x = CentreOf(static_cast<int>(column)) - kBox / 2;
    svg.Rect({.x = x, .y = box_top_, .width = kBox, .height = box_height_}, box.is_used ? "zone" : "zone off");
    const absl::string_view muted = box.is_used ? "" : " muted";
    double y = box_top_ + 20;
    svg.Text(x + 10, y, absl::StrCat("bold", muted), Shorten(problem_.cluster.zones[box.zone.index()].name, 22));
    for (const std::string& line : box.lines) svg.Text(x + 10, y += kLine, absl::StrCat("small", muted), line);
  }

  struct Arc {
    double x1, x2, y, bend;  // bend < 0: above
  };
  Arc ArcOf(const ir::LinkTraffic& link) const {
    const int from = ColumnOf(link.from);
    const int to = ColumnOf(link.to);
    const double side = to > from ? 1 : -1;
    return {.x1 = CentreOf(from) + side * 24,
            .x2 = CentreOf(to) - side * 24,
            .y = to > from ? box_top_ : box_top_ + box_height_,
            .bend = -kLevel * (to - from)};
  }

  void DrawArc(Svg& svg, const ir::LinkTraffic& link) {
    const Arc arc = ArcOf(link);
    const double control = arc.y + arc.bend * 4 / 3;  // a cubic reaches three quarters of the way to its controls
    const double width = 1.5 + 4.5 * std::sqrt(static_cast<double>(link.bytes.value()) / most_bytes_);
    svg.Path(absl::StrCat("M", Pixels(arc.x1), " ", Pixels(arc.y), "C", Pixels(arc.x1), " ", Pixels(control), " ",
                          Pixels(arc.x2), " ", Pixels(control), " ", Pixels(arc.x2), " ", Pixels(arc.y)),
             PriceOf(link) > 0 ? "edge paid" : "edge",
             absl::StrCat("stroke-width=\"", Pixels(width), "\" marker-end=\"url(#arrow)\""), NoteOf(link));
  }

  void DrawLabel(Svg& svg, const ir::LinkTraffic& link) {
    const Arc arc = ArcOf(link);
    const double x = (arc.x1 + arc.x2) / 2;
    const double y = arc.bend < 0 ? arc.y + arc.bend - 20 : arc.y + arc.bend + 16;
    svg.Text(x, y, "m small halo", absl::StrCat(BytesText(link.bytes), "/iter"));
    svg.Text(x, y + 13, "m tiny muted halo",
             PriceOf(link) > 0 ? absl::StrCat(FourDigits(PriceOf(link)), " USD/GB") : "no egress price");
  }

  double PriceOf(const ir::LinkTraffic& link) const {
    return problem_.cluster.links[link.from.index()][link.to.index()].egress.value() * 1e9;
  }

  std::string NoteOf(const ir::LinkTraffic& link) const {
    return absl::StrCat(problem_.cluster.zones[link.from.index()].name, " → ",
                        problem_.cluster.zones[link.to.index()].name, ": ", BytesText(link.bytes), " and ",
                        UsdText(link.egress), " per iteration");
  }

  const ir::Problem& problem_;
  const ir::Report& report_;
  std::vector<ZoneBox> boxes_;  // by column
  int above_ = 0;               // columns that the widest arc above spans
  int below_ = 0;
  double most_bytes_ = 0;
  double left_ = 0;
  double box_top_ = 0;
  double box_height_ = 0;
};

}  // namespace

std::string MapPicture(const ir::Problem& problem, const ir::Report& report) { return Map(problem, report).Draw(); }

}  // namespace sail::driver
