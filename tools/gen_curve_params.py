#!/usr/bin/env python3
"""Writes src/curve/params_curve_*.h: the constants of the three curves above their prime fields, each checked while it is derived.

    tools/gen_curve_params.py            write the files
    tools/gen_curve_params.py --check    fail if a committed file differs from what would be written

Curves are y^2 = x^3 + b over Fp, and y^2 = x^3 + b' over Fp2 = Fp[u] / (u^2 + 1), with b' = b / xi (twist of type D) or b xi
(type M).  Sources: EIP-196, EIP-197 for bn254; draft-irtf-cfrg-pairing-friendly-curves for bls12_381; toy is searched for here.
"""
import math
import sys

from gen_params import CURVES, words  # noqa: E402

from generated import write_or_check


class Fp2:
    """c0 + c1 u with u^2 = -1."""

    def __init__(self, p, c0, c1=0):
        self.p, self.c = p, (c0 % p, c1 % p)

    def __add__(self, o): return Fp2(self.p, self.c[0] + o.c[0], self.c[1] + o.c[1])
    def __sub__(self, o): return Fp2(self.p, self.c[0] - o.c[0], self.c[1] - o.c[1])
    def __neg__(self): return Fp2(self.p, -self.c[0], -self.c[1])
    def __eq__(self, o): return self.c == o.c
    def __hash__(self): return hash(self.c)

    def __mul__(self, o):
        (a, b), (c, d) = self.c, o.c
        return Fp2(self.p, a * c - b * d, a * d + b * c)

    def inv(self):
        n = pow(self.c[0] * self.c[0] + self.c[1] * self.c[1], -1, self.p)
        return Fp2(self.p, self.c[0] * n, -self.c[1] * n)

    def conj(self): return Fp2(self.p, self.c[0], -self.c[1])

    def pow(self, e):
        r, a = Fp2(self.p, 1), self
        while e:
            if e & 1:
                r = r * a
            a, e = a * a, e >> 1
        return r


def add(P, Q):
    """Affine addition on y^2 = x^3 + b; None is infinity.  Coordinates are Fp2."""
    if P is None or Q is None:
        return Q if P is None else P
    (x1, y1), (x2, y2) = P, Q
    if x1 == x2:
        if y1 == -y2:
            return None
        m = (x1 * x1 + x1 * x1 + x1 * x1) * (y1 + y1).inv()
    else:
        m = (y2 - y1) * (x2 - x1).inv()
    x3 = m * m - x1 - x2
    return (x3, m * (x1 - x3) - y1)


def mul(k, P):
    if k < 0:
        return mul(-k, (P[0], -P[1]))
    R = None
    while k:
        if k & 1:
            R = add(R, P)
        P, k = add(P, P), k >> 1
    return R


def on_curve(P, b): return P[1] * P[1] == P[0] * P[0] * P[0] + b


# name: x (the curve's parameter), b, xi, twist, G1 generator, G2 generator
REAL = {
    "bn254": (4965661367192848881, 3, (9, 1), "D", (1, 2), (
        (10857046999023057135944570762232829481370756359578518086990519993285655852781,
         11559732032986387107991004021392285783925812861821192530917403151452391805634),
        (8495653923123431417604973247489272438418190587263600148770280649306958101930,
         4082367875863433681332203403145435568316851327593401208105741076214120093531))),
    "bls12_381": (-0xD201000000010000, 4, (1, 1), "M", (
        0x17F1D3A73197D7942695638C4FA9AC0FC3688C4F9774B905A14E3A3F171BAC586C55E83FF97A1AEFFB3AF00ADB22C6BB,
        0x08B3F481E3AAA0F1A09E30ED741D8AE4FCF5E095D5D00AF600DB18CB2C04B3EDD03CC744A2888AE40CAA232946C5E7E1), (
        (0x024AA2B2F08F0A91260805272DC51051C6E47AD4FA403B02B4510B647AE3D1770BAC0326A805BBEFD48056C8C121BDB8,
         0x13E02B6052719F607DACD3A088274F65596BD0D09920B61AB5DA61BBDC7F5049334CF11213945D57E5AC7D055D042B7E),
        (0x0CE5D527727D6E118CC9CDC6DA2E351AADFD9BAA8CBDD3A76D429A695160D12C923AC9CC3BACA289E193548608B82801,
         0x0606C4A02EA734CC32ACD2B02BC28B99CB3E287E85A763AF267492AB572E99AB3F370D275CEC1DA1AAA9075FF05F79BE))),
}


