#!/usr/bin/env python3
"""A specification of any length as a company might keep it: many machines, regions with zones and pools, some written
out and some made by loops, links, models and jobs. Equal lengths give equal texts.

usage: large_spec.py LINES > FILE
"""
import sys

HEAD = """\
sail 1

param min_speed: iters/s = 0.001 iters/s
param nodes_each: nodes = 4 nodes where nodes_each > 0 nodes

let sizes = [1, 2, 4]
let prices = { small = 4.41 USD/h, large = 14.69 USD/h }

gpu A100 { memory = 40 GiB, peak_fp16 = 312 TFLOP/s }
gpu V100 { memory = 16 GiB, peak_fp16 = 125 TFLOP/s }

machine a100x4 {
  gpu           = A100
  gpus_per_node = 4 GPUs
  host_memory   = 340 GiB
  intra_node    = 600 GB/s
  nic           = 100 Gbps
  price { on_demand = prices.large, spot = prices.small }
}
"""

# About fifty lines: machines of one team, its regions, and a job. Every zone has pools of its own and of a loop.
TEAM = """\

## Team {n}.
let zones_{n} = ["z{n}-a", "z{n}-b", "z{n}-c"]
let quota_{n} = if {n} > 3 then nodes_each else 2 * nodes_each

machine v100_{n} extends a100x4 {{
  override gpu             = V100
  override intra_node      = 150 GB/s
  override price.on_demand = 9.92 USD/h
}}

resources team_{n} {{
  region "r{n}" {{
    zone "z{n}-a" {{
      pool "big-{n}" {{ machine = a100x4, quota = quota_{n}, market = spot }}
    }}
    zone "z{n}-b" {{
      pool "old-{n}" {{ machine = v100_{n}, quota = {quota} nodes }}
    }}
    zone "z{n}-c" {{ }}
  }}
  for z, size in zip(zones_{n}, sizes) {{
    pool "extra-${{z}}" {{
      machine = v100_{n}
      zone    = z
      quota   = size * nodes_each
      market  = on_demand
    }}
  }}
  link * <-> * within zone {{ bandwidth = 100 Gbps, latency = 30 us, egress = 0 USD/GB }}
  link * <-> * within region {{ bandwidth = 32 Gbps, latency = 0.6 ms, egress = 0.01 USD/GB }}
  link "z{n}-a" -> "z{n}-b" {{ bandwidth = 8 Gbps, latency = 35 ms, egress = 0.02 USD/GB }}
}}

model gpt_{n} {{
  family  = gpt
  layers  = {layers} layers
  hidden  = 1024
  heads   = 16
  seq_len = 2048 tokens
  vocab   = 50_272
}}

job train_{n} {{
  model     = gpt_{n}
  resources = team_{n}
  batch {{ global = 1024 samples, micro = sizes }}
  precision = fp16
  parallelism {{ tensor = sizes, pipeline = 1..4 }}
  maximize throughput then minimize cost_per_iter
    subject to {{ speed: throughput >= min_speed, cap: cost_rate <= {cap} USD/h }}
}}
"""


# One cluster that all teams share, its zones and pools written one per line: as many as fit in `lines`, at most 500.
def shared(lines):
    zones = max(1, min(lines // 20, 500))
    pools = "".join(f'    zone "s{i}" {{ pool "shared-{i}" {{ machine = a100x4, quota = {1 + i % 7} nodes }} }}\n'
                    for i in range(zones))
    links = "".join(f'  link "s{i}" <-> "s{i + 1}" {{ bandwidth = 64 Gbps, latency = 90 us, egress = 0 USD/GB }}\n'
                    for i in range(zones - 1))
    return ('\nresources shared {\n  region "shared" {\n' + pools + "  }\n" + links +
            "  link * <-> * within zone { bandwidth = 100 Gbps, latency = 30 us, egress = 0 USD/GB }\n"
            "  link * <-> * within region { bandwidth = 32 Gbps, latency = 0.6 ms, egress = 0 USD/GB }\n}\n")


def large_spec(lines):
    text = HEAD + shared(lines)
    missing = lines - text.count("\n")
    each = TEAM.count("\n")
    teams = (TEAM.format(n=n, quota=1 + n % 9, layers=12 + n % 13, cap=500 + n) for n in range(missing // each))
    return text + "".join(teams) + "# filled\n" * (missing % each)


if __name__ == "__main__":
    sys.stdout.write(large_spec(int(sys.argv[1])))
