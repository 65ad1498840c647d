"""What a broken or rude client may do to the server: it answers with an error or ends, and never hangs.

usage: robustness.py SAILC SCRATCH
"""
import pathlib
import sys

from client import Client

sailc, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, NOT_INITIALIZED = -32700, -32600, -32601, -32602, -32002
cases = 0


def broken_frame(data):
    """A frame that cannot be read: one error, then the end with code 1."""
    global cases
    with Client(sailc) as client:
        client.send_bytes(data)
        client.process.stdin.close()
        answer = client.receive()
        assert answer["error"]["code"] == PARSE_ERROR and answer["id"] is None, answer
        assert client.wait() == 1
    cases += 1


broken_frame(b"Content-Len")
broken_frame(b"Content-Length: 5\r\n\r\n{}")
broken_frame(b"Content-Length: 99999999999\r\n\r\n{}")
broken_frame(b"Content-Length: 999999999999999999999999\r\n\r\n{}")
broken_frame(b"Content-Length: -2\r\n\r\n{}")
broken_frame(b"Content-Length: two\r\n\r\n{}")
broken_frame(b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}")
broken_frame(b"Content-Type: x\r\n\r\n{}")
broken_frame(b"x" * 5000)  # longer than a header may be

# A message that is no JSON, or no request, gets an error, and the session goes on.
with Client(sailc) as client:
    for body, code in ((b"{", PARSE_ERROR), (b"\xff\xfe", PARSE_ERROR), (b"", PARSE_ERROR), (b"[]", INVALID_REQUEST),
                       (b"[" * 100_000, PARSE_ERROR), (b'{"id": 1}', INVALID_REQUEST), (b"7", INVALID_REQUEST),
                       (b'{"id": [1], "method": "shutdown"}', INVALID_REQUEST),
                       (b'{"id": 1, "method": 3}', INVALID_REQUEST)):
        client.send_body(body)
        answer = client.receive()
        assert answer["error"]["code"] == code, (body[:40], answer)
        cases += 1

    # Before `initialize`.
    assert client.error("textDocument/hover") == NOT_INITIALIZED
    assert client.error("shutdown") == NOT_INITIALIZED
    client.open(scratch / "early.sail", "not sail")
    client.initialize()
    assert not client.notifications
    assert client.error("initialize") == INVALID_REQUEST

    # Unknown methods: an error for a request, silence for a notification. Answers to nothing are dropped.
    assert client.error("textDocument/rename") == METHOD_NOT_FOUND
    assert client.error("$/unknown") == METHOD_NOT_FOUND
    client.notify("$/cancelRequest", {"id": 1})
    client.notify("workspace/didChangeConfiguration", {})
    client.send({"id": 77, "result": None})

    # Parameters of the wrong shape, and places outside the text.
    assert client.error("textDocument/hover") == INVALID_PARAMS
    assert client.error("textDocument/hover", [1]) == INVALID_PARAMS
    path = scratch / "a.sail"
    for request in ("hover", "completion", "formatting", "definition", "references", "documentSymbol"):
        assert client.error(f"textDocument/{request}", {"textDocument": {"uri": path.as_uri()},
                                                        "position": {"line": 0, "character": 0}}) == INVALID_PARAMS
    client.notify("textDocument/didOpen", {"textDocument": {"uri": path.as_uri(), "text": 5, "version": 1}})
    assert "expected a string" in client.wait_for("window/logMessage")["message"]
    client.change(path, 2, {"text": ""})
    assert "is not open" in client.wait_for("window/logMessage")["message"]
    client.open(path, "sail 1\nlet x = 3 GB\n")
    assert client.diagnostics(path) == []
    for line, character in ((0, 1 << 40), (1 << 40, 0), (99, 99)):
        assert client.at("hover", path, line, character) is None
        assert client.at("definition", path, line, character) is None
        assert client.at("references", path, line, character, context=7) == []
        client.at("completion", path, line, character)
    assert client.error("textDocument/hover", {"textDocument": {"uri": path.as_uri()},
                                               "position": {"line": -1, "character": 0}}) == INVALID_PARAMS
    backwards = {"range": {"start": {"line": 1, "character": 5}, "end": {"line": 0, "character": 0}}, "text": "x"}
    client.change(path, 3, backwards)
    assert "ends before it starts" in client.wait_for("window/logMessage")["message"]
    assert "data size" in client.at("hover", path, 1, 8)["contents"]["value"]

    # After `shutdown` only `exit` does anything.
    assert client.request("shutdown") is None
    assert client.error("textDocument/hover") == INVALID_REQUEST
    assert client.error("shutdown") == INVALID_REQUEST
    client.open(path, "broken")
    client.notify("exit")
    assert client.wait() == 0

# The end: 0 only after `shutdown`.
for prepare, code in ((lambda client: client.notify("exit"), 1),
                      (lambda client: (client.initialize(), client.notify("exit")), 1),
                      (lambda client: None, 1),
                      (lambda client: client.initialize(), 1),
                      (lambda client: (client.initialize(), client.request("shutdown")), 0)):
    with Client(sailc) as client:
        prepare(client)
        assert client.wait() == code
        cases += 1

print(f"{cases} cases")
