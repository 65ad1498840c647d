#include "compiler/driver/trace_events.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/json.h"
#include "compiler/ir/placement.h"
#include "simulator/network.h"

namespace sail::driver {
namespace {

struct Slice {
  int64_t start = 0;  // nanoseconds
  int64_t end = 0;
  std::string name;
  std::string category;
  Json args;
};

int64_t Nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

Slice SliceOf(const sim::RankSpan& span) {
  Slice slice{.start = Nanoseconds(span.start), .end = Nanoseconds(span.end)};
  slice.category = span.op == sim::Op::kReduce ? "synchronisation" : "compute";
  if (span.op == sim::Op::kReduce) {
    slice.name = "reduce";
    slice.args = {{"bucket", span.index}};
  } else if (span.op == sim::Op::kStep) {
    slice.name = "step";
    slice.args = Json::object();
  } else {
    slice.name = span.op == sim::Op::kForward ? "forward" : "backward";
    slice.args = {{"micro_batch", span.index}};
  }
  return slice;
}

Slice SliceOf(const sim::TransferSpan& span) {
  Slice slice{.start = Nanoseconds(span.start), .end = Nanoseconds(span.end)};
  slice.category = "transfer";
  slice.args = {{"bytes", std::llround(span.bytes)}};
  if (span.op == sim::Op::kReduce) {
    slice.name = "all-reduce";
    slice.args["bucket"] = span.index;
  } else {
    slice.name = span.op == sim::Op::kSendActivation ? "activation" : "gradient";
    slice.args["pipeline"] = span.pipeline;
    slice.args["micro_batch"] = span.index;
  }
  return slice;
}

// Slices divided into rows on which none overlaps another: each goes to the first row that is free.
std::vector<std::vector<Slice>> RowsOf(std::vector<Slice> slices) {
  std::stable_sort(slices.begin(), slices.end(),
                   [](const Slice& a, const Slice& b) { return std::tie(a.start, a.end) < std::tie(b.start, b.end); });
  std::vector<std::vector<Slice>> rows;
  for (Slice& slice : slices) {
    auto row = rows.begin();
    while (row != rows.end() && row->back().end > slice.start) ++row;
    if (row == rows.end()) row = rows.insert(row, std::vector<Slice>());
    row->push_back(std::move(slice));
  }
  return rows;
}

class TraceWriter {
 public:
  // Process and thread numbers start at 1: viewers give 0 a meaning of its own.
  void BeginProcess(absl::string_view name) {
    ++process_;
    Add({{"ph", "M"}, {"pid", process_}, {"name", "process_name"}, {"args", {{"name", std::string(name)}}}});
    Add({{"ph", "M"}, {"pid", process_}, {"name", "process_sort_index"}, {"args", {{"sort_index", process_}}}});
  }

  void AddThread(const std::string& name, std::vector<Slice> slices) {
    for (const std::vector<Slice>& row : RowsOf(std::move(slices))) {
      ++thread_;
      Add({{"ph", "M"}, {"pid", process_}, {"tid", thread_}, {"name", "thread_name"}, {"args", {{"name", name}}}});
      Add({{"ph", "M"},
           {"pid", process_},
           {"tid", thread_},
           {"name", "thread_sort_index"},
           {"args", {{"sort_index", thread_}}}});
      for (const Slice& slice : row) {
        Add({{"ph", "X"},
             {"pid", process_},
             {"tid", thread_},
             {"ts", static_cast<double>(slice.start) / 1e3},
             {"dur", static_cast<double>(slice.end - slice.start) / 1e3},
             {"name", slice.name},
             {"cat", slice.category},
             {"args", slice.args}});
      }
    }
  }

  std::string Finish() const {
    return absl::StrCat("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", events_, "\n]}\n");
  }

 private:
  void Add(const Json& event) { absl::StrAppend(&events_, events_.empty() ? "\n" : ",\n", event.dump()); }

  std::string events_;
  int process_ = 0;
  int thread_ = 0;  // numbered across processes
};

// "a100/3": the fourth node of a pool.
std::vector<std::string> NodeNames(const ir::Problem& problem, const ir::Placement& placement,
                                   const sim::Network& network) {
  std::vector<std::string> names(network.node_count());
  for (int rank = 0; rank < placement.rank_count(); ++rank) {
    const ir::RankPlace& place = placement.place(ir::Rank(rank));
    names[network.NodeOf(ir::Rank(rank))] = absl::StrCat(problem.cluster.pool(place.pool).name, "/", place.node);
  }
  return names;
}

void AddRanks(const ir::Problem& problem, const ir::Placement& placement, const sim::Network& network,
              const std::vector<std::string>& nodes, const sim::Recording& recording, TraceWriter& writer) {
  std::vector<std::vector<Slice>> slices(placement.rank_count());
  for (const sim::RankSpan& span : recording.ranks) slices[span.rank].push_back(SliceOf(span));
  int node = -1;
  for (int r = 0; r < placement.rank_count(); ++r) {
    const ir::Rank rank(r);
    const ir::RankPlace& place = placement.place(rank);
    if (network.NodeOf(rank) != node) {
      node = network.NodeOf(rank);
      const std::string& zone = problem.cluster.zones[network.zone(node).index()].name;
      writer.BeginProcess(absl::StrCat("node ", nodes[node], " in ", zone));
    }
    writer.AddThread(
        absl::StrCat("rank ", r, ": pipeline ", place.pipeline, ", stage ", place.stage, ", gpu ", place.gpu),
        std::move(slices[r]));
  }
}

}  // namespace

std::string TraceEvents(const ir::Problem& problem, const ir::Plan& plan, const sim::Recording& recording) {
  const ir::Placement placement(plan);
  const sim::Network network(problem.cluster, placement);
  const std::vector<std::string> nodes = NodeNames(problem, placement, network);
  TraceWriter writer;
  AddRanks(problem, placement, network, nodes, recording, writer);
  std::map<std::pair<int, int>, std::vector<Slice>> links;
  for (const sim::TransferSpan& span : recording.transfers) links[{span.from, span.to}].push_back(SliceOf(span));
  if (!links.empty()) writer.BeginProcess("links");
  for (auto& [ends, slices] : links) {
    const auto& [from, to] = ends;
    writer.AddThread(from == to ? absl::StrCat("inside ", nodes[from]) : absl::StrCat(nodes[from], " -> ", nodes[to]),
                     std::move(slices));
  }
  return writer.Finish();
}

}  // namespace sail::driver
