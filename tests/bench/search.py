#!/usr/bin/env python3
"""Time and peak memory of planning on generated clusters, each case in a process of its own.

usage: search.py SEARCH_SPEED [--json]

--json prints {"cases": [{"model", "gpus", "types", "zones", "search_s", "gap_pct", "peak_mb"}]}; search_s is null for
what takes longer than the deadline.
"""
import json
import os
import subprocess
import sys
import time

DEADLINE_S = 60
POLL_S = 0.02


def measure(command):
    """The JSON that the command prints, or None after the deadline, and its peak resident megabytes."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # prints less than a pipe holds
    end = time.monotonic() + DEADLINE_S
    is_over = False
    while True:
        pid, status, usage = os.wait4(process.pid, 0 if is_over else os.WNOHANG)
        if pid != 0:
            break
        is_over = time.monotonic() > end
        if is_over:
            process.kill()
        else:
            time.sleep(POLL_S)
    process.returncode = os.waitstatus_to_exitcode(status)  # it is waited for
    peak_mb = usage.ru_maxrss * 1024 / 1e6
    if is_over:
        return None, peak_mb
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    return json.loads(process.stdout.read()), peak_mb


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--json"]):
        sys.exit(__doc__)
    speed = os.path.abspath(sys.argv[1])
    as_json = len(sys.argv) == 3
    rows = []
    if not as_json:
        print("| model | GPUs | types | zones | search s | gap % | peak MB |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
    for i, case in enumerate(json.loads(subprocess.check_output([speed], text=True))):
        found, peak_mb = measure([speed, str(i)])
        row = {**(found or {**case, "search_s": None, "gap_pct": None}), "peak_mb": round(peak_mb, 1)}
        rows.append(row)
        if not as_json:
            seconds = f"over {DEADLINE_S}" if found is None else f"{row['search_s']:.3f}"
            gap = "-" if row["gap_pct"] is None else f"{row['gap_pct']:.1f}"
            print(f"| {row['model']} | {row['gpus']} | {row['types']} | {row['zones']} | {seconds} | {gap} "
                  f"| {row['peak_mb']} |", flush=True)
    if as_json:
        print(json.dumps({"cases": rows}, indent=2))


if __name__ == "__main__":
    main()
