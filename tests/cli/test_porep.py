#!/usr/bin/env python3
"""PoRep on the command line: vanilla proofs, their faults, public inputs, verification, parameter folders; with --slow, proofs.

    tests/cli/test_porep.py CUZK [--slow] [CASE...]
"""
import base64
import copy
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

SLOW = "--slow" in sys.argv
if SLOW:
    sys.argv.remove("--slow")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_cli as cli  # noqa: E402  the runner, and the helpers below
from test_cli import SHARED, WORK, Skipped, check, expect, run, write  # noqa: E402
import porep_inputs  # noqa: E402  tests/support

FILECOIN = SHARED / "data" / "filecoin"
cli.CASES.clear()
NAMES = {
    "2KiB": "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
            "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f",
    "8MiB": "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
            "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb",
}


def fast(f):
    if not SLOW:
        cli.CASES.append(f)
    return f


def slow(f):
    if SLOW:
        cli.CASES.append(f)
    return f


def data(*parts):
    path = FILECOIN.joinpath(*parts)
    if not path.exists():
        raise Skipped(f"no third-party data: {'/'.join(parts)}")
    return path


def c1(size="2KiB", seed=7, *more, name=None):
    path = WORK / (name or f"c1-{size}-{seed}{''.join(map(str, more))}.json")
    if not path.exists():
        expect(0, "gen", "c1", "--size", size, "--seed", seed, *more, "-o", path)
    return path


def statement_args(s, skip=()):
    """s: a dict with the options' names."""
    out = []
    for k, v in s.items():
        if k not in skip:
            out += ["--" + k, v]
    return out


def derived(header, miner, sector, partition=0):
    h = {k: bytes(header[k]) for k in ("comm_r", "comm_d", "seed", "ticket")}
    return porep_inputs.public_inputs(header["registered_proof"], porep_inputs.prover_id(miner), sector, h["ticket"], h["seed"], h["comm_r"],
                                      h["comm_d"], partition)


# -- help, circuits --------------------------------------------------------------------------------------------------------

@fast
def help_and_wrong_usage():
    for c in ("prove", "verify", "inspect"):
        expect(0, "porep", c, "--help", has=["usage: cuzk porep " + c])
    expect(0, "porep", "--help", has=["prove", "verify", "inspect"])
    expect(2, "porep", has="usage: cuzk porep COMMAND")
    expect(2, "porep", "prov", has="did you mean 'porep prove'")
    expect(2, "porep", "prove", "x", "--miner", "1", "--sector", "1", has="-o PROOF is missing")
    expect(2, "porep", "prove", "x", "-o", "y", "--sector", "1", has="--miner N is missing")
    expect(2, "porep", "verify", "x", "--miner", "1", has="--type is missing")
    expect(2, "porep", "verify", "x", "--type", "StackedDrg3KiBV1", "--miner", "1", "--sector", "1", has="StackedDrg3KiBV1")
    expect(0, "gen", "c1", "--help")
    expect(2, "gen", "c1", "--size", "3KiB", "-o", WORK / "x", has="not '3KiB'")
    expect(2, "gen", "c1", "--size", "2KiB", "--variant", "v9", "-o", WORK / "x", has="not 'v9'")
    expect(3, "gen", "c1", "--size", "32GiB", "-o", WORK / "x", has="sparse")
    expect(4, "circuit", "info", "porep-3k", has="porep-32g")


@fast
def circuit_counts():
    o = json.loads(expect(0, "circuit", "info", "porep-2k", "--json").stdout)
    check((o["inputs"], o["aux"], o["rows"], o["dense_a"], o["dense_b"]) == (40, 2685673, 2687961, 2674908, 685521) and o["reference"], o)


@slow
def circuit_digests():
    o = json.loads(expect(0, "circuit", "check", "porep-2k", "--json", timeout=600).stdout)
    check(o["digest"] == "71c0fea6df6fd723527666f9edc811c5f57bc38886629d9dc7eda107a1610126" and o["reference"], o)
    o = json.loads(expect(0, "circuit", "info", "porep-32g", "--json", timeout=600).stdout)
    check(o["rows"] == 130278869 and o["reference"] and o["image_bytes"] < 64 << 20, o)


