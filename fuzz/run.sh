#!/bin/sh
# run.sh [EXECUTIONS [TARGET...]]: builds the fuzz targets, runs each from its corpus, and prints how many lines of each parser were
# reached.  Inputs that are found on the way stay in the build folder; a crash stops with the input's name.
#
# The same sources and corpus get the same inputs, run after run, so what passed once passes again: a line's digest is that of all
# inputs found.  Another seed looks elsewhere, for as long as one likes; OPTIONS are libFuzzer's:
#   CUZK_FUZZ_SEED=7 CUZK_FUZZ_OPTIONS=-use_value_profile=1 fuzz/run.sh 10000000 config
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=${CUZK_FUZZ_BUILD:-$source/build/fuzz}
mkdir -p "$build"
build=$(cd "$build" && pwd) # it is named from other folders below
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

# Addresses leave their mark on inputs: libFuzzer keeps compared values, and counts a deeper stack as something new.
fixed="setarch -R"
$fixed true 2>/dev/null || {
    fixed=
    echo "addresses cannot be fixed here (setarch -R): other runs may find other inputs"
}

# fuzz TARGET LONGEST: from the folder of results, so that no path differs between two checkouts.  Seeds are named in order, as a folder
# gives its files in the file system's; nothing is read again by the clock.
fuzz() {
    rm -rf "seeds/$1" "corpus/fuzz_$1"
    mkdir -p "seeds/$1" "corpus/fuzz_$1"
    cp "$source/fuzz/corpus/fuzz_$1"/* "seeds/$1"
    find "seeds/$1" -type f | LC_ALL=C sort | paste -sd, >"seeds/$1.list"
    env -i PATH=/usr/bin:/bin LLVM_PROFILE_FILE="$1.profraw" $fixed "../fuzz/fuzz_$1" -seed="${CUZK_FUZZ_SEED:-1}" -runs="$executions" \
        -max_len="$2" -timeout=20 -reload=0 -artifact_prefix="crash-$1-" -print_final_stats=1 -seed_inputs=@"seeds/$1.list" \
        ${CUZK_FUZZ_OPTIONS:-} "corpus/fuzz_$1" >"$1.log" 2>&1
}

out=$build/fuzz-out
mkdir -p "$out"
cd "$out"
rm -f -- *.profraw
for t in $targets; do
    most=8192
    [ "$t" != c1 ] || most=131072
    [ "$t" != image ] || most=65536
    printf '%-14s' "fuzz_$t"
    if ! fuzz "$t" "$most"; then
        echo "FAILED, see $out/$t.log"
        tail -40 "$t.log"
        exit 1
    fi
    awk '/number_of_executed_units/ { n = $2 } /average_exec_per_sec/ { s = $2 } /DONE/ { for (i = 1; i < NF; i++) if ($i == "cov:") c = $(i + 1) }
         END { printf "%10d executions, %6d a second, %5d edges, ", n, s, c }' "$t.log"
    find "corpus/fuzz_$t" -type f -printf '%f\n' | LC_ALL=C sort | sha256sum | cut -c1-16 # a file's name is its digest
done

"$(tool profdata)" merge -sparse ./*.profraw -o all.profdata
set --
for t in $targets; do set -- "$@" -object "$build/fuzz/fuzz_$t"; done
shift
"$(tool cov)" report -instr-profile=all.profdata "$@" "$source/src/formats" |
    awk 'NR == 1 || /\.[ch] / || /^TOTAL/ { if (NR == 1) printf "%-40s %8s %8s %8s\n", "file", "lines", "missed", "reached"; else printf "%-40s %8s %8s %8s\n", $1, $8, $9, $10 }'
