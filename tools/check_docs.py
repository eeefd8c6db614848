#!/usr/bin/env python3
"""Checks that every path which the documents name exists.

    tools/check_docs.py [SOURCE_FOLDER]

Reads README.md, CONTRIBUTING.md, SECURITY.md, CHANGELOG.md, docs/**/*.md and src/**/README.md.  A path is a relative link target, or
code (`...`) that begins with a folder of the repository: `src/base/pool.h`, `tests/unit/`.  Patterns (*, <name>, NNNN) and paths
below build/ and node_modules/ are not files of the repository and pass over.
"""
import os
import re
import sys

CODE = re.compile(r"`([^`\s]+)`")
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
PATTERN = re.compile(r"[*<>{}$]|NNNN|\.\.\.")


def documents(top):
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        if os.path.exists(os.path.join(top, name)):
            yield name
    for below in ("docs", "src"):
        for folder, _, names in os.walk(os.path.join(top, below)):
            for name in sorted(names):
                if name.endswith(".md") and (below == "docs" or name == "README.md"):
                    yield os.path.relpath(os.path.join(folder, name), top)


def named_paths(text, folders):
    """(path, is a link, position) of everything in the text that names a file or folder."""
    for match in CODE.finditer(text):
        path = match.group(1).rstrip(".,;:")
        path = re.sub(r":[0-9]+$|: ?[a-z_0-9]+(\(\))?$", "", path)
        if "/" in path and path.split("/")[0] in folders and not PATTERN.search(path):
            yield path, False, match.start()
    for match in LINK.finditer(text):
        if not re.match(r"[a-z]+:", match.group(1)):
            yield match.group(1), True, match.start()


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    folders = {name for name in os.listdir(top) if os.path.isdir(os.path.join(top, name))}
    folders |= {"src", "tests", "docs", "tools", "bench", "fuzz", "include", "cmake"} # named although removed: an error
    folders -= {"build", "node_modules", ".git"}
    errors, count = [], 0
    for document in documents(top):
        with open(os.path.join(top, document), encoding="utf-8") as f:
            text = f.read()
        for path, is_link, position in named_paths(text, folders):
            count += 1
            base = os.path.join(top, os.path.dirname(document)) if is_link else top
            if not os.path.exists(os.path.join(base, path)):
                errors.append("%s:%d: there is no %s" % (document, text.count("\n", 0, position) + 1, path))
    for error in errors:
        print(error)
    print("%d paths, %d missing" % (count, len(errors)))
    return 1 if errors or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
