#!/usr/bin/env python3
"""Writes src/pairing/params_pairing_*.h: loop digits, twist and Frobenius constants of the pairings, derived from each family's x and
from xi, the element of Fp2 whose sixth root builds Fp12.  What is derived is checked before it is written.

    tools/gen_pairing_params.py            write the files
    tools/gen_pairing_params.py --check    fail if a committed file differs from what would be written
"""
import sys

from generated import write_or_check

BN_X = 4965661367192848881
CURVES = {
    # name: family, x, xi = (c0, c1), b of y^2 = x^3 + b, kind of the sextic twist
    "bn254": ("bn", BN_X, (9, 1), 3, "D"),
    "bls12_381": ("bls", -0xD201000000010000, (1, 1), 4, "M"),
    # BN curve of x = -1: p = 19, r = 13; b and xi are searched for
    "toy": ("bn", -1, None, None, "D"),
}


def family(kind, x):
    """p and r; what the hard part of the final exponentiation raises to, as a multiple of (p^4 - p^2 + 1) / r."""
    if kind == "bn":
        p, r = 36 * x**4 + 36 * x**3 + 24 * x**2 + 6 * x + 1, 36 * x**4 + 36 * x**3 + 18 * x**2 + 6 * x + 1
        l0 = 12 * x**3 + 12 * x**2 + 6 * x + 1
        l1 = 12 * x**3 + 6 * x**2 + 4 * x
        l2 = 12 * x**3 + 6 * x**2 + 6 * x
        exponent = l0 + l1 * p + l2 * p**2 + (l1 - 1) * p**3
        multiple = 2 * x * (6 * x**2 + 3 * x + 1)
    else:
        r = x**4 - x**2 + 1
        p = (x - 1) ** 2 * r // 3 + x
        exponent = (x - 1) ** 2 * (x + p) * (x**2 + p**2 - 1) + 3
        multiple = 3
    phi = p**4 - p**2 + 1
    assert phi % r == 0 and (exponent - multiple * (phi // r)) % phi == 0 and multiple % r != 0
    return p, r


class Fp2:
    """Fp[u] / (u^2 + 1)"""

    def __init__(self, p, c0, c1):
        self.p, self.c = p, (c0 % p, c1 % p)

    def __mul__(self, o):
        (a, b), (c, d) = self.c, o.c
        return Fp2(self.p, a * c - b * d, a * d + b * c)

    def __add__(self, o):
        return Fp2(self.p, self.c[0] + o.c[0], self.c[1] + o.c[1])

    def __eq__(self, o):
        return self.c == o.c

    def __pow__(self, e):
        acc, base = Fp2(self.p, 1, 0), self
        while e:
            if e & 1:
                acc = acc * base
            base, e = base * base, e >> 1
        return acc

    def inv(self):
        n = pow(self.c[0] ** 2 + self.c[1] ** 2, -1, self.p)
        return Fp2(self.p, self.c[0] * n, -self.c[1] * n)


def builds_fp12(p, xi):
    """w^6 - xi is irreducible: xi is neither a square nor a cube in Fp2."""
    one = Fp2(p, 1, 0)
    return all(not xi ** ((p * p - 1) // q) == one for q in (2, 3))


def points(p, b):
    """All affine points of y^2 = x^3 + b over Fp2, b in Fp2; for small p only."""
    elements = [Fp2(p, i, j) for i in range(p) for j in range(p)]
    roots = {}
    for y in elements:
        roots.setdefault((y * y).c, []).append(y)
    return [(x, y) for x in elements for y in roots.get((x * x * x + b).c, [])]


def find_toy(p, r):
    """The smallest b with r points on y^2 = x^3 + b over Fp, and the smallest a + u whose D-twist has a subgroup of order r."""
    def order(b):
        return 1 + sum(1 for x in range(p) for y in range(p) if (y * y - x**3 - b) % p == 0)

    b = next(b for b in range(1, p) if order(b) == r)
    for a in range(p):
        xi = Fp2(p, a, 1)
        if builds_fp12(p, xi) and (1 + len(points(p, Fp2(p, b, 0) * xi.inv()))) % r == 0:
            return b, xi
    raise AssertionError("no xi")


def naf(n):
    digits = []
    while n:
        d = 2 - n % 4 if n & 1 else 0
        digits.append(d)
        n = (n - d) // 2
    return digits[::-1]


def binary(n):
    return [int(c) for c in bin(n)[2:]]


def render(name):
    kind, x, xi, b, twist = CURVES[name]
    p, r = family(kind, x)
    if xi is None:
        b, xi = find_toy(p, r)
    else:
        xi = Fp2(p, *xi)
    assert builds_fp12(p, xi) and p % 4 == 3
    n = (p.bit_length() + 63) // 64
    R = 1 << (64 * n)
    up = name.upper() + "_PAIRING"
    out = []

    def words(v):
        v = v * R % p
        return "{ { " + ", ".join(f"0x{(v >> (64 * i)) & ((1 << 64) - 1):016x}ull" for i in range(n)) + " } }"

    def fp2(v):
        return "{ " + words(v.c[0]) + ", " + words(v.c[1]) + " }"

    def table(label, comment, rows):
        out.append(f"/* {comment} */")
        out.append(f"#define {up}_{label} \\\n    {{ " + ", \\\n      ".join(rows) + " }")

    loop = abs(6 * x + 2) if kind == "bn" else abs(x)
    digits = min((naf(loop), binary(loop)), key=lambda d: sum(map(abs, d)))
    assert sum(d << i for i, d in enumerate(digits[::-1])) == loop and digits[0] == 1
    what = "6x + 2" if kind == "bn" else "x"
    out.append(f"#define {up}_X_ABS 0x{abs(x):016x}ull")
    out.append(f"#define {up}_X_IS_NEGATIVE {int(x < 0)}")
    out.append(f"/* |{what}| in signed binary after the leading 1; LOOP_WEIGHT of its digits are not 0 */")
    out.append(f"#define {up}_LOOP_IS_NEGATIVE {int((6 * x + 2 if kind == 'bn' else x) < 0)}")
    out.append(f"#define {up}_LOOP_LENGTH {len(digits) - 1}")
    out.append(f"#define {up}_LOOP_WEIGHT {sum(map(abs, digits)) - 1}")
    rows = [", ".join(map(str, digits[1:][i:i + 32])) for i in range(0, len(digits) - 1, 32)]
    out.append(f"#define {up}_LOOP \\\n    {{ " + ", \\\n      ".join(rows) + " }")
    three_b = Fp2(p, 3 * b, 0) * (xi.inv() if twist == "D" else xi)
    out.append(f"/* 3 b', b' = {'b / xi' if twist == 'D' else 'b xi'} of the twist; this and all below in Montgomery form */")
    out.append(f"#define {up}_TWIST_3B {fp2(three_b)}")
    table("FROB1", "xi^(i (p-1)/6), i = 1 .. 5: w^i under x -> x^p", [fp2(xi ** (i * (p - 1) // 6)) for i in range(1, 6)])
    second = [xi ** (i * (p * p - 1) // 6) for i in range(1, 6)]
    assert all(v.c[1] == 0 for v in second)
    table("FROB2", "xi^(i (p^2-1)/6), i = 1 .. 5, all in Fp: w^i under x -> x^(p^2)", [words(v.c[0]) for v in second])
    body = "\n".join(out)
    return (f"/* Generated by tools/gen_pairing_params.py: constants of {name}'s pairing.  Do not edit. */\n"
            f"#ifndef CUZK_PAIRING_PARAMS_PAIRING_{name.upper()}_H\n#define CUZK_PAIRING_PARAMS_PAIRING_{name.upper()}_H\n\n{body}\n\n#endif\n")


if __name__ == "__main__":
    sys.exit(write_or_check("gen_pairing_params.py", {f"pairing/params_pairing_{name}.h": render(name) for name in CURVES}))
