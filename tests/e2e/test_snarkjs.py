#!/usr/bin/env python3
"""cuzk against snarkjs: each verifies what the other proves, on real keys and on development keys of both curves.

    test_snarkjs.py CUZK ORACLE SOURCE_FOLDER

Needs node and node_modules/snarkjs below the source folder (tools/setup); exit code 77, skipped, without them.  Real keys are taken
from $CUZK_SHARED, else from shared/ beside the source folder; what is not there is named."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
PAIRS = [("circom_runtime", "circuit.zkey", "witness.wtns", "verification_key.json"),
         ("rapidsnark-testdata", "circuit_final.zkey", "witness.wtns", "verification_key.json"),
         ("semaphore-v4", "semaphore-10.zkey", "semaphore-10.wtns", "semaphore-10.json"),
         ("taceo-bls12_381-multiplier2", "circuit.zkey", "witness.wtns", "verification_key.json"),
         ("taceo-bls12_381-poseidon", "circuit.zkey", "witness.wtns", "verification_key.json"),
         ("taceo-bn254-multiplier2", "circuit.zkey", "witness.wtns", "verification_key.json"),
         ("taceo-bn254-poseidon", "circuit.zkey", "witness.wtns", "verification_key.json"),
         ("waku-rln", "rln_final.zkey", "rln.wtns", "verification_key.json")]


def run(*command, code=0):
    p = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if p.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: exit code {p.returncode}, not {code}\n{p.stdout}{p.stderr}")
    return p.stdout


def main():
    cuzk, oracle, source = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    cli = source / "node_modules/snarkjs/build/cli.cjs"
    node = shutil.which("node")
    if node is None or not cli.exists():
        print("skipped: node or node_modules/snarkjs is not there (tools/setup installs them)")
        return SKIP
    snarkjs = (node, cli)
    data = Path(os.environ.get("CUZK_SHARED") or source / "../shared") / "data/circom"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        proof, public = folder / "proof.json", folder / "public.json"
        for name, key, witness, vk in PAIRS:
            if not (data / name / key).exists():
                print("skipped:", name)
                continue
            run(cuzk, "prove", data / name / key, data / name / witness, proof, public)
            run(*snarkjs, "groth16", "verify", data / name / vk, public, proof)
            run(cuzk, "verify", data / name / vk, public, proof)
        for curve in ("bn254", "bls12_381"):
            for extra in ([], ["--publics", "none"]):
                base = folder / "c"
                run(sys.executable, source / "tests/support/make_circuit.py", curve, 50, base, *extra)
                run(cuzk, "setup", "--dev", folder / "c.r1cs", folder / "c.zkey", "--vkey", folder / "vk.json", "--trapdoor", folder / "t.json")
                run(*snarkjs, "zkey", "export", "verificationkey", folder / "c.zkey", folder / "their-vk.json")
                assert (folder / "vk.json").read_text() == (folder / "their-vk.json").read_text(), "the verifying keys differ"
                run(cuzk, "prove", folder / "c.zkey", folder / "c.wtns", proof, public)
                run(*snarkjs, "groth16", "verify", folder / "vk.json", public, proof)
                run(*snarkjs, "groth16", "prove", folder / "c.zkey", folder / "c.wtns", folder / "their-proof.json", folder / "their-public.json")
                run(cuzk, "verify", folder / "vk.json", folder / "their-public.json", folder / "their-proof.json")
                assert public.read_text() == (folder / "their-public.json").read_text(), "the public inputs are written differently"
                print(run(oracle, folder / "c.zkey", folder / "c.r1cs", folder / "c.wtns", folder / "t.json"), end="")
                if curve == "bls12_381":
                    run(cuzk, "setup", "--dev", "--layout", "bellman", folder / "c.r1cs", folder / "c.params", "--trapdoor", folder / "t.json")
                    print(run(oracle, folder / "c.params", folder / "c.r1cs", folder / "c.wtns", folder / "t.json"), end="")
    print("cuzk and snarkjs accept each other's proofs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
