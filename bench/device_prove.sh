#!/bin/sh
# Whole proofs on a card: development keys of 2^16 .. 2^20 rows on both curves and both layouts, compared with the oracle for drawn
# (r, s), byte for byte; then timed with the key resident, one at a time and three at once.
#
#     bench/device_prove.sh [WORK]     keys and circuits go to WORK (default: a folder of its own that is removed)
#
# Environment: BIN (folder of cuzk and cuzk-oracle of a build with CUDA; default build/cuda/bin), SIZES (default "16 20 18 17 19"),
# CURVES (default "bn254 bls12_381"), RUNS (default 15), BACKEND (default cuda), AT_ONCE (default 3).
# Output: a line a comparison ("equal") and a table a key; the exit code is not 0 if a comparison fails.
set -eu
cd "$(dirname "$0")/.."
BIN=${BIN:-build/cuda/bin} SIZES=${SIZES:-16 20 18 17 19} CURVES=${CURVES:-bn254 bls12_381} RUNS=${RUNS:-15}
BACKEND=${BACKEND:-cuda} AT_ONCE=${AT_ONCE:-3}
if [ $# -gt 0 ]; then
    work=$1
    mkdir -p "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi

"$BIN/cuzk" devices
echo "commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"

for size in $SIZES; do # x' = x^2 + x + i, with full-size values: the hard case for the sums
    for curve in $CURVES; do
        base=$work/$curve-$size
        [ -f "$base.wtns" ] || python3 tests/support/make_circuit.py "$curve" $(((1 << size) - 8)) "$base" &
    done
done
wait

prove_on() { # layout key [--r1cs FILE]
    layout=$1 key=$2
    shift 2
    [ -f "$key" ] || "$BIN/cuzk" setup --dev --quiet --layout "$layout" --trapdoor "$key.trapdoor" "$base.r1cs" "$key" >/dev/null
    "$BIN/cuzk-oracle" --backend "$BACKEND" "$key" "$base.r1cs" "$base.wtns" "$key.trapdoor"
    "$BIN/cuzk" bench --quiet --backend "$BACKEND" --runs "$RUNS" --at-once "$AT_ONCE" "$@" "$key" "$base.wtns"
}

for size in $SIZES; do
    for curve in $CURVES; do
        base=$work/$curve-$size
        echo "== $curve 2^$size"
        prove_on zkey "$base.zkey"
        if [ "$curve" = bls12_381 ] && [ "$size" -le 18 ]; then
            prove_on bellman "$base.params" --r1cs "$base.r1cs"
        fi
    done
done
