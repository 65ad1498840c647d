// The timeline as a trace that Perfetto and chrome://tracing open: JSON Trace Event Format, one event a line.
//
// A node is a process, a rank one of its threads; forward, backward, step and reduce are complete events with the
// micro-batch or the bucket in `args`. The last process has the links: a thread for each pair of nodes between which
// something moves. What overlaps on a row continues on a further row of the same name. Times are microseconds, rounded
// to nanoseconds.
#pragma once

#include <string>

#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "simulator/timeline.h"

namespace sail::driver {

// O(spans · log spans). The same plan, the same bytes.
std::string TraceEvents(const ir::Problem& problem, const ir::Plan& plan, const sim::Recording& recording);

}  // namespace sail::driver
