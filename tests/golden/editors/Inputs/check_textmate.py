"""Plays the TextMate grammar on probe.sail, as an editor does, and checks the scope of words in it.

usage: check_textmate.py GRAMMAR PROBE
"""
import json
import pathlib
import re
import sys

grammar = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
lines = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").split("\n")

# (line, a word in it, the innermost scope of its first character without ".sail")
EXPECTED = [
    (1, "sail", "keyword.control"), (1, "1", "constant.numeric"), (3, "##", "comment.line.documentation"),
    (4, "gpu", "entity.name.type"), (4, "memory", "variable.other.property"), (4, "16", "constant.numeric"),
    (4, "GiB", "keyword.other.unit"), (4, "# a", "comment.line.number-sign"), (6, "job", "entity.name.type"),
    (7, "resources", "variable.other.property"), (7, "lab", ""), (8, "minimize", "keyword.control"),
    (8, "cost_per_iter", "support.constant.metric"), (8, "throughput", "support.constant.metric"),
    (8, ">=", "keyword.operator"), (8, "0.2", "constant.numeric"), (8, "iters/s", "keyword.other.unit"),
    (9, "data", "entity.name.type"), (9, "text", "variable.other.property"), (9, '"a', "string.quoted.double"),
    (9, "${", "punctuation.section.embedded.begin"), (9, "zone", "meta.embedded.expression"),
    (9, "\\n", "constant.character.escape"), (10, "true", "constant.language"), (10, "92", "constant.numeric"),
    (10, "%", "keyword.other.unit"),
]


def flatten(patterns):
    """The rules of a pattern list, includes replaced by what they name."""
    for pattern in patterns:
        if "include" in pattern:
            yield from flatten([grammar["repository"][pattern["include"].removeprefix("#")]])
        elif "match" in pattern or "begin" in pattern:
            yield pattern
        else:
            yield from flatten(pattern["patterns"])


def paint(scopes, match, rule, captures):
    for at in range(*match.span()):
        scopes[at] = rule.get("name", scopes[at])
    for group, capture in rule.get(captures, {}).items():
        for at in range(*match.span(int(group))):
            scopes[at] = capture["name"]


def scopes_of(text, stack):
    """The innermost scope of every character of a line. `stack` holds the open regions and lives on to the next."""
    scopes, at = [""] * len(text), 0
    while True:
        rules = list(flatten(stack[-1]["patterns"]))
        found = [(m.start(), i, m) for i, rule in enumerate(rules)
                 if (m := re.compile(rule.get("match") or rule["begin"]).search(text, at))]
        end = re.compile(stack[-1]["end"]).search(text, at) if len(stack) > 1 else None
        first = min(found, key=lambda f: f[:2], default=None)
        before = min([m.start() for m in (end, first and first[2]) if m], default=len(text))
        for i in range(at, before):
            scopes[i] = stack[-1].get("name", "") if len(stack) > 1 else ""
        if end and (first is None or end.start() <= first[0]):
            paint(scopes, end, stack[-1], "endCaptures")
            stack.pop()
            at = end.end()
        elif first is None:
            return scopes
        else:
            rule, match = rules[first[1]], first[2]
            assert match.end() > at or "begin" in rule, f"a rule matches nothing: {rule}"
            paint(scopes, match, rule, "captures" if "match" in rule else "beginCaptures")
            if "begin" in rule:
                stack.append(rule)
            at = match.end()


stack = [grammar]
painted = [scopes_of(line, stack) for line in lines]
assert len(stack) == 1, "a region is still open at the end"
faults = []
for line, word, expected in EXPECTED:
    found = painted[line - 1][lines[line - 1].index(word)].removesuffix(".sail")
    if found != expected:
        faults.append(f"line {line}, `{word}`: expected {expected or 'no scope'}, found {found or 'none'}")
print("\n".join(faults) if faults else f"{len(EXPECTED)} words")
sys.exit(1 if faults else 0)
