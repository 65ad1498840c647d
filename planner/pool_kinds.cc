#include "planner/pool_kinds.h"

#include <algorithm>
#include <cstdint>

namespace sail::planner {
namespace {

constexpr double kAlike = 2;  // links of alike zones differ at most by this factor

bool IsAlike(double a, double b) { return a <= kAlike * b && b <= kAlike * a; }

bool IsOneKind(const ir::Cluster& cluster, ir::PoolId a, ir::PoolId b) {
  const ir::Pool& x = cluster.pool(a);
  const ir::Pool& y = cluster.pool(b);
  const ir::Link& x_link = cluster.link(a, a);
  const ir::Link& y_link = cluster.link(b, b);
  return x.machine == y.machine && x.market == y.market && x.price == y.price && x.mean_lifetime == y.mean_lifetime &&
         IsAlike(x_link.bandwidth.value(), y_link.bandwidth.value()) &&
         IsAlike(x_link.latency.value(), y_link.latency.value()) && x_link.share == y_link.share;
}

bool Contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

ir::Reach SpanOf(const ir::Cluster& cluster, ir::PoolId a, ir::PoolId b) {
  const ir::ZoneId zone_a = cluster.pool(a).zone, zone_b = cluster.pool(b).zone;
  if (zone_a == zone_b) return ir::Reach::kZone;
  const bool same_region = cluster.zones[zone_a.index()].region == cluster.zones[zone_b.index()].region;
  return same_region ? ir::Reach::kRegion : ir::Reach::kAny;
}

PoolKinds::PoolKinds(const ir::Cluster& cluster, const std::vector<int>& quotas)
    : cluster_(cluster),
      quotas_(quotas),
      kinds_(quotas.size(), -1),
      leads_(quotas.size(), false),
      pair_leads_(quotas.size() * quotas.size(), false) {
  const int pools = static_cast<int>(quotas.size());
  int64_t gpus = 0;
  for (int p = 0; p < pools; ++p)
    gpus += int64_t{std::max(quotas[p], 0)} * cluster.machine(ir::PoolId(p)).gpus_per_node;
  is_small_ = gpus <= kSmallGpus;
  for (int p = 0; p < pools; ++p) {
    if (quotas[p] <= 0) continue;
    for (int q = 0; q < p && kinds_[p] < 0 && !is_small_; ++q) {
      if (kinds_[q] >= 0 && IsOneKind(cluster, ir::PoolId(p), ir::PoolId(q))) kinds_[p] = kinds_[q];
    }
    has_merged_ = has_merged_ || kinds_[p] >= 0;
    if (kinds_[p] < 0) kinds_[p] = count_++;
  }
  std::vector<int> equals_before(pools, 0);
  for (int p = 0; p < pools; ++p) {
    for (int q = 0; q < p; ++q) equals_before[p] += kinds_[p] >= 0 && AreEqual(p, q) ? 1 : 0;
  }
  // Then the pair with the first of them leads: seen without looking at all images.
  const auto has_equal_before = [&](int pool, int other) {
    return equals_before[pool] > (other < pool && AreEqual(pool, other) ? 1 : 0);
  };
  for (int p = 0; p < pools; ++p) {
    if (kinds_[p] < 0) continue;
    leads_[p] = !IsLed({p});
    for (int q = 0; q < pools; ++q) {
      if (kinds_[q] < 0 || q == p || has_equal_before(p, q) || has_equal_before(q, p)) continue;
      pair_leads_[static_cast<size_t>(p) * pools + q] = !IsLed({p, q});
    }
  }
}

bool PoolKinds::AreEqual(int pool, int other) const {
  return kinds_[pool] == kinds_[other] && quotas_[pool] == quotas_[other] &&
         cluster_.pools[pool].zone == cluster_.pools[other].zone;
}

bool PoolKinds::IsImage(const std::vector<int>& image, const std::vector<int>& of) const {
  for (size_t i = 0; i < image.size(); ++i) {
    if (kinds_[image[i]] != kinds_[of[i]]) return false;
    for (size_t j = 0; j < i; ++j) {
      if (SpanOf(cluster_, ir::PoolId(image[i]), ir::PoolId(image[j])) >
          SpanOf(cluster_, ir::PoolId(of[i]), ir::PoolId(of[j]))) {
        return false;
      }
    }
  }
  return true;
}

bool PoolKinds::IsLed(const std::vector<int>& pools) const {
  const std::vector<std::vector<int>> images = Images(pools);
  return std::any_of(images.begin() + 1, images.end(), [&](const std::vector<int>& image) {
    bool is_as_large = true, is_larger = false;
    for (size_t i = 0; i < pools.size(); ++i) {
      is_as_large = is_as_large && quotas_[image[i]] >= quotas_[pools[i]];
      is_larger = is_larger || quotas_[image[i]] > quotas_[pools[i]];
    }
    return is_as_large && (is_larger || !IsImage(pools, image) || image < pools);
  });
}

std::vector<std::vector<int>> PoolKinds::Images(const std::vector<int>& pools) const {
  std::vector<std::vector<int>> images = {pools};
  std::vector<int> image;
  ExtendImages(pools, image, images);
  const auto distance = [&](const std::vector<int>& other) {
    return other == pools ? -1 : static_cast<int>(SpanOf(cluster_, ir::PoolId(pools[0]), ir::PoolId(other[0])));
  };
  std::stable_sort(images.begin(), images.end(),
                   [&](const std::vector<int>& a, const std::vector<int>& b) { return distance(a) < distance(b); });
  return images;
}

void PoolKinds::ExtendImages(const std::vector<int>& pools, std::vector<int>& image,
                             std::vector<std::vector<int>>& images) const {
  if (image.size() == pools.size()) {
    if (image != pools) images.push_back(image);
    return;
  }
  const std::vector<int> begun(pools.begin(), pools.begin() + static_cast<std::ptrdiff_t>(image.size()) + 1);
  for (int q = 0; q < static_cast<int>(kinds_.size()) && images.size() < kMostImages; ++q) {
    if (kinds_[q] != kinds_[pools[image.size()]] || Contains(image, q)) continue;
    image.push_back(q);
    if (IsImage(image, begun)) ExtendImages(pools, image, images);
    image.pop_back();
  }
}

}  // namespace sail::planner
