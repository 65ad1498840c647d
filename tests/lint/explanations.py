#!/usr/bin/env python3
"""Fails when a registered diagnostic has no text in docs/diagnostics, or a text has the wrong layout.

usage: explanations.py ROOT

A text is docs/diagnostics/SAILnnnn.md: the line `# SAILnnnn: title` with the registered title, one paragraph, then the
sections `## Wrong` and `## Right` with one fenced .sail file each.
"""
import pathlib
import re
import sys

LAYOUT = re.compile(r"# (SAIL\d{4}): (.+)\n\n(?P<paragraph>(?:(?!#|```)[^\n]+\n)+)\n"
                    r"## Wrong\n\n```sail\n(?P<wrong>.+?\n)```\n\n"
                    r"## Right\n\n```sail\n(?P<right>.+?\n)```\n", re.DOTALL)


def registered(root):
    text = (root / "compiler/base/diagnostics.def").read_text(encoding="utf-8")
    rows = re.findall(r'^SAIL_DIAGNOSTIC\(\w+, (\d+), \w+, "([^"]*)"\)', text, re.MULTILINE)
    return {f"SAIL{int(number):04d}": title for number, title in rows}


def faults(path, titles):
    text = path.read_text(encoding="utf-8")
    if path.stem not in titles:
        yield "the code is not registered"
        return
    layout = LAYOUT.fullmatch(text)
    if layout is None:
        yield "expected `# CODE: title`, one paragraph, `## Wrong` and `## Right` with one ```sail block each"
        return
    if layout.group(1) != path.stem or layout.group(2) != titles[path.stem]:
        yield f"the first line must be `# {path.stem}: {titles[path.stem]}`"
    if any(len(line) > 120 for line in layout.group("paragraph").splitlines()):
        yield "a line of the paragraph is longer than 120 characters"
    if layout.group("wrong") == layout.group("right"):
        yield "the two examples are the same"


def main():
    root = pathlib.Path(sys.argv[1])
    folder = root / "docs/diagnostics"
    titles = registered(root)
    problems = [f"{code} has no text: write docs/diagnostics/{code}.md"
                for code in sorted(titles) if not (folder / f"{code}.md").exists()]
    for path in sorted(folder.iterdir()):
        problems += [f"{path.relative_to(root)}: {fault}" for fault in faults(path, titles)]
    for problem in problems:
        print(problem)
    return 1 if problems or not titles else 0


if __name__ == "__main__":
    sys.exit(main())