# -- vanilla proofs --------------------------------------------------------------------------------------------------------

@fast
def gen_is_deterministic_and_right():
    a, b = c1(seed=3), c1(seed=3, name="again.json")
    check(a.read_bytes() == b.read_bytes() and a.read_bytes() != c1(seed=4).read_bytes(), "same seed, same file; other seed, other file")
    for variant in ("v1", "v1_1", "synthetic", "ni"):
        path = c1("2KiB", 5, "--variant", variant, "--miner", 77, "--sector", 9)
        expect(0, "porep", "inspect", path, "--check", "--miner", 77, "--sector", 9, has="every challenge")
        header = json.loads(path.read_text())
        for k in range(porep_inputs.partitions(header["registered_proof"])):
            expect(0, "porep", "inspect", path, "--public", WORK / "public.json", "--partition", k, "--miner", 77, "--sector", 9)
            got = [int(x) for x in json.loads((WORK / "public.json").read_text())]
            check(got == derived(header, 77, 9, k), f"{variant}: public inputs of partition {k}")
    wrapped = c1("2KiB", 3, "--wrapped")
    check(base64.b64decode(json.loads(wrapped.read_text())["Phase1Out"]) == a.read_bytes(), "the wrapper holds the same file")
    check(json.loads(wrapped.read_text())["SectorNum"] == 1, "the wrapper names the sector")
    expect(0, "porep", "inspect", wrapped, "--check", has=["2KiB", "every challenge"])


@fast
def real_vanilla_proof():
    meta = json.loads(data("vanilla", "c2-input-8MiB.meta.json").read_text())
    for name in ("c1-8MiB.json", "c1-8MiB.curio-wrapper.json", "c2-input-8MiB.bincode"):
        o = json.loads(expect(0, "porep", "inspect", data("vanilla", name), "--check", "--miner", meta["miner_id"], "--sector", meta["sector_id"],
                              "--public", WORK / "public.json", "--json").stdout)
        check(all(o[k] == meta[k] for k in ("comm_r", "comm_d", "replica_id", "seed", "ticket")), f"{name}: header")
        check(json.loads((WORK / "public.json").read_text()) == meta["expected_public_inputs_dec"], f"{name}: the 39 public inputs")
    header = json.loads(data("vanilla", "c1-8MiB.json").read_text())
    check([str(x) for x in derived(header, meta["miner_id"], meta["sector_id"])] == meta["expected_public_inputs_dec"], "the independent script")
    expect(3, "porep", "inspect", data("vanilla", "c1-8MiB.json"), "--check", "--miner", 1007, "--sector", 1498, has="replica_id")


def leaves(node, path=()):
    """Paths to everything that can be wrong: each hash, each number, each list; of long lists the first and the last element."""
    if isinstance(node, dict):
        for k, v in node.items():
            yield from leaves(v, path + (k,))
    elif isinstance(node, list):
        yield path
        if not (len(node) == 32 and all(isinstance(x, int) for x in node)):
            for i in sorted({0, len(node) - 1}):
                yield from leaves(node[i], path + (i,))
    else:
        yield path


def altered(value):
    """Wrong values of the same kind."""
    if isinstance(value, str):
        return ["StackedDrg8MiBV1_1", "x"]
    if isinstance(value, int):
        return [value + 1, 2 ** 63, -1]
    if isinstance(value, list) and len(value) == 32 and all(isinstance(x, int) for x in value):
        return [[255] * 32, [(value[0] + 1) % 256] + value[1:], value[:31], value[:31] + [256]]
    if isinstance(value, list):
        return [value[:-1], value[1:]] + ([value[::-1]] if value != value[::-1] else [])
    return []


