#include "compiler/driver/read_state.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"

namespace sail::driver {
namespace {

constexpr int64_t kMaxStateBytes = int64_t{16} << 20;
constexpr double kSoonest = 1e-3, kLatest = 1e9;  // seconds until nodes change
constexpr absl::string_view kFormat = "1.0";
constexpr absl::string_view kKind = "sailstate";

absl::Status ReadPool(const Json& json, const std::string& path, ir::PoolId pool, planner::Membership& membership) {
  ObjectReader reader(json, path);
  std::vector<int> lost;
  int& nodes = membership.nodes[pool.index()];
  if (reader.Has("lost")) reader.Get("lost", &lost);
  if (reader.Has("nodes")) {
    reader.Get("nodes", &nodes);
  } else {
    nodes -= static_cast<int>(lost.size());
  }
  if (nodes < 0 || nodes > kMaxPoolNodes) reader.Fail("nodes", absl::StrCat("expected 0 to ", kMaxPoolNodes));
  for (const int node : lost) membership.lost.push_back({.pool = pool, .node = node});
  return reader.Finish();
}

absl::Status ReadPools(const Json& json, const std::string& path, const ir::Cluster& cluster,
                       planner::Membership& membership) {
  if (!json.is_object()) return absl::InvalidArgumentError(absl::StrCat(path, ": expected an object"));
  std::vector<std::string> names;
  for (const ir::Pool& pool : cluster.pools) names.push_back(pool.name);
  for (const auto& [name, entry] : json.items()) {
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": the plan has no pool '", name, "'; its pools: ", absl::StrJoin(names, ", ")));
    }
    const ir::PoolId pool(static_cast<int>(known - names.begin()));
    SAIL_RETURN_IF_ERROR(ReadPool(entry, absl::StrCat(path, ".", name), pool, membership));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RunState> ReadState(const std::string& path, const FileSystem& files, const ir::Cluster& cluster) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, files.Read(path, kMaxStateBytes));
  const std::string what = absl::StrCat("state '", path, "'");
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(text, what));
  ObjectReader reader(json, what);
  std::string format, kind;
  reader.Get("kind", &kind);
  reader.Get("format", &format);
  if (kind != kKind) reader.Fail("kind", absl::StrCat("expected \"", kKind, "\""));
  if (format != kFormat) reader.Fail("format", absl::StrCat("expected \"", kFormat, "\""));
  RunState state;
  for (const ir::Pool& pool : cluster.pools) state.membership.nodes.push_back(pool.quota);
  const Json& pools = reader.Raw("pools");
  if (reader.Has("next_change_s")) {
    double seconds = 0;
    reader.Get("next_change_s", &seconds);
    if (!(seconds >= kSoonest && seconds <= kLatest)) {
      reader.Fail("next_change_s", absl::StrCat("expected ", kSoonest, " to ", kLatest));
    }
    state.next_change = Seconds(seconds);
  }
  SAIL_RETURN_IF_ERROR(reader.Finish());
  SAIL_RETURN_IF_ERROR(ReadPools(pools, reader.PathOf("pools"), cluster, state.membership));
  return state;
}

}  // namespace sail::driver
