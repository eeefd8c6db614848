#!/bin/sh
# What cuzkd adds to a proof of 2^16 constraints: bench/daemon.sh BUILD [ROUNDS [THREADS]]
set -eu
build=$1 rounds=${2:-50} threads=${3:-0}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'kill $daemon 2>/dev/null || true; rm -rf "$work"' EXIT
daemon=
python3 "$here/../tests/support/make_circuit.py" bn254 65530 "$work/c"
"$build/bin/cuzk" setup --dev "$work/c.r1cs" "$work/c.zkey" >/dev/null
"$build/bin/cuzkd" --listen "unix://$work/s" --circuit "c=$work/c.zkey" --preload c --threads "$threads" --log-level error --jobs.witness_folder "$work" &
daemon=$!
while [ ! -S "$work/s" ]; do sleep 0.1; done
for name in "" c.wtns; do
    "$build/bin/bench_daemon" "unix://$work/s" c "$work/c.zkey" "$work/c.wtns" "$rounds" "$threads" "$daemon" ${name:+"$name"}
done
