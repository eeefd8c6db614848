#!/usr/bin/env python3
"""Damaged and foreign files against the command line: thousands of mutations of real ones.

    test_hostile.py CUZK [RUNS [SEED]]     RUNS: default 300; a failure prints what repeats it

Whatever a file holds, a run ends by itself, in time, with a documented exit code and a message that names a file; it leaves no file
behind that it did not finish; and what it calls a proof verifies.  Best run with the program of the dev preset.
"""
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import make_circuit  # noqa: E402

CUZK = os.path.abspath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 300
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "little")
WORK = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-hostile-"))
ENV = dict(os.environ, XDG_CACHE_HOME=str(WORK / "cache"))
SECONDS = 60


def run(*args):
    try:
        p = subprocess.run([CUZK, *map(str, args)], capture_output=True, timeout=SECONDS, env=ENV, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"no end after {SECONDS} s")
    text = (p.stdout + p.stderr).decode(errors="replace")
    assert p.returncode >= 0 and "Sanitizer" not in text and "runtime error" not in text, f"exit {p.returncode}\n{text[-4000:]}"
    return p.returncode, text


def must(*args):
    code, text = run(*args, "--quiet")
    assert code == 0, text


# -- originals ------------------------------------------------------------------------------------------------------------


def originals():
    """The files of three circuits: {name: {role: path}}."""
    out = {}
    for curve, layout in (("bn254", "zkey"), ("bls12_381", "zkey"), ("bls12_381", "bellman")):
        d = WORK / f"{curve}-{layout}"
        d.mkdir()
        r1cs, wtns, _ = make_circuit.make(curve, 9, 3, True)
        (d / "r1cs").write_bytes(r1cs)
        (d / "wtns").write_bytes(wtns)
        must("setup", "--dev", d / "r1cs", d / "key", "--layout", layout, "--vkey", d / "vk", "--trapdoor", d / "trapdoor")
        must("prove", d / "key", d / "wtns", d / "proof", d / "public", "--r1cs", d / "r1cs")
        if curve == "bls12_381":
            must("prove", d / "key", d / "wtns", d / "proof-bytes", d / "public", "--r1cs", d / "r1cs", "--format", "compressed")
        out[d.name] = {p.name: p for p in d.iterdir()}
    return out


# -- mutations ------------------------------------------------------------------------------------------------------------

WORDS = [0, 1, 2, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 1 << 28, (1 << 28) + 1, 1 << 24, 1000]
NUMBERS = ["-1", "+1", "1e5", "01", " 1", "1 ", "0x10", "1.0", "", "-0", "NaN", "1" * 5000, "18446744073709551616", "1_000", "\u0661", "\\u0000", "null"]


def split(data):
    parts, at = [], 12
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("<IQ", data, at)
        parts.append((kind, data[at + 12:at + 12 + size]))
        at += 12 + size
    return parts


def place(rng, data):
    """An offset, more often where lengths and counts stand."""
    return rng.randrange(min(len(data), 512)) if rng.random() < 0.4 else rng.randrange(len(data))


def mutate_bytes(rng, data, other):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        if not data:
            break
        at = place(rng, data)
        kind = rng.randrange(10)
        if kind <= 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data[at:at + 4] = struct.pack(rng.choice("<>") + "I", rng.choice(WORDS))
        elif kind == 4:
            data[at:at + 8] = struct.pack("<Q", rng.choice(WORDS) << rng.choice((0, 8, 31, 32)))
        elif kind == 5:
            del data[at:at + rng.choice((1, 4, 12, 32, 64))]
        elif kind == 6:
            data[at:at] = rng.randbytes(rng.choice((1, 4, 32, 1000)))
        elif kind == 7:
            data[at:at + 64] = bytes(len(data[at:at + 64]))
        elif kind == 8:
            cut = place(rng, other)
            data[at:] = other[cut:]
        elif data[:4] in (b"zkey", b"wtns", b"r1cs"):
            parts = split(data)
            if not parts:
                continue
            a, b = rng.randrange(len(parts)), rng.randrange(len(parts))
            how = rng.randrange(4)
            if how == 0:
                parts[a], parts[b] = (parts[a][0], parts[b][1]), (parts[b][0], parts[a][1])
            elif how == 1:
                del parts[a]
            elif how == 2:
                parts.append(parts[b])
            else:
                parts[a] = (rng.choice((0, 1, 5, 10, 99, 0xFFFFFFFF)), parts[a][1])
            data = bytearray(make_circuit.container(bytes(data[:4]), data[4], parts))
    return bytes(data)


