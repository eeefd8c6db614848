#!/usr/bin/env bash
# Names the source files that clang-format would change.
#   tools/check_format.sh [FILE...]    default: all tracked sources; `make format` applies the changes
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-format >/dev/null || {
    echo "clang-format is missing (Debian: clang-format)" >&2
    exit 2
}
[ $# -gt 0 ] || mapfile -t files < <(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp')
[ $# -eq 0 ] || files=("$@")
bad=0
for file in "${files[@]}"; do
    [ -f "$file" ] || continue
    clang-format --dry-run --Werror "$file" >/dev/null 2>&1 || {
        echo "$file"
        bad=$((bad + 1))
    }
done
echo "$bad of ${#files[@]} files would change"
[ "$bad" -eq 0 ]
