"""Checks a file against the required properties and the types of SARIF 2.1.0, as far as sailc uses it, and prints the
results, one a line: code, level, place, fingerprint.

usage: sarif_shape.py FILE [--fingerprints]

The rules are those of the OASIS schema sarif-schema-2.1.0.json: each object below lists its required and its optional
properties; any other property is a fault. The texts of a rule are optional there, but GitHub requires them.
"""
import json
import re
import sys

# Property: type name, a list [element type], or a tuple of allowed words. `!` marks required ones.
SCHEMA = {
    "log": {"$schema": "uri", "!version": ("2.1.0",), "!runs": ["run"]},
    "run": {"!tool": "tool", "columnKind": ("utf16CodeUnits", "unicodeCodePoints"), "invocations": ["invocation"],
            "results": ["result"]},
    "tool": {"!driver": "driver"},
    "driver": {"!name": "text", "version": "text", "rules": ["rule"]},
    "rule": {"!id": "text", "!shortDescription": "multiformat", "!fullDescription": "multiformat",
             "!help": "multiformat", "defaultConfiguration": "configuration"},
    "multiformat": {"!text": "text", "markdown": "text"},
    "configuration": {"level": ("none", "note", "warning", "error")},
    "invocation": {"!executionSuccessful": "bool", "exitCode": "int", "toolExecutionNotifications": ["notification"]},
    "notification": {"!message": "message", "level": ("none", "note", "warning", "error")},
    "result": {"!message": "message", "ruleId": "text", "ruleIndex": "int",
               "level": ("none", "note", "warning", "error"), "locations": ["location"],
               "relatedLocations": ["location"], "partialFingerprints": "fingerprints"},
    "message": {"!text": "text"},
    "location": {"id": "int", "physicalLocation": "physical", "message": "message"},
    "physical": {"!artifactLocation": "artifact", "region": "region"},
    "artifact": {"!uri": "uri", "uriBaseId": "text"},
    "region": {"!startLine": "position", "startColumn": "position", "endLine": "position", "endColumn": "position"},
}
URI = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2}|[a-z]+://)+")


def check(value, kind, path):
    if isinstance(kind, list):
        assert isinstance(value, list), f"{path} is no array"
        for i, element in enumerate(value):
            check(element, kind[0], f"{path}[{i}]")
    elif isinstance(kind, tuple):
        assert value in kind, f"{path}: {value!r} is none of {kind}"
    elif kind in SCHEMA:
        assert isinstance(value, dict), f"{path} is no object"
        properties = {name.lstrip("!"): type_ for name, type_ in SCHEMA[kind].items()}
        required = {name[1:] for name in SCHEMA[kind] if name.startswith("!")}
        assert required <= value.keys(), f"{path} lacks {sorted(required - value.keys())}"
        assert value.keys() <= properties.keys(), f"{path}: unknown {sorted(value.keys() - properties.keys())}"
        for name, element in value.items():
            check(element, properties[name], f"{path}.{name}")
    elif kind == "fingerprints":
        assert value and all(isinstance(v, str) and v for v in value.values()), path
    elif kind == "bool":
        assert isinstance(value, bool), path
    elif kind in ("int", "position"):
        assert isinstance(value, int) and not isinstance(value, bool) and value >= (kind == "position"), path
    else:
        assert isinstance(value, str) and value, path
        assert kind != "uri" or URI.fullmatch(value), f"{path}: {value!r} is no URI"


def place(location):
    physical = location["physicalLocation"]
    region = physical["region"]
    start = (region["startLine"], region["startColumn"])
    end = (region["endLine"], region["endColumn"])
    assert start <= end, location
    return f"{physical['artifactLocation']['uri']}:{start[0]}:{start[1]}-{end[0]}:{end[1]}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        log = json.load(file)
    check(log, "log", "log")
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules), "a rule is listed twice"
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result
        related = " ".join(f"({place(location)})" for location in result.get("relatedLocations", []))
        if "--fingerprints" in sys.argv:
            print(result["ruleId"], *result["partialFingerprints"].values())
        else:
            print(result["ruleId"], result["level"], *map(place, result["locations"]), related)
    for notification in run["invocations"][0]["toolExecutionNotifications"]:
        print("notification", notification["level"], notification["message"]["text"])
    print("exit code", run["invocations"][0]["exitCode"])


main()
