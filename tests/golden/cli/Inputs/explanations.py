"""Compiles the examples of docs/diagnostics: each wrong one gives its code and no other error, each right one no error.

usage: explanations.py SAILC DIRECTORY_OF_TEXTS WORK_DIRECTORY
"""
import json
import pathlib
import re
import subprocess
import sys

SAILC, TEXTS, WORK = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])

# These show up when a job is planned, not when a file is checked.
PLANNED = re.compile(r"SAIL05(?!06)|SAIL0410|SAIL0411")

# What U+FFFD stands for in an example: a byte order mark, and a byte that is no UTF-8.
UNPRINTABLE = {"SAIL0101": "\ufeff".encode("utf-8"), "SAIL0109": b"\xe9"}

# What examples read, beside the standard library.
MODEL = {"heads": 4, "seq_len": 32, "vocab": 256}
FILES = {"a100.json": (64, ["block"]), "wide.json": (128, ["embedding", "block", "head"])}


def profile(hidden, layers):
    times = {"tensor": 1, "micro_batch": 1, "forward_s": 0.002, "backward_s": 0.004, "optimizer_s": 0.001}
    return {"format": "1.0", "kind": "sailprofile", "gpu": "A100_40", "precision": "fp16",
            "model": {**MODEL, "hidden": hidden, "feed_forward": 4 * hidden, "embedding_width": hidden},
            "entries": [{"layer": layer, **times} for layer in layers]}


def diagnostics(path, code, text):
    today = re.search(r"--today \d{4}-\d\d-\d\d", text)
    command = ["plan", "-o", str(path) + "plan"] if PLANNED.match(code) else ["check"]
    flags = today.group(0).split() if today else []
    run = subprocess.run([SAILC, *command, "--format", "json", *flags, path.name], cwd=path.parent, capture_output=True,
                         text=True, check=False)
    lines = [json.loads(line) for line in run.stderr.splitlines()]
    return [line for line in lines if line["type"] in ("diagnostic", "error")]


def faults(path):
    text = path.read_text(encoding="utf-8")
    code = path.stem
    wrong, right = re.findall(r"```sail\n(.*?)```", text, re.DOTALL)
    for name, source in (("wrong", wrong), ("right", right)):
        folder = WORK / code
        folder.mkdir(parents=True, exist_ok=True)
        for file, (hidden, layers) in FILES.items():
            (folder / file).write_text(json.dumps(profile(hidden, layers)), encoding="utf-8")
        data = source.encode("utf-8").replace("\ufffd".encode("utf-8"), UNPRINTABLE.get(code, b""))
        (folder / f"{name}.sail").write_bytes(data)
        said = diagnostics(folder / f"{name}.sail", code, source)
        codes = {d.get("code", "error without a code") for d in said}
        errors = {d.get("code", d["message"]) for d in said if d.get("severity", "error") == "error"}
        if name == "wrong" and code not in codes:
            yield f"the wrong example does not give the code, but {sorted(codes)}"
        if name == "wrong" and errors - {code}:
            yield f"the wrong example gives other errors: {sorted(errors - {code})}"
        if name == "right" and (errors or code in codes):
            yield f"the right example gives {sorted(errors | ({code} & codes))}"


count = 0
failed = False
for path in sorted(TEXTS.glob("SAIL*.md")):
    count += 1
    for fault in faults(path):
        failed = True
        print(f"{path.name}: {fault}")
print(f"{count} texts")
sys.exit(1 if failed or count == 0 else 0)
