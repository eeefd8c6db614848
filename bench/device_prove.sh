#!/bin/bash
# Whole proofs on a card: all that is said of them, shown in one run of less than eight minutes.  Every step has a time limit of its own and
# all of them one together, so that a step that fails or hangs costs no other its turn.
#
#     bench/device_prove.sh pack BUILD FILE   on the machine that builds: the programs of a CMake build with CUDA as one archive to carry
#     bench/device_prove.sh steps             what `run` would do, with its limits
#     bench/device_prove.sh run [STEP...]     the steps (or those whose name begins with a word given); exit code 1 if one failed
#     bench/device_prove.sh programs          what is needed of a build
# Environment: BIN (folder or archive with the programs; default build/cuda, a CMake build), DATA (folder with circom/*/ and filecoin/vanilla of
# third-party data, which is not part of this repository; without it those steps are left out), WORK (keys and circuits; default: a folder of
# its own that is removed), SECONDS_MOST (of run, default 470), LOG (default device_prove.log), BACKEND (default cuda), SIZES (default
# "16 20 18 17 19"), SOAK (default 10000 proofs), GIB (of the interlock's memory, default "16 24 130"), GROUPS_OF (default "points"),
# PARTITION_MIB (default 12288), SLOWER (all limits that many times: where the card is emulated).
# Output: what each step says, then a table of the steps and one of what must hold, with what was seen.
set -eu
cd "$(dirname "$0")/.."
SELF=$PWD/bench/device_prove.sh
BACKEND=${BACKEND:-cuda} SIZES=${SIZES:-16 20 18 17 19} SOAK=${SOAK:-10000} GIB=${GIB:-16 24 130} GROUPS_OF=${GROUPS_OF:-points}
PARTITION_MIB=${PARTITION_MIB:-12288} COMPUTE_MS=${COMPUTE_MS:-400} PARTITIONS=${PARTITIONS:-9} COUNT=${COUNT:-150}
export BACKEND SIZES SOAK GIB GROUPS_OF PARTITION_MIB COMPUTE_MS PARTITIONS COUNT

# name  most seconds.  What the others need first, then the most important.
steps() {
    cat <<'END'
state       15
circuits    70
speed       60
trap        60
circom      50
soak        70
choice      25
refusal     15
interlock  130
END
    for size in $SIZES; do echo "keys-$size $((20 + 60 * (1 << size) / (1 << 20)))"; done
    cat <<'END'
porep-2k    90
porep-8m    90
bellman     40
group       40
END
}

programs() { echo cuzk cuzk-trap cuzk-oracle cuzk-porep-oracle test_lanes_soak_cuda bench_device; }

program() { # name: where it is
    if [ -x "$BIN/$1" ]; then echo "$BIN/$1"; else find "$BIN" -type f -name "$1" -perm -u+x -print -quit; fi
}
cuzk() { "$(program cuzk)" "$@"; }
memory() { [ "$BACKEND" = cpu ] || echo --device-memory "$1"; } # MIB: only a card has memory of its own

# What must hold: value, "<=" or ">=", bound, words.  false if it does not.
must() {
    if awk -v v="$1" -v b="$3" -v o="$2" 'BEGIN { exit !(v != "" && (o == "<=" ? v + 0 <= b + 0 : v + 0 >= b + 0)) }'; then said=held; else said=MISSED; fi
    printf '%-6s %s: %s, must be %s %s\n' "$said" "$4" "${1:-nothing}" "$2" "$3" | tee -a "$WORK/must"
    [ "$said" = held ]
}
shown() { printf '%-6s %s\n' held "$1" | tee -a "$WORK/must"; }

# -- steps -------------------------------------------------------------------------------------------------------------------

step_state() {
    for tool in nvidia-smi /usr/local/cuda/bin/nvidia-smi; do
        command -v "$tool" >/dev/null && "$tool" --query-gpu=name,driver_version,clocks.sm,memory.used,temperature.gpu --format=csv,noheader && break
    done
    nproc
    cuzk devices
}

