#!/usr/bin/env python3
"""Opens the page of `sailc report` in headless Chromium: its elements, its looks in light and dark, its silence.

Waits for nothing but the browser's own end: virtual time makes it independent of the load of the machine. Exit code 77
(skipped) without a browser. Screenshots stay in the folder of --shots for people to look at.
"""
import argparse
import html.parser
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left beside the sources
import png

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPECS = [("regions", ROOT / "tests/browser/two_regions.sail"), ("laptop", ROOT / "tests/golden/cli/Inputs/small.sail")]
WIDTH, HEIGHT = 1240, 2600
SECONDS = 100  # for one start of the browser, on a machine that does much else
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(html.parser.HTMLParser):
    """Elements with the data-row and the svg that they lie in, and the text of the page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, **dict(attributes)}
        element["inside"] = [outer for outer in self.open]
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        while self.open and self.open.pop()["tag"] != tag:
            pass

    def handle_data(self, data):
        if not self.open or self.open[-1]["tag"] != "style":
            self.text += data + "\n"

    def all(self, tag, **attributes):
        return [e for e in self.elements if e["tag"] == tag and all(e.get(k) == v for k, v in attributes.items())]

    def in_row(self, picture, row, tag, classes):
        """Elements of a class in a row of the picture whose title has the id `picture`-title."""

        def lies_there(element):
            inside = element["inside"]
            return any(o.get("data-row") == row for o in inside) and any(
                o["tag"] == "svg" and o.get("aria-labelledby", "").startswith(picture + "-") for o in inside)

        return [e for e in self.all(tag) if e.get("class") == classes and lies_there(e)]


def browse(chromium, page, home, *flags):
    """Runs the browser over the page; (standard output, standard error)."""
    command = [
        chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars", "--force-device-scale-factor=1",
        f"--window-size={WIDTH},{HEIGHT}", f"--user-data-dir={home}", "--virtual-time-budget=2000",
        "--enable-logging=stderr", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, env={**os.environ, "HOME": home})
    errors = done.stderr.decode(errors="replace")
    assert done.returncode == 0, f"chromium ended with {done.returncode}:\n{errors}"
    complaints = [line for line in errors.splitlines() if ":CONSOLE" in line]
    assert not complaints, complaints
    return done.stdout.decode()


def check_elements(page, plan):
    """What the browser has made of the page, against the plan file."""
    assert len(page.all("svg")) == len(page.all("svg", role="img")), "a picture without a name"
    pictures = {e["aria-labelledby"].split("-")[0] for e in page.all("svg")}
    assert {"parts", "timeline", "memory", "map"} <= pictures <= {"parts", "timeline", "memory", "map", "cost"}, pictures
    drawn = 0
    for p, pipeline in enumerate(plan["decisions"]["pipelines"]):
        count = pipeline["micro_batches"]
        for s in range(len(pipeline["stages"])):
            row = f"{p}.{s}"
            if not page.in_row("timeline", row, "rect", "idle"):
                continue  # like a pipeline before it
            drawn += 1
            if 2 * count + 1 <= 400:
                assert len(page.in_row("timeline", row, "rect", "fwd")) == count, row
                assert len(page.in_row("timeline", row, "rect", "bwd")) == count, row
            else:
                assert len(page.in_row("timeline", row, "rect", "mix")) == 1, row
            assert len(page.in_row("timeline", row, "rect", "step")) == 1, row
            stage = next(e for e in plan["predictions"]["stages"] if e["pipeline"] == p and e["stage"] == s)
            terms = [e for i in range(12) for e in page.in_row("memory", row, "rect", f"t{i}")]
            assert len(terms) == len(stage["memory"]), row
            assert len(page.in_row("memory", row, "line", "limit")) == 1, row
    assert drawn >= len(plan["decisions"]["pipelines"][0]["stages"])
    zones = {e["from"] for e in plan["predictions"]["traffic"]}
    texts = ["Plan of job " + plan["inputs"]["job"]["name"], "gradient synchronisation", "Where the time goes", *zones]
    for text in [*texts, plan["plan_hash"], *(pool["pool"] for pool in plan["predictions"]["pools"])]:
        assert text in page.text, text


def check_silence(page):
    """No script, and no element that would fetch something."""
    for tag in ("script", "link", "img", "iframe", "object", "embed", "image", "use"):
        assert not page.all(tag), tag
    for element in page.elements:
        for name, value in element.items():
            if name not in ("tag", "inside"):
                assert not name.startswith("on") and name not in ("src", "href", "xlink:href"), (name, value)
                assert "http:" not in (value or "") and "https:" not in (value or ""), (name, value)


def check_looks(data, dark):
    """A page of the right size, in more than a few colours, on a ground that is light or dark as asked for."""
    width, height, rows, size = png.read(data, most_rows=700)
    assert width == WIDTH and height > HEIGHT / 2, (width, height)
    colours = {bytes(row[x * size : x * size + 3]) for row in rows[::7] for x in range(0, width, 5)}
    assert len(colours) > 12, f"only {len(colours)} colours"
    ground = sum(rows[2][0:3]) / 3
    assert ground < 60 if dark else ground > 200, f"ground {ground} with dark = {dark}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sailc", required=True)
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--shots", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if not options.chromium:
        print("no chromium (Debian package `chromium`): skipped")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for name, spec in SPECS:
            plan, page = pathlib.Path(folder, name + ".sailplan"), pathlib.Path(folder, name + ".html")
            subprocess.run([options.sailc, "plan", spec, "-o", plan], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([options.sailc, "report", plan, "-o", page], check=True, stdout=subprocess.DEVNULL)
            tree = Page(browse(options.chromium, page, folder, "--dump-dom"))
            check_elements(tree, json.loads(plan.read_text(encoding="utf-8")))
            check_silence(tree)
            for look, scheme in (("light", 1), ("dark", 0)):
                shot = options.shots / f"{name}_{look}.png"
                shot.unlink(missing_ok=True)
                browse(options.chromium, page, folder, f"--screenshot={shot}",
                       f"--blink-settings=preferredColorScheme={scheme}")
                check_looks(shot.read_bytes(), dark=look == "dark")
            print(f"{name}: elements, light and dark")
    return 0


if __name__ == "__main__":
    sys.exit(main())
