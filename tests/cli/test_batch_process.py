"""Batches whose device has a process of its own, which traps, is killed or gets stuck in the middle: every line is proved, each proof
verifies, and what happened is counted.

    test_batch_process.py CUZK CUZK_TRAP [BACKEND [LINES [LOG2]]]      (cpu 12 5)
    test_batch_process.py CUZK CUZK_TRAP refuses      what happens where a card, chosen by itself, does not take the key

CUZK_TRAP is the program of trap_program.c.  Exit code 77: it has no such device."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

CUZK, TRAP = sys.argv[1:3]
BACKEND = sys.argv[3] if len(sys.argv) > 3 else "cpu"
LINES = int(sys.argv[4]) if len(sys.argv) > 4 else 12
LOG2 = int(sys.argv[5]) if len(sys.argv) > 5 else 5
WORK = tempfile.TemporaryDirectory()
AT = pathlib.Path(WORK.name)
ENV = dict(os.environ, XDG_CACHE_HOME=str(AT / "cache"), CUZK_SEED=os.environ.get("CUZK_SEED", "2"))


def run(program, *arguments, code=0, env=ENV, timeout=1200):
    p = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, env=env, timeout=timeout)
    if p.returncode != code:
        sys.exit(f"{arguments}: exit code {p.returncode}, not {code}\n{p.stdout}{p.stderr}")
    return p


def check(condition, what):
    if not condition:
        sys.exit("wrong: " + what)


def circuit(name, curve, log2=LOG2):
    base = AT / name
    run(CUZK, "gen", "circuit", "--quiet", "--curve", curve, "--log2", log2, base)
    run(CUZK, "setup", "--dev", "--quiet", "--vkey", f"{base}.vk.json", f"{base}.r1cs", f"{base}.zkey")
    return base


def write_list(bases, lines):
    """A list of so many lines, keys in turn, and what stands in it."""
    rows = []
    for i in range(lines):
        base = bases[i % len(bases)]
        rows.append((base, AT / f"proof-{i}.json", AT / f"public-{i}.json"))
        for path in rows[-1][1:]:
            path.unlink(missing_ok=True)
    path = AT / "list"
    path.write_text("".join(f"{b}.zkey {b}.wtns {p} {q}\n" for b, p, q in rows))
    return path, rows


def verify(rows):
    for base, proof, public in rows:
        run(CUZK, "verify", f"{base}.vk.json", public, proof)
    check(len({p.read_text() for _, p, _ in rows}) == len(rows), "two proofs are the same bytes")


def batch(bases, lines, *arguments, fault=None, code=0):
    """Proves a list; returns the summary and all that was said."""
    path, rows = write_list(bases, lines)
    env = dict(ENV)
    if fault is not None:
        (AT / "done").unlink(missing_ok=True)
        env["CUZK_TEST_FAULT"] = f"{fault} {AT / 'done'}"
    device = ["--backend", BACKEND] + (["--device-memory", "1024"] if BACKEND == "cuda" else [])
    p = run(TRAP, "prove", "--json", "--batch", path, "--process", "always", "--lanes", 3, *device, *arguments, code=code, env=env)
    summary = json.loads(p.stdout.splitlines()[-1])
    check(fault is None or (AT / "done").exists(), f"{fault}: it did not happen\n" + p.stderr)
    if code == 0:
        check(summary["proved"] == lines and summary["failed"] == 0 and summary["left"] == 0, str(summary))
        verify(rows)
    check(summary["own_process"] is True, str(summary))
    return summary, p


def choices(base):
    """Without a device named one is chosen and the reason said; a name overrides it."""
    arguments = ["prove", f"{base}.zkey", f"{base}.wtns", AT / "p.json", AT / "q.json"]
    p = run(TRAP, *arguments)
    check("cuzk: device cpu: 1 proof predicted in" in p.stderr, p.stderr) # so small a circuit is not worth a card
    p = run(TRAP, *arguments, "--device", "cpu")
    check("predicted" not in p.stderr, p.stderr)
    p = run(TRAP, *arguments, "--device", 0, "--device-memory", 512, "--timing")
    check("predicted" not in p.stderr, p.stderr)
    for field in ("prestage_setup=ok", "alloc_ms=", "upload_ms=", "gpu_tid=0", "prep_msm_ms=", "ntt_msm_h_ms=", "tail_msm_ms=", "b_g2_msm_ms=",
                  "gpu_total_ms=", "async_dealloc_ms="):
        check(field in p.stderr, f"{field} is missing: {p.stderr}")
    plan = json.loads(run(TRAP, "plan", "--json", "--device", 0, "--device-memory", 512, f"{base}.zkey").stdout)
    check(plan["backend"] == "cuda" and plan["predicted_proof_ms"] > 0 and plan["predicted_open_ms"] > 0, str(plan))
    plan = json.loads(run(TRAP, "plan", "--json", "--quiet", f"{base}.zkey").stdout)
    check(plan["backend"] == "cpu" and plan["predicted_proof_ms"] > 0 and plan["predicted_open_ms"] == 0, str(plan))


def a_full_queue(base):
    """More lines than the engine takes at a time wait for room."""
    path, rows = write_list([base], 8)
    p = run(TRAP, "prove", "--json", "--batch", path, "--process", "always", "--lanes", 3, "--backend", "cpu",
            env=dict(ENV, CUZK_TEST_ENGINE="0 2"))
    summary = json.loads(p.stdout.splitlines()[-1])
    check((summary["proved"], summary["failed"], summary["left"]) == (8, 0, 0), p.stdout + p.stderr)
    verify(rows)


def too_little_memory(small, large):
    """A key that the engine's memory cannot hold costs its own lines, where a process of the device's own was asked for."""
    path, rows = write_list([small, large], 4)

    def prove(heap):
        return run(TRAP, "prove", "--json", "--batch", path, "--backend", "cpu", "--process", "always", code=5,
                   env=dict(ENV, CUZK_TEST_ENGINE=f"{heap} 0"))

    # what the large one takes is said where it has no room; three quarters of the heap are for keys, proofs and tables, the rest for witnesses
    heap = 1 << 20
    said = re.search(r"line 2.* takes (\d+) bytes of heap; the whole budget is (\d+)", prove(heap).stderr)
    p = prove((int(said[1]) - 50_000 + heap * 3 // 4 - int(said[2])) * 4 // 3)
    summary = json.loads(p.stdout.splitlines()[-1])
    check((summary["proved"], summary["failed"], summary["status"]) == (2, 2, "TOO_LARGE"), p.stdout + p.stderr)
    check("without a process of the device's own" not in p.stderr, p.stderr)
    verify(rows[::2])


def refuses():
    """A card that is chosen and does not take the key leaves it to the CPU, and it is said, of one proof and of a batch."""
    base = circuit("a", "bn254")
    env = dict(ENV, CUZK_TEST_CARD="64")
    said = "cuzk: device cpu: card 0 does not take it: "
    auto = ("--device", "auto")
    p = run(TRAP, "prove", f"{base}.zkey", f"{base}.wtns", AT / "p.json", AT / "q.json", *auto, env=env)
    check("cuzk: device 0: 1 proof predicted in" in p.stderr and said in p.stderr, p.stderr)
    run(CUZK, "verify", f"{base}.vk.json", AT / "q.json", AT / "p.json")
    path, rows = write_list([base], 3)
    p = run(TRAP, "prove", "--json", "--batch", path, *auto, env=env)
    check("cuzk: device 0: 3 proofs predicted in" in p.stderr and said in p.stderr, p.stderr)
    summary = json.loads(p.stdout.splitlines()[-1])
    check((summary["proved"], summary["own_process"]) == (3, False), p.stdout)
    verify(rows)
    # the card is there, but not the memory for a process of its own: a quarter of the engine's is for witnesses, 64 MiB for transfers
    small = circuit("small", "bn254", 3)
    said = f"cuzk: {small}.zkey: proved without a process of the device's own: "
    on_card = ("--backend", "cuda", "--device-memory", 1024)
    little = f"{(64 * 1024 * 1024 + 1000) * 4 // 3} 0" # for no key
    none = f"{1 << 20} 0" # for no engine
    for engine in (little, none):
        path, rows = write_list([small], 1)
        p = run(TRAP, "prove", "--json", "--batch", path, *on_card, env=dict(ENV, CUZK_TEST_ENGINE=engine))
        check(said in p.stderr, p.stderr)
        check(json.loads(p.stdout.splitlines()[-1])["own_process"] is False, p.stdout)
        verify(rows)
    # a card whose memory the lanes' streams take: what to do is said of this program, and the process is not said to have proved
    device = ("--backend", "cuda", "--device-memory", 256)
    p = run(TRAP, "prove", "--json", "--batch", path, *device, "--process", "always", code=5)
    check("lanes' streams" in p.stderr and "--device-memory" in p.stderr and "--process never" in p.stderr, p.stderr)
    p = run(TRAP, "prove", "--json", "--batch", path, *device)
    check(said in p.stderr and json.loads(p.stdout.splitlines()[-1])["own_process"] is False, p.stdout + p.stderr)
    p = run(TRAP, "prove", "--json", "--batch", path, *on_card, "--process", "always", code=5, env=dict(ENV, CUZK_TEST_ENGINE=none))
    check(said not in p.stderr, p.stderr)
    # a large witness behind a small one decides as well (this one ends in zeros, which costs its own line)
    large = AT / "large.wtns"
    large.write_bytes(pathlib.Path(f"{small}.wtns").read_bytes())
    os.truncate(large, 80 << 20)
    path, rows = write_list([small], 1)
    path.write_text(path.read_text() + f"{small}.zkey {large} {AT}/x.json\n")
    p = run(TRAP, "prove", "--json", "--batch", path, *on_card, code=3, env=dict(ENV, CUZK_TEST_ENGINE=f"{256 << 20} 0"))
    check(said + "the payload is 83886080 bytes" in p.stderr, p.stderr)
    check(json.loads(p.stdout.splitlines()[-1])["status"] == "MALFORMED", p.stdout)
    verify(rows)
    # which others have taken when its lines come: they fail, and the batch has its result
    for engine in (little, none):
        path, rows = write_list([small], 2)
        p = run(TRAP, "prove", "--json", "--batch", path, *on_card, code=6, env=dict(ENV, CUZK_TEST_ENGINE=engine, CUZK_TEST_NO_CARD="1"))
        summary = json.loads(p.stdout.splitlines()[-1])
        check((summary["proved"], summary["failed"], summary["left"], summary["status"]) == (0, 2, 0, "DEVICE_UNAVAILABLE"), p.stdout + p.stderr)
        check(p.stderr.count("others hold the card") == 2, p.stderr)
    return 0


def stopped(base):
    """A signal while a proof is stuck there: its process is not waited for as long as one whose work counts."""
    done = AT / "done"
    done.unlink(missing_ok=True)
    path, _ = write_list([base], 2)
    p = subprocess.Popen([TRAP, "prove", "--json", "--batch", path, "--process", "always", "--backend", BACKEND], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, env=dict(ENV, CUZK_TEST_FAULT=f"stuck 1 {done}"))
    while not done.exists() and p.poll() is None:
        time.sleep(0.05)
    start = time.monotonic()
    p.send_signal(signal.SIGTERM)
    out, err = p.communicate(timeout=300)
    took = time.monotonic() - start
    check(p.returncode == 8 and json.loads(out.splitlines()[-1])["proved"] < 2, f"stopped: exit {p.returncode}\n{out}{err}")
    check(took < 20, f"stopped: it took {took:.1f} s\n{err}")
    print(f"stopped while one was stuck: the end came after {took:.1f} s")


def unservable():
    """What is wrong with a key is the same sentence with a process of the device's own and without."""
    base = AT / "unservable"
    run(CUZK, "gen", "circuit", "--log2", 5, "--curve", "bls12_381", base)
    run(CUZK, "setup", "--dev", "--layout", "bellman", f"{base}.r1cs", f"{base}.params")
    path = AT / "unservable-list"
    path.write_text(f"{base}.params {base}.wtns {AT}/x.json\n")
    said = []
    for process in ("never", "always"):
        lines = run(CUZK, "prove", "--json", "--batch", path, "--process", process, code=2).stdout.splitlines()
        check(json.loads(lines[-1])["own_process"] is False, lines[-1])
        said.append(lines[0])
    check(said[0] == said[1] and "--r1cs" in said[0], "\n".join(said))