@fast
def every_altered_field_is_named():
    whole = json.loads(c1().read_text())
    count = 0
    for path in list(leaves(whole)):
        parent = whole
        for step in path[:-1]:
            parent = parent[step]
        for value in altered(parent[path[-1]]):
            kept, parent[path[-1]] = parent[path[-1]], value
            text = json.dumps(whole)
            parent[path[-1]] = kept
            p = expect(3, "porep", "inspect", "-", "--check", "--miner", 1000, "--sector", 1, stdin=text.encode())
            check(len(p.stderr) > 40 and b"INTERNAL" not in p.stderr, f"{path}: {p.text}")
            count += 1
    check(count > 300, f"only {count} alterations")
    level = whole["vanilla_proofs"]["StackedDrg2KiBV1"][0][1]["comm_r_last_proof"]["data"]["Single"]["path"]["path"][1]
    for wrong in ((level["index"] + 1) % 8, 8): # below the arity and not
        kept, level["index"] = level["index"], wrong
        expect(3, "porep", "inspect", "-", "--check", stdin=json.dumps(whole).encode(),
               has="partition 0, challenge 1, comm_r_last proof, path level 1, index: ")
        level["index"] = kept
    for key in ("comm_r", "comm_d", "replica_id", "seed", "ticket", "vanilla_proofs", "registered_proof"):
        less = copy.deepcopy(whole)
        del less[key]
        expect(3, "porep", "inspect", "-", "--check", stdin=json.dumps(less).encode(), has=key)


@fast
def partitions_cannot_be_swapped():
    path = c1("2KiB", 5, "--variant", "ni")
    whole = json.loads(path.read_text())
    proofs = whole["vanilla_proofs"]["StackedDrg2KiBV1"]
    proofs[3], proofs[7] = proofs[7], proofs[3]
    expect(3, "porep", "inspect", "-", "--check", stdin=json.dumps(whole).encode(), has="partition 3")


@fast
def files_that_are_no_c1():
    """Each is named for what it is, with advice; a field that is named stands in the file."""
    whole = c1().read_bytes()
    body = base64.b64encode(whole).decode()

    def refused(text, *has):
        expect(3, "porep", "inspect", "-", "--check", "--miner", 1000, "--sector", 1, stdin=text, has=["what to do: ", *has])

    def wrapper(**change):
        return json.dumps({"SectorNum": 1, "Phase1Out": body, "SectorSize": 2048, **change}).encode()

    refused(b"", "is empty")
    refused(b" \n\t", "is empty")
    refused(b"\n<!DOCTYPE html><html>404</html>", "HTML page")
    refused(b"\xef\xbb\xbf" + whole, "byte order mark")
    for text in (b"[]", b"null", b"PROOF", bytes(19)):
        refused(text, "neither JSON nor bincode")
    refused(bytes(range(256)), "neither JSON nor bincode")
    refused(b"[" * 100000, "neither JSON nor bincode")
    refused(b'{"a":' * 100000, "nested too deeply")
    refused(whole[:10], "ends before its end", "field " + whole[2:10].decode() + "\n")
    refused(whole[:-1] + b',"a\x01":1}', "control character", "field a\n")
    refused(whole + b"\0", "behind the end")
    refused(whole[:-1] + b',"z":01}', "leading zeros", "field z\n")
    for zeros in (b"0", b"0" * 21): # in the loop for byte values, and in the one for numbers
        refused(whole.replace(b'"seed":[', b'"seed":[' + zeros, 1), "leading zeros", "field seed")
    # within the wrapper
    expect(0, "porep", "inspect", "-", "--check", "--miner", 1000, "--sector", 1, stdin=wrapper())
    at = wrapper().index(b'"Phase1Out": "') + len(b'"Phase1Out": "') + 1000
    for wrong in "*-_.,":
        refused(wrapper(Phase1Out=body[:1000] + wrong + body[1001:]), "not base64", f"byte {at}")
    refused(wrapper(Phase1Out=body + "AAAA"), "base64")
    refused(wrapper(Phase1Out=body[:-3]), "base64")
    refused(wrapper(Phase1Out=""), "in Phase1Out, byte 0")
    refused(wrapper(Phase1Out=base64.b64encode(whole[:300] + b"\0").decode()), "in Phase1Out, byte 300 of what it decodes to")
    refused(wrapper(Phase1Out=base64.b64encode(wrapper()).decode()), "Phase1Out inside Phase1Out")
    for value in (None, 5, {}, [], True):
        refused(wrapper(Phase1Out=value), "field Phase1Out")
    refused(wrapper(SectorNum=-1), "SectorNum")
    refused(wrapper(SectorSize=4096), "SectorSize is 4096")
    header = json.loads(whole)
    for key in ("comm_r", "ticket", "seed", "registered_proof"): # else the one that comes last would win
        refused(wrapper(**{key: header[key]}), "both Phase1Out and", key)


