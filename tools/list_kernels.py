#!/usr/bin/env python3
"""All kernels of the CUDA sources, as rows of a C array: {"file without .cu", "kernel"}, templates once for each of their arguments.

    tools/list_kernels.py OUT FILE.cu...      files that these include ("backend/cuda/...") are found beside them

A template that nothing names with arguments, and a source without a kernel, are errors.
"""
import os
import re
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"backend/cuda/([^"]+\.cuh)"', re.M)
KERNEL = re.compile(r"(?P<template>template\s*<[^>]*>\s*)?static\s+__global__\s[^;{]*?\b(?P<name>k_\w+)\s*\(")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def text_of(path, seen):
    """The file and what it includes, without comments."""
    if path in seen:
        return ""
    seen.add(path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return COMMENT.sub(" ", text) + "".join(text_of(os.path.join(os.path.dirname(path), name), seen) for name in INCLUDE.findall(text))


def kernels_of(path):
    text, names = text_of(path, set()), []
    if text.count("__global__") != len(KERNEL.findall(text)):
        sys.exit(f"{path}: a __global__ function is not of the form `static __global__ void k_name(`")
    for match in KERNEL.finditer(text):
        name = match["name"]
        if not match["template"]:
            names.append(name)
            continue
        arguments = sorted({re.sub(r"\s", "", found) for found in re.findall(rf"\b{name}\s*<([^<>]*)>", text)})
        if not arguments:
            sys.exit(f"{path}: nothing launches the template {name}")
        names += [f"{name}<{found}>" for found in arguments]
    if not names:
        sys.exit(f"{path}: no kernel")
    return names


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rows = [f'{{ "{os.path.basename(path).removesuffix(".cu")}", "{name}" }},\n' for path in sys.argv[2:] for name in kernels_of(path)]
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.writelines(rows)


main()
