#!/bin/bash
# Checks and times the CUDA backend on a machine with a GPU: correctness first, then one table, then the memory checker and the profiler,
# every step under a time limit of its own and all of them under one, so that a step that fails or hangs costs no other step its turn.
#
#     bench/device.sh pack BUILD FILE [PROGRAM...]
#                                      on the machine that builds: the programs of a CMake build with CUDA, stripped, with the shared
#                                      libraries that they need, as one archive to carry.  Default: those of this script and of
#                                      bench/device_prove.sh
#     bench/device.sh steps            what `run` would do, with its limits
#     bench/device.sh run [STEP...]    the steps (or those whose name begins with a word given); exit code 1 if one failed
#     bench/device.sh build            without CMake, for a machine that has nvcc and little else: bench_device, bench_image, test_cuda, test_cuda_small
#     bench/device.sh all              build, then run
# Environment: LIST (porep: the steps of 32 GiB PoRep proofs instead, without parameters; set SECONDS_MOST for them), BIN (folder or archive with the programs; default build/device), SECONDS_MOST (of run, default 480), LOG (everything that the
# steps print; default device.log in the folder of programs), BENCH_RUNS (default 5).
# For build: BUILD (default build/device; what is newer than its source is kept), ARCH (default sm_90), NVCC, CC, JOBS, CMOCKA (folder
# of cmocka.h and libcmocka.so).
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build/device} ARCH=${ARCH:-sm_90} CC=${CC:-gcc} JOBS=${JOBS:-$(nproc)}
NVCC=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
CUDA=$(dirname "$(dirname "$(readlink -f "$NVCC")")")
mkdir -p "$BUILD"

compile() { # source: one object, if the source or any header is newer
    object=$BUILD/$(echo "$1" | tr / _).o
    if [ -f "$object" ] && [ -z "$(find "$1" src include tests/support tests/backend -newer "$object" \( -path "$1" -o -name '*.h' -o -name '*.inc.c' -o \
        -name '*.cuh' \) -print -quit)" ]; then return; fi
    case $1 in
    *.cu) "$NVCC" -O3 -std=c++17 -arch="$ARCH" --expt-relaxed-constexpr -Isrc -Iinclude -Xptxas -v -c "$1" -o "$object" >"$object.log" 2>&1 ||
        { cat "$object.log"; return 1; } ;;
    *) extra=
        case $1 in *_ifma.c) extra="-mavx512f -mavx512ifma" ;; esac
        "$CC" -O2 $extra -std=gnu11 -D_GNU_SOURCE -DCUZK_HAVE_CUDA=1 -DCUZK_SOURCE_DIR="\"$PWD\"" -DCUZK_OPERATIONS_ONLY -Isrc -Iinclude -Itests -I"$CUDA/include" ${CMOCKA:+-I"$CMOCKA"} -c "$1" -o "$object" ;;
    esac
}

objects() { for s in "$@"; do echo "$BUILD/$(echo "$s" | tr / _).o"; done; }

build() {
    kernels=$(ls src/backend/cuda/*.cu)
    host="$(ls src/base/*.c src/field/*.c src/curve/*.c src/poly/*.c src/msm/*.c src/backend/*.c src/backend/cuda/*.c) src/hash/poseidon.c $(ls src/r1cs/*.c src/backend/cpu/*.c | grep -v 'inc\.c\|image_file')"
    programs="bench/bench_device.c"
    circuits= tests=
    if [ -f /usr/include/openssl/sha.h ] && [ -f /usr/include/blake2.h ] && [ -f /usr/include/jansson.h ]; then
        circuits="src/r1cs/image_file.c $(ls src/hash/*.c src/formats/*.c src/circuits/*/*.c | grep -v hash/poseidon)"
        programs="$programs bench/bench_image.c"
        [ -z "${CMOCKA:-}" ] || tests="tests/backend/test_cuda.c tests/backend/test_cuda_small.c $(ls tests/backend/*_cases.c) tests/support/small_image.c tests/support/random_statement.c tests/circuits/row_check.c"
    fi
    # the largest kernels first
    for s in $(ls -S src/backend/cuda/msm_b*_g2.cu) $kernels $host $circuits $programs $tests; do echo "$s"; done | awk '!seen[$0]++' |
        xargs -P "$JOBS" -n 1 "$0" compile
    libs="-L$CUDA/lib64 -lcudart_static -lpthread -ldl -lrt -lm -lstdc++"
    "$CC" -o "$BUILD/bench_device" $(objects bench/bench_device.c $kernels $host) $libs
    [ -n "$circuits" ] || return 0
    libs="-l:libcrypto.a -l:libb2.a -l:libjansson.a -l:libgomp.a $libs"
    "$CC" -o "$BUILD/bench_image" $(objects bench/bench_image.c $kernels $host $circuits) $libs
    [ -n "$tests" ] || return 0
    for program in test_cuda test_cuda_small; do # each of the two has a main
        others=$(for s in $tests; do echo "$s"; done | grep -v '/test_cuda')
        "$CC" -o "$BUILD/$program" $(objects "tests/backend/$program.c" $others $kernels $host $circuits) -L"$CMOCKA" -Wl,-rpath,"$CMOCKA" -l:libcmocka.so.0 $libs
    done
}

