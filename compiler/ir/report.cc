#include "compiler/ir/report.h"

namespace sail::ir {

double Value(const Report& report, Metric metric) {
  const double seconds = report.iteration.value();
  switch (metric) {
    case Metric::kThroughput:
      return 1 / seconds;
    case Metric::kIterTime:
      return seconds;
    case Metric::kSampleRate:
      return report.samples_per_second;
    case Metric::kTokenRate:
      return report.tokens_per_second;
    case Metric::kCostPerIter:
      return report.cost_per_iteration.value();
    case Metric::kCostRate: {
      Usd nodes(0);
      for (const PoolCost& pool : report.pools) nodes += pool.per_iteration;
      return nodes.value() / seconds;
    }
    case Metric::kTotalCost:
      return report.cost_per_iteration.value() * static_cast<double>(report.steps);
    case Metric::kJobTime:
      return seconds * static_cast<double>(report.steps);
    case Metric::kTokensPerUsd:
      return report.tokens_per_second * seconds / report.cost_per_iteration.value();
    case Metric::kGoodput:
      return (report.spot ? report.spot->goodput : 1) / seconds;
    case Metric::kEgressCost: {
      Usd egress(0);
      for (const LinkTraffic& link : report.traffic) egress += link.egress;
      return egress.value();
    }
    case Metric::kEgressPerIter: {
      double bytes = 0;
      for (const LinkTraffic& link : report.traffic) {
        if (link.egress.value() > 0) bytes += static_cast<double>(link.bytes.value());
      }
      return bytes;
    }
    case Metric::kPeakMemory:
      return report.peak_memory;
    case Metric::kNodes:
      return report.nodes;
    case Metric::kGpus:
      return report.gpus;
  }
  SAIL_CHECK(false) << "metric " << static_cast<int>(metric);
}

}  // namespace sail::ir