@fast
def a_wrapper_of_another_sector():
    """A wrapper that names another sector or miner than the command line: one of the two is a slip."""
    wrapper = json.loads(c1("2KiB", 7, "--wrapped").read_text())
    check(wrapper["SectorNum"] == 1, "the wrapper's sector")
    wrapper["SectorNum"] = 2
    text = json.dumps(wrapper).encode()
    expect(3, "porep", "inspect", "-", "--check", "--miner", 1000, "--sector", 1, stdin=text, has=["wrapper is of sector 2, not 1", "SectorNum"])
    binary = bytearray(data("vanilla", "c2-input-8MiB.bincode").read_bytes())
    meta = json.loads(data("vanilla", "c2-input-8MiB.meta.json").read_text())
    identity = ["--check", "--miner", meta["miner_id"], "--sector", meta["sector_id"]]
    binary[-40] ^= 1
    expect(3, "porep", "inspect", "-", *identity, stdin=bytes(binary), has=["another miner", "prover_id"])
    binary[-40] ^= 1
    binary[-8] ^= 1
    expect(3, "porep", "inspect", "-", *identity, stdin=bytes(binary), has="wrapper is of sector")


@fast
def slips_on_the_command_line():
    """Inputs are not overwritten, outputs that cannot be written are refused before anything is proved, nothing given is ignored."""
    source = c1()
    path = write(WORK / "slip.json", source.read_bytes())
    link = WORK / "slip-link.json"
    link.unlink(missing_ok=True)
    link.symlink_to(path)
    who = ["--miner", 1000, "--sector", 1]
    nowhere = WORK / "no-parameters-needed" # the refusals come first
    for out in (path, link):
        expect(2, "porep", "prove", path, *who, "--params", nowhere, "-o", out, has="would overwrite the input")
        expect(2, "porep", "publics", out, "--c1", path, *who, has="would overwrite the input")
        expect(2, "porep", "inspect", path, *who, "--public", out, has="would overwrite the input")
    check(path.read_bytes() == source.read_bytes(), "the C1 output is as it was")
    for out in (WORK / "no" / "such", WORK, path / "x", ""):
        p = expect(4, "porep", "prove", path, *who, "--params", nowhere, "-o", out, has="could not be written")
        check("no-parameters-needed" not in p.text, "said before the parameters are looked for")
    fresh = WORK / "trapdoor-first"
    expect(4, "setup", "--dev", "porep-2k", fresh, "--trapdoor", WORK / "no" / "such", has="could not be written")
    check(not fresh.exists(), "said before any key is made")
    # one object or one file on standard output
    check(len(json.loads(expect(0, "porep", "inspect", path, *who, "--public", "-", "--json").stdout)) == 39, "public inputs alone")
    o = json.loads(expect(0, "porep", "publics", WORK / "public.json", "--c1", path, *who, "--json").stdout)
    check(o["status"] == "OK" and o["public"] == str(WORK / "public.json"), o)
    # what would be ignored
    expect(2, "porep", "inspect", path, "--check", "--miner", 1001, has="go together")
    expect(2, "porep", "inspect", path, *who, has="--check or --public")
    check(json.loads(expect(0, "porep", "inspect", path, "--check", "--json").stdout)["replica_id_checked"] is False, "said what was not compared")
    check(json.loads(expect(0, "porep", "inspect", path, "--check", *who, "--json").stdout)["replica_id_checked"] is True, "said what was compared")
    expect(2, "porep", "publics", "-", "--c1", path, *who, "--prover-id", "00" * 32, has="exclude each other")
    expect(2, "porep", "publics", "-", "--c1", path, *who, "--partition", 1, has="there is no partition 1")
    expect(2, "porep", "publics", "-", "--c1", path, *who, "--seed", "\x10" * 64, has="64 hex digits")
    expect(2, "porep", "verify", path, "--c1", path, *who, "--params", nowhere, "--vk", path, has="exclude each other")


