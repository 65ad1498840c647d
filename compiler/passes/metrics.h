// What an objective may name: the metrics of ir::Metric, as the language quotes them.
#pragma once

#include "compiler/ir/job.h"

namespace sail {

// The unit a metric is quoted in ("USD/h"; "" for a share); its base unit is that of ir::Metric.
const char* MetricUnit(ir::Metric metric);
const char* MetricDoc(ir::Metric metric);

}  // namespace sail
