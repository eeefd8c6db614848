#!/bin/sh
# Builds (or takes from $BUILD what is newer than its source), checks and times the CUDA backend on a machine with a GPU.
#
#     bench/device.sh build            compile only
#     bench/device.sh check            every operation against its definition, hostile inputs included (needs cmocka and what circuits need)
#     bench/device.sh time [group...]  the table: see bench/bench_device.c
#     bench/device.sh image [size=..]  a PoRep partition: see bench/bench_image.c (needs OpenSSL, libb2 and jansson, linked statically)
#     bench/device.sh memcheck         compute-sanitizer, memcheck and racecheck, over small checks of every kernel
#     bench/device.sh                  build, check, time
# Environment: BUILD (default build/device), ARCH (default sm_90), NVCC, CC, JOBS, CMOCKA (folder of cmocka.h and libcmocka.so).
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
        [ -z "${CMOCKA:-}" ] || tests="tests/backend/test_cuda.c $(ls tests/backend/*_cases.c) tests/support/small_image.c tests/support/random_statement.c tests/circuits/row_check.c"
    fi
    # the largest kernels first
    for s in $(ls -S src/backend/cuda/msm_b*_g2.cu) $kernels $host $circuits $programs $tests; do echo "$s"; done | awk '!seen[$0]++' |
        xargs -P "$JOBS" -n 1 "$0" compile
    libs="-L$CUDA/lib64 -lcudart_static -lpthread -ldl -lrt -lm -lstdc++"
    "$CC" -o "$BUILD/bench_device" $(objects bench/bench_device.c $kernels $host) $libs
    [ -n "$circuits" ] || return 0
    libs="-l:libcrypto.a -l:libb2.a -l:libjansson.a -l:libgomp.a $libs"
    "$CC" -o "$BUILD/bench_image" $(objects bench/bench_image.c $kernels $host $circuits) $libs
    [ -z "$tests" ] || "$CC" -o "$BUILD/test_cuda" $(objects $tests $kernels $host $circuits) -L"$CMOCKA" -Wl,-rpath,"$CMOCKA" -l:libcmocka.so.0 $libs
}

state() { nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,power.draw,temperature.gpu --format=csv,noheader || true; }

command=${1:-all}
[ $# -eq 0 ] || shift
case $command in
compile) compile "$1" ;;
build) build ;;
check) "$BUILD/test_cuda" "$@" ;;
image) "$BUILD/bench_image" "$@" ;;
time) state; echo "commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"; "$BUILD/bench_device" "$@"; state ;;
memcheck) # every kernel on small sizes
    for tool in memcheck racecheck; do
        for cases in 'ntt_d*' 'quotient_d*' 'eval*' 'msm_gather' 'msm_skewed' 'fixed*'; do
            compute-sanitizer --error-exitcode 1 --tool "$tool" "$BUILD/test_cuda" "$cases"
        done
    done ;;
all) build; "$BUILD/test_cuda"; "$0" time ;;
*) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