# -- verification ----------------------------------------------------------------------------------------------------------

@fast
def third_party_proofs_from_sector_data():
    done = 0
    for stem in ("porep-2KiB-polka-119b80e4", "porep-2KiB-polka-4933402e"):
        o = json.loads(data("vk-proof-2k", stem + ".json").read_text())
        vk, proof = data("vk-proof-2k", stem + ".vk"), data("vk-proof-2k", stem + ".proof")
        s = {"type": "StackedDrg2KiBV1_1", "porep-id": "00" * 32, "prover-id": o["prover_id"], "sector": o["sector"], "ticket": o["ticket"],
             "seed": o["seed"], "comm-r": o["comm_r"], "comm-d": o["comm_d"]}
        expect(0, "porep", "verify", proof, "--vk", vk, *statement_args(s), has="valid")
        for key, value in s.items():
            if key == "type":
                flipped = "StackedDrg2KiBV1" # the other graph
            elif key == "sector":
                flipped = value ^ 1
            else:
                flipped = f"{int(value[:2], 16) ^ 1:02x}" + value[2:]
            expect(1, "porep", "verify", proof, "--vk", vk, *statement_args({**s, key: flipped}), has="not valid")
            done += 1
        for offset in (0, 20, 60, 100, 150, 191):
            bad = bytearray(proof.read_bytes())
            bad[offset] ^= 1
            p = run("porep", "verify", write(WORK / "bad.proof", bytes(bad)), "--vk", vk, *statement_args(s))
            check(p.returncode in (1, 3), f"flipped byte {offset}: {p.text}")
        expect(3, "porep", "verify", write(WORK / "short.proof", proof.read_bytes()[:-1]), "--vk", vk, *statement_args(s))
        expect(3, "porep", "verify", write(WORK / "two.proof", 2 * proof.read_bytes()), "--vk", vk, *statement_args(s))
    check(done == 16, f"{done} flips")


@fast
def seal_records():
    """Real proofs of all sizes: their points decode, and their public inputs follow.  The keys are not at hand, so any key refuses them."""
    versions = {("V1_0_0", ()): "V1", ("V1_1_0", ()): "V1_1", ("V1_2_0", ()): "V1_1", ("V1_2_0", ("SyntheticPoRep",)): "V1_1_Feat_SyntheticPoRep"}
    sizes = {2048: "2KiB", 8 << 20: "8MiB", 512 << 20: "512MiB", 32 << 30: "32GiB", 64 << 30: "64GiB"}
    vk2 = data("vk-proof-2k", "porep-2KiB-polka-119b80e4.vk")
    done = 0
    for line in data("seal-records", "seal-records-sample.jsonl").read_text().splitlines():
        o = json.loads(line)
        config = o["porep_config"]
        kind = "StackedDrg" + sizes[config["sector_size"]] + versions[config["api_version"], tuple(config["api_features"])]
        proof = write(WORK / "record.proof", bytes(o["proof"]))
        s = {"type": kind, "porep-id": bytes(config["porep_id"]).hex(), "prover-id": bytes(o["prover_id"]).hex(), "sector": o["sector_id"],
             "ticket": bytes(o["ticket"]).hex(), "seed": bytes(o["seed"]).hex(), "comm-r": bytes(o["comm_r"]).hex(), "comm-d": bytes(o["comm_d"]).hex()}
        for k in range(config["partitions"]):
            expect(0, "porep", "publics", WORK / "public.json", "--partition", k, *statement_args(s))
            got = [int(x) for x in json.loads((WORK / "public.json").read_text())]
            check(got == porep_inputs.public_inputs(kind, bytes(o["prover_id"]), o["sector_id"], bytes(o["ticket"]), bytes(o["seed"]),
                                                    bytes(o["comm_r"]), bytes(o["comm_d"]), k, bytes(config["porep_id"])), f"{kind}, partition {k}")
        if config["partitions"] == 1: # another key with as many inputs: every point decodes, then the equation fails
            expect(1, "porep", "verify", proof, "--vk", vk2, *statement_args(s), has="not valid")
        expect(0, "inspect", proof, has=str(config["partitions"]))
        bad = bytearray(proof.read_bytes())
        bad[-1] ^= 0x55
        check(run("porep", "verify", write(WORK / "bad.proof", bytes(bad)), "--vk", vk2, *statement_args(s)).returncode in (1, 3), "a flipped byte")
        done += 1
    check(done == 24, f"{done} records")


