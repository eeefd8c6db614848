#!/usr/bin/env python3
"""What ptxas says of kernels, as a table: registers, stack, spills and static shared memory of each.

    tools/cuda_kernels.py [--targets [PATTERN]] LOG...

With --targets a row a kernel and a column an architecture: registers, and bytes of spill stores where there are any; PATTERN (a regular expression)
chooses "file kernel".
LOG is what nvcc -Xptxas -v printed: for one file, whose name the log has (NAME.log), or for a whole build, as ninja prints it
(cmake -DCMAKE_CUDA_FLAGS="-Xptxas -v").  Functions that are no kernels are left out; those that kernels call count in the kernels' stacks.
"""
import os
import re
import subprocess
import sys

BUILDING = re.compile(r"Building CUDA object .*/([^/]+)\.cu\.o")
ENTRY = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
OF = re.compile(r"Function properties for (\S+)")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
CUMULATIVE = re.compile(r"(\d+) bytes cumulative stack")


def kernels(path):
    """One dictionary a kernel."""
    name, entry, of, found = os.path.basename(path).removesuffix(".log"), None, None, []
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if match := BUILDING.search(line):
                name, entry = match.group(1), None
            elif match := ENTRY.search(line):
                entry = {"file": name, "kernel": match.group(1), "target": match.group(2)}
            elif match := OF.search(line):
                of = match.group(1)
            elif (match := FRAME.search(line)) and entry and of == entry["kernel"]:
                entry["stack"], entry["stores"], entry["loads"] = map(int, match.groups())
            elif (match := USED.search(line)) and entry:
                entry["registers"] = int(match.group(1))
                shared, cumulative = SHARED.search(line), CUMULATIVE.search(line)
                entry["shared"] = int(shared.group(1)) if shared else 0
                entry["stack"] = max(entry.get("stack", 0), int(cumulative.group(1)) if cumulative else 0)
                found.append(entry)
                entry = None
    return found


def readable(names):
    """k_affine<true> instead of its mangled name."""
    plain = subprocess.run(["c++filt"], input="\n".join(names), text=True, capture_output=True, check=True).stdout.split("\n")
    return [re.sub(r"\(bool\)1", "true", re.sub(r"\(bool\)0", "false", name.split("(" if "(bool)" not in name else ">(")[0]
                                                + (">" if "(bool)" in name else ""))).removeprefix("void ") for name in plain]


def by_target(rows, names, pattern):
    targets = sorted({row["target"] for row in rows}, key=lambda target: int(re.sub(r"\D", "", target)))
    table = {}
    for row, name in zip(rows, names):
        stores = row.get("stores", 0)
        table.setdefault((row["file"], name), {})[row["target"]] = f"{row['registers']}" + (f" ({stores})" if stores else "")
    print("| file | kernel | " + " | ".join(targets) + " |\n|---|---|" + "---|" * len(targets))
    for (file, name), of in table.items():
        if re.search(pattern, f"{file} {name}"):
            print(f"| {file} | `{name}` | " + " | ".join(of.get(target, "") for target in targets) + " |")


def main():
    arguments, pattern = sys.argv[1:], None
    if arguments[:1] == ["--targets"]:
        arguments, pattern = arguments[1:], ""
        if arguments and not os.path.isfile(arguments[0]):
            arguments, pattern = arguments[1:], arguments[0]
    rows = [kernel for path in arguments for kernel in kernels(path)]
    if not rows:
        sys.exit("no kernel in " + " ".join(arguments) if arguments else __doc__)
    if pattern is not None:
        return by_target(rows, readable([row["kernel"] for row in rows]), pattern)
    print("| file | kernel | registers | stack | spill stores / loads | static shared |\n|---|---|---|---|---|---|")
    for row, name in zip(rows, readable([row["kernel"] for row in rows])):
        print(f"| {row['file']} | `{name}` | {row['registers']} | {row['stack']} | {row.get('stores', 0)} / {row.get('loads', 0)} | {row['shared']} |")


if __name__ == "__main__":
    main()
