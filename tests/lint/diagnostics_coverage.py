#!/usr/bin/env python3
"""Fails when a registered diagnostic has no test, or a test names a code that is not registered.

usage: diagnostics_coverage.py ROOT

A code is covered by a file under tests/ whose expectations contain it: a FileCheck line of a .sail or .test file, or a
string of a C++ test.
"""
import pathlib
import re
import sys


def registered(root):
    text = (root / "compiler/base/diagnostics.def").read_text(encoding="utf-8")
    return {int(number) for number in re.findall(r"^SAIL_DIAGNOSTIC\(\w+, (\d+),", text, re.MULTILINE)}


def expectations(path):
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        is_check = re.match(r"\s*# (?!RUN)[A-Z][A-Z0-9_]*(-[A-Z]+)*: ", line)
        if path.suffix == ".cc" or is_check:
            yield line


def covered(root):
    codes = {}
    for path in sorted((root / "tests").rglob("*")):
        if path.suffix not in (".sail", ".test", ".cc"):
            continue
        for line in expectations(path):
            for number in re.findall(r"SAIL(\d{4})", line):
                codes.setdefault(int(number), path)
    return codes


def main():
    root = pathlib.Path(sys.argv[1])
    codes = registered(root)
    seen = covered(root)
    problems = [f"SAIL{code:04d} has no test" for code in sorted(codes - seen.keys())]
    problems += [f"{seen[code].relative_to(root)}: SAIL{code:04d} is not registered"
                 for code in sorted(seen.keys() - codes)]
    for problem in problems:
        print(problem)
    return 1 if problems or not codes else 0


if __name__ == "__main__":
    sys.exit(main())