# -- parameter folders -----------------------------------------------------------------------------------------------------

def folder(name, vk=b"", params=None, manifest=None):
    d = WORK / name
    shutil.rmtree(d, ignore_errors=True)
    d.mkdir()
    if vk is not None:
        (d / (NAMES["2KiB"] + ".vk")).write_bytes(vk)
    if params is not None:
        (d / (NAMES["2KiB"] + ".params")).write_bytes(params)
    if manifest is not None:
        (d / "parameters.json").write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
    return d


def entry(suffix, content):
    return {NAMES["2KiB"] + suffix: {"cid": "x", "digest": hashlib.blake2b(content).hexdigest()[:32], "sector_size": 2048}}


def prove(path, params, code, has, miner=1000, sector=1, **kw):
    out = WORK / "refused.proof"
    out.unlink(missing_ok=True)
    p = expect(code, "porep", "prove", path, "--miner", miner, "--sector", sector, "--params", params, "-o", out, has=has, **kw)
    check(code == 0 or not out.exists(), "a refused proof left a file")
    return p


@fast
def parameter_files_at_fault():
    vk = data("vk-proof-2k", "porep-2KiB-polka-119b80e4.vk").read_bytes()
    path = c1()
    prove(path, WORK / "nowhere", 4, ["nowhere", "lotus fetch-params"])
    prove(path, path, 4, "not a folder")
    prove(path, folder("p", vk=None), 4, [NAMES["2KiB"] + ".vk", "lotus fetch-params"])
    prove(path, folder("p", vk=b""), 3, ["is empty", ".vk"])
    prove(path, folder("p", vk=b" <!DOCTYPE html><html>404</html>"), 3, "HTML page")
    prove(path, folder("p", vk=vk[:-5]), 3, ".vk")
    prove(path, folder("p", vk=vk[:700]), 3, ".vk")
    bad = bytearray(vk)
    bad[50] ^= 1
    prove(path, folder("p", vk=bytes(bad)), 3, "alpha")
    prove(path, folder("p", vk=vk), 4, NAMES["2KiB"] + ".params")
    prove(path, folder("p", vk=vk, params=b""), 3, ["is empty", ".params"])
    prove(path, folder("p", vk=vk, params=b"<html>gateway timeout</html>"), 3, ["HTML page", ".params"])
    prove(path, folder("p", vk=vk, params=vk), 3, ".params")
    prove(path, folder("p", vk=vk, params=vk + (4194303).to_bytes(4, "big") + bytes(960)), 3, ".params")
    small = vk + b"".join((n).to_bytes(4, "big") + bytes(n * size) for n, size in ((3, 96), (2, 96), (40, 96), (1, 96), (1, 192)))
    prove(path, folder("p", vk=vk, params=small), 3, ["variables", "porep-2KiB"])
    prove(path, folder("p", vk=vk, manifest="{"), 3, "parameters.json")
    prove(path, folder("p", vk=vk, manifest={NAMES["2KiB"] + ".vk": {"cid": "x"}}), 3, "no digest")
    prove(path, folder("p", vk=vk, manifest=entry(".vk", b"other")), 3, ["digest", hashlib.blake2b(vk).hexdigest()[:32]])
    prove(path, folder("p", vk=vk, params=small, manifest={**entry(".vk", vk), **entry(".params", b"other")}), 3, "digest")
    right = folder("p", vk=vk, params=small, manifest={**entry(".vk", vk), **entry(".params", small)})
    prove(path, right, 3, "variables") # digests right, circuit wrong
    notes = list((WORK / "cache" / "cuzk").glob("digest-*"))
    check(len(notes) == 1 and hashlib.blake2b(small).hexdigest()[:32] in notes[0].read_text(), "the digest is remembered")
    # by default from the environment
    expect(3, "porep", "prove", path, "--miner", 1000, "--sector", 1, "-o", WORK / "x", has="variables",
           env=dict(cli.ENV, FIL_PROOFS_PARAMETER_CACHE=str(right)))