# -- what is run -------------------------------------------------------------------------------------------------------------

# name  most seconds  command.  Checks before times, times before tools.  "t_" programs say "skipped" by exit code 77.
steps() {
    case ${LIST:-operations} in
    operations) ;;
    porep) steps_porep; return ;;
    *) echo "bench/device.sh: LIST is porep, or is not set" >&2; exit 2 ;;
    esac
    cat <<'END'
state            15 nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,power.draw,temperature.gpu,memory.used --format=csv,noheader
devices          15 cuzk devices
check-backend   100 test_cuda
check-small      40 test_cuda_small
check-calls      40 test_cuda_calls
check-image      40 test_image_proof_cuda
check-setup      40 test_setup_cuda
check-oracle     60 test_oracle cuda
check-derived    60 test_derived cuda
check-repeats    90 bench_device repeats
time-ntt         60 bench_device ntt quotient
time-ntt28       40 bench_device ntt28
time-msm381      60 bench_device msm381
time-msm381g2    40 bench_device msm381g2
time-bn          40 bench_device msmbn msmbng2
time-bits        60 bench_device bits split
time-bits27      60 bench_device bits27
time-affine381   60 bench_device affine381
time-affine-g2   40 bench_device affine381g2
time-rooms       60 bench_device rooms381
time-affine-bn   40 bench_device affinebn
time-tables      40 bench_device tables
time-points      40 bench_device points
time-image       60 bench_image size=32GiB
END
    sanitizer_steps
    cat <<'END'
