"""One editing session from `initialize` to `exit`, checked step by step.

usage: conversation.py SAILC SCRATCH

Prints what completion and hover said; the test compares that.
"""
import pathlib
import sys

from client import Client, change_range, position_of

sailc, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
main, hardware = scratch / "job.sail", scratch / "hard ware.sail"

HARDWARE = """sail 1

gpu card { memory = 16 GiB, peak_fp16 = 125 TFLOP/s }
"""
# The smiley is two UTF-16 units and four bytes.
MAIN = """sail 1

import "hard ware.sail" as hw  # 😀 资源

machine box {
  gpu = hw.card, gpus_per_node = 4 GPUs, intra_node = 100 Gbps, nic = 3
  price { on_demand = 14.69 USD/h }
}
"""


def labels(client, line, character, **more):
    return [item["label"] for item in client.at("completion", main, line, character, **more)]


def show(title, value):
    print(f"{title}: {value}")


with Client(sailc) as client:
    capabilities = client.initialize()
    assert capabilities["hoverProvider"] and capabilities["documentFormattingProvider"], capabilities
    assert capabilities["textDocumentSync"]["change"] == 2, capabilities

    # The import is open and was never saved: the compiler reads the editor's text.
    client.open(hardware, HARDWARE)
    assert client.diagnostics(hardware) == []
    client.open(main, MAIN)
    found = client.diagnostics(main)
    assert [d["code"] for d in found] == ["SAIL0201"], found
    line, character = position_of(MAIN, "nic = ", after=True)
    assert found[0]["range"] == {"start": {"line": line, "character": character},
                                 "end": {"line": line, "character": character + 1}}, found
    assert found[0]["severity"] == 1 and "`nic` needs a unit" in found[0]["message"], found

    # Half-written: `nic = 3 ` asks for units.
    text = MAIN.replace("nic = 3", "nic = 3 ")
    client.change(main, 2, change_range((line, character + 1), (line, character + 1), " "))
    assert [d["code"] for d in client.diagnostics(main)] == ["SAIL0201"]
    items = client.at("completion", main, line, character + 2, context={"triggerKind": 2, "triggerCharacter": " "})
    show("units of nic", [item["label"] for item in items])
    show("Gbps", f"{items[0]['detail']}; {items[0]['documentation']}")

    # The fix clears the diagnostic.
    client.change(main, 3, change_range((line, character + 2), (line, character + 2), "Gbps"))
    text = MAIN.replace("nic = 3", "nic = 3 Gbps")
    assert client.diagnostics(main) == []

    # Two changes in one notification, the second one behind the smiley of its line; then back.
    line, character = position_of(text, "资源", after=True)
    client.change(main, 4, change_range((line, character), (line, character), "!"),
                  change_range((line, character - 2), (line, character + 1), "x"))
    assert client.diagnostics(main) == []
    edited = text.replace("资源", "x")
    formatted = client.request("textDocument/formatting", {"textDocument": {"uri": main.as_uri()}, "options": {}})
    assert "# 😀 x\n" in formatted[0]["newText"], formatted
    assert formatted[0]["range"]["start"] == {"line": 0, "character": 0}, formatted
    client.change(main, 5, {"text": formatted[0]["newText"]})
    assert client.diagnostics(main) == []
    assert client.request("textDocument/formatting", {"textDocument": {"uri": main.as_uri()}, "options": {}}) == []
    client.change(main, 6, {"text": edited})
    assert client.diagnostics(main) == []

    # A fault in the import shows in the import; closing the editor's text takes the faults with it.
    client.change(hardware, 2, {"text": HARDWARE.replace("16 GiB", "16 gib")})
    assert [d["code"] for d in client.diagnostics(hardware)] == ["SAIL0202"]
    client.change(hardware, 3, {"text": HARDWARE})
    assert client.diagnostics(hardware) == []

    for name in ("16 GiB", "peak_fp16", "gpu card"):
        hover = client.at("hover", hardware, *position_of(HARDWARE, name))
        show(f"hover {name}", hover["contents"]["value"].replace("\n\n", " | "))
    for name in ("100 Gbps", "USD/h", "price", "on_demand", "intra_node"):
        hover = client.at("hover", main, *position_of(edited, name))
        show(f"hover {name}", hover["contents"]["value"].replace("\n\n", " | "))
    assert client.at("hover", main, *position_of(edited, "😀")) is None

    # Completion in blocks that are still being written.
    def complete(title, written):
        text = "sail 1\n\n" + written
        client.change(main, 7, {"text": text})
        client.wait_for("textDocument/publishDiagnostics")
        lines = text.split("\n")
        show(title, labels(client, len(lines) - 1, len(lines[-1])))

    complete("in machine", "machine box {\n  gp")
    complete("in price", "machine box {\n  price { spot = 3 USD/h, ")
    complete("after price.", "machine box {\n  price.")
    complete("market", "resources r {\n  pool a { market = ")
    complete("import", 'import "std/')
    complete("top level", "")
    complete("speed", "job j {\n  maximize throughput subject to {\n    speed: throughput >= 3 ")
    complete("metric", "job j {\n  minimize ")
    complete("comment", "machine box {\n  # gp")

    # An import that is not open: its faults show in its file, and go when nobody imports it any more.
    broken, user = scratch / "broken.sail", scratch / "user.sail"
    broken.write_text("sail 1\n\nlet x = 3 gib\n", encoding="utf-8")
    client.open(user, 'sail 1\n\nimport "broken.sail" as broken\n')
    assert [d["code"] for d in client.diagnostics(broken)] == ["SAIL0202"]
    assert [d["code"] for d in client.diagnostics(user)] == []
    client.change(user, 2, {"text": "sail 1\n"})
    assert client.diagnostics(broken) == []
    assert client.diagnostics(user) == []
    client.close(user)
    assert client.diagnostics(user) == []

    client.close(hardware)
    assert client.diagnostics(hardware) == []
    client.close(main)
    assert client.diagnostics(main) == []
    assert client.shut_down() == 0
print("exit 0")