@fast
def development_keys_keep_to_themselves():
    vk = data("vk-proof-2k", "porep-2KiB-polka-119b80e4.vk").read_bytes()
    real = folder("real", vk=vk)
    expect(2, "setup", "--dev", "porep-2k", real, has="holds other files")
    empty = folder("empty", vk=None)
    expect(2, "setup", "--dev", "porep-2k", empty, has="real parameters are looked for", env=dict(cli.ENV, FIL_PROOFS_PARAMETER_CACHE=str(empty)))
    expect(2, "setup", "porep-2k", empty, has="--dev")
    expect(4, "setup", "--dev", "porep-2k", WORK / "no" / "such", has="cannot be made")
    check(list(empty.iterdir()) == [] and len(list(real.iterdir())) == 1, "nothing was written")


# -- slow: proofs ----------------------------------------------------------------------------------------------------------

def development(size):
    """A folder with development parameters, made once a run (CUZK_TEST_PARAMS: kept between runs)."""
    kept = os.environ.get("CUZK_TEST_PARAMS")
    d = pathlib.Path(kept) / size if kept else WORK / ("dev-" + size)
    if not (d / (NAMES[size] + ".vk")).exists():
        d.parent.mkdir(parents=True, exist_ok=True)
        expect(0, "setup", "--dev", "porep-" + {"2KiB": "2k", "8MiB": "8m"}[size], d, has="INSECURE", timeout=1800)
    return d


@slow
def a_sector_of_2_kib():
    params = development("2KiB")
    check((params / (NAMES["2KiB"] + ".params")).stat().st_size == 1114707768, "the published length")
    read_only = WORK / "read-only"
    read_only.mkdir()
    for f in params.iterdir():
        os.symlink(f, read_only / f.name)
    (read_only / "parameters.json").write_text("{}")
    read_only.chmod(0o555)
    path, out = c1(), WORK / "2k.proof"
    p = expect(0, "porep", "prove", path, "--miner", 1000, "--sector", 1, "--params", read_only, "-o", out, timeout=1200,
               has=["CUZK_TIMING: job=porep-1 part=0 stage=witness ms=", "stage=msm_h", "stage=verify_all", "development keys"])
    check(out.stat().st_size == 192, p.text)
    check(len(list(read_only.iterdir())) == len(list(params.iterdir())) + 1, "nothing was written beside the parameters")
    s = ["--c1", path, "--params", params]
    expect(0, "porep", "verify", out, *s, "--miner", 1000, "--sector", 1, has="valid")
    expect(1, "porep", "verify", out, *s, "--miner", 1001, "--sector", 1, has="not valid")
    expect(1, "porep", "verify", out, *s, "--miner", 1000, "--sector", 2, has="not valid")
    expect(1, "porep", "verify", out, "--c1", c1(seed=8), "--params", params, "--miner", 1000, "--sector", 1, has="not valid")
    # the same inputs through the general verifier
    header = json.loads(path.read_text())
    public = write(WORK / "public.json", json.dumps([str(x) for x in derived(header, 1000, 1)]))
    expect(0, "verify", params / (NAMES["2KiB"] + ".vk"), public, out, has="valid")
    # faults between a good key and a proof
    prove(path, params, 3, "replica_id", miner=1001)
    prove(path, params, 3, "replica_id", sector=2)
    header["seed"][0] ^= 1
    prove(write(WORK / "seed.json", json.dumps(header)), params, 3, "challenge")
    prove(c1("8MiB", 1, "--sparse"), params, 4, "fetch")


