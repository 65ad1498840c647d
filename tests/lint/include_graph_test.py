#!/usr/bin/env python3
"""include_graph.py finds a planted fault of each kind and accepts what is allowed."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("include_graph.py")


class IncludeGraphTest(unittest.TestCase):
    def faults(self, path, text):
        with tempfile.TemporaryDirectory() as root:
            file = pathlib.Path(root, path)
            file.parent.mkdir(parents=True)
            file.write_text(text)
            run = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode != 0, " 0 faults" not in run.stdout)
        return run.stdout.splitlines()[:-1]

    def test_accepts_the_allowed_direction(self):
        self.assertEqual(self.faults("planner/a.cc", '#include "simulator/cost_model.h"\n#include <vector>\n'), [])

    def test_rejects_the_way_back(self):
        self.assertEqual(self.faults("simulator/a.cc", '\n#include "planner/planner.h"\n'),
                         ["simulator/a.cc:2: simulator must not include planner (planner/planner.h)"])

    def test_rejects_third_party_headers_out_of_place(self):
        self.assertEqual(self.faults("planner/a.h", '#include "llvm/Support/Error.h"\n'),
                         ["planner/a.h:1: planner must not include <llvm/Support/Error.h>"])

    def test_rejects_a_folder_that_nobody_registered(self):
        self.assertEqual(len(self.faults("compiler/extra/a.h", "\n")), 1)


if __name__ == "__main__":
    unittest.main()
