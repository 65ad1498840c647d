"""Checks a trace against its plan and prints what is on each row: trace.py TRACE PLAN."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
with open(sys.argv[2], encoding="utf-8") as file:
    pipelines = json.load(file)["decisions"]["pipelines"]

names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
rows = {tid: [e for e in events if e["ph"] == "X" and e["tid"] == tid] for tid in names}
forwards = sum(p["micro_batches"] * len(s["gpus"]) for p in pipelines for s in p["stages"])
for what in ("forward", "backward"):
    assert sum(e["name"] == what for e in events) == forwards, what
for tid, row in rows.items():
    for before, after in zip(row, row[1:]):
        assert before["ts"] + before["dur"] <= after["ts"] + 1e-6, (before, after)
    print(names[tid].split(":")[0] if names[tid].startswith("rank") else "link " + names[tid], end=": ")
    print(*dict.fromkeys(e["name"] for e in row))
