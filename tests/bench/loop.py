#!/usr/bin/env python3
"""Closes the loop between forecast and run on this machine: measures the layers of small models and the loopback link
(`sailrun profile`), plans with what was measured, and compares the predicted with the trained time of an iteration.

usage: loop.py SAILC SAILRUN [--json]

Every rank is one core. Layers are measured under the load of the run: with one rank for plans of one rank, with two
ranks at a time for plans of two. A plan with more ranks than this machine has cores is left out, as its ranks would wait
for each other's core. The median of the iterations is compared; the first fifth of them is not counted.

The speed of a shared machine drifts by more than what is to be found out, so that layers are measured right before and
right after each run and the mean of the two is what predicts it; the column `drift` is how far they are apart. The link
is measured before each run of several ranks. Nothing that a run takes enters its prediction.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import typing

RUN_SECONDS = 6
MIN_STEPS, MAX_STEPS = 15, 400

MODELS = {
    "laptop": dict(layers=4, hidden=256, heads=8, seq_len=128),  # examples/01_laptop
    "wide": dict(layers=2, hidden=512, heads=8, seq_len=64),
}

# name, model, nodes × gpus of pool `a`, nodes of pool `b`, global batch, micro, tensor, pipeline, memory of b's gpu
PLANS = [
    ("one rank, micro-batch 1", "laptop", (1, 1), 0, 8, [1], 1, 1, None),
    ("one rank, micro-batch 2", "laptop", (1, 1), 0, 8, [2], 1, 1, None),
    ("one rank, micro-batch 4", "laptop", (1, 1), 0, 8, [4], 1, 1, None),
    ("one rank, micro-batch 8", "laptop", (1, 1), 0, 8, [8], 1, 1, None),
    ("one rank, micro-batch 4", "wide", (1, 1), 0, 8, [4], 1, 1, None),
    ("replicas, equal, micro-batch 1", "laptop", (2, 1), 0, 8, [1], 1, 1, None),
    ("replicas, equal, micro-batch 8", "laptop", (2, 1), 0, 16, [8], 1, 1, None),
    ("replicas, 8 and 4 samples", "laptop", (2, 1), 0, 12, [4], 1, 1, None),
    ("replicas, micro-batches 2 and 5", "laptop", (2, 1), 0, 9, [2, 5], 1, 1, None),
    ("replicas in one node", "laptop", (1, 2), 0, 8, [4], 1, 1, None),
    ("replicas, equal, micro-batch 4", "wide", (2, 1), 0, 16, [4], 1, 1, None),
    ("two stages, 4 micro-batches of 2", "laptop", (2, 1), 0, 8, [2], 1, 2, None),
    ("two stages, 12 micro-batches of 1", "laptop", (2, 1), 0, 12, [1], 1, 2, None),
    ("two stages, 2 micro-batches of 8", "laptop", (2, 1), 0, 16, [8], 1, 2, None),
    ("two stages, cut by memory", "laptop", (1, 1), 1, 8, [2], 1, 2, "320 MiB"),
    ("two stages, 4 micro-batches of 4", "wide", (2, 1), 0, 16, [4], 1, 2, None),
    ("tensor degree 2, micro-batch 1", "laptop", (1, 2), 0, 8, [1], 2, 1, None),
    ("tensor degree 2, micro-batch 8", "laptop", (1, 2), 0, 8, [8], 2, 1, None),
    ("tensor degree 2, micro-batch 4", "wide", (1, 2), 0, 8, [4], 2, 1, None),
]

TEXTS = ["GPL-3", "GPL-2", "LGPL-2.1", "GFDL-1.3", "MPL-2.0", "Apache-2.0"]


def spec(model, pool_a, nodes_b, batch, micro, tensor, pipeline, memory_b=None, link=None, profiles=None):
    """A .sail file. Without a link (a Link) and profiles it only says what is to be measured."""
    nodes_a, gpus = pool_a
    link = link or Link(None, 50e-6, 1e9, 1e9)
    curves = f', profile = "{link.file}"' if link.file else ""
    shape = MODELS[model]
    pool_b = f'pool b {{ machine = small, quota = {nodes_b} node }}' if nodes_b else ""
    profile = ""
    if profiles:
        rows = [f'a_core = "{profiles}/a_core.json"'] + ([f'b_core = "{profiles}/b_core.json"'] if nodes_b else [])
        profile = f"profile {{ {', '.join(rows)} }}"
    texts = ", ".join(f'"/usr/share/common-licenses/{name}"' for name in TEXTS)
    return f"""sail 1
