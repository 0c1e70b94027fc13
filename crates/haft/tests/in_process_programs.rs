//! GNU's commands that run in-process instead of programs.

use haft_test_support::{Haft, Scratch};
use serde_json::Value;

/// Whether the system has the programs whose place the commands take.
fn has_programs() -> bool {
    let usual = std::fs::symlink_metadata("/usr/bin/cat").is_ok_and(|metadata| metadata.is_file());
    if !usual {
        println!("skipped: /usr/bin/cat is not a program of its own");
    }
    usual
}

fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .env("HOME", scratch.text("."))
        .env("XDG_CONFIG_HOME", scratch.text("."))
}

/// The kinds of the stages of a script.
fn kinds(scratch: &Scratch, script: &str) -> Vec<String> {
    let outcome = haft(scratch).args(["run", "--json", "-c", script]).run().json();
    let stages = outcome["stages"].as_array().cloned().unwrap_or_default();
    stages.iter().map(|stage| stage["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn text_commands_start_no_process() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    for script in [
        "seq 3 | sort -r | wc -l",
        "LC_ALL=C sort < /etc/passwd",
        "cat /etc/passwd > copy",
        "trap 'echo end' EXIT; cat /etc/passwd",
        "grep -c root /etc/passwd | head -1",
        "sed -n 's/root/x/p' /etc/passwd",
        "mkdir -p a/b; touch a/b/c; cp a/b/c a/d; mv a/d a/e; ls a; rm -rf a",
        "basename \"$(dirname /a/b/c)\"",
        "join /etc/passwd /etc/group; od -c /etc/passwd; seq -f %02g 3; sort -R /etc/passwd",
        "du -sh .; stat -c '%s %n' /etc/passwd; truncate -s 5 f; cmp f f; diff f f",
        "date +%F; date -u -d '2024-02-28 +2 days' +%A; expr 1 + 2; id -u; uname -sr; nproc; printenv HOME; hostname",
        "rm \"$(mktemp)\"; rmdir \"$(mktemp -d)\"",
    ] {
        let found = kinds(&scratch, &format!("cd {}; {script}", scratch.text(".")));
        assert!(
            found.iter().all(|kind| matches!(kind.as_str(), "command" | "builtin")),
            "{script}: {found:?}"
        );
        assert!(found.iter().any(|kind| kind == "command"), "{script}: {found:?}");
    }
}

/// Scripts whose `sort` must be the program.
const PROGRAMS: &[&str] = &[
    "sort --no-such-option < /dev/null",
    "sort --version",
    "/usr/bin/sort /etc/passwd",
    "enable -n sort; sort /etc/passwd",
    "HAFT_COMMANDS=host; sort /etc/passwd",
    "export LD_PRELOAD=; sort /etc/passwd",
    "export POSIXLY_CORRECT=1; sort /etc/passwd",
    "LC_ALL=de_DE.UTF-8 sort /etc/passwd",
    "LC_ALL=de_DE.UTF-8; sort /etc/passwd",
    "TMPDIR=/ sort /etc/passwd",
    "trap 'echo end' TERM; sort /etc/passwd",
    "ulimit -f 1000; sort /etc/passwd",
    "sort /dev/null",
    "sort /proc/self/status",
    "cd /proc/self; sort status",
    "set -x; sort /etc/passwd",
    "sort /etc/passwd >&-",
    "ln -s /usr/bin/sort .; PATH=.:$PATH; sort /etc/passwd",
];

#[test]
fn the_program_runs_where_a_script_could_observe_the_difference() {
    if !has_programs() {
        return;
    }
    for script in PROGRAMS {
        let scratch = Scratch::new();
        let outcome = haft(&scratch)
            .args(["run", "--json", "-c", &format!("cd {}; {script}", scratch.text("."))])
            .run()
            .json();
        let stages = outcome["stages"].as_array().cloned().unwrap_or_default();
        let is_sort = |stage: &&Value| stage["argv"][0].as_str().is_some_and(|name| name.ends_with("sort"));
        let kind = stages.iter().find(is_sort).map(|stage| stage["kind"].clone());
        assert_eq!(kind, Some("external".into()), "{script}: {outcome}");
    }
}

#[test]
fn the_configuration_can_choose_the_program() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.file("haft")).expect("a directory");
    std::fs::write(scratch.file("haft/config.toml"), "[commands]\nhost = ['sort']\n").expect("a file");
    assert_eq!(kinds(&scratch, "sort /etc/passwd | wc -l"), ["external", "command"]);
}

#[test]
fn type_and_enable_know_the_commands_unless_haft_is_another_shell() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    haft(&scratch)
        .args(["-c", "type -a cat; type cat; enable -n cat; type -a cat; command -v cat"])
        .run()
        .status(0)
        .stdout(
            "cat is a command of haft\ncat is /usr/bin/cat\ncat is /bin/cat\ncat is /usr/bin/cat\n\
             cat is /usr/bin/cat\ncat is /bin/cat\n/usr/bin/cat\n",
        );
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_haft"), scratch.file("bash")).expect("a link");
    Haft::new(scratch.text("bash"))
        .env("PATH", "/usr/bin:/bin")
        .args(["-c", "type -a cat; enable -n cat; PATH=/nonexistent; cat"])
        .run()
        .status(127)
        .stdout("cat is /usr/bin/cat\ncat is /bin/cat\n")
        .stderr_has("enable: cat: not a shell builtin");
}

