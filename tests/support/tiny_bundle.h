// A bundle of the tiny problem that any machine can run: three ranks on two nodes.
#pragma once

#include "runtime/bundle/bundle.h"
#include "tests/support/builders.h"

namespace sail::test {

// Nodes fast-0 (ranks 0 and 1, a tensor group) and slow-0 (rank 2), one pipeline of two stages. 1000 tokens.
inline rt::Bundle TinyBundle() {
  rt::Bundle bundle;
  bundle.problem = {.job = TinyJob(), .model = TinyModel(), .cluster = TinyCluster(), .profile = {}};
  bundle.problem.job.data = ir::Data{.text = {"text.txt"}};
  bundle.plan.pipelines = {
      {.micro_batch = 2, .micro_batches = 4, .stages = {MakeStage(0, 2, 0, 0, {0, 1}), MakeStage(3, 5, 1, 0, {0})}}};
  bundle.plan_hash = "sha256:feed";
  bundle.predicted_iteration = Seconds(0.25);
  for (int i = 0; i < 1000; ++i) bundle.tokens.push_back(static_cast<uint16_t>(i * 7 % 37));
  return bundle;
}

}  // namespace sail::test