def search_toy():
    """The BN curve of x = -1: least b with 13 points, least xi that gives the sextic twist of type D, least generators."""
    p, r, n2 = 19, 13, 13 * 25
    field2 = [Fp2(p, a, b) for a in range(p) for b in range(p)]
    b = next(b for b in range(1, p) if sum((y * y - x**3 - b) % p == 0 for x in range(p) for y in range(p)) == r - 1)
    roots = {}
    for y in field2:
        roots.setdefault(y * y, []).append(y)
    for xi in field2:
        if xi == Fp2(p, 0) or xi.pow((p * p - 1) // 2) == Fp2(p, 1) or xi.pow((p * p - 1) // 3) == Fp2(p, 1):
            continue
        b2 = Fp2(p, b) * xi.inv()
        points = [(x, y) for x in field2 for y in roots.get(x * x * x + b2, [])]
        if len(points) + 1 == n2:
            g2 = next(Q for Q in (mul(25, P) for P in points) if Q is not None)
            g1 = next((x, y) for x in range(p) for y in range(p) if (y * y - x**3 - b) % p == 0)
            return (-1, b, xi.c, "D", g1, (g2[0].c, g2[1].c))
    raise AssertionError("no toy curve")


def resultant_with_quadratic(f, t, p):
    """Resultant of f(X) (coefficients, low first) and X^2 - t X + p: the norm of f at a root."""
    a, b = 0, 0  # f(X) = a + b X modulo the quadratic, by Horner
    for c in reversed(f):
        a, b = c - b * p, a + b * t
    return a * a + a * b * t + b * b * p


def glv_basis(r, lam):
    """A short basis of the lattice of (a, b) with a + b lambda = 0 modulo r: Gallant, Lambert, Vanstone, CRYPTO 2001, algorithm 3.74 of
    the Guide to Elliptic Curve Cryptography."""
    rows = [(r, 0), (lam, 1)]
    while rows[-1][0]:
        q = rows[-2][0] // rows[-1][0]
        rows.append((rows[-2][0] - q * rows[-1][0], rows[-2][1] - q * rows[-1][1]))
    i = next(i for i, row in enumerate(rows) if row[0] * row[0] < r)
    a, b = rows[i - 1], rows[i + 1] if i + 1 < len(rows) else rows[i - 1]
    second = min((a, b), key=lambda w: w[0] ** 2 + w[1] ** 2)
    return (rows[i][0], -rows[i][1]), (second[0], -second[1])


def render_glv(up, p, r, lam):
    """k = k1 + lambda k2 with both below 2^127, by rounding in the basis: c_i = (k SCALE_i + 2^319) >> 320, then
    (k1, k2) = (k, 0) + c_1 ROW_1 + c_2 ROW_2, modulo 2^192."""
    (a1, b1), (a2, b2) = glv_basis(r, lam)
    det = a1 * b2 - a2 * b1
    assert abs(det) == r and (a1 + b1 * lam) % r == 0 and (a2 + b2 * lam) % r == 0
    s1, s2 = (1 if b2 * det >= 0 else -1), (1 if -b1 * det >= 0 else -1)
    scale = [((abs(v) << 321) + r) // (2 * r) for v in (b2, b1)]
    rows = [(-s1 * a1, -s1 * b1), (-s2 * a2, -s2 * b2)]
    for k in [0, 1, r - 1, r // 2, lam] + [pow(3, e, r) for e in range(1, 2000)]:
        c = [(k * v + (1 << 319)) >> 320 for v in scale]
        k1, k2 = k + c[0] * rows[0][0] + c[1] * rows[1][0], c[0] * rows[0][1] + c[1] * rows[1][1]
        assert (k1 + lam * k2 - k) % r == 0 and abs(k1) < 1 << 127 and abs(k2) < 1 << 127
    assert (abs(a1) + abs(a2)) < 1 << 128 and (abs(b1) + abs(b2)) < 1 << 128  # so nothing else can be larger either
    def w64(v, n): return "{ " + ", ".join(f"0x{(v >> (64 * i)) & (2**64 - 1):016x}ull" for i in range(n)) + " }"
    def pair(v): return "{ " + w64(v[0] % 2**192, 3) + ", " + w64(v[1] % 2**192, 3) + " }"
    return ["/* k = k1 + lambda k2, phi(P) = lambda P: curve/glv.h */",
            f"#define {up}_GLV {{ {{ {w64(scale[0], 4)}, {w64(scale[1], 4)} }}, {{ {pair(rows[0])}, {pair(rows[1])} }} }}"]


def render(name):
    p, r, _ = CURVES[name]
    x, b, xi_c, twist, g1, g2 = REAL.get(name) or search_toy()
    up, n, t = name.upper(), (p.bit_length() + 63) // 64, p + 1 - r
    if name == "bls12_381":
        assert p == (x - 1) ** 2 * (x**4 - x**2 + 1) // 3 + x and r == x**4 - x**2 + 1
        t = x + 1
    h1 = (p + 1 - t) // r
    xi = Fp2(p, *xi_c)
    b1, b2 = Fp2(p, b), Fp2(p, b) * (xi.inv() if twist == "D" else xi)
    G1, G2 = (Fp2(p, g1[0]), Fp2(p, g1[1])), (Fp2(p, *g2[0]), Fp2(p, *g2[1]))
    for G, bb in ((G1, b1), (G2, b2)):
        assert on_curve(G, bb) and mul(r, G) is None
    # order of the twist: (p^2 + 1 - t2') with t2' from 4 p^2 = t2^2 + 3 f2^2, the choice that r divides
    t2 = t * t - 2 * p
    f2 = math.isqrt((4 * p * p - t2 * t2) // 3)
    n2 = next(o for o in (p * p + 1 - (t2 + s * 3 * f2) // 2 for s in (1, -1)) if o % r == 0 and mul(o, G2) is None)
    h2 = n2 // r

    # untwist-Frobenius-twist: psi(x, y) = (conj(x) psi_x, conj(y) psi_y); on G2 it multiplies by p
    psi_x, psi_y = xi.pow((p - 1) // 3), xi.pow((p - 1) // 2)
    if twist == "M":
        psi_x, psi_y = psi_x.inv(), psi_y.inv()
    assert (G2[0].conj() * psi_x, G2[1].conj() * psi_y) == mul(p % r, G2)

    def mont(v): return (v << (64 * n)) % p
    def lst(v): return words(mont(v), 64, n)[2:-2]
    def fp(v): return "{ { " + lst(v) + " } }"
    def fp2(v): return "{ " + fp(v.c[0]) + ", " + fp(v.c[1]) + " }"

    out = [f"/* Generated by tools/gen_curve_params.py: constants of {name}'s groups, coordinates in Montgomery form.  Do not edit.",
           f" * G1: y^2 = x^3 + {b}, cofactor {h1}.  G2: twist of type {twist}, xi = {xi_c[0]} + {xi_c[1]} u, cofactor {h2}. */",
           f"#ifndef CUZK_CURVE_PARAMS_CURVE_{up}_H", f"#define CUZK_CURVE_PARAMS_CURVE_{up}_H", "",
           f"#define {up}_X_ABS 0x{abs(x):016x}ull /* |x|; the curve's parameter x is {'negative' if x < 0 else 'positive'} */",
           f"#define {up}_XI {fp2(xi)}",
           f"#define {up}_G1_B {fp(b)}",
           f"#define {up}_G2_B {fp2(b2)}",
           f"#define {up}_G1_GENERATOR {{ {fp(g1[0])}, {fp(g1[1])} }}",
           f"#define {up}_G2_GENERATOR {{ {fp2(G2[0])}, {fp2(G2[1])} }}",
           "/* the generators as one run of words */",
           f"#define {up}_G1_GENERATOR_WORDS {{ {lst(g1[0])}, {lst(g1[1])} }}",
           f"#define {up}_G2_GENERATOR_WORDS {{ " + ", ".join(lst(c) for v in G2 for c in v.c) + " }",
           "/* psi(x, y) = (conj(x) PSI_X, conj(y) PSI_Y) */",
           f"#define {up}_G2_PSI_X {fp2(psi_x)}",
           f"#define {up}_G2_PSI_Y {fp2(psi_y)}"]
    lam = next(v for v in (pow(a, (r - 1) // 3, r) for a in (2, 3, 5, 7)) if v != 1)
    if name == "bls12_381":
        # phi(x, y) = (beta x, y) multiplies G1 by -x^2, a root of l^2 + l + 1 modulo r = x^4 - x^2 + 1.  If phi(P) = -x^2 P for any P
        # of the curve, then (x^4 - x^2 + 1) P = r P = 0: the test is exact.
        lam = -x * x % r
        # psi(P) = x P implies (x^2 - t x + p) P = 0; exact because nothing else than r is common with the order
        assert math.gcd(x * x - t * x + p, n2) == r
    beta = next(v for v in (pow(a, (p - 1) // 3, p) for a in (2, 3, 5, 7)) if v != 1)
    beta = next(v for v in (beta, beta * beta % p) if (Fp2(p, g1[0] * v), G1[1]) == mul(lam, G1))
    out += [f"/* phi(x, y) = (BETA x, y) is multiplication by lambda on G1{', -x^2' if name == 'bls12_381' else ''} */",
            f"#define {up}_G1_BETA {fp(beta)}"]
    out += render_glv(f"{up}_G1", p, r, lam)
    if name == "bn254":
        # (x + 1) P + x psi(P) + x psi^2(P) = 2 x psi^3(P): exact because the resultant shares nothing but r with the order
        res = resultant_with_quadratic([x + 1, x, x, -2 * x], t, p)
        assert math.gcd(res, n2) == r and (x + 1 + x * p + x * p**2 - 2 * x * p**3) % r == 0 and h1 == 1
    return "\n".join(out) + "\n\n#endif\n"


if __name__ == "__main__":
    sys.exit(write_or_check("gen_curve_params.py", {f"curve/params_curve_{name}.h": render(name) for name in CURVES}))
