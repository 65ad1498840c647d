#!/usr/bin/env python3
"""Planning again after the loss of 9 of 64 nodes of 8 GPUs.

usage: replan.py REPLAN_SPEED [--json]

--json prints {"cases": [{"cluster", "gpus", "lost_nodes", "previous_iteration_s", "replan_ms", "candidates", "replan",
"from_scratch_ms", "from_scratch"}]}; both plans are {"move_bytes", "checkpoint_bytes", "move_s", "stages_kept",
"stages", "iteration_s", "with_movement_s"}.
"""
import json
import subprocess
import sys


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--json"]):
        sys.exit(__doc__)
    cases = json.loads(subprocess.check_output([sys.argv[1]], text=True))
    if len(sys.argv) == 3:
        print(json.dumps({"cases": cases}, indent=2))
        return
    print("| cluster | plan | ms | to move GB | moving s | iteration s | with movement s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case in cases:
        print(f"| {case['cluster']} | before | | | | {case['previous_iteration_s']:.4f} | |")
        for key, name in (("replan", "next"), ("from_scratch", "from scratch")):
            plan = case[key]
            moved = (plan["move_bytes"] + plan["checkpoint_bytes"]) / 1e9
            print(f"| | {name} | {case[key + '_ms']:.0f} | {moved:.2f} | {plan['move_s']:.3f} "
                  f"| {plan['iteration_s']:.4f} | {plan['with_movement_s']:.4f} |")


if __name__ == "__main__":
    main()
