"""Keys of other tools in every form that cuzk can prove with: the bytes of one (r, s) are the same.

Use: test_shared_keys.py CUZK_ORACLE SOURCE.  Reads third-party data from $CUZK_SHARED/data/circom (default ../shared beside the source);
what lacks a key, a circuit or a witness is named and left out.  Exit code 77: there is nothing to try."""
import os
import subprocess
import sys
from pathlib import Path


def main():
    oracle, source = sys.argv[1], Path(sys.argv[2])
    data = Path(os.environ.get("CUZK_SHARED", source.parent / "shared")) / "data" / "circom"
    tried = 0
    for folder in sorted(p for p in data.glob("*") if p.is_dir()):
        key, r1cs, wtns = (sorted(folder.glob(f"*.{end}")) for end in ("zkey", "r1cs", "wtns"))
        if not (key and r1cs and wtns):
            print(f"{folder.name}: left out, it has no " + ", ".join(n for n, l in (("zkey", key), ("r1cs", r1cs), ("wtns", wtns)) if not l))
            continue
        done = subprocess.run([oracle, key[0], r1cs[0], wtns[0]], capture_output=True, text=True)
        if "not for Groth16" in done.stderr:
            print(f"{folder.name}: left out, its key is of another protocol")
            continue
        print(f"{folder.name}: {done.stdout.strip()} {done.stderr.strip()}")
        if done.returncode != 0:
            return 1
        tried += 1
    return 0 if tried else 77


sys.exit(main())
