// Files in the form of the public measurements, small enough to compute with by hand: model "tiny" of an embedding,
// three blocks and a head on gpu "fast-8". Keys are in no order.
#pragma once

namespace sail::test {

// Micro-batch 2 and 10. Degree 3 is no power of two, degree 4 has no sizes.
inline constexpr char kPublicTimes[] = R"({"tiny": {"fast-8": {
  "10": {"1": {"0": [0.05, 0, 0.2], "1": [0.2, 0.3, 0.2], "2": [0.1, 0.2, 0.2], "3": [0.1, 0.2, 0.2],
               "4": [0.3, 0.6, 0.2]}},
  "2": {"4": {"0": [0.01, 0, 0.2], "1": [0.01, 0.02, 0.2], "2": [0.01, 0.02, 0.2], "3": [0.01, 0.02, 0.2],
              "4": [0.03, 0.06, 0.2]},
        "3": {"0": [0.01, 0, 0.2], "1": [0.01, 0.02, 0.2], "2": [0.01, 0.02, 0.2], "3": [0.01, 0.02, 0.2],
              "4": [0.03, 0.06, 0.2]},
        "2": {"0": [0.01, 0, 0.1], "1": [0.02, 0.03, 0.1], "2": [0.01, 0.02, 0.1], "3": [0.01, 0.02, 0.1],
              "4": [0.04, 0.06, 0.1]},
        "1": {"2": [0.02, 0.04, 0.2], "0": [0.01, 0, 0.2], "1": [0.03, 0.05, 0.2], "4": [0.06, 0.12, 0.2],
              "3": [0.02, 0.04, 0.2]}}}}})";

// Hidden 64, one head, 5 tokens, vocabulary 11.
inline constexpr char kPublicSizes[] = R"({"tiny": {
  "2": {"0": {"params_floats": 672, "act_output_floats": 320, "act_mem_floats": 320},
        "1": {"params_floats": 25184, "act_output_floats": 320, "act_mem_floats": 1932},
        "2": {"params_floats": 25184, "act_output_floats": 320, "act_mem_floats": 1932},
        "3": {"params_floats": 25184, "act_output_floats": 320, "act_mem_floats": 1932},
        "4": {"params_floats": 480, "act_output_floats": 28, "act_mem_floats": 700}},
  "1": {"1": {"params_floats": 49984, "act_output_floats": 320, "act_mem_floats": 3225},
        "0": {"params_floats": 1024, "act_output_floats": 320, "act_mem_floats": 320},
        "2": {"params_floats": 49984, "act_output_floats": 320, "act_mem_floats": 3225},
        "4": {"params_floats": 832, "act_output_floats": 56, "act_mem_floats": 800},
        "3": {"params_floats": 49984, "act_output_floats": 320, "act_mem_floats": 3225}}}})";

}  // namespace sail::test