def json_paths(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, v in items:
        yield from json_paths(v, path + (k,))


def mutate_json(rng, data, other):
    if rng.random() < 0.3:
        return mutate_bytes(rng, data, other)
    value = json.loads(data)
    path = rng.choice([p for p in json_paths(value) if p] or [()])
    if not path:
        return rng.choice((b"{}", b"null", b"[" * 100000, b"[0," * 1000, b"\xff\xfe", b"[\"1\"", b"[1e400]", b"\xef\xbb\xbf" + data))
    at = value
    for k in path[:-1]:
        at = at[k]
    kind = rng.randrange(9)
    if kind <= 2:
        at[path[-1]] = rng.choice(NUMBERS)
    elif kind == 3:
        at[path[-1]] = rng.choice((None, True, 0, -1, 1.5, 10**30, -(10**30), [], {}, [[[[]]]], "x" * 70000, 1e308))
    elif kind == 4:
        del at[path[-1]]
    elif kind == 5:
        text = json.dumps(value)
        name = json.dumps(at[path[-1]])
        return text.replace(name, rng.choice(NUMBERS) or "[" * rng.choice((20, 5000)), 1).encode()
    elif kind == 6:
        text = json.dumps(value).encode()
        cut = rng.randrange(len(text))
        return text[:cut] + rng.choice((b"\0", b"\xc3\x28", b"\xed\xa0\x80", b"\x80", b"\\ud800", b"/*", b"\"")) + text[cut:]
    elif kind == 7:
        at[path[-1]] = [at[path[-1]]] * rng.choice((2, 3, 1000))
    else:
        text = json.dumps(value)
        return (text[:-1] + "," + text[1:]).encode()
    return json.dumps(value).encode()


# -- runs -----------------------------------------------------------------------------------------------------------------


def number(v):
    if isinstance(v, str):
        return int(v, 16) if v[:2].lower() == "0x" else int(v)
    return v


def numbers(v):
    return [numbers(x) for x in v] if isinstance(v, list) else number(v)


def same_statement(role, a, b):
    """Whether two JSON files that verified say the same."""
    a, b = json.loads(a.rstrip(b"\0").decode("utf-8-sig")), json.loads(b)
    if role == "public":
        return numbers(a) == numbers(b)
    for key in ("pi_a", "pi_b", "pi_c") if role == "proof" else ("vk_alpha_1", "vk_beta_2", "vk_gamma_2", "vk_delta_2", "IC"):
        if numbers(a[key]) != numbers(b[key]):
            return False
    return True


def attempt(rng, files, everything):
    role = rng.choice([r for r in files if r != "trapdoor" or rng.random() < 0.2])
    original = files[role].read_bytes()
    other = rng.choice(everything).read_bytes()
    is_json = original[:1] in b"{["
    bad = (mutate_json if is_json else mutate_bytes)(rng, original, other)
    if bad == original:
        return
    folder = WORK / "now"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    hostile = folder / f"hostile.{role}"
    hostile.write_bytes(bad)
    at = dict(files, **{role: hostile})
    proof, public, made = folder / "out.proof", folder / "out.public", folder / "out.made"
    bellman = original[:4] != b"zkey" and files["key"].read_bytes()[:4] != b"zkey"
    prove = ["prove", at["key"], at["wtns"], proof, public] + (["--r1cs", at["r1cs"]] if bellman or role == "r1cs" else [])
    proof_role = "proof-bytes" if role == "proof-bytes" else "proof"
    choices = {
        "key": [prove, prove, ["check", at["key"], "--no-remember"] + prove[5:], ["vkey", at["key"], made], ["plan", at["key"]] + prove[5:]],
        "wtns": [prove],
        "r1cs": [prove, ["setup", "--dev", at["r1cs"], made, "--layout", "bellman" if bellman else "zkey"]],
    }.get(role, [["verify", at["vk"], at["public"], at[proof_role]]] if role != "trapdoor" else [])
    command = rng.choice(choices + [["inspect", hostile]])
    code, text = run(*command, "--threads", "2", *rng.choice(([], ["--json"])))
    assert code in (0, 1, 3, 5), f"exit {code}: {text}"
    left = {p.name for p in folder.iterdir()} - {hostile.name}
    if code != 0:
        assert not left, f"files left behind: {left}\n{text}"
        assert "cuzk: error: " in text and ("hostile" in text or "witness" in text or "proof" in text or "public" in text), f"says too little: {text}"
        return
    if command[0] == "prove":
        assert left == {proof.name, public.name}, left
        vk = folder / "own.vk"
        must("vkey", at["key"], vk, *prove[5:])
        must("verify", vk, public, proof)
    elif command[0] == "verify":
        assert role != "proof-bytes", "a changed proof verifies"
        if is_json:
            assert same_statement(role, bad, original), "something else verifies"
    elif command[0] == "setup":
        assert left == {made.name}, left


def main():
    print(f"seed {SEED}, {RUNS} runs", flush=True)
    sets = originals()
    everything = [p for files in sets.values() for p in files.values()]
    failed = 0
    for i in range(RUNS):
        rng = random.Random(f"{SEED} {i}")
        try:
            attempt(rng, sets[rng.choice(sorted(sets))], everything)
        except AssertionError as e:
            failed += 1
            keep = os.environ.get("CUZK_KEEP_HOSTILE")
            if keep:
                shutil.copytree(WORK / "now", os.path.join(keep, f"{SEED}-{i}"), dirs_exist_ok=True)
            print(f"FAILED  run {i} of seed {SEED}: {e}", flush=True)
    shutil.rmtree(WORK, ignore_errors=True)
    print(f"{RUNS - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or RUNS == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
