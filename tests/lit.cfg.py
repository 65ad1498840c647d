# Golden tests: RUN lines and FileCheck. Started by ctest (cmake/SailLit.cmake), which passes the tools as parameters.
import os

import lit.formats

config.name = "sail"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".sail", ".test"]
config.excludes = ["Inputs"]  # files that tests read
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["build"], "tests")

# `%exits 3 sailc …`: the command ends with exactly this code (`not` accepts any failure).
config.substitutions.append(("%exits", os.path.join(config.test_source_root, "support", "exits.sh")))
config.substitutions.append(("%root", os.path.dirname(config.test_source_root)))

for tool in ("sailc", "sailrun", "FileCheck", "not", "python3"):
    path = lit_config.params.get(tool)
    if path:
        # Whole words only: never a part of a path.
        config.substitutions.append((r"(?<![\w./-])%s(?![\w./-])" % tool, path))
        config.available_features.add(tool)

# Goldens must not depend on who runs them.
config.environment["LC_ALL"] = "C"
config.environment["NO_COLOR"] = "1"
