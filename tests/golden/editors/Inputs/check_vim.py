"""Asks Vim for the syntax group of words in probe.sail; without a Vim that has syntax, checks the file's structure.

usage: check_vim.py VIM_DIRECTORY PROBE SCRATCH
"""
import pathlib
import re
import shutil
import subprocess
import sys

directory, probe, scratch = (pathlib.Path(argument) for argument in sys.argv[1:4])

# (line, a word in it, the group of its first character)
EXPECTED = [
    (1, "sail", "sailKeyword"), (1, "1", "sailNumber"), (3, "##", "sailDoc"), (4, "gpu", "sailBlock"),
    (4, "memory", "sailAttribute"), (4, "16", "sailNumber"), (4, "GiB", "sailUnit"), (4, "# a", "sailComment"),
    (6, "job", "sailBlock"), (7, "resources", "sailAttribute"), (7, "lab", ""), (8, "minimize", "sailSoftWord"),
    (8, "cost_per_iter", "sailMetric"), (8, "throughput", "sailMetric"), (8, "0.2", "sailNumber"),
    (8, "iters/s", "sailUnit"), (9, "data", "sailBlock"), (9, "text", "sailAttribute"), (9, '"a', "sailString"),
    (9, "${", "sailDelimiter"), (9, "zone", "sailInterpolation"), (9, "\\n", "sailEscape"),
    (10, "true", "sailConstant"), (10, "92", "sailNumber"), (10, "%", "sailUnit"),
]


def groups_by_vim(vim):
    lines = probe.read_text(encoding="utf-8").split("\n")
    out = scratch / "groups.txt"
    script = [f"set nomore encoding=utf-8 runtimepath^={directory}", "filetype on", "syntax on", f"edit {probe}",
              'if &filetype != "sail" | cquit | endif', "let g:groups = []"]
    for line, word, _ in EXPECTED:
        column = len(lines[line - 1][:lines[line - 1].index(word)].encode()) + 1
        script.append(f'call add(g:groups, synIDattr(synID({line}, {column}, 0), "name"))')
    script += [f'call writefile(g:groups, "{out}")', "qall!"]
    commands = scratch / "commands.vim"
    commands.write_text("\n".join(script) + "\n", encoding="utf-8")
    done = subprocess.run([vim, "-es", "-u", "NONE", "-i", "NONE", "-N", "-S", commands], capture_output=True,
                          timeout=60, check=False, stdin=subprocess.DEVNULL)
    if not out.exists():
        sys.exit(f"vim failed ({done.returncode}): {done.stdout.decode()}{done.stderr.decode()}")
    return out.read_text(encoding="utf-8").split("\n")[:len(EXPECTED)]


def has_syntax(vim):
    features = subprocess.run([vim, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    return "+syntax" in features and "+eval" in features


def check_structure():
    """Every group that is linked is defined, and the other way round; every pattern is closed."""
    text = (directory / "syntax/sail.vim").read_text(encoding="utf-8")
    defined = set(re.findall(r"^syn (?:keyword|match|region) (sail\w+) ", text, re.MULTILINE))
    linked = set(re.findall(r"^hi def link (sail\w+) \w+$", text, re.MULTILINE))
    assert len(defined) >= 12, defined
    assert defined - {"sailInterpolation"} == linked - {"sailDelimiter"}, defined ^ linked
    matches = re.findall(r"^syn match \w+ (.*)$", text, re.MULTILINE)
    assert matches and all(re.fullmatch(r"/(?:[^/\\]|\\.)+/.*", match) for match in matches)
    assert {group for _, _, group in EXPECTED} - {""} <= defined | {"sailDelimiter"}


check_structure()
vim = shutil.which("vim")
if vim is None or not has_syntax(vim):
    print("structure only: there is no vim with syntax")
    sys.exit(0)
faults = [f"line {line}, `{word}`: expected {expected or 'no group'}, found {found or 'none'}"
          for (line, word, expected), found in zip(EXPECTED, groups_by_vim(vim), strict=True) if expected != found]
print("\n".join(faults) if faults else f"{len(EXPECTED)} words")
sys.exit(1 if faults else 0)
