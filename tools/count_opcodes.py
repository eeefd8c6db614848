#!/usr/bin/env python3
"""Gate on the machine code of the CUDA kernels: wide products must stay whole.

    count_opcodes.py [--counts] OBJECT...      objects or cubins that nvcc made (cubins are not compressed there); --counts: no gate

Reads the cubins' code sections, 16 bytes an instruction with the opcode in the low nine bits (sm_80 to sm_90), and prints counts for
each kernel.  Fails if a kernel of the hot list has more split products than its limit: ptxas turns a wide multiply-add into a low and a high
one where it recognises a factor as negated, which costs half again the multiplier's time."""
import collections
import struct
import sys

WIDE, HIGH, LOW, LOAD_LOCAL, STORE_LOCAL = 0x25, 0x27, 0x24, 0x183, 0x187
# IMAD.HI to IMAD.WIDE at most; 0.02 to 0.04 as built by nvcc 13.0, 0.22 to 0.58 where products are split.  A kernel's functions that are called
# and not inlined count with it: the doubling that k_accumulate_whole hardly ever needs is split, 0.10 of all; of its loop 0.013 are.
HOT = {"k_dif_strided": 0.06, "k_dit_strided": 0.06, "k_contiguous": 0.06, "k_affineILb0": 0.06, "k_accumulate_whole": 0.10}


def cubins(data):
    at = data.find(b"\x7fELF\x02\x01")
    while at >= 0:
        if struct.unpack_from("<H", data, at + 18)[0] == 190:
            yield data[at:]
        at = data.find(b"\x7fELF\x02\x01", at + 4)


def kernels(cubin):
    header = struct.unpack_from("<Q", cubin, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, header + i * size) for i in range(count)]
    for s in sections:
        start = sections[names][4] + s[0]
        name = cubin[start:cubin.index(b"\0", start)].decode(errors="replace")
        if name.startswith(".text."):
            yield name[6:], cubin[s[4]:s[4] + s[5]]


def main():
    bad = found = 0
    counts = sys.argv[1:2] == ["--counts"]
    for path in sys.argv[1 + counts:]:
        with open(path, "rb") as f:
            data = f.read()
        for cubin in cubins(data):
            for name, code in kernels(cubin):
                c = collections.Counter(struct.unpack_from("<Q", code, i)[0] & 0x1FF for i in range(0, len(code), 16))
                split = c[HIGH] / c[WIDE] if c[WIDE] else 0
                limits = [limit for kernel, limit in HOT.items() if kernel in name]
                found += len(limits)
                wrong = bool(limits) and split > limits[0]
                bad += wrong
                print(f"{'BAD ' if wrong else ''}{name}: {len(code) // 16} instructions, {c[WIDE]} wide, {c[HIGH]} high, {c[LOW]} low, "
                      f"{c[LOAD_LOCAL]} + {c[STORE_LOCAL]} local")
    if counts:
        return
    if not found:
        sys.exit("no kernel of the hot list in these files")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
