#!/usr/bin/env python3
"""The public inputs of a Filecoin PoRep partition, from a sector's public data alone.  Standard library only; shares nothing with cuzk's
code: it is what cuzk's own derivation is compared with.

    tests/support/porep_inputs.py TYPE PROVER_ID SECTOR TICKET SEED COMM_R COMM_D [PARTITION [POREP_ID]]

TYPE is a registered proof (StackedDrg2KiBV1_1, ...), SECTOR a number, the others are 32 bytes in hex.  Prints a JSON array of decimals.
"""
import hashlib
import json
import re
import sys

MODULUS = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
SIZES = ["2KiB", "8MiB", "512MiB", "32GiB", "64GiB"]
NODES_LOG2 = {"2KiB": 6, "8MiB": 18, "512MiB": 24, "32GiB": 30, "64GiB": 31}
VARIANTS = ["V1", "V1_1", "V1_1_Feat_SyntheticPoRep", "V1_2_Feat_NonInteractivePoRep"]


def parse_type(name):
    size, variant = re.fullmatch(r"StackedDrg(\d+[KMG]iB)(V.*)", name).groups()
    return size, VARIANTS.index(variant), VARIANTS.index(variant) * 5 + SIZES.index(size)


def partitions(name):
    size, variant, _ = parse_type(name)
    big = size in ("32GiB", "64GiB")
    return (126 if big else 13) if variant == 3 else (10 if big else 1)


def prover_id(miner):
    out = b""
    while True:
        low, miner = miner & 127, miner >> 7
        out += bytes([low | (128 if miner else 0)])
        if not miner:
            return out.ljust(32, b"\0")


def chacha_block(key, tail, rounds):
    """RFC 8439's block function with any number of rounds; key 32 bytes, tail the four words behind it."""
    start = [int.from_bytes(b"expand 32-byte k"[i:i + 4], "little") for i in range(0, 16, 4)]
    start += [int.from_bytes(key[i:i + 4], "little") for i in range(0, 32, 4)] + list(tail)
    x = start[:]

    def quarter(a, b, c, d):
        for p, q, r, shift in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[p] = (x[p] + x[q]) & 0xFFFFFFFF
            v = x[r] ^ x[p]
            x[r] = (v << shift | v >> (32 - shift)) & 0xFFFFFFFF

    for _ in range(rounds // 2):
        for a in range(4):
            quarter(a, a + 4, a + 8, a + 12)
        for a in range(4):
            quarter(a, (a + 1) % 4 + 4, (a + 2) % 4 + 8, (a + 3) % 4 + 12)
    return b"".join(((p + q) & 0xFFFFFFFF).to_bytes(4, "little") for p, q in zip(x, start))


def drg_parents(v, porep_id, legacy):
    if v < 2:
        return [0] * 6
    key = hashlib.sha256(b"Filecoin_DRSample" + porep_id).digest()[:28] + v.to_bytes(4, "little")
    stream = b"".join(chacha_block(key, [block, 0, 0, 0], 8) for block in range(2))
    draws = iter(int.from_bytes(stream[i:i + 8], "little") for i in range(0, len(stream), 8))
    m, parents = 5 * v, []
    buckets = (m - 1).bit_length() # ceil(log2 m), m > 1
    for _ in range(5):
        high = min(m, 1 << (next(draws) % buckets + 1))
        low = max(2, high >> 1)
        p = (m - (low + next(draws) % (high - low + 1))) // 5
        parents.append(v - 1 if p == v else p)
    return parents + [v - 1] if legacy else [v - 1] + parents


def exp_parents(v, porep_id, nodes, legacy):
    digest = hashlib.sha256(b"Filecoin_Feistel" + porep_id).digest()
    keys = [digest[i:i + 8][::-1] for i in (0, 8, 16)] # u64 little-endian, hashed big-endian
    total, half = 8 * nodes, 1
    while 4 ** half < total:
        half += 1
    mask = (1 << half) - 1

    def permute(x):
        left, right = x >> half, x & mask
        for k in keys:
            f = int.from_bytes(hashlib.blake2b(right.to_bytes(8, "big") + k).digest()[:8], "big") & mask
            left, right = right, left ^ f
        return left << half | right

    parents = []
    for i in range(8):
        x = permute(8 * v + i)
        while x >= total:
            x = permute(x)
        parents.append((x & 0xFFFFFFFF if legacy else x) // 8)
    return parents


def challenges(size, variant, replica_id, seed, comm_r, partition):
    nodes, count = 1 << NODES_LOG2[size], 18 if size in ("32GiB", "64GiB") else 2

    def reduce(data):
        return int.from_bytes(data, "little") % (nodes - 1) + 1

    def keystream(tag, x, y, begin, length):
        key = hashlib.blake2b(x + y, digest_size=32, key=b"filecoin.io|PoRep|1|Synthetic|1|" + tag).digest()
        nonce = [int.from_bytes(b"synth-porep\0"[i:i + 4], "little") for i in (0, 4, 8)]
        blocks = range(begin // 64, (begin + length - 1) // 64 + 1)
        stream = b"".join(chacha_block(key, [b] + nonce, 20) for b in blocks)
        return stream[begin - 64 * blocks[0]:][:length]

    out = []
    for j in range(count * partition, count * (partition + 1)):
        if variant == 2:
            index = int.from_bytes(keystream(b"Selection", replica_id, seed, 4 * j, 4), "little") % min(nodes, 1 << 18)
            out.append(reduce(keystream(b"Generation", replica_id, comm_r, 32 * index, 32)))
        elif variant == 3:
            out.append(reduce(hashlib.sha256(b"filecoin.io|PoRep|1|NonInteractive|1" + replica_id + comm_r + j.to_bytes(4, "little")).digest()))
        else:
            out.append(reduce(hashlib.sha256(replica_id + seed + j.to_bytes(4, "little")).digest()))
    return out


def public_inputs(name, prover, sector, ticket, seed, comm_r, comm_d, partition=0, porep_id=None):
    """A list of integers, the constant 1 left out."""
    size, variant, number = parse_type(name)
    porep_id = porep_id or number.to_bytes(8, "little").ljust(32, b"\0")
    digest = bytearray(hashlib.sha256(prover + sector.to_bytes(8, "big") + ticket + comm_d + porep_id).digest())
    digest[31] &= 0x3F
    replica_id = bytes(digest)
    head = [int.from_bytes(x, "little") for x in (replica_id, comm_d, comm_r)]
    if max(head) >= MODULUS:
        raise ValueError("a commitment is not below the modulus")
    nodes, out = 1 << NODES_LOG2[size], head
    for c in challenges(size, variant, replica_id, seed, comm_r, partition):
        out += [c] + drg_parents(c, porep_id, variant == 0) + exp_parents(c, porep_id, nodes, variant == 0) + [c] * 3
    return out


def main():
    if len(sys.argv) not in (8, 9, 10):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    name, rest = sys.argv[1], sys.argv[2:]
    prover, ticket, seed, comm_r, comm_d = (bytes.fromhex(rest[i]) for i in (0, 2, 3, 4, 5))
    partition = int(rest[6]) if len(rest) > 6 else 0
    porep_id = bytes.fromhex(rest[7]) if len(rest) > 7 else None
    inputs = public_inputs(name, prover, int(rest[1]), ticket, seed, comm_r, comm_d, partition, porep_id)
    print(json.dumps([str(x) for x in inputs]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
