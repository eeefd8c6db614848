#!/usr/bin/env python3
"""Checks that a built shared library exports cuzk_* and nothing else, and that it exports something.

    tools/check_symbols.py LIBRARY
"""
import subprocess
import sys


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip())
        return 2
    table = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", sys.argv[1]], check=True, capture_output=True,
                           text=True).stdout
    rows = [line.split() for line in table.splitlines() if line.strip()]
    symbols = [row[0].split("@")[0] for row in rows if row[1] != "A"] # absolute: the names of symbol versions
    strange = [s for s in symbols if not s.startswith("cuzk_")]
    for symbol in strange:
        print("exported, but not part of the public interface: " + symbol)
    print("%d symbols, %d not named cuzk_*" % (len(symbols), len(strange)))
    return 1 if strange or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
