#!/usr/bin/env bash
# Build, test and package the project; report what failed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out="${OUT_DIR:-$root/target/dist}"
log=$(mktemp -t build.XXXXXX)
trap 'rm -f "$log"' EXIT
declare -A status=()
failed=0

say() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }

run() {
    local name=$1; shift
    say "running $name: $*"
    if "$@" >"$log" 2>&1; then
        status[$name]=ok
    else
        status[$name]="failed ($?)"
        failed=$((failed + 1))
        tail -n 20 "$log" | sed 's/^/    /' >&2
    fi
}

for crate in "$root"/crates/*/; do
    name=$(basename "$crate")
    [[ -f $crate/Cargo.toml && $name != *-wip ]] || continue
    run "build-$name" cargo build --release --manifest-path "$crate/Cargo.toml"
    run "test-$name" cargo test --quiet --manifest-path "$crate/Cargo.toml" -- --test-threads=2
done

version=$(grep -m1 '^version' "$root/Cargo.toml" | cut -d'"' -f2)
case "${version:-}" in
    "") say "no version found"; exit 1 ;;
    *-dev | *-alpha*) channel=nightly ;;
    *) channel=stable ;;
esac

mkdir -p "$out" && cat >"$out/manifest.json" <<JSON
{"version": "$version", "channel": "$channel", "built": "$(date -u +%FT%TZ)", "failed": $failed}
JSON

while IFS=$'\t' read -r path size; do
    (( size > 10 * 1024 * 1024 )) && say "large file: ${path#"$root"/} ($((size >> 20)) MiB)"
done < <(find "$out" -type f -printf '%p\t%s\n' | sort -k2,2nr | head -n 10)

for name in "${!status[@]}"; do printf '%-30s %s\n' "$name" "${status[$name]}"; done | sort
exit $(( failed > 0 ? 1 : 0 ))
