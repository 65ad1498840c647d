// What is asked: the values the front end produces and the planner, simulator, checker and bundle writer consume.
#pragma once

#include "compiler/ir/cluster.h"
#include "compiler/ir/job.h"
#include "compiler/ir/model.h"
#include "compiler/ir/profile.h"

namespace sail::ir {

struct Problem {
  Job job;
  Model model;
  Cluster cluster;
  Profile profile;  // complete for every candidate of the job on every gpu of a pool with quota
  friend bool operator==(const Problem&, const Problem&) = default;
};

}  // namespace sail::ir