synccheck          60 compute-sanitizer --error-exitcode 1 --tool synccheck test_cuda_small
initcheck          60 compute-sanitizer --error-exitcode 1 --tool initcheck test_cuda_small
kernels-msm      40 env BENCH_ONLY=2^27 BENCH_RUNS=1 BENCH_ARENA=60 ncu DURATIONS bench_device msm381
kernels-affine   40 env BENCH_ONLY=2^27 BENCH_RUNS=1 BENCH_ARENA=60 ncu DURATIONS bench_device affine381
kernels-msm-g2   30 env BENCH_ONLY=1.2 BENCH_RUNS=1 BENCH_ARENA=20 ncu DURATIONS bench_device msm381g2
kernels-bits     30 env BENCH_ONLY=2^26 BENCH_RUNS=1 BENCH_ARENA=20 ncu DURATIONS bench_device bits
kernels-quotient 30 env BENCH_ONLY=2^27 BENCH_RUNS=1 BENCH_ARENA=60 ncu DURATIONS bench_device quotient
ncu-msm          40 env BENCH_ONLY=2^24 BENCH_RUNS=1 BENCH_ARENA=20 ncu NCU -k regex:k_accumulate bench_device msm381
ncu-affine       40 env BENCH_ONLY=2^24 BENCH_RUNS=1 BENCH_ARENA=20 ncu NCU -k regex:k_affine -s 8 bench_device affine381
ncu-msm-g2       40 env BENCH_ONLY=1.2 BENCH_RUNS=1 BENCH_ARENA=20 ncu NCU -k regex:k_accumulate bench_device msm381g2
ncu-ntt          40 env BENCH_ONLY=2^27 BENCH_RUNS=1 BENCH_ARENA=60 ncu NCU -k regex:k_d.._strided|k_contiguous bench_device quotient
ncu-bits         40 env BENCH_ONLY=2^24 BENCH_RUNS=1 BENCH_ARENA=20 ncu NCU -k regex:k_accumulate bench_device bits
END
}
# Every kernel once, in parts that end within their limits; memcheck of all parts first.
sanitizer_steps() {
    for tool in memcheck racecheck; do
        while read -r part cases; do
            printf '%-18s 40 compute-sanitizer --error-exitcode 1 --tool %s test_cuda_small %s\n' "$tool-$part" "$tool" "$cases"
        done <<'END'
bn window_bn254_* operations_bn254_*
381-g1 window_bls12_381_g1 operations_bls12_381_g1
381-g2 window_bls12_381_g2 operations_bls12_381_g2
sort sort msm_gather classify_values gathered split mix
bits bits_*
ntt ntt_* contiguous_passes
quotient quotient_* group_ntt
circuit eval image_*
END
    done
}
# A 32 GiB PoRep under an insecure key that each step makes on the card: small first, correctness before times.  16 cores and 24 GiB of host memory.
steps_porep() {
    cat <<'END'
check-2k         90 test_porep_batch cuda 2KiB derived
check-2k-6       90 test_porep_batch cuda 2KiB original
check-calls-2k   90 test_porep_calls 2KiB 4 2
check-witness    90 bench_image size=32GiB
check-32g-4     240 test_porep_batch cuda 32GiB derived
time-32g-one    240 cuzk bench porep --size 32GiB --dev-key --key-mode derived --device 0 --proofs 4
time-32g-lanes  240 cuzk bench porep --size 32GiB --dev-key --key-mode derived --device 0 --proofs 5 --lanes 2
check-32g-6     240 test_porep_batch cuda 32GiB original
time-32g-6      240 cuzk bench porep --size 32GiB --dev-key --key-mode original --device 0 --proofs 3
check-20        420 test_porep_calls 32GiB 20
END
}
# ncu keeps a copy of the arena for each pass over a kernel: small arenas, or it is not done in time.
duration_options="--clock-control none --target-processes all --metrics gpu__time_duration.sum --csv"
ncu_options="--clock-control none --launch-count 1 --section SpeedOfLight --section Occupancy --section WarpStateStats --section LaunchStats --section MemoryWorkloadAnalysis --section ComputeWorkloadAnalysis --section SchedulerStats"

# The words of a step's command with programs of $BIN in place; false: a tool is not here.
resolve() {
    words=()
    for w in "$@"; do
        case $w in
        NCU) read -r -a options <<<"$ncu_options"; words+=("${options[@]}") ;;
        DURATIONS) read -r -a options <<<"$duration_options"; words+=("${options[@]}") ;;
        cuzk | bench_* | test_*) words+=("$BIN/$w") ;;
        compute-sanitizer | ncu | nvidia-smi)
            missing=$w
            for folder in "" "$(dirname "$NVCC")/" /usr/local/cuda/bin/; do
                tool=$(command -v "$folder$w" || true)
                if [ -n "$tool" ]; then words+=("$tool"); missing=; break; fi
            done
            [ -z "$missing" ] || return 1 ;;
        *) words+=("$w") ;;
        esac
    done
    for w in "${words[@]}"; do
        case $w in "$BIN"/*) [ -x "$w" ] || { missing=$(basename "$w"); return 1; } ;; esac
    done
}

unpack() { # BIN as a folder
    BIN=${BIN:-$BUILD}
    if [ -f "$BIN" ]; then
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        tar -xf "$BIN" -C "$folder" ||
            python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$BIN" "$folder"
        LOG=${LOG:-$PWD/device.log}
        BIN=$folder
    fi
    BIN=$(cd "$BIN" && pwd)
    LOG=${LOG:-$BIN/device.log}
    export LD_LIBRARY_PATH="$BIN/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

# Kills what a step left behind: ncu's program outlives an ncu that is killed, and holds the card.  It may be in a session of its own, but
# what the step started has CUZK_STEP in its environment.
end_leftovers() { # mark
    for environment in $(grep -lsz "^CUZK_STEP=$1\$" /proc/[0-9]*/environ || true); do
        left=${environment#/proc/}
        kill -KILL "${left%/environ}" 2>/dev/null && echo "killed process ${left%/environ}, left by $name" | tee -a "$LOG"
    done
    return 0
}

