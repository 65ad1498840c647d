"""Names: where they are declared and used, what they are worth, and which ones fit.

usage: navigation.py SAILC SCRATCH

Prints what the server said; the test compares that.
"""
import pathlib
import sys

from client import Client, position_of, uri

sailc, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
main, hardware = scratch / "job.sail", scratch / "hard ware.sail"

HARDWARE = """sail 1

gpu card { memory = 16 GiB, peak_fp16 = 125 TFLOP/s }

## Four cards.
machine base {
  gpu           = card
  gpus_per_node = 4 GPUs
  intra_node    = 32 GB/s
  nic           = 100 Gbps
  price { on_demand = 14.69 USD/h, spot = 5 USD/h }
}
"""
# The smiley is two UTF-16 units and four bytes.
MAIN = """sail 1

import "hard ware.sail" as hw
import "std/gcp@2026.11" as gcp

## What a node may cost.
param most: USD/h = 3 USD/h where most > 1 USD/h
let quotas = { "😀" = 24 nodes, "b" = 16 nodes }
let fast = 200 Gbps
let slow = if true then fast else most

machine box extends hw.base {
  override nic = fast
  override gpu.memory = 24 GiB
  override price.spot = most
}
machine other extends gcp.a2_highgpu_1g { override nic = 10 Gbps }

resources r {
  region "us" {
    for z, n in quotas {
      zone "${z}" {
        pool "p-${z}" { machine = box, quota = n * 1, market = [spot, on_demand] }
        pool "q-${z}" { machine = other, quota = 3 GPUs }
      }
    }
  }
  link * <-> * { bandwidth = 10 Gbps, latency = 1 ms, egress = 0 USD/GB }
}
"""


def place(location):
    """job.sail:9:5-9, lines and UTF-16 units from 1."""
    if location is None:
        return "none"
    start, end = location["range"]["start"], location["range"]["end"]
    name = location["uri"].rsplit("/", 1)[1]
    return f"{name}:{start['line'] + 1}:{start['character'] + 1}-{end['character'] + 1}"


def on(text):
    """The place of `|` in a piece of MAIN that occurs once."""
    before, after = text.split("|")
    assert MAIN.count(before + after) == 1, text
    line, character = position_of(MAIN, before + after)
    return line, character + len(before.encode("utf-16-le")) // 2


def outline(symbols, depth=0):
    for symbol in symbols:
        yield "  " * depth + f"{symbol['detail']} {symbol['name']}"
        yield from outline(symbol.get("children", []), depth + 1)


with Client(sailc) as client:
    capabilities = client.initialize()
    for name in ("definition", "references", "documentSymbol"):
        assert capabilities[f"{name}Provider"], capabilities
    hardware.write_text(HARDWARE, encoding="utf-8")
    client.open(main, MAIN)
    assert client.diagnostics(main) == []

    for text in ("hw.b|ase", "nic = fa|st", "spot = mo|st", "where mo|st", "h|w.base", "hard| ware", "machine bo|x",
                 "machine = bo|x", "= n| *", "p-${|z}", "override n|ic = fast", "gcp.a2|_high", "std|/gcp", "reg|ion",
                 "else mo|st"):
        print(f"definition {text}: {place(client.at('definition', main, *on(text)))}")

    for text in ("hw.b|ase", "spot = mo|st", "nic = fa|st", "h|w.base", "for z, n| in", "machine bo|x ex",
                 "machine ot|her", "override n|ic = fast", "= 24| GiB", "override price.s|pot", "1|0 Gbps }", "quo|ta = n",
                 "* 1|,", "quo|ta = 3", "= [sp|ot", "pool \"p|-", "1|0 Gbps, lat", "reg|ion", "std|/gcp"):
        hover = client.at("hover", main, *on(text))
        print(f"hover {text}:", hover["contents"]["value"].replace("\n\n", " | ").replace("\n", " / "))

    def references(text, declaration):
        found = client.at("references", main, *on(text), context={"includeDeclaration": declaration})
        print(f"references {text}:", *map(place, found))

    references("spot = mo|st", True)
    references("for z|", False)
    references("hw.b|ase", True)
    references("reg|ion", True)
    print("outline:")
    print(*outline(client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri(main)}})), sep="\n")

    # The open text of an import shadows the file: its declarations move at once.
    client.open(hardware, "sail 1\n" + HARDWARE.removeprefix("sail 1"))
    assert client.diagnostics(hardware) == []
    client.change(hardware, 2, {"text": HARDWARE.replace("gpu card", "\n\ngpu card")})
    assert client.diagnostics(hardware) == []
    print("moved:", place(client.at("definition", main, *on("hw.b|ase"))))
    references("hw.b|ase", False)

    # Names in text that is being written: those of the last version that could be read, and those of the text.
    version = 2

    def complete(written, head=MAIN):
        global version
        text = head + written
        client.change(main, version, {"text": text})
        client.wait_for("textDocument/publishDiagnostics")
        version += 1
        lines = text.split("\n")
        items = client.at("completion", main, len(lines) - 1, len(lines[-1]))
        names = [item["label"] for item in items if not item["label"].startswith("gcp.")]
        print(f"names {written.rsplit(chr(10), 1)[-1].strip()}:", *names)
        return items

    complete("machine m {\n  gpu = ")
    complete("machine m {\n  gpu = hw.c")
    complete("machine m {\n  gpu = hw.gpu.")
    complete("machine m {\n  nic = ")
    complete("machine m extends ")
    complete("machine m extends hw.")
    items = complete("machine m extends gcp.a2_h")
    print("a2_highgpu_1g:", *[f"{i['detail']}; {i['documentation']}" for i in items if i["label"] == "a2_highgpu_1g"])
    complete("param x: USD/h = ")
    complete("param x: USD/h = 3 USD/h where ")
    complete("for a, b in ")
    complete("resources s {\n  machine own {\n  }\n  for a, b in quotas {\n    pool \"x-${a}\" { machine = ")
    complete("resources s {\n  for a, b in quotas {\n    pool \"x-${a}\" { quota = ")
    complete("job j {\n  model = ")
    complete("resources s {\n  pool a { market = ")
    assert client.at("definition", main, *on("hw.b|ase")) is None  # not parsed: no places
    assert client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri(main)}}) is None

    # A text that was never readable has its own names only.
    fresh = scratch / "fresh.sail"
    client.open(fresh, "sail 1\n\nlet limit = 3 USD/h\ngpu tiny { memory = 1 GiB }\nmachine m {\n  gpu = ")
    client.wait_for("textDocument/publishDiagnostics")
    print("fresh:", *[item["label"] for item in client.at("completion", fresh, 5, 8)])
    assert client.shut_down() == 0
print("exit 0")