gpu a_core {{ backend = cpu, memory = 4 GiB, peak_fp32 = 64 GFLOP/s }}
gpu b_core {{ backend = cpu, memory = {memory_b or "4 GiB"}, peak_fp32 = 64 GFLOP/s }}
machine node {{
  gpu = a_core, gpus_per_node = {gpus} GPUs, intra_node = {link.sum_bandwidth / 1e9:.4f} GB/s, price {{ on_demand = 1 USD/h }}
}}
machine small {{ gpu = b_core, gpus_per_node = 1 GPU, price {{ on_demand = 1 USD/h }} }}
resources here {{
  region "r" {{ zone "z" {{
    pool a {{ machine = node, quota = {nodes_a} nodes }}
    {pool_b}
  }} }}
  link * <-> * within zone {{
    bandwidth = {link.bandwidth * 8e-9:.4f} Gbps, latency = {link.latency * 1e6:.2f} us, egress = 0 USD/GB{curves}
  }}
}}
model m {{
  family = gpt, layers = {shape["layers"]} layers, hidden = {shape["hidden"]}, heads = {shape["heads"]}
  seq_len = {shape["seq_len"]} tokens, vocab = 256
  {profile}
}}
job j {{
  model = m, resources = here, precision = fp32, steps = 100 iters, seed = 1
  batch {{ global = {batch} samples, micro = {micro} }}
  parallelism {{ tensor = {tensor}, pipeline = {pipeline} }}
  optimizer {{ learning_rate = 0.001, weight_decay = 0.01 }}
  data {{ text = [{texts}] }}
  maximize throughput
}}
"""


class Link(typing.NamedTuple):
    file: str | None
    latency: float  # seconds
    bandwidth: float  # bytes/s, the largest that was measured
    sum_bandwidth: float  # bytes/s of the largest all-reduce


class Loop:
    def __init__(self, sailc, sailrun, scratch):
        self.sailc, self.sailrun, self.scratch = sailc, sailrun, pathlib.Path(scratch)

    def call(self, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def plan(self, text):
        source = self.scratch / "job.sail"
        source.write_text(text)
        plan = self.scratch / "job.sailplan"
        self.call(self.sailc, "plan", source, "-o", plan)
        return plan

    def measure_link(self):
        self.call(self.sailrun, "profile", "--link", "-o", self.scratch)
        link = json.loads((self.scratch / "link.json").read_text())
        rates = {op: [s["bytes"] / s["seconds"] for s in link["samples"] if s["op"] == op] for op in ("send", "all_reduce")}
        return Link(self.scratch / "link.json", link["latency_s"], max(map(max, rates.values())), rates["all_reduce"][-1])

    def measure_layers(self, entry, name):
        """The layers of the entry, under its load; both gpus are the cores of this machine."""
        _, model, _, _, _, micro, tensor, _, _ = entry
        plan = self.plan(spec(model, (1, tensor), 1, 840, micro, [tensor], [1]))
        directory = self.scratch / name
        self.call(self.sailrun, "profile", plan, "-o", directory, "--gpu", "a_core,b_core", "--ranks", ranks_of(entry))
        return directory

    def mean_of(self, profiles):
        """A directory with the mean of the times in several."""
        directory = self.scratch / "mean"
        directory.mkdir(exist_ok=True)
        for gpu in "a_core.json", "b_core.json":
            files = [json.loads((profile / gpu).read_text()) for profile in profiles]
            for entries in zip(*(file["entries"] for file in files)):
                for field in "forward_s", "backward_s", "optimizer_s":
                    entries[0][field] = statistics.mean(entry[field] for entry in entries)
            (directory / gpu).write_text(json.dumps(files[0]))
        return directory

    def predict(self, entry, link, profiles):
        """The plan, its shape and the predicted seconds of an iteration."""
        _, model, pool_a, nodes_b, batch, micro, tensor, pipeline, memory_b = entry
        plan = self.plan(spec(model, pool_a, nodes_b, batch, micro, [tensor], [pipeline], memory_b, link, profiles))
        report = json.loads(self.call(self.sailc, "simulate", "--format=json", plan))
        return plan, shape_of(json.loads(plan.read_text())), report["iteration_s"]

    def train(self, plan, predicted):
        """Measured seconds of an iteration."""
        bundle, metrics = self.scratch / "bundle", self.scratch / "metrics.jsonl"
        self.call(self.sailc, "build", plan, "-o", bundle)
        steps = max(MIN_STEPS, min(MAX_STEPS, round(RUN_SECONDS / predicted)))
        self.call(self.sailrun, bundle, "--metrics", metrics, "--steps", steps, "-q")
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
        seconds = [line["seconds"] for line in lines if "step" in line]
        return statistics.median(seconds[len(seconds) // 5:])

    def compare(self, entry):
        link = self.measure_link() if ranks_of(entry) > 1 else None
        before = self.measure_layers(entry, "before")
        plan, shape, first = self.predict(entry, link, before)
        measured = self.train(plan, first)
        after = self.measure_layers(entry, "after")
        _, _, second = self.predict(entry, link, after)
        _, shape_of_mean, predicted = self.predict(entry, link, self.mean_of([before, after]))
        if shape_of_mean != shape:
            predicted = first  # another plan than the one that was trained
        return {"plan": entry[0], "model": entry[1], "shape": shape, "predicted_s": predicted, "measured_s": measured,
                "drift_pct": 100 * (second / first - 1), "error_pct": 100 * (predicted / measured - 1)}


def ranks_of(entry):
    return entry[2][0] * entry[2][1] + entry[3]


def shape_of(plan):
    """The pipelines of a plan: micro-batches x samples, and the layers of each stage."""
    parts = []
    for pipeline in plan["decisions"]["pipelines"]:
        layers = "|".join(str(stage["layers"][1] - stage["layers"][0] + 1) for stage in pipeline["stages"])
        parts.append(f"{pipeline['micro_batches']}x{pipeline['micro_batch']} [{layers}]")
    return " + ".join(parts)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--json"]
    if len(arguments) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    as_json = "--json" in sys.argv
    say = (lambda *words: None) if as_json else (lambda *words: print(*words, flush=True))
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        loop = Loop(*map(os.path.abspath, arguments), scratch)
        say(f"{'plan':<36} {'model':<7} {'micro-batches [layers]':<22} {'predicted':>10} {'measured':>10} {'error':>8} "
            f"{'drift':>8}")
        for entry in (entry for entry in PLANS if ranks_of(entry) <= os.cpu_count()):
            result = loop.compare(entry)
            results.append(result)
            say(f"{entry[0]:<36} {entry[1]:<7} {result['shape']:<22} {result['predicted_s'] * 1e3:7.2f} ms "
                f"{result['measured_s'] * 1e3:7.2f} ms {result['error_pct']:+6.1f} % {result['drift_pct']:+6.1f} %")
    errors = [result["error_pct"] for result in results]
    summary = {"n": len(errors), "mean_abs_pct": statistics.mean(map(abs, errors)), "max_abs_pct": max(map(abs, errors)),
               "bias_pct": statistics.mean(errors)}
    if as_json:
        print(json.dumps({"plans": results, **summary}))
    say(f"{summary['n']} plans: mean error {summary['mean_abs_pct']:.1f} %, largest {summary['max_abs_pct']:.1f} %, "
        f"bias {summary['bias_pct']:+.1f} %; layers measured before and after each run")


if __name__ == "__main__":
    main()
