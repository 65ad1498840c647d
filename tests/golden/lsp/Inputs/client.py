"""A language client on the standard library: one server process, and a deadline for every wait."""
import json
import os
import pathlib
import select
import subprocess
import time

DEADLINE_SECONDS = 20


class Client:
    """Speaks to `sailc lsp`. Messages come in order; notifications that nobody waited for are kept."""

    def __init__(self, sailc):
        self.process = subprocess.Popen([sailc, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.buffer = b""
        self.notifications = []
        self.next_id = 1

    # ---- the base protocol ----

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send_body(self, body):
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, message):
        self.send_body(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode())

    def _fill(self, deadline):
        left = deadline - time.monotonic()
        output = self.process.stdout.fileno()
        assert left > 0 and select.select([output], [], [], left)[0], "the server did not answer in time"
        data = os.read(output, 1 << 16)
        assert data, f"the server ended: {self.process.stderr.read().decode()}"
        self.buffer += data

    def receive(self):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while b"\r\n\r\n" not in self.buffer:
            self._fill(deadline)
        header, rest = self.buffer.split(b"\r\n\r\n", 1)
        assert header.startswith(b"Content-Length: "), header
        length = int(header.removeprefix(b"Content-Length: "))
        self.buffer = rest
        while len(self.buffer) < length:
            self._fill(deadline)
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        message = json.loads(body)
        assert message["jsonrpc"] == "2.0", message
        return message

    # ---- requests and notifications ----

    def request_raw(self, method, params=None):
        """The whole response. Notifications that come before it are kept."""
        number = self.next_id
        self.next_id += 1
        self.send({"id": number, "method": method, **({} if params is None else {"params": params})})
        while True:
            message = self.receive()
            if "method" in message:
                self.notifications.append(message)
                continue
            assert message["id"] == number, message
            return message

    def request(self, method, params=None):
        response = self.request_raw(method, params)
        assert "result" in response, response
        return response["result"]

    def error(self, method, params=None):
        """The error code of a request that must fail."""
        response = self.request_raw(method, params)
        assert "error" in response, response
        return response["error"]["code"]

    def notify(self, method, params=None):
        self.send({"method": method, **({} if params is None else {"params": params})})

    def wait_for(self, method):
        """The parameters of the next notification of this name."""
        while True:
            for i, message in enumerate(self.notifications):
                if message["method"] == method:
                    return self.notifications.pop(i)["params"]
            message = self.receive()
            assert "method" in message, f"waiting for {method}: {message}"
            self.notifications.append(message)

    def diagnostics(self, path):
        """The diagnostics that are published next, which must be those of `path`."""
        params = self.wait_for("textDocument/publishDiagnostics")
        assert params["uri"] == uri(path), params
        return params["diagnostics"]

    # ---- the life of a session ----

    def initialize(self):
        result = self.request("initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": {}})
        self.notify("initialized", {})
        return result["capabilities"]

    def open(self, path, text):
        document = {"uri": uri(path), "languageId": "sail", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, path, version, *changes):
        self.notify("textDocument/didChange",
                    {"textDocument": {"uri": uri(path), "version": version}, "contentChanges": list(changes)})

    def close(self, path):
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri(path)}})

    def at(self, method, path, line, character, **more):
        return self.request(f"textDocument/{method}", {
            "textDocument": {"uri": uri(path)}, "position": {"line": line, "character": character}, **more})

    def shut_down(self):
        assert self.request("shutdown") is None
        self.notify("exit")
        return self.wait()

    def wait(self):
        """The exit code, once the server has ended by itself; nothing may be left unread."""
        self.process.stdin.close()
        code = self.process.wait(timeout=DEADLINE_SECONDS)
        rest = self.buffer + self.process.stdout.read()
        assert not rest, rest
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def uri(path):
    return pathlib.Path(path).absolute().as_uri()


def change_range(start, end, text):
    """An incremental change; places are (line, character) from 0."""
    place = lambda at: {"line": at[0], "character": at[1]}
    return {"range": {"start": place(start), "end": place(end)}, "text": text}


def position_of(text, needle, after=False):
    """(line, character) of the first `needle` in UTF-16 units, or of the place behind it."""
    offset = text.index(needle) + (len(needle) if after else 0)
    before = text[:offset]
    line = before.count("\n")
    return line, len(before[before.rfind("\n") + 1:].encode("utf-16-le")) // 2
