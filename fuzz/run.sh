#!/bin/sh
# run.sh [EXECUTIONS [TARGET...]]: builds the fuzz targets, runs each from its corpus with a fixed seed, and prints how many lines
# of each parser were reached.  Inputs that are found on the way stay in the build folder; a crash stops with the input's name.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=${CUZK_FUZZ_BUILD:-$source/build/fuzz}
executions=${1:-100000}
[ $# -gt 0 ] && shift
targets=${*:-zkey wtns r1cs ptau json filvk filparams proof trapdoor identify c1 derived image submit config}

[ -e "$build/build.ninja" ] ||
    cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang \
        -DCMAKE_CXX_COMPILER=clang++ -DCUZK_FUZZ=ON -DCUZK_CUDA=OFF >"$build.log"
cmake --build "$build" --target fuzz_targets

tool() { # the newest of llvm-NAME and llvm-NAME-VERSION
    command -v "llvm-$1" || { ls /usr/bin/llvm-"$1"-* 2>/dev/null | sort -V | tail -1; }
}

out=$build/fuzz-out
mkdir -p "$out"
rm -f "$out"/*.profraw
for t in $targets; do
    mkdir -p "$out/corpus/fuzz_$t"
    cp -n "$source/fuzz/corpus/fuzz_$t"/* "$out/corpus/fuzz_$t"
    most=8192
    [ "$t" != c1 ] || most=131072
    [ "$t" != image ] || most=65536
    printf '%-14s' "fuzz_$t"
    if ! LLVM_PROFILE_FILE="$out/$t.profraw" "$build/fuzz/fuzz_$t" -runs="$executions" -seed=1 -max_len="$most" -timeout=20 \
        -artifact_prefix="$out/crash-$t-" -print_final_stats=1 "$out/corpus/fuzz_$t" >"$out/$t.log" 2>&1; then
        echo "FAILED, see $out/$t.log"
        tail -40 "$out/$t.log"
        exit 1
    fi
    awk '/number_of_executed_units/ { n = $2 } /average_exec_per_sec/ { s = $2 } /DONE/ { for (i = 1; i < NF; i++) if ($i == "cov:") c = $(i + 1) }
         END { printf "%10d executions, %6d a second, %5d edges\n", n, s, c }' "$out/$t.log"
done

"$(tool profdata)" merge -sparse "$out"/*.profraw -o "$out/all.profdata"
set --
for t in $targets; do set -- "$@" -object "$build/fuzz/fuzz_$t"; done
shift
"$(tool cov)" report -instr-profile="$out/all.profdata" "$@" "$source/src/formats" |
    awk 'NR == 1 || /\.[ch] / || /^TOTAL/ { if (NR == 1) printf "%-40s %8s %8s %8s\n", "file", "lines", "missed", "reached"; else printf "%-40s %8s %8s %8s\n", $1, $8, $9, $10 }'
