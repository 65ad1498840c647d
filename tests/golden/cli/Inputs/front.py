"""front.py FRONT.json PLAN: no point of the front beats another, one is chosen, and the plan file has the same."""
import json
import sys

front = json.load(open(sys.argv[1], encoding="utf-8"))
assert front == json.load(open(sys.argv[2], encoding="utf-8"))["front"]
assert len(front) >= 3, front
assert [point["chosen"] for point in front].count(True) == 1
values = [(p["iteration_s"], p["cost_usd_per_iteration"], -p["goodput_iters_per_s"]) for p in front]
assert values == sorted(values)
for a in values:
    assert not any(b != a and all(x <= y for x, y in zip(b, a)) for b in values), a
