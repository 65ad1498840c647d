#!/usr/bin/env python3
"""Compiles every snippet of a Markdown file.

usage: check_snippets.py SAILC FILE.md DIRECTORY

A block fenced as `sail` must check without errors and warnings (but unused names), one fenced as `sail-error SAILnnnn`
must give that code and no other.
A block that begins with `sail 1` is a file. Any other block stands behind the one marked `<!-- context -->`. A block
marked `<!-- file NAME -->` is also written to NAME, for later ones to import. Files go to DIRECTORY.
"""
import json
import pathlib
import re
import subprocess
import sys

SNIPPET = re.compile(r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```sail(?P<kind>-error (?P<code>SAIL\d{4}))?\n(?P<text>.*?)^```$",
                     re.DOTALL | re.MULTILINE)

UNUSED = "SAIL0312"  # a snippet shows a name and leaves its use to the reader


def codes_of(sailc, path):
    """The exit status of a check, and the codes of what it reports."""
    done = subprocess.run([sailc, "check", "--format", "json", path.name], cwd=path.parent, capture_output=True,
                          text=True, check=False)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    return done.returncode, sorted({line["code"] for line in lines if line["type"] == "diagnostic"} - {UNUSED})


def main():
    sailc, document, directory = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    text = document.read_text(encoding="utf-8")
    snippets = list(SNIPPET.finditer(text))
    if len(snippets) != len(re.findall(r"^```sail", text, re.MULTILINE)):
        sys.exit(f"{document.name}: a snippet is not fenced as expected")
    context = "".join(snippet["text"] for snippet in snippets if snippet["mark"] == "context")
    faults = 0
    for snippet in snippets:
        line = text.count("\n", 0, snippet.start("text")) + 1
        mark = snippet["mark"] or ""
        body = snippet["text"] if snippet["text"].startswith("sail 1\n") else f"{context}\n{snippet['text']}"
        path = directory / (mark[len("file "):] if mark.startswith("file ") else f"line_{line}.sail")
        path.write_text(body, encoding="utf-8")
        expected = [snippet["code"]] if snippet["code"] else []
        status, found = codes_of(sailc, path)
        if found != expected or status != (1 if expected else 0):
            faults += 1
            print(f"{document.name}:{line}: expected {expected}, found {found}, exit {status}")
    print(f"{document.name}: {len(snippets)} snippets, {faults} wrong")
    sys.exit(1 if faults or not snippets else 0)


main()
