"""Writes a file with 12 unit errors, 11 warnings and a name that needs escaping."""
import sys

lines = ["sail 1"]
for i in range(12):
    lines.append(f"gpu E{i} {{ memory = {i + 1} hosts }}")
for i in range(11):
    lines.append(f"gpu W{i} {{ memory = {i + 1} GB }}")
with open(f"{sys.argv[1]}/50%, x:y.sail", "w", encoding="utf-8") as file:
    file.write("\n".join(lines) + "\n")
