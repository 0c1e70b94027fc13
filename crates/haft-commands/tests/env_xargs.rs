//! `env` and `xargs`: they behave like GNU's for programs, and also run haft's commands.

mod support;

use haft_kernel::Kernel;
use support::{run, run_in, session, session_with};

/// Scripts that must behave as under bash with GNU's programs.
const SAME_AS_GNU: &[&str] = &[
    "env A=1 sh -c 'echo $A'",
    "A=1 env -u A sh -c 'echo ${A-unset}'",
    "env -i A=1 env",
    "env - A=1 /usr/bin/env",
    "env -C / pwd",
    "env no-such-program",
    "env --nope",
    "f() { echo function; }; env f",
    "env cd /",
    "env a-b=1 env | grep a-b",
    "export A=1; env | grep ^A=",
    "env timeout 20 echo x",
    "env A=1 timeout 0.1 sleep 60",
    "echo a b c | xargs",
    "echo a b c | xargs -n1 echo",
    "printf 'a b\\n c\\n' | xargs -I{} echo '<{}>'",
    "printf 'a\\0b c\\0' | xargs -0 printf '<%s>'",
    "printf 'a:b' | xargs -d: printf '<%s>'",
    "echo \"a 'b c' d\\\\ e\" | xargs printf '<%s>'",
    "xargs -r echo x < /dev/null",
    "xargs echo x < /dev/null",
    "echo 1 | xargs sh -c 'exit 3'",
    "echo 1 | xargs sh -c 'exit 255'",
    "echo 1 | xargs no-such-program",
    "f() { echo function; }; echo 1 | xargs f",
    "echo \"'\" | xargs echo",
    "seq 3 | xargs -P2 -n1 | sort",
    "seq 2 | xargs -n1 timeout 20 echo",
    "printf 'a b\\nc \\nd\\n\\ne\\n' | xargs -L1 timeout 20 echo",
    "printf 'a b\\nc \\nd\\n\\ne\\nf' | xargs -L 2 -t timeout 20 echo",
    "xargs -L1 timeout 20 echo < /dev/null",
];

#[expect(clippy::disallowed_types, reason = "bash is the oracle, started by the test")]
fn bash(script: &str) -> (i32, String) {
    let mut bash = std::process::Command::new("bash");
    let output =
        bash.args(["-c", script]).env("PATH", "/usr/local/bin:/usr/bin:/bin").output().expect("bash runs");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn programs_run_as_under_gnu() {
    for script in SAME_AS_GNU {
        let ran = run(script);
        assert_eq!((ran.status, ran.stdout), bash(script), "{script}: {}", ran.stderr);
    }
}

#[test]
fn in_process_commands_run() {
    for (script, expected) in [
        (r#"env A=1 spawn command=sh argv=["-c", "echo \u0024A"]"#, "1\n"),
        (r#"A=1; export A; env -i spawn command=/usr/bin/env | grep -v '^HAFT_RUN=\|^_='"#, ""),
        (r#"env -C / spawn command=pwd"#, "/\n"),
        (r#"env A=1 timeout 20 spawn command=sh argv=["-c", "echo \u0024A"]"#, "1\n"),
        (r#"printf 'a b\nc\n' | xargs -I{} spawn command=echo argv='<{}>'"#, "<a b>\n<c>\n"),
        (r#"echo 'argv=a argv="b c"' | xargs spawn command=echo"#, "a b c\n"),
        (r#"printf 'argv=a\0argv=b' | xargs -0 -n1 spawn command=echo"#, "a\nb\n"),
        (r#"echo argv=a,argv=b | xargs -d, -n1 spawn command=echo | grep ."#, "a\nb\n"),
        (r#"seq 4 | sed s/^/argv=/ | xargs -P4 -n1 spawn command=echo | sort"#, "1\n2\n3\n4\n"),
        (r#"echo argv=x | xargs env A=1 spawn command=echo"#, "x\n"),
        (r#"echo x | xargs -I{} spawn command=cat; echo $?"#, "0\n"),
        (r#"echo argv=1 | xargs spawn command=false; echo $?"#, "123\n"),
        (r#"echo x=1 | xargs -r spawn 2>/dev/null; echo $?"#, "123\n"),
        (r#"echo x | xargs timeout 0.1 spawn command=sleep argv=60 2>/dev/null; echo $?"#, "123\n"),
        (r#"xargs -r spawn command=echo < /dev/null; echo $?"#, "0\n"),
        (r#"spawn() { echo function; }; env spawn command=echo argv=x"#, "x\n"),
    ] {
        let ran = run_in(session(), script);
        assert_eq!(ran.stdout, expected, "{script}: {}", ran.stderr);
    }
}

#[test]
fn both_work_with_external_commands_disabled() {
    let kernel = || Kernel::builder().commands(haft_commands::TABLE).external(false).build();
    for (script, status, stdout) in [
        ("export A=1; env -i B=2", 0, "B=2\n"),
        ("env ls", 126, ""),
        ("env -C /no/such", 125, ""),
        ("env --nope", 125, ""),
        ("echo 1 | xargs ls", 126, ""),
        ("echo \"'\" | xargs spawn", 1, ""),
    ] {
        let ran = run_in(session_with(kernel()), script);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, stdout), "{script}: {}", ran.stderr);
    }
}
