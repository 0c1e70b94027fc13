//! Pipelines that must give the same records everywhere. `ON` is where they run.

/// Stages of all kinds, and items with all kinds of bytes.
pub(crate) const STAGES: &[&str] = &[
    "seq 3 | scatter ON | sed s/^/x/ | sed s/$/y/ | gather",
    "seq 2 | scatter ON | { seq 2 | scatter as=M | echo $ITEM$M | gather -t; } | gather",
    "printf 'a b\\n\\n\\tc\\n' | scatter ON | { cat; echo \"<$ITEM>\"; } | gather",
    "printf 'a\\nb\\0c\\0' | scatter ON -0 | { cat -A; echo \"<$ITEM>\"; } | gather",
    "printf 'x\\xffy\\n' | scatter ON | { od -An -tx1; printf '\\xfe%s' \"$ITEM\"; } | gather",
    "seq 2 | scatter ON | cat <<E | gather\nhere $ITEM\nE",
    "seq 2 | scatter ON |& cat | gather",
    "seq 3 | scatter ON | head -c 300000 /dev/zero | gather -t | wc -c",
    "x=$(head -c 100000 /dev/zero | tr '\\0' x); echo $x | scatter ON | wc -c | gather",
    "scatter ON items='[\"a b\", \"c\"]' | echo \"<$ITEM>\" | gather",
    "seq 5 | scatter ON | { read a; echo \"$a\"; read b || echo eof; } | gather",
    "seq 3 | scatter ON | { sleep 0.01 & echo $ITEM; } | gather",
    "scatter ON < /dev/null | cat | gather; echo $?",
    "yes | scatter ON limit=2 | echo $ITEM | gather -t | head -n 3",
    "seq 200 | scatter ON | echo $((ITEM * ITEM)) | gather -t",
];

/// Variables, parameters, functions and aliases.
pub(crate) const VARIABLES: &[&str] = &[
    "x=5; f() { echo \"f $1 $x\"; }; seq 6 | scatter ON as=N | f $N | gather",
    "a=(1 '2 3' $'\\n4'); declare -A m=([k]='v w' [' ']=$'\\x01'); seq 2 | scatter ON | printf '<%s>' \"${a[@]}\" \"${m[@]}\" | gather",
    "declare -i n=3; declare -u up=abc; declare -n ref=n; seq 2 | scatter ON | { n=n+ITEM; up=xyz$ITEM; echo $n $up $ref; } | gather",
    "declare -r ro=1; seq 1 | scatter ON | { echo $ro; ro=2; echo no; } | gather",
    "set -- a 'b c' ''; seq 2 | scatter ON | printf '<%s>' \"$#\" \"$@\" \"$0\" | gather",
    "export FOO=bar; seq 1 | scatter ON | env | grep ^FOO= | gather",
    "export ITEM; seq 2 | scatter ON | bash -c 'echo $ITEM' | gather",
    "g() { echo \"exported $1\"; }; export -f g; seq 2 | scatter ON | bash -c 'g $ITEM' | gather",
    "shopt -s expand_aliases\nalias hi='echo hello'\nseq 2 | scatter ON | hi $ITEM | gather",
    "alias ll='ls -l'; shopt -s expand_aliases; seq 1 | scatter ON | eval alias | gather",
    "IFS=:; v=a:b; seq 1 | scatter ON | { set -- $v; echo $#; } | gather",
    "(exit 7); seq 1 | scatter ON | echo $? | gather",
];

/// Options, the working directory, ignored signals, and messages with their lines.
pub(crate) const OPTIONS: &[&str] = &[
    "set -u; seq 2 | scatter ON | echo \"$UNSET\" | gather",
    "set -e; seq 2 | scatter ON | { false; echo no; } | gather || true",
    "set -o pipefail; seq 2 | scatter ON | { false | true; echo $?; } | gather",
    "set -x; seq 2 | scatter ON | { : $ITEM; echo $ITEM; } | gather 2>/dev/null",
    "shopt -s extglob nullglob; seq 2 | scatter ON | { [[ x$ITEM == @(x1|y) ]]; echo $? /nosuch*; } | gather",
    "set -o noglob; seq 1 | scatter ON | echo * | gather",
    "cd /usr/bin; seq 1 | scatter ON | { pwd; echo $PWD; } | gather",
    "umask 077; seq 1 | scatter ON | umask | gather",
    "trap '' USR1; seq 1 | scatter ON | { trap; sh -c 'kill -USR1 $$; echo alive'; } | gather",
    "f() {\n echo a\n  nosuch2; }\n\nseq 3 | scatter ON |\n  { f\n nosuch3; } | gather",
    "\n\n\nseq 1 | scatter ON | { echo \"$LINENO\"; ./nosuch; } | gather",
];

/// Items that fail.
pub(crate) const FAILURES: &[&str] = &[
    "seq 3 | scatter ON | { cat; exit $ITEM; } | gather",
    "seq 2 | scatter ON | sh -c 'kill -9 $$' | gather",
    "seq 4 | scatter ON retries=1 | exit $((ITEM % 2)) | gather",
    "seq 9 | scatter ON limit=1 halt=soon,fail=2 | [ $ITEM -lt 4 ] | gather",
    "seq 2 | scatter ON timeout=1 | { [ $ITEM = 1 ] || sleep 60; } | gather",
    "seq 3 | scatter ON | [ $ITEM = 2 ] | gather -t; echo $?",
];
