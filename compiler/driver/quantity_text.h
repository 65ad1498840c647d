// Quantities as people read them: three or four significant digits and a fitting unit. Artefacts never use these.
#pragma once

#include <string>

#include "compiler/base/units.h"
#include "compiler/ir/job.h"
#include "compiler/ir/report.h"

namespace sail::driver {

std::string SecondsText(Seconds time);  // "4.712 s", "183.2 ms", "2 h 5 min"
std::string BytesText(Bytes bytes);     // "37.25 GiB"
std::string UsdText(Usd money);         // "0.1873 USD"
std::string PercentText(double share);  // "83.0 %"
// "+2.0 %" of `from`, "same" for less than a thousandth; "" where there is no such share.
std::string ChangeText(double from, double to);
std::string MetricText(ir::Metric metric, double base);  // "0.2122 iters/s", "82.44 USD/h"
// Whether a job that loses nodes so often ever ends. The share of the time that makes progress may be too small for a
// number, and the money expected of an iteration too large.
bool MakesProgress(const ir::SpotForecast& spot);
inline constexpr char kNoProgress[] = "no progress, nodes are taken away before a checkpoint can be written and used";
// `base` moved by less than a thousandth, up for a limit from above, to a number whose text is exact: a limit that is
// read back from the text still holds.
double RoundLimit(ir::Metric metric, double base, bool at_most);
// The shortest text that reads back as `base` itself.
std::string ExactMetricText(ir::Metric metric, double base);

}  // namespace sail::driver
