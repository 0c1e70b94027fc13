run() {
    local out
    out=$("$@" 2>&1) || { echo "failed: $out" >&2; return 1; }
}
trap 'rm -rf "$work"; kill "$pid"' EXIT INT
work=$(mktemp -d)
(cd "$work" && curl -fsSL "$url" | tar -xz) &
pid=$!
run sudo -u build env CC=clang nice -n 5 make -j "$(nproc)"
find "$work" -type f -name '*.sh' -exec bash -c 'chmod +x "$1" && wc -l < "$1"' _ {} \;
diff <(sort a) <(sort b) > "$work/diff" 2> /dev/null || true
cat > "$work/config" << END
user=$(whoami)
home=${HOME:-$(getent passwd root)}
END
case $1 in
    start | $(systemctl is-active app)) ssh host "systemctl start $app" ;;
    *) eval "$2"; source ./env.sh; $3 ;;
esac
while read -r line; do echo "${names[$line]} $((total += line))"; done < "$work/list"
xargs -0 -P 4 sh -c 'echo "$@"' < list
no-such-command
