#include "compiler/driver/alike_pipelines.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sail::driver {
namespace {

constexpr size_t kMaxRanges = 4;  // shown; more are cut in the middle

bool SameShape(const ir::Pipeline& a, const ir::Pipeline& b) {
  if (a.micro_batch != b.micro_batch || a.micro_batches != b.micro_batches || a.stages.size() != b.stages.size()) {
    return false;
  }
  for (size_t s = 0; s < a.stages.size(); ++s) {
    const ir::Stage& x = a.stages[s];
    const ir::Stage& y = b.stages[s];
    if (x.first_layer != y.first_layer || x.last_layer != y.last_layer || x.recompute != y.recompute ||
        x.group.pool != y.group.pool || x.group.degree() != y.group.degree()) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<Alike> GroupAlike(const ir::Plan& plan) {
  std::vector<Alike> groups;
  for (int p = 0; p < static_cast<int>(plan.pipelines.size()); ++p) {
    const auto same = [&](const Alike& group) { return SameShape(plan.pipelines[group[0]], plan.pipelines[p]); };
    const auto it = std::find_if(groups.begin(), groups.end(), same);
    if (it == groups.end()) {
      groups.push_back({p});
    } else {
      it->push_back(p);
    }
  }
  return groups;
}

std::string RangesText(const std::set<int>& numbers) {
  std::vector<std::string> parts;
  for (auto it = numbers.begin(); it != numbers.end();) {
    const int first = *it;
    int last = first;
    while (++it != numbers.end() && *it == last + 1) ++last;
    parts.push_back(first == last ? absl::StrCat(first) : absl::StrCat(first, "-", last));
  }
  if (parts.size() > kMaxRanges) return absl::StrCat(parts[0], ",", parts[1], ",...,", parts.back());
  return absl::StrJoin(parts, ",");
}

std::string NumbersText(const Alike& group) { return RangesText(std::set<int>(group.begin(), group.end())); }

std::string PipelinesText(const Alike& group) {
  return group.size() == 1 ? absl::StrCat("pipeline ", NumbersText(group))
                           : absl::StrCat("pipelines ", NumbersText(group), " (", group.size(), " alike)");
}

std::vector<int> StageOffsets(const ir::Plan& plan) {
  std::vector<int> offsets;
  int next = 0;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    offsets.push_back(next);
    next += static_cast<int>(pipeline.stages.size());
  }
  return offsets;
}

}  // namespace sail::driver
