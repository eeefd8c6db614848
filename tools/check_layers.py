#!/usr/bin/env python3
"""Checks the layer rule: a file below src/ includes its own folder and folders with a smaller number.

    tools/check_layers.py [SOURCE_FOLDER]

Further rules: from backend/ others see only backend.h (api/, which puts the parts together, also the backends' own entry
headers); wire/ sees base/; server/ sees base/, wire/ and engine.h; cli/ sees the public headers, formats/, wire/, base/
and engine.h; gRPC core's headers are seen by wire/ alone; the messages generated from proto/ by wire/, server/ and cli/.  An include that names no file of
the tree is an error too, since it would escape the rule.
"""
import os
import re
import sys

LEVEL = {
    "base": 0, "field": 1, "curve": 2, "hash": 2, "pairing": 3, "poly": 3, "msm": 3, "r1cs": 3, "formats": 4, "backend": 4,
    "groth16": 5, "circuits": 5, "filecoin": 6, "engine": 7, "wire": 7, "api": 7, "install": 7, "server": 8, "cli": 8,
}
SOURCE = re.compile(r"\.(c|h|cu|cuh|cpp|S)$")
GENERATED = re.compile(r"^(cuzk|grpc)/.*\.pb-c\.h$")
GRPC = re.compile(r"^[ \t]*#[ \t]*include[ \t]+<(grpc/[^>]+)>", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


def allowed(path, folder, target):
    """None if the file at path (in folder) may include target (relative to src/), else why not."""
    to = target.split("/")[0]
    if to not in LEVEL:
        return "folder %s/ has no level in tools/check_layers.py" % to
    if to == folder:
        return None
    if LEVEL[to] >= LEVEL[folder]:
        return "level %d includes level %d" % (LEVEL[folder], LEVEL[to])
    if to == "backend" and target != "backend/backend.h" and not (folder == "api" and target.count("/") == 2):
        return "only backend/backend.h is seen from outside backend/"
    if folder == "wire" and to != "base":
        return "wire/ sees base/"
    if folder == "server" and to not in ("base", "wire") and target != "engine/engine.h":
        return "server/ sees base/, wire/ and engine/engine.h"
    if folder == "cli" and to not in ("base", "formats", "wire") and target != "engine/engine.h":
        return "cli/ sees the public headers, formats/, wire/, base/ and engine/engine.h"
    return None


def check_file(source, path, errors):
    """Judges each quoted include of one file; returns their number."""
    folder = os.path.relpath(path, source).split(os.sep)[0]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    count = 0
    for match in INCLUDE.finditer(text):
        name = match.group(1)
        count += 1
        if GENERATED.match(name):
            why = None if folder in ("wire", "server", "cli") else "only wire/, server/ and cli/ see messages"
        elif name.startswith("cuzk/"):
            why = None if os.path.exists(os.path.join(source, "..", "include", name)) else "no such public header"
        elif os.path.exists(os.path.join(source, name)):
            why = allowed(path, folder, name)
        elif os.path.exists(os.path.join(os.path.dirname(path), name)):
            why = "write the path from src/"
        else:
            why = "no such file below src/ or include/"
        if why:
            line = text.count("\n", 0, match.start()) + 1
            errors.append('%s:%d: "%s": %s' % (os.path.relpath(path, os.path.join(source, "..")), line, name, why))
    for match in GRPC.finditer(text):
        if folder != "wire":
            line = text.count("\n", 0, match.start()) + 1
            errors.append('%s:%d: "%s": only wire/ sees gRPC core' % (os.path.relpath(path, os.path.join(source, "..")), line,
                                                                     match.group(1)))
    return count


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    source = os.path.abspath(os.path.join(top, "src"))
    errors, files, includes = [], 0, 0
    for folder, folders, names in os.walk(source):
        if folder == source:
            for name in folders:
                if name not in LEVEL:
                    errors.append("src/%s: no level in tools/check_layers.py" % name)
        elif folder[len(source) + 1:].split(os.sep)[0] in LEVEL:
            for name in sorted(names):
                if SOURCE.search(name):
                    files += 1
                    includes += check_file(source, os.path.join(folder, name), errors)
    for error in errors:
        print(error)
    if includes == 0:
        print("no includes found below %s" % source)
        return 1
    print("%d files, %d includes, %d against the rule" % (files, includes, len(errors)))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