step_circuits() { # development keys made on the card, three at a time in small arenas
    for size in $SIZES; do
        for curve in bn254 bls12_381; do
            echo "$curve $size"
        done
    done | xargs -P 3 -L 1 bash "$SELF" circuit
    ls -l "$WORK" | awk '{ print $5, $9 }'
}
make_circuit() { # curve size
    base=$WORK/$1-$2
    cuzk gen circuit --quiet --curve "$1" --log2 "$2" "$base"
    cuzk setup --dev --quiet --backend "$BACKEND" $(memory "${SETUP_MIB:-16384}") --trapdoor "$base.t" "$base.r1cs" "$base.zkey" 2>/dev/null
}

keys() { # size: every key mode in every arena, for the first two sizes; then as large and as small as they may be
    arenas=${ARENAS:-0,24576,16384,12288,stream}
    case " ${SIZES% * * *} " in *" $1 "*) ;; *) arenas=0,stream ;; esac
    for curve in bn254 bls12_381; do
        base=$WORK/$curve-$1
        "$(program cuzk-oracle)" --backend "$BACKEND" --device-memory "$arenas" "$base.zkey" "$base.r1cs" "$base.wtns" "$base.t" | tee "$WORK/oracle"
        grep -q equal "$WORK/oracle"
    done
    shown "2^$1 on both curves, original and derived key, arenas of $arenas MiB: bytes of the oracle"
}

step_bellman() { # the other layout; its keys have no place for variables without constraints, so the circuit is another one
    for size in ${BELLMAN_SIZES:-16 18}; do
        base=$WORK/bellman-$size
        python3 tests/support/make_circuit.py bls12_381 $(((1 << size) - 8)) "$base"
        cuzk setup --dev --quiet --backend "$BACKEND" --layout bellman --trapdoor "$base.t" "$base.r1cs" "$base.params" 2>/dev/null
        "$(program cuzk-oracle)" --backend "$BACKEND" --device-memory "${BELLMAN_ARENAS:-0,stream}" "$base.params" "$base.r1cs" "$base.wtns" "$base.t"
    done
    shown "bellman's layout, original and derived, resident and streamed: bytes of the oracle"
}

