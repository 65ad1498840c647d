#include "compiler/passes/metrics.h"

#include "compiler/base/check.h"

namespace sail {
namespace {

struct MetricText {
  const char* unit;
  const char* doc;
};

MetricText TextOf(ir::Metric metric) {
  switch (metric) {
    case ir::Metric::kThroughput:
      return {"iters/s", "iterations per time"};
    case ir::Metric::kIterTime:
      return {"s", "time of one iteration"};
    case ir::Metric::kSampleRate:
      return {"samples/s", "samples per time"};
    case ir::Metric::kTokenRate:
      return {"tokens/s", "tokens per time"};
    case ir::Metric::kCostPerIter:
      return {"USD/iter", "money spent on one iteration"};
    case ir::Metric::kCostRate:
      return {"USD/h", "money spent per time"};
    case ir::Metric::kTotalCost:
      return {"USD", "money spent on all steps of the job"};
    case ir::Metric::kJobTime:
      return {"h", "time of all steps of the job"};
    case ir::Metric::kTokensPerUsd:
      return {"tokens/USD", "tokens trained on per money spent"};
    case ir::Metric::kGoodput:
      return {"iters/s", "expected iterations per time, with preemptions of spot nodes"};
    case ir::Metric::kEgressCost:
      return {"USD/iter", "money spent on data that leaves a zone in one iteration"};
    case ir::Metric::kEgressPerIter:
      return {"GB/iter", "data that leaves a zone in one iteration"};
    case ir::Metric::kPeakMemory:
      return {"", "largest share of a GPU's memory in use"};
    case ir::Metric::kNodes:
      return {"nodes", "nodes in use"};
    case ir::Metric::kGpus:
      return {"GPUs", "GPUs in use"};
  }
  SAIL_CHECK(false) << "metric " << static_cast<int>(metric);
}

}  // namespace

const char* MetricUnit(ir::Metric metric) { return TextOf(metric).unit; }
const char* MetricDoc(ir::Metric metric) { return TextOf(metric).doc; }

}  // namespace sail
