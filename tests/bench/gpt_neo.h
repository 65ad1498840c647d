// The model of the programs that measure on 512 GPUs.
#pragma once

#include "compiler/ir/model.h"

namespace sail::bench {

// GPT-Neo-2.7B.
inline ir::Model GptNeo() {
  return {.name = "GPT-Neo-2.7B",
          .blocks = 32,
          .hidden = 2560,
          .heads = 32,
          .feed_forward = 10240,
          .seq_len = 2048,
          .vocab = 50257,
          .embedding_width = 2560,
          .position_rows = 2048};
}

}  // namespace sail::bench