first() { [ ! -e "$1" ] || echo "$1"; }
step_circom() {
    count=0
    for folder in "$DATA"/circom/*/; do
        key=$(first "$folder"*.zkey) wtns=$(first "$folder"*.wtns) r1cs=$(first "$folder"*.r1cs)
        name=$(basename "$folder")
        if [ -z "$key" ] || [ -z "$wtns" ]; then echo "$name: left out, it has no key or no witness"; continue; fi
        if ! cuzk inspect "$key" | grep -qi groth16; then echo "$name: left out, its key is of another protocol"; continue; fi
        echo "$name:"
        "$(program cuzk-oracle)" --backend "$BACKEND" --device-memory "${CIRCOM_ARENAS:-8192,stream}" "$key" "${r1cs:--}" "$wtns"
        cuzk prove --quiet --backend "$BACKEND" $(memory 4096) "$key" "$wtns" "$WORK/p.json" "$WORK/q.json"
        cuzk vkey --quiet "$key" "$WORK/vk.json" >/dev/null
        cuzk verify "$WORK/vk.json" "$WORK/q.json" "$WORK/p.json"
        count=$((count + 1))
    done
    must "$count" ">=" "${CIRCOM_COUNT:-8}" "third-party circom keys proved, bytes of the CPU's in every form, verified"
}

bench() { # curve size lanes count
    cuzk bench prove --quiet --backend "$BACKEND" --lanes "$3" --count "$4" "$WORK/$1-$2.zkey" "$WORK/$1-$2.wtns" | tee "$WORK/bench"
}
latency() { awk '$1 == "latency_ms" { print $2 }' "$WORK/bench"; }
per_second() { sed -n 's/.*all verified: \([0-9.]*\) a second.*/\1/p' "$WORK/bench"; }
step_speed() {
    bad=0
    big=${BIG:-20} small=${SMALL:-16}
    bench bn254 "$big" 1 $((COUNT / 5))
    must "$(latency)" "<=" 40 "ms a proof alone, BN254 2^$big, key resident (aim 28)" || bad=1
    bench bn254 "$big" 3 "$COUNT"
    must "$(per_second)" ">=" 35 "proofs a second over 3 lanes, BN254 2^$big" || bad=1
    bench bn254 "$small" 1 $((COUNT / 3))
    must "$(latency)" "<=" 8 "ms a proof alone, BN254 2^$small" || bad=1
    bench bn254 "$small" 3 "$COUNT"
    bench bls12_381 "$big" 1 $((COUNT / 5))
    bench bls12_381 "$big" 3 $((COUNT / 3))
    return $bad
}

step_soak() {
    "$(program "${SOAK_PROGRAM:-test_lanes_soak_cuda}")" "$SOAK" bn254 "${SOAK_LOG2:-8}" || { [ $? -eq 77 ] && return 77; return 1; }
    shown "$SOAK proofs of a small key over 3 lanes: all the oracle's, memory flat, 0 forbidden calls"
}

# WHAT lines arguments...: the process of the card goes wrong once in the middle of a batch
batch_under() {
    what=$1 lines=$2
    shift 2
    base=$WORK/bn254-${SMALL:-16}
    rm -rf "$WORK/batch" "$WORK/fault"
    mkdir "$WORK/batch"
    for i in $(seq "$lines"); do echo "$base.zkey $base.wtns $WORK/batch/$i.json $WORK/batch/$i.public"; done >"$WORK/list"
    CUZK_TEST_FAULT="$what $((lines / 2)) $WORK/fault" "$(program cuzk-trap)" prove --json --backend "$BACKEND" $(memory "${TRAP_MIB:-16384}") \
        --process always --lanes 3 --batch "$WORK/list" "$@" >"$WORK/batch.log" || echo "exit code $?"
    tail -1 "$WORK/batch.log"
    [ -f "$WORK/fault" ] || { echo "$what did not happen"; return 1; }
    [ -f "$base.vk" ] || cuzk vkey --quiet "$base.zkey" "$base.vk" >/dev/null
    verified=0
    for i in $(seq "$lines"); do cuzk verify --quiet "$base.vk" "$WORK/batch/$i.public" "$WORK/batch/$i.json" >/dev/null && verified=$((verified + 1)); done
    must "$verified" ">=" "$lines" "right proofs of a batch of $lines, $what in the middle" || return 1
    restarts=$(sed -n 's/.*"restarts":\([0-9]*\).*/\1/p' "$WORK/batch.log") retries=$(sed -n 's/.*"retries":\([0-9]*\).*/\1/p' "$WORK/batch.log")
    must "$restarts" "<=" 1 "restarts, $what" || return 1
    must "$restarts" ">=" 1 "restarts, $what, with $retries proofs tried again"
}
step_trap() {
    bad=0
    batch_under trap "${TRAP_LINES:-100}" || bad=1
    batch_under kill "$((${TRAP_LINES:-100} / 5))" || bad=1
    [ -n "${NO_STUCK:-}" ] || batch_under stuck "$((${TRAP_LINES:-100} / 5))" --watchdog-ms 5000 || bad=1
    return $bad
}

step_choice() { # without a device named: which, and why; then what came of the prediction
    for base in "$WORK/bn254-${BIG:-20}" "$WORK/bn254-${SMALL:-16}"; do
        for device in auto cpu 0; do
            begin=$(date +%s%N)
            cuzk prove --device $device "$base.zkey" "$base.wtns" "$WORK/p.json" "$WORK/q.json" 2>&1 | grep -v unchecked | tee "$WORK/choice"
            echo "device $device: $((($(date +%s%N) - begin) / 1000000)) ms in all"
            [ $device != auto ] || grep -q '^cuzk: device .*predicted in' "$WORK/choice"
        done
    done
    cuzk plan --device 0 "$WORK/bn254-${BIG:-20}.zkey"
    shown "a choice between CPU and card is explained and can be overridden: see the step's output for predictions and times"
}

step_refusal() { # both numbers
    if cuzk plan --backend "$BACKEND" $(memory 256) "$WORK/bn254-${BIG:-20}.zkey" 2>"$WORK/refused"; then
        [ "${BIG:-20}" -lt 18 ] || { echo "it was not refused"; return 1; }
    else
        [ $? -eq 5 ]
        cat "$WORK/refused"
        grep -q 'takes [0-9]* bytes' "$WORK/refused" && grep -q 'gives [0-9]*' "$WORK/refused"
    fi
    shown "a plan that cannot fit is refused with both numbers"
}

step_interlock() {
    bad=0
    for gib in $GIB; do
        cuzk bench interlock --lanes 3 --partitions "$PARTITIONS" --partition-mib "$PARTITION_MIB" --compute-ms "$COMPUTE_MS" \
            --memory-mib "$(awk -v g="$gib" 'BEGIN { print int(g * 1024) }')" | tee "$WORK/interlock"
        ratio=$(awk '/^arena and events/ { print $NF }' "$WORK/interlock") idle=$(awk '/^arena and events/ { print $6 }' "$WORK/interlock")
        no_room=$(awk '/^arena and events/ { print $(NF - 2) }' "$WORK/interlock")
        if [ "${gib%%.*}" -lt 100 ]; then bound=1.3; else bound=1.0; fi
        must "$ratio" ">=" "$bound" "arena and events against two locks at $gib GiB" || bad=1
        must "$idle" "<=" 2 "% device idle between partitions, arena and events at $gib GiB" || bad=1
        must "$no_room" "<=" 0 "times out of memory, arena and events at $gib GiB" || bad=1
    done
    return $bad
}

porep() { # 2k 2KiB
    params=$WORK/porep-$1 c1=$WORK/c1-$1.json miner=1000 sector=1
    [ -d "$params" ] || cuzk setup --dev --derived --backend "$BACKEND" --trapdoor "$WORK/porep-$1.t" "porep-$1" "$params" 2>/dev/null
    if [ "$1" = 8m ] && [ -f "${DATA:-}/filecoin/vanilla/c1-8MiB.json" ]; then
        c1=$DATA/filecoin/vanilla/c1-8MiB.json miner=1006 sector=1498
    else
        sparse=--sparse
        [ "$1" = 8m ] || sparse=
        cuzk gen c1 --quiet --size "$2" $sparse -o "$c1"
    fi
    "$(program cuzk-porep-oracle)" --backend "$BACKEND" --device-memory "${POREP_ARENAS:-0,12288,stream}" "$2" "$params" "$WORK/porep-$1.t" "$c1" $miner $sector
    shown "PoRep of $2: original and derived key, alone and in a batch, resident and streamed: bytes of the oracle"
    for mode in derived original; do
        cuzk porep prove --quiet --backend "$BACKEND" --key-mode $mode --miner $miner --sector $sector --params "$params" -o "$WORK/proof" "$c1"
        cuzk porep verify --c1 "$c1" --params "$params" --miner $miner --sector $sector "$WORK/proof"
    done
    rm -rf "$params"
    shown "PoRep of $2: proved by the command line in both forms of the key, verified"
}
step_porep-2k() { porep 2k 2KiB; }
step_porep-8m() { porep 8m 8MiB; }

step_group() { # the note of a line extrapolates to 2^27
    "$(program bench_device)" $GROUPS_OF | tee "$WORK/group"
    grep -q '2^27:' "$WORK/group"
    shown "group transform: $(awk '/points .* 2\^22/ { printf "%s 2^22 %s ms, floor %s ms, ", $2, $5, $7; for (i = 1; i <= NF; i++) if ($i == "2^27:") printf "2^27 in %s s; ", $(i + 1) }' "$WORK/group")"
}

# -- running them --------------------------------------------------------------------------------------------------------------

unpack() { # BIN as a folder
    BIN=${BIN:-build/cuda}
    if [ -f "$BIN" ]; then
        unpacked=$(mktemp -d)
        tar -xf "$BIN" -C "$unpacked" || python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$BIN" "$unpacked"
        BIN=$unpacked
    fi
    BIN=$(cd "$BIN" && pwd)
    export BIN LD_LIBRARY_PATH="$BIN/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

run() {
    LOG=${LOG:-$PWD/device_prove.log} unpacked= own=
    if [ -z "${WORK:-}" ]; then
        WORK=$(mktemp -d)
        own=$WORK
    fi
    trap 'rm -rf $own $unpacked' EXIT
    mkdir -p "$WORK"
    unpack
    DATA=${DATA:+$(cd "$DATA" && pwd)} XDG_CACHE_HOME=$WORK/cache
    export WORK DATA XDG_CACHE_HOME
    : >"$WORK/must"
    start=$SECONDS bad=0 summary=
    echo "commit $(cat "$BIN/commit" 2>/dev/null || git rev-parse --short HEAD 2>/dev/null || echo unknown)" | tee "$LOG"
    while read -r name limit <&3; do
        if [ $# -gt 0 ]; then
            chosen=
            for w in "$@"; do case $name in "$w"*) chosen=1 ;; esac; done
            [ -n "$chosen" ] || continue
        fi
        limit=$((limit * ${SLOWER:-1}))
        left=$((${SECONDS_MOST:-470} - (SECONDS - start)))
        [ "$limit" -le "$left" ] || limit=$left
        begin=$SECONDS code=0
        if [ "$limit" -lt 5 ]; then
            result="not run: the time is up" bad=1
        elif [ "$name" = circom ] && [ ! -d "${DATA:-}/circom" ]; then
            result="left out: DATA has no circom"
        else
            printf '\n== %s (%s s, %d s gone)\n' "$name" "$limit" $((SECONDS - start)) | tee -a "$LOG"
            # KILL goes to all that the step has started: whoever ends by and by would take the next one's time
            timeout -s KILL "$limit" bash "$SELF" one "$name" </dev/null >"$WORK/out-$name" 2>&1 || code=$?
            tee -a "$LOG" <"$WORK/out-$name"
            case $code in
            0) result=good ;;
            77) result="skipped: no CUDA device" ;;
            124 | 137) result="TIMED OUT after $limit s" bad=1 ;;
            *) result="FAILED, exit code $code" bad=1 ;;
            esac
        fi
        summary+=$(printf '%-12s %4d s  %s' "$name" $((SECONDS - begin)) "$result")$'\n'
    done 3< <(steps)
    printf '\n%s\n%s%d s in all\n' "$(cat "$WORK/must")" "$summary" $((SECONDS - start)) | tee -a "$LOG"
    return $bad
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
run) run "$@" ;;
one) set -o pipefail; case $1 in keys-*) keys "${1#keys-}" ;; *) "step_$1" ;; esac ;;
circuit) make_circuit "$@" ;;
steps) steps; steps | awk '{ s += $2 } END { printf "limits in all %d s; run stops after SECONDS_MOST\n", s }' ;;
programs) programs ;;
pack) [ $# -eq 2 ] || { echo "usage: bench/device_prove.sh pack BUILD FILE" >&2; exit 2; }; bench/device.sh pack "$@" $(programs) ;;
*) sed -n '2,17s/^# \{0,1\}//p' "$0"; [ "$command" = help ] || exit 2 ;;
esac