def main():
    if BACKEND == "refuses":
        return refuses()
    probe = subprocess.run([TRAP, "plan", "--backend", BACKEND, "no.zkey"], capture_output=True, text=True, env=ENV)
    if "UNAVAILABLE" in probe.stderr or "no backend" in probe.stderr or probe.returncode == 6:
        print(f"skipped: {probe.stderr.strip()}")
        return 77
    a, b = circuit("a", "bn254"), circuit("b", "bls12_381")
    calm, _ = batch([a, b], min(LINES, 6))
    check(calm["restarts"] == 0 and calm["retries"] == 0, str(calm))
    if BACKEND == "cuda":
        choices(a)
    else:
        a_full_queue(a)
        too_little_memory(a, circuit("large", "bn254", 12))
    middle = LINES // 2
    emulated = BACKEND == "cuda" and "emulated" in TRAP
    for what in ("trap",) if emulated else ("kill", "trap") if BACKEND == "cuda" else ("kill",):
        summary, p = batch([a], LINES, fault=f"{what} {middle}")
        # a self-test on the emulated card may take longer than it is given on a busy machine: then its process is ended too
        check(summary["restarts"] >= 1 if emulated else summary["restarts"] == 1, f"{what}: {summary}\n{p.stderr}")
        check(1 <= summary["retries"] <= (9 if emulated else 3), f"{what}: {summary}\n{p.stderr}")
        print(f"{what} in the middle of {LINES} proofs: {summary['proved']} right proofs, {summary['restarts']} restart, "
              f"{summary['retries']} tried again, {summary['ms'] / 1e3:.1f} s")
    if not emulated: # whose proofs take longer than a watchdog waits in a test
        summary, p = batch([a], min(LINES, 12), "--watchdog-ms", 10000, fault="stuck 4")
        check(summary["restarts"] >= 1, f"stuck: {summary}\n{p.stderr}")
        print(f"stuck: {summary['proved']} right proofs, {summary['restarts']} restarts, {summary['retries']} tried again")
        stopped(a)
        unservable()
    # what is wrong with one line costs that one
    path, rows = write_list([a], 3)
    text = path.read_text().splitlines()
    text[1] = text[1].replace(f"{a}.wtns", f"{b}.wtns")
    path.write_text("\n".join(text + [f"{AT}/no.zkey {a}.wtns {AT}/x.json"]) + "\n")
    device = ["--backend", BACKEND]
    p = run(TRAP, "prove", "--json", "--batch", path, "--process", "always", *device, code=3)
    summary = json.loads(p.stdout.splitlines()[-1])
    check((summary["proved"], summary["failed"], summary["status"]) == (2, 2, "MISMATCH"), p.stdout + p.stderr)
    check("line 4" in p.stderr and "no.zkey" in p.stderr, p.stderr)
    verify([rows[0], rows[2]])
    return 0


sys.exit(main())
