"""The schema document is complete: every list is there, and some rows, one of each sort, say what the language says."""
import json
import pathlib
import sys

schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))


def row(part, **wanted):
    rows = [r for r in schema[part] if all(r.get(key) == value for key, value in wanted.items())]
    assert len(rows) == 1, f"{part} {wanted}: {rows}"
    return rows[0]


assert schema["version"] == "1.0"
pool = row("kinds", name="pool")
assert pool["parents"] == ["resources", "region", "zone"] and pool["label"] == "required" and not pool["at_most_one"]
assert row("kinds", name="profile")["open"] and row("kinds", name="batch")["required_in"] == "job"
market = row("attributes", kind="pool", name="market")
assert market["words"] == ["spot", "on_demand", "reserved"] and market["default"] == "on_demand", market
assert not market["required"] and market["type"] == "enum_list"
assert row("attributes", kind="pool", name="machine")["refers_to"] == "machine"
memory = row("attributes", kind="gpu", name="memory")
assert memory["unit"] == "GiB" and memory["bound"] == "positive" and memory["largest"] == 1 << 50 and memory["required"]
# Exact factors: a bit is an eighth of a byte, 2^50 and 10^-9 are not rounded.
assert row("units", word="bps") == {"word": "bps", "meaning": "bits per second", "dimension": "a bandwidth",
                                    "base": "B/s", "factor": "0.125", "reading": "1 bps = 0.125 B/s"}
assert row("units", word="PiB")["factor"] == str(1 << 50) and row("units", word="ns")["factor"] == "0.000000001"
assert row("units", word="nodes")["singular"] == "node"
assert "EUR" in schema["reserved_units"]
assert "let" in schema["keywords"]["reserved"] and "minimize" in schema["keywords"]["soft"]
assert row("metrics", name="cost_rate")["unit"] == "USD/h"
assert row("diagnostics", code="SAIL0407")["severity"] == "warning"
for part in ("kinds", "attributes"):
    assert all(r["doc"] for r in schema[part]), part
for attribute in schema["attributes"]:
    row("kinds", name=attribute["kind"])
