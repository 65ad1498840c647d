// The training runs on A100 of vtrain/single*.csv and vtrain/multi*.csv: Megatron-DeepSpeed, fp16, everything
// recomputed, 1F1B, nodes of eight GPUs. Predicted from the datasheet alone.
#pragma once

#include "tests/bench/accuracy/run.h"

namespace sail::bench {

// Sets a100/single and a100/multi. Names are the columns: "single G8 B16 b4 h1024 a16 L24 s1024 t1 d2 P4".
Runs ReadVtrainRuns(const std::string& data_directory, const Calibration& calibration);

}  // namespace sail::bench
