#!/usr/bin/env python3
"""Writes a small circuit and a witness for it in circom's file formats, byte by byte and without any of cuzk's code.

    make_circuit.py CURVE STEPS BASE [--publics none] [--bits N] [--repeat N]     writes BASE.r1cs and BASE.wtns

The circuit: STEPS steps of x <- x*x + x + i from a private start, the last x being public (unless --publics none), and N further
variables that are bits.  Field values come from the recurrence, so most of them are full-size.  With --repeat every constraint stands
there N times: long proofs from short witnesses."""
import struct
import sys

MODULUS = {
    "bn254": 21888242871839275222246405745257275088548364400416034343698204186575808495617,
    "bls12_381": 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001,
}


def u32(v):
    return struct.pack("<I", v)


def fr(v):
    return v.to_bytes(32, "little")


def container(magic, version, sections):
    return magic + u32(version) + u32(len(sections)) + b"".join(struct.pack("<IQ", t, len(d)) + d for t, d in sections)


def combination(terms):
    return u32(len(terms)) + b"".join(u32(w) + fr(v) for w, v in terms)


def make(curve, steps, bits=0, public=True, repeat=1):
    """Returns (r1cs bytes, wtns bytes, values)."""
    r = MODULUS[curve]
    # wires: 0 one, 1 last x (public or not), 2 start, 3.. inner values, then bits
    wire = lambda i: 1 if i == steps else 2 if i == 0 else i + 2
    n_wires = steps + 2 + bits
    rows = []
    for i in range(steps):
        x, y = wire(i), wire(i + 1)
        c = [(y, 1), (x, r - 1)] + ([(0, r - i)] if i else [])
        rows.append(([(x, 1)], [(x, 1)], c))
    for b in range(bits):
        w = steps + 2 + b
        rows.append(([(w, 1)], [(w, 1), (0, r - 1)], []))
    rows *= repeat
    values = [0] * n_wires
    values[0] = 1
    x = 3
    values[wire(0)] = x
    for i in range(steps):
        x = (x * x + x + i) % r
        values[wire(i + 1)] = x
    for b in range(bits):
        values[steps + 2 + b] = (b * 2654435761 >> 7) & 1
    publics = 1 if public else 0
    header = u32(32) + fr(r) + u32(n_wires) + u32(publics) + u32(0) + u32(n_wires - 1 - publics) + struct.pack("<Q", n_wires) + u32(len(rows))
    constraints = b"".join(combination(a) + combination(b) + combination(c) for a, b, c in rows)
    labels = b"".join(struct.pack("<Q", i) for i in range(n_wires))
    r1cs = container(b"r1cs", 1, [(2, constraints), (1, header), (3, labels)])
    return r1cs, wtns(curve, values), values


def wtns(curve, values):
    return container(b"wtns", 2, [(1, u32(32) + fr(MODULUS[curve]) + u32(len(values))), (2, b"".join(fr(v) for v in values))])


def main():
    args = sys.argv[1:]
    bits = int(args[args.index("--bits") + 1]) if "--bits" in args else 0
    repeat = int(args[args.index("--repeat") + 1]) if "--repeat" in args else 1
    public = not ("--publics" in args and args[args.index("--publics") + 1] == "none")
    r1cs, w, _ = make(args[0], int(args[1]), bits, public, repeat)
    with open(args[2] + ".r1cs", "wb") as f:
        f.write(r1cs)
    with open(args[2] + ".wtns", "wb") as f:
        f.write(w)


if __name__ == "__main__":
    main()
