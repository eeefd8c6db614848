#!/usr/bin/env python3
"""Installs the library into an empty prefix and uses it as a stranger would: through pkg-config, from C and C++, shared and static.

    test_install.py BUILD_FOLDER SOURCE_FOLDER CC CXX CUZK
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def run(*command, env=None, expect=0):
    p = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env)
    if p.returncode != expect:
        sys.exit(f"{' '.join(map(str, command))}: exit code {p.returncode}\n{p.stdout}{p.stderr}")
    return p.stdout


def main():
    build, source, cc, cxx, cuzk = sys.argv[1:]
    source = Path(source)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", prefix)
        libdir = next(prefix.rglob("cuzk.pc")).parent
        env = dict(os.environ, PKG_CONFIG_PATH=str(libdir), LD_LIBRARY_PATH=str(libdir.parent))
        cflags = run("pkg-config", "--cflags", "cuzk", env=env).split()
        libs = run("pkg-config", "--libs", "cuzk", env=env).split()
        static_libs = run("pkg-config", "--static", "--libs", "cuzk", env=env).split()

        run(sys.executable, source / "tests/support/make_circuit.py", "bn254", 20, folder / "c")
        run(cuzk, "setup", "--dev", folder / "c.r1cs", folder / "c.zkey", "--vkey", folder / "vk.json")
        example = source / "examples/prove.c"
        archive = libdir.parent / "libcuzk.a"
        for name, compiler, flags, link in (
            ("shared", cc, ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"], libs),
            ("static", cc, ["-std=c11"], [f for f in static_libs if f != "-lcuzk"]),
            ("cxx", cxx, ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-x", "c++"], libs),
        ):
            program = folder / name
            objects = [example, "-x", "none"] if name == "cxx" else [example]
            run(compiler, *flags, *cflags, *objects, *([archive] if name == "static" else []), *link, "-o", program, env=env)
            out = run(program, folder / "c.zkey", folder / "c.wtns", folder / "p.json", folder / "pub.json", env=env)
            assert "proved and verified" in out, out
            run(cuzk, "verify", folder / "vk.json", folder / "pub.json", folder / "p.json")
            linked = run("ldd", program)
            assert ("libcuzk.so" in linked) == (name != "static"), linked
        # The inside of the archive cannot be linked against.
        names = run("nm", "--defined-only", "--extern-only", "--format=posix", archive).splitlines()
        strange = [n for n in names if n and not n.endswith(":") and not n.startswith("cuzk_")]
        assert not strange, f"the archive also exports {strange[:5]}"
        json.loads((folder / "p.json").read_text())
    print("installed, built against and used: shared, static, C, C++")


if __name__ == "__main__":
    main()
