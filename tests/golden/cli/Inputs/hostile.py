"""Writes files that no parser likes into a directory."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
(folder / "large.sail").write_bytes(b"sail 1\n" + b"let x = 1\n" * 5_000_000)
(folder / "nested.sail").write_text("sail 1\n\nlet x = " + "(" * 100_000 + "1" + ")" * 100_000 + "\n")
(folder / "latin1.sail").write_bytes(b"sail 1\n\n# caf\xe9\n")