/// Scripts that must have the same result under bash, where all commands are programs.
const SAME_RESULTS: &[&str] = &[
    // The position of a file that the next command reads.
    "seq 9 > f; { sed 2q; echo; cat; } < f; { grep -m1 3; cat; } < f; { grep -q 3; cat; } < f",
    "seq 50000 > f; { grep -q 3; cat | md5sum; } < f; { grep -l 3; cat | md5sum; } < f; { sed -n '$!N;1q'; head -n1; } < f",
    // Permissions of new files.
    "umask 077; mkdir d; touch d/f; cp d/f d/g; sed -i s/a/b/ d/f; stat -c '%a %n' d d/*",
    "echo a > f; chmod 640 f; umask 022; sed -i.old s/a/b/ f; stat -c '%a %n' f f.old; cat f f.old",
    "echo a > f; ln f g; sed -i s/a/b/ f; cat f g; ln -s f l; sed -i s/b/c/ l; ls -l l | cut -c1; cat f l",
    // A working directory that has another name.
    "mkdir a; cd a; mv ../a ../b; touch f; ls ../b; grep -c x f",
    "mkdir a; cd a; rmdir ../a; ls; touch f; echo $?",
    // Messages and statuses.
    "grep x missing; echo $?; sed p missing; echo $?; rm missing; ls missing; cp missing x; mkdir .; echo $?",
    "grep '[' /etc/passwd; grep -E 'a{1' /etc/passwd | head -n1; sed 's/a/b' /etc/passwd; sed --no-such; echo $?",
    "printf 'a\\0b\\n' > f; grep a f; grep -c a f; grep -a b f | od -c; truncate -s 200K g; echo a >> g; grep a g",
    // Abbreviated options, and options of programs only.
    "printf 'b\\na\\n' > f; grep --line-num b f; sed --quiet p f; grep -P 'a|b' f; ls --revers f; echo $?",
    "printf '%s\\n' aa ab ba > f; grep '\\(a\\)\\1' f; sed -E 's/(.)\\1/<&>/' f; grep -f /dev/stdin f <<< ab",
    "mkdir -p d/e; touch d/f d/e/g; grep -rc '' d | sort; ls -R d; rm -rv d | sort; ls",
    "for i in 1 2 3; do echo $i; done | while read -r x; do grep -q 2 <<< $x && echo found $x; done",
    "echo 'a b' | sed 's/\\w/<&>/g; s/\\bb/X/'; echo abc | grep -o '[a-z]' | tail -n1; echo é | sed 's/./x/g'",
    "mkdir -p d/e .h; touch d/a.c d/e/b.c .h/x; find . -name '*.c' | sort; find d -maxdepth 1 -type d; find missing; find d -foo; echo $?",
    "mkdir -p d/e; seq 99 > d/f; find d -size +0c -type f; find . -name '[' -o -path './d/*' -print0 | od -c; find d -exec echo {} \\;",
    "mkdir d; seq 9999 > d/f; ln d/f d/g; du -s d; du -sh d/f; du -sb d | cut -f2; du -s missing; echo $?; du d",
    "touch -d @86400.5 f; stat -c '%n %s %a %A %F %h' f .; stat -c %Y f; stat --printf '%s\\n' f; stat -c %U missing; stat -c %.2Y f; echo $?",
    "date -u -d @0 +%c; date -d '1 Jan 2024' +%s; date -d nonsense; date +%Q; TZ=Asia/Tokyo; date -d @0 +%H; export TZ; date -d @0 +%H; echo $?",
    "expr 3 '*' 4; expr abc : '\\(b\\)'; expr abc : 'a\\(b\\)'; expr 1 / 0; expr; expr a : '\\(a\\)\\1'; expr length é; echo $?",
    "seq 5 > a; seq 2 6 > b; diff a b; diff -u --label a --label b a b; diff -q a b; diff a missing; cmp a b; cmp -s a a; cmp a; echo $?",
    "whoami; id -u; id -un; id -g; id -gn; id; id nobody; uname -a; nproc --all; hostname; printenv PATH HOME; printenv NONE; echo $?",
    "truncate -s 10K f; stat -c %s f; truncate -s -1K f; wc -c f; truncate f; truncate -s x f; mktemp missing/XXXX; mktemp -u | cut -c1-9; echo $?",
    "seq 3 > a; seq 2 4 > b; join a b; join -a1 -v2 a b; join a; od -An -tx1 a; od -j99 a; seq -f %.1f 1 0.5 2; seq -f %x 3; echo $?",
    "mv missing x; touch a b; mv a b c; echo $?; mkdir c; mv a b c; ls c; rm c; rmdir c; echo $?; rm -r c; ls",
];

#[test]
fn commands_have_the_same_results_as_programs() {
    if !has_programs() {
        return;
    }
    for script in SAME_RESULTS {
        for locale in ["C", "C.UTF-8"] {
            let [ours, theirs] = [env!("CARGO_BIN_EXE_haft"), "/bin/bash"].map(|shell| {
                let scratch = Scratch::new();
                let text = format!("cd {}; {{ {script}; }} 2>&1; exit 0", scratch.text("."));
                let ran = Haft::new(shell)
                    .env("PATH", "/usr/bin:/bin")
                    .env("LC_ALL", locale)
                    .env("HOME", "/")
                    .args(["-c", &text])
                    .run();
                String::from_utf8_lossy(ran.status(0).output()).into_owned()
            });
            assert_eq!(ours, theirs, "{script} ({locale})");
        }
    }
}
