"""Parses each line of a file as a JSON object and prints its type and the fields that tests look at."""
import json
import sys

for line in open(sys.argv[1], encoding="utf-8"):
    value = json.loads(line)
    assert value["v"] == "1.0", line
    fields = {
        "diagnostic": lambda v: v["code"],
        "error": lambda v: "",
        "artifact": lambda v: " ".join([v["kind"], v.get("hash", ""), *v.get("certificate", {})]),
        "summary": lambda v: f"errors={v['errors']} exit_code={v['exit_code']}",
    }[value["type"]](value)
    print(value["type"], fields)
