"""format is idempotent and keeps the tree, on every .sail file of the repository that parses.

usage: roundtrip.py SAILC ROOT SCRATCH
"""
import pathlib
import subprocess
import sys

sailc, root, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
formatted_file = scratch / "formatted.sail"


def run(arguments, text=None):
    return subprocess.run([sailc, *arguments], input=text, capture_output=True, check=False)


def tree(path):
    done = run(["check", "--print=ast", str(path)])
    assert done.returncode == 0, f"{path}: parses for fmt but not for check"
    return done.stdout


files = sorted(path for top in ("examples", "stdlib", "tests") for path in (root / top).rglob("*.sail"))
checked = 0
for file in files:
    formatted = run(["fmt", "-"], file.read_bytes())
    if formatted.returncode != 0:
        assert formatted.returncode == 1 and file.is_relative_to(root / "tests"), f"{file}: cannot be formatted"
        continue
    formatted_file.write_bytes(formatted.stdout)
    again = run(["fmt", "-"], formatted.stdout)
    assert again.stdout == formatted.stdout, f"{file}: formatting twice differs"
    assert tree(file) == tree(formatted_file), f"{file}: formatting changed the tree"
    checked += 1
print(f"{checked} of {len(files)} files")
assert checked >= 10, "too few files: wrong root?"