@slow
def parameters_of_another_ceremony():
    params = development("2KiB")
    mixed = folder("mixed", vk=data("vk-proof-2k", "porep-2KiB-polka-119b80e4.vk").read_bytes())
    os.symlink(params / (NAMES["2KiB"] + ".params"), mixed / (NAMES["2KiB"] + ".params"))
    prove(c1(), mixed, 3, "different circuits or ceremonies")
    short = folder("short", vk=(params / (NAMES["2KiB"] + ".vk")).read_bytes())
    shutil.copyfile(params / (NAMES["2KiB"] + ".params"), short / (NAMES["2KiB"] + ".params"))
    with open(short / (NAMES["2KiB"] + ".params"), "r+b") as f:
        f.seek(-1, os.SEEK_END)
        last = f.read()
        f.truncate(1114707768 - 1)
    prove(c1(), short, 3, "b_g2")
    with open(short / (NAMES["2KiB"] + ".params"), "r+b") as f: # whole again, with one wrong point of l
        f.seek(0, os.SEEK_END)
        f.write(last)
        f.seek(4708 + 4 + 96 * 4194303 + 4 + 96 * 12345)
        f.write((5).to_bytes(96, "big"))
    prove(c1(), short, 3, "point 12345 of l", timeout=1200)
    shutil.rmtree(short)


@slow
def memory_limit():
    """In a control group of 1.5 GiB a 2 KiB proof works; in one that is too small it is refused at once, with the number."""
    group = pathlib.Path("/sys/fs/cgroup/memory/cuzk-test") # version 1; version 2 has one file name less
    limit = "memory.limit_in_bytes"
    if not pathlib.Path("/sys/fs/cgroup/memory").is_dir():
        group, limit = pathlib.Path("/sys/fs/cgroup/cuzk-test"), "memory.max"
    try:
        group.mkdir(exist_ok=True)
        (group / limit).write_text(str(1536 << 20))
    except OSError as e:
        raise Skipped(f"no control group can be made: {e}")

    def inside(code, *has):
        command = [cli.CUZK, "porep", "prove", str(c1()), "--miner", "1000", "--sector", "1", "--params", str(params), "-o", str(WORK / "g.proof")]
        p = subprocess.run(["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *command], capture_output=True, env=cli.ENV, timeout=1800)
        text = (p.stdout + p.stderr).decode()
        check(p.returncode == code and all(x in text for x in has), f"exit code {p.returncode}: {text}")

    params = development("2KiB")
    try:
        with open(params / (NAMES["2KiB"] + ".params"), "rb") as f:
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED) # so that the pages count against the group
        inside(0, "proved and verified")
        (group / limit).write_text(str(400 << 20))
        inside(5, "bytes of memory", "the limit is 419430400")
    finally:
        group.rmdir()


@slow
def the_real_8_mib_vanilla_proof():
    meta = json.loads(data("vanilla", "c2-input-8MiB.meta.json").read_text())
    params = development("8MiB")
    check((params / (NAMES["8MiB"] + ".params")).stat().st_size == 1429027896, "the published length")
    out = WORK / "8m.proof"
    who = ["--miner", meta["miner_id"], "--sector", meta["sector_id"]]
    for name in ("c2-input-8MiB.bincode", "c1-8MiB.curio-wrapper.json"):
        expect(0, "porep", "prove", data("vanilla", name), *who, "--params", params, "-o", out, timeout=1800)
        s = {"type": meta["registered_proof"], "prover-id": meta["prover_id"], "sector": meta["sector_id"], "ticket": meta["ticket"],
             "seed": meta["seed"], "comm-r": meta["comm_r"], "comm-d": meta["comm_d"], "params": params}
        expect(0, "porep", "verify", out, *statement_args(s), has="valid")
        for key in ("ticket", "seed", "comm-r", "comm-d"):
            expect(1, "porep", "verify", out, *statement_args({**s, key: f"{int(s[key][:2], 16) ^ 1:02x}" + s[key][2:]}), has="not valid")


if __name__ == "__main__":
    sys.exit(cli.main())
