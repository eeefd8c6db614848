#!/usr/bin/env python3
"""Checks that no two files below src/ have the same name, so that a stack trace or a log line names one file.

    tools/check_names.py [SOURCE_FOLDER]

CMakeLists.txt and README.md are excepted.
"""
import collections
import os
import sys

EXCEPTED = {"CMakeLists.txt", "README.md"}


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    places = collections.defaultdict(list)
    for folder, _, files in os.walk(os.path.join(top, "src")):
        for name in files:
            if name not in EXCEPTED:
                places[name].append(os.path.relpath(os.path.join(folder, name), top))
    clashes = [sorted(paths) for paths in places.values() if len(paths) > 1]
    for paths in sorted(clashes):
        print("same name: " + ", ".join(paths))
    if not places:
        print("no files found below %s/src" % top)
        return 1
    return 1 if clashes else 0


if __name__ == "__main__":
    sys.exit(main())
