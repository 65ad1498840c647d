#!/usr/bin/env python3
"""Process time and peak memory of sailc on the two examples and on generated specifications.

usage: cli.py SAILC
"""
import os
import pathlib
import statistics
import sys
import tempfile
import time

from large_spec import large_spec

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run(command):
    """Wall seconds, processor seconds and peak resident KiB of one run."""
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{' '.join(command)}: exit code {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def report(name, command, repetitions):
    run(command)  # fills the page cache
    walls, processors, memories = zip(*(run(command) for _ in range(repetitions)))
    print(f"{name:<62} {statistics.median(walls) * 1e3:9.1f} ms {statistics.median(processors) * 1e3:9.1f} ms "
          f"{max(memories) / 1024:7.1f} MiB   median of {repetitions}")


def main():
    sailc = os.path.abspath(sys.argv[1])
    laptop = str(EXAMPLES / "01_laptop" / "job.sail")
    mixed = str(EXAMPLES / "02_mixed_cluster" / "job.sail")
    print(f"{'command':<62} {'wall':>12} {'processor':>12} {'peak':>11}")
    with tempfile.TemporaryDirectory() as scratch:
        plan = os.path.join(scratch, "out.sailplan")
        report("sailc check 01_laptop", [sailc, "check", laptop], 20)
        for lines, repetitions in (1_000, 10), (10_000, 5), (100_000, 1):
            spec = os.path.join(scratch, f"{lines}.sail")
            pathlib.Path(spec).write_text(large_spec(lines))
            report(f"sailc check of {lines} lines", [sailc, "check", spec], repetitions)
        report("sailc plan 01_laptop", [sailc, "plan", laptop, "-o", plan], 5)
        report("sailc plan 02_mixed_cluster (128 A100 + 384 V100, Neo-2.7B)", [sailc, "plan", mixed, "-o", plan], 5)


if __name__ == "__main__":
    main()