run() {
    unpack
    export BENCH_RUNS=${BENCH_RUNS:-5}
    SECONDS_MOST=${SECONDS_MOST:-480}
    start=$SECONDS bad=0 summary=
    revision=$(cat "$BIN/commit" 2>/dev/null || git rev-parse --short HEAD 2>/dev/null || echo unknown)
    echo "commit $revision" | tee "$LOG"
    while read -r name limit command <&3; do
        if [ $# -gt 0 ]; then
            chosen=
            for w in "$@"; do case $name in "$w"*) chosen=1 ;; esac; done
            [ -n "$chosen" ] || continue
        fi
        left=$((SECONDS_MOST - (SECONDS - start)))
        [ "$limit" -le "$left" ] || limit=$left
        missing= result= begin=$SECONDS
        read -r -a argv <<<"$command"
        if [ "$limit" -lt 5 ]; then
            result="not run: the time is up"
            bad=1
        elif ! resolve "${argv[@]}"; then
            result="not run: $missing is not here"
            case $missing in nvidia-smi | compute-sanitizer | ncu) ;; *) bad=1 ;; esac
        else
            printf '\n== %s (%s s, %d s gone)\n' "$name" "$limit" $((SECONDS - start)) | tee -a "$LOG"
            part=$(mktemp)
            code=0
            CUZK_STEP=$$.$name timeout -k 5 "$limit" "${words[@]}" >"$part" 2>&1 </dev/null || code=$?
            end_leftovers "$$.$name"
            case $name in
            kernels-*) # the table instead of a line a launch; where there is none, what was said
                if python3 tools/kernel_times.py "$part" >"$part.table" 2>/dev/null; then mv "$part.table" "$part"; else rm -f "$part.table"; fi ;;
            esac
            cat "$part" >>"$LOG"
            case $name in
            check-* | memcheck-* | racecheck-* | synccheck | initcheck) grep -E 'FAILED|PASSED|ERROR|WRONG|wrong|skipped|equal|DIFFERENT|differ|verified|=========' "$part" | tail -12 ;;
            *) cat "$part" ;;
            esac
            case $code in
            0) result=good ;;
            77) result="skipped: no CUDA device" ;;
            124 | 137) result="TIMED OUT after $limit s" bad=1 ;;
            *) result="FAILED, exit code $code" bad=1; tail -5 "$part" ;;
            esac
            rm -f "$part"
        fi
        summary+=$(printf '%-18s %4d s  %s' "$name" $((SECONDS - begin)) "$result")$'\n'
    done 3< <(steps)
    printf '\n%s%d s in all\n' "$summary" $((SECONDS - start)) | tee -a "$LOG"
    return $bad
}

pack() { # BUILD FILE [PROGRAM...]
    build=$1 file=$2
    shift 2
    [ $# -gt 0 ] || set -- $( ( (steps; steps_porep) | grep -oE '\b(cuzk|bench_device|bench_image|test_[a-z_]+)\b'; bench/device_prove.sh programs) | tr ' ' '\n' | sort -u)
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    mkdir "$folder/lib"
    git rev-parse --short HEAD >"$folder/commit" 2>/dev/null || true
    for name in "$@"; do
        program=$(find "$build" -type f -name "$name" -perm -u+x -print -quit)
        [ -n "$program" ] || { echo "bench/device.sh: $build has no $name: build it first" >&2; return 1; }
        strip -o "$folder/$name" "$program"
        # what a machine may lack: everything but the C library's own
        ldd "$program" | awk '$3 ~ "^/" && $1 !~ /^(libc|libm|libdl|librt|libpthread|ld-linux.*)\.so/ { print $3 }' |
            while read -r library; do cp -L "$library" "$folder/lib/"; done
    done
    ls -l "$folder" | awk '$9 != "" { printf "%-24s %10d\n", $9, $5 }'
    # most of each program is the same kernels: the window takes in several of them
    tar -cf - -C "$folder" . | xz -T1 --lzma2=preset=1,dict=256MiB >"$file"
    ls -l "$file" | awk '{ printf "%s: %.1f MiB\n", $9, $5 / 1048576 }'
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
compile) compile "$1" ;;
build) build ;;
pack) [ $# -ge 2 ] || { echo "usage: bench/device.sh pack BUILD FILE [PROGRAM...]" >&2; exit 2; }; pack "$@" ;;
steps) steps; steps | awk '{ s += $2 } END { printf "limits in all %d s; run stops after SECONDS_MOST\n", s }' ;;
run) run "$@" ;;
all) build; run ;;
*) sed -n '2,18s/^# \{0,1\}//p' "$0"; [ "$command" = help ] || exit 2 ;;
esac
