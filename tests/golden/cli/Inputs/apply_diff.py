"""Prints FILE as the unified diff DIFF changes it; refuses a hunk whose lines are not those of the file.

usage: apply_diff.py FILE DIFF
"""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    before = file.read().splitlines(keepends=True)
with open(sys.argv[2], encoding="utf-8") as file:
    diff = file.read().splitlines(keepends=True)[2:]
at = 0
for line in diff:
    hunk = re.match(r"@@ -(\d+)(?:,(\d+))? ", line)
    if hunk:
        first = int(hunk.group(1)) - (hunk.group(2) != "0")
        sys.stdout.writelines(before[at:first])
        at = first
    elif line[0] == "+":
        sys.stdout.write(line[1:])
    else:
        assert before[at] == line[1:], line
        sys.stdout.write(line[1:] if line[0] == " " else "")
        at += 1
sys.stdout.writelines(before[at:])
