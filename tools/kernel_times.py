#!/usr/bin/env python3
"""Times of kernels as a table, from ncu's account of a run: ncu --metrics gpu__time_duration.sum --csv PROGRAM.

    tools/kernel_times.py [CSV...]      standard input without a file

A row a kernel and grid, in the order in which they first ran: launches, milliseconds of all of them, and of the shortest and the longest.
Lines that are not ncu's, the program's own among them, are left out; exit code 1 if no kernel is found."""
import csv
import re
import sys

UNITS = {"ns": 1e-6, "nsecond": 1e-6, "us": 1e-3, "usecond": 1e-3, "ms": 1, "msecond": 1, "s": 1e3, "second": 1e3}
METRIC = "gpu__time_duration.sum"


def short(name):
    """k_affine<1> of void k_affine<1>(unsigned char *, ...)."""
    return re.sub(r"\(.*", "", name).removeprefix("void ").strip()


def durations(lines):
    """(kernel, grid) and milliseconds of every launch."""
    for row in csv.DictReader(line for line in lines if line.startswith('"')):
        if row.get("Metric Name") == METRIC and row.get("Metric Unit") in UNITS:
            yield (short(row["Kernel Name"]), row["Grid Size"]), float(row["Metric Value"].replace(",", "")) * UNITS[row["Metric Unit"]]


def main():
    times = {}
    for path in sys.argv[1:] or ["-"]:
        with sys.stdin if path == "-" else open(path, encoding="utf-8", errors="replace") as lines:
            for kernel, ms in durations(lines):
                times.setdefault(kernel, []).append(ms)
    if not times:
        sys.exit("no kernel's time in the input")
    print(f"{'kernel':<32} {'grid':<18} {'launches':>8} {'ms in all':>10} {'least':>9} {'most':>9}")
    for (name, grid), ms in times.items():
        print(f"{name:<32} {grid:<18} {len(ms):>8} {sum(ms):>10.3f} {min(ms):>9.3f} {max(ms):>9.3f}")
    print(f"{'all':<51} {sum(map(len, times.values())):>8} {sum(map(sum, times.values())):>10.3f}")


if __name__ == "__main__":
    main()
