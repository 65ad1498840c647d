#!/usr/bin/env python3
"""Fails when a file includes what its folder must not know (ARCHITECTURE.md, "Dependency direction").

usage: include_graph.py ROOT
"""
import pathlib
import re
import sys

# Folder -> project folders it may include, beside itself. The one header of "runtime" itself is torch_boundary.h.
PROJECT = {
    "compiler/base": [],
    "compiler/ir": ["compiler/base"],
    "compiler/frontend": ["compiler/base"],
    "stdlib": [],
    "compiler/passes": ["compiler/base", "compiler/ir", "compiler/frontend", "stdlib"],
    "simulator": ["compiler/base", "compiler/ir"],
    "planner": ["compiler/base", "compiler/ir", "simulator"],
    "compiler/driver": ["compiler/base", "compiler/ir", "compiler/frontend", "compiler/passes", "stdlib", "simulator",
                        "planner", "runtime/bundle"],
    "runtime/bundle": ["compiler/base", "compiler/ir"],
    "runtime/comm": ["compiler/base", "compiler/ir", "runtime/bundle", "runtime"],
    "runtime/model": ["compiler/base", "compiler/ir", "runtime/bundle", "runtime/comm"],
    "runtime/engine": ["compiler/base", "compiler/ir", "simulator", "runtime/bundle", "runtime/comm", "runtime/model",
                       "runtime"],
    "runtime/elastic": ["compiler/base", "compiler/ir", "runtime/bundle", "runtime/engine", "runtime"],
    "runtime/profile": ["compiler/base", "compiler/ir", "simulator", "runtime/bundle", "runtime/comm", "runtime/model", "runtime/engine",
                        "runtime/elastic", "runtime"],
    "runtime": ["compiler/base", "compiler/ir", "runtime/bundle", "runtime/engine", "runtime/elastic", "runtime/profile"],
}

# First path component of a third-party header -> folders that may include it.
THIRD_PARTY = {
    "antlr4-runtime.h": ["compiler/frontend"],
    "SailLexer.h": ["compiler/frontend"],
    "SailParser.h": ["compiler/frontend"],
    "llvm": ["compiler/driver"],
    "nlohmann": ["compiler/base"],
    "openssl": ["compiler/base"],
    "torch": ["runtime", "runtime/comm", "runtime/model", "runtime/engine", "runtime/elastic"],
    "ATen": ["runtime", "runtime/comm", "runtime/model", "runtime/engine", "runtime/profile"],
    "c10": ["runtime", "runtime/comm", "runtime/model", "runtime/engine", "runtime/elastic"],
    "gloo": ["runtime/comm"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]')


def folder_of(path):
    """The deepest folder of the table that holds `path`, or None."""
    parts = path.split("/")[:-1]
    while parts:
        if "/".join(parts) in PROJECT:
            return "/".join(parts)
        parts.pop()
    return None


def faults_of(root, path):
    relative = path.relative_to(root).as_posix()
    folder = folder_of(relative)
    if folder is None:
        return [f"{relative}: its folder is not in the table of tests/lint/include_graph.py"]
    faults = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match.group(1)
        first = included.split("/")[0]
        if first in THIRD_PARTY:
            if folder not in THIRD_PARTY[first]:
                faults.append(f"{relative}:{number}: {folder} must not include <{included}>")
            continue
        target = folder_of(included)
        if target is not None and target != folder and target not in PROJECT[folder]:
            faults.append(f"{relative}:{number}: {folder} must not include {target} ({included})")
    return faults


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = []
    for top in ("compiler", "planner", "simulator", "runtime", "stdlib"):
        files += sorted(p for p in (root / top).rglob("*") if p.suffix in (".h", ".cc", ".cpp"))
    if not files:
        sys.exit("no source files found: wrong root?")
    faults = [fault for path in files for fault in faults_of(root, path)]
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
