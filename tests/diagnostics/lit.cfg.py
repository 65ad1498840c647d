# Bad programs, one mistake each: SAILnnnn_topic.sail states the one diagnostic it must give, with its place, and nothing
# else. Programs that are too large or too strange to keep as text are written by the `.test` files.
import os

import lit.formats

config.name = "diagnostics"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".sail", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["build"], "tests", "diagnostics")
config.environment["LC_ALL"] = "C.UTF-8"

exits = os.path.join(os.path.dirname(os.path.dirname(__file__)), "support", "exits.sh")
for word, command in {
    "sailc": os.path.join(lit_config.params["build"], "bin", "sailc"),
    "%exits": "sh " + exits,
    "FileCheck": lit_config.params["filecheck"],
    "python": lit_config.params["python"],
}.items():
    config.substitutions.append((r"(?<![\w./%%-])%s(?![\w.-])" % word, command))
