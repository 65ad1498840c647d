// Whole files as people write them: one zone; several regions with a budget; a catalogue with overrides. Each is in
// canonical layout already.
#include "gtest/gtest.h"
#include "tests/unit/compiler/frontend/parsed.h"

namespace sail {
namespace {

constexpr char kOneZone[] = R"(sail 1

## A lab with two generations of GPUs behind one switch.
## How many nodes of either kind are used is for the planner to say.

gpu A100_40 { memory = 40 GiB, peak_fp16 = 312 TFLOP/s }
gpu V100_16 { memory = 16 GiB, peak_fp16 = 125 TFLOP/s }

machine a100x4 {
  gpu           = A100_40
  gpus_per_node = 4 GPUs
  host_memory   = 340 GiB
  intra_node    = 600 GB/s  # per GPU and direction
  price { on_demand = 14.69 USD/h, spot = 4.41 USD/h }
}

resources lab {
  region "us-central1" {
    zone "us-central1-a" {
      pool fast { machine = a100x4, quota = 4 nodes, market = on_demand }
      pool slow { machine = v100x4, quota = 8 nodes, market = spot }
    }
  }
  link * <-> * within zone { bandwidth = 100 Gbps, latency = 30 us, egress = 0 USD/GB }
}

model opt350 {
  family  = gpt
  layers  = 24 layers
  hidden  = 1024
  heads   = 16
  seq_len = 2048 tokens
  vocab   = 50_272
  profile { A100_40 = "profiles/opt350.a100-40.json", V100_16 = "profiles/opt350.v100-16.json" }
}

job smoke {
  model     = opt350
  resources = lab

  batch { global = 1024 samples, micro = [1, 2, 4, 8] }
  precision = fp16
  optimizer = adam

  parallelism {
    tensor   = [1, 2, 4]  # of one node
    pipeline = 1..8
    data     = any
  }

  maximize throughput then minimize cost_per_iter
    subject to {
      memory_headroom: peak_memory <= 92% * gpu.memory
      price_cap:       cost_rate <= 90 USD/h
      speed:           throughput >= 0.1 iters/s
    }

  emit { torchrun { master_port = 29500 } }
}
)";

constexpr char kRegions[] = R"(sail 1

import "./hardware.sail" as hw
import "git+https://example.org/ml/price-lists.git//gcp.sail@v2026.11.2"
    sha256 "5f1c0de7c1b3a7d2f0b9c4a86d1e2f3a4b5c6d7e8f90a1b2c3d4e5f60718293a" as prices

## What one iteration may cost; ask before raising it.
param max_cost: USD/iter = 0.60 USD/iter where max_cost > 0 USD/iter
param min_speed: iters/s = 0.2 iters/s
param steps: iters = 100_000 iters

let us_zones: List<String> = ["us-central1-a", "us-central1-b", "us-west1-b"]

resources na {
  markets = [spot, on_demand]

  region "us-central1" { zone "us-central1-a" { }, zone "us-central1-b" { } }
  region "europe-west4" { zone "europe-west4-a" { } }

  # One pool per zone, named after it.
  for z in us_zones {
    pool "a100-${z}" {
      machine = hw.a2_4g
      zone    = z
      quota   = if z == "us-west1-b" then 8 nodes else 16 nodes
      price   = prices.spot[z].a2_4g
    }
  }
  pool "v100-eu" {
    machine = hw.n1_v100x4
    quota   = 12 nodes
    market  = [spot, on_demand]  # mixed as the planner likes
    price { spot = 3.05 USD/h, on_demand = 10.24 USD/h }
  }

  # The narrower rule wins.
  link * <-> * within region { bandwidth = 32 Gbps, latency = 0.6 ms, egress = 0.01 USD/GB }
  link * <-> * across region { bandwidth = 8 Gbps, latency = 35 ms, egress = 0.02 USD/GB }
  link "us-central1-a" <-> "europe-west4-a" {
    bandwidth = 5 Gbps  # as measured
    latency   = 98 ms
    profile   = "profiles/net.us-eu.json"
  }
}

job pretrain {
  model     = gpt_neo_27
  resources = na

  parallelism {
    tensor = [1, 2, 4]
    keep tensor { within = node }
    keep data { within = region }  # gradients stay on their side of the ocean
  }

  minimize cost_per_iter then maximize throughput
    subject to {
      speed:  throughput >= min_speed
      budget: cost_per_iter <= max_cost  # egress included
      total:  total_cost(steps) <= 60_000 USD
    }

  checkpoint { every = 10 min, target = "gs://ckpt-na/pretrain", keep = 3 }
  recovery { on_preempt = replan, max_lost_work = 10 min, replan_budget = 20_000 work }
  env { NCCL_SOCKET_IFNAME = "eth0", WANDB_API_KEY = secret("wandb/api-key") }
  emit {
    slurm { account = "llm", time_limit = 48 h }
    jobset { namespace = "train", queue = "gpu-spot" }
  }

  assert len(plan.regions) <= 2, "more than two regions never ran well"
  assert all([l.latency <= 120 ms for l in plan.links]), "a link is slower than the timeouts allow"
}
)";

constexpr char kCatalogue[] = R"(sail 1

import "std/gcp@2026.11" as gcp  # the hash is in the lock file
import "std/models/gpt@1" as gpt

param target: tokens/s = 45_000 tokens/s
param team_quota: Map<nodes> = { "us-central1-a" = 24 nodes, "us-central1-c" = 8 nodes }

## What we pay and measure differs from the list.
resources ours extends gcp.us_central1 {
  override discount                     = 28%
  override link.within_region.bandwidth = 22 Gbps

  machine a2_ultra_8g extends gcp.machine.a2_ultra_8g {
    override price.on_demand = 29.39 USD/h
    override gpu.memory      = 80 GiB
  }

  for z, n in team_quota {
    pool "ultra-${z}" { machine = a2_ultra_8g, zone = z, quota = n, market = on_demand }
  }
  remove pool t4_default
}

model llama_like extends gpt.decoder {
  override layers = 32 layers
  override hidden = 4096
  profile { A100_80 = gpt.profile_for(A100_80, hidden = 4096) }
}

job finetune {
  parallelism { tensor = [2, 4, 8], pipeline = 1..4, data = any, keep tensor { within = node } }

  minimize cost_per_iter
    subject to { speed: token_rate >= target }

  emit { jobset { namespace = "finetune", queue = "committed" } }
}
)";

TEST(ExamplesTest, ParseAndStayAsTheyAre) {
  for (const char* text : {kOneZone, kRegions, kCatalogue}) {
    EXPECT_EQ(ParseText(text).text, "");
    EXPECT_EQ(FormatText(text), text);
  }
}

// What neither layout nor errors would show.
TEST(ExamplesTest, HaveTheirMeaning) {
  const auto lines = [](const char* text, const char* wanted) {
    const std::string tree = ParseText(text).tree;
    EXPECT_NE(tree.find(wanted), std::string::npos) << wanted << "\n" << tree;
  };
  lines(kRegions, "  param max_cost: USD/iter\n    doc \"What one iteration may cost; ask before raising it.\"\n");
  lines(kRegions, "      constraint total\n        binary <=\n          call\n            name total_cost\n");
  lines(kCatalogue, "  block resources ours extends gcp.us_central1\n    doc \"What we pay and measure differs");
  lines(kCatalogue, "          argument hidden\n            number 4096\n");
}

}  // namespace
}  // namespace sail
