//! Scripts that try to get around a policy. Every technique is combined with every way to run it.

use haft_test_support::Haft;

use crate::support::{Place, SECRET, confined, has_landlock};

/// Commands that change the file `$T`.
const CHANGES: [&str; 21] = [
    "echo x > $T",
    "echo x >> $T",
    ": >| $T",
    "exec 5<> $T; echo x >&5",
    "cp /etc/passwd $T",
    "mv -f own $T",
    "ln -f own $T",
    "ln -sf own $T",
    "rm -f $T",
    "tee $T < own > /dev/null",
    "sed -i s/./x/ $T",
    "dd if=own of=$T status=none",
    "truncate -s 0 $T",
    "/usr/bin/truncate -s 0 $T",
    "sort -o $T own",
    "uniq own $T",
    "install -m 600 own $T",
    "exec {fd}> $T; echo x >&$fd",
    "awk 'BEGIN { print 1 > ENVIRON[\"T\"] }'",
    "perl -e 'open F, \">\", $ENV{T}; print F 1'",
    "python3 -c 'import os; open(os.environ[\"T\"], \"w\").write(\"x\")'",
];

/// Ways to run the command `CMD`.
pub(crate) const WAYS: [&str; 24] = [
    "CMD",
    "eval 'CMD'",
    "eval \"$(printf %s 'CMD')\"",
    "f() { CMD; }; f",
    "( CMD )",
    "{ CMD; } 2> /dev/null",
    "x=$(CMD)",
    "cat <(CMD)",
    "true | CMD",
    "CMD & wait",
    "trap 'CMD' EXIT; exit",
    "trap 'CMD' USR1; kill -USR1 $BASHPID",
    "source /dev/stdin <<< 'CMD'",
    "bash -c 'CMD'",
    "sh <<< 'CMD'",
    "env -i PATH=\"$PATH\" T=\"$T\" bash -c 'CMD'",
    "echo 'CMD' > script-$N; bash script-$N",
    "echo 'CMD' > script-$N; chmod +x script-$N; ./script-$N",
    "nohup bash -c 'CMD' > /dev/null",
    "setsid -w bash -c 'CMD'",
    "timeout 20 bash -c 'CMD'",
    "printf '%s\\0' 'CMD' | xargs -0 bash -c",
    "find . -maxdepth 0 -exec bash -c 'CMD' ';'",
    "python3 -c 'import subprocess, sys; subprocess.run([\"bash\", \"-c\", sys.argv[1]])' 'CMD'",
];

/// Paths to the protected file of the attack.
const PATHS: [&str; 6] = [
    "$OUT/$N",
    "../outside/$N",
    "/proc/self/root$OUT/$N",
    "/proc/self/cwd/../outside/$N",
    "link/$N",
    "sub/../link/../outside/$N",
];

/// One attack as a subshell that prints nothing.
pub(crate) fn attack(number: usize, path: &str, way: &str, command: &str) -> String {
    let quoted = way.contains("'CMD'");
    let command = if quoted { command.replace('\'', "'\\''") } else { command.to_owned() };
    let command = way.replace("CMD", &command);
    format!("(N={number} T={path}; export T N; {command}) < /dev/null > /dev/null 2>&1\n")
}

/// A script with every change in every way, and a protected file for each of them.
fn attacks(place: &Place) -> Vec<String> {
    let mut lines = vec!["mkdir sub; ln -s \"$OUT\" link; echo own > own\n".to_owned()];
    for (index, way) in WAYS.iter().enumerate() {
        for (other, change) in CHANGES.iter().enumerate() {
            let number = lines.len();
            let path = PATHS[(index + other) % PATHS.len()];
            // Some changes move the script's own file away.
            lines.push(format!("echo own > own; {}", attack(number, path, way, change)));
            std::fs::write(place.path(&format!("outside/{number}")), "untouched").expect("a file");
        }
    }
    std::fs::write(place.path("project/attack.sh"), lines.concat()).expect("a script");
    lines
}

/// The attacks that changed their file.
fn changed<'a>(place: &Place, lines: &'a [String]) -> Vec<&'a str> {
    let is_changed = |number: &usize| {
        let content = std::fs::read_to_string(place.path(&format!("outside/{number}")));
        content.ok().as_deref() != Some("untouched")
    };
    (1..lines.len()).filter(is_changed).map(|number| lines[number].as_str()).collect()
}

#[test]
fn no_script_changes_a_protected_file() {
    if !has_landlock() {
        return;
    }
    let place = Place::new();
    let lines = attacks(&place);
    let run = place.haft(&confined(&place)).arg("attack.sh").run();
    let changed = changed(&place, &lines);
    assert!(changed.is_empty(), "{} of {}:\n{}", changed.len(), lines.len() - 1, changed.concat());
    let names = std::fs::read_dir(place.path("outside")).expect("a directory").count();
    assert_eq!(names, lines.len(), "files were created or removed: {}", run.error_text());
}

#[test]
fn without_a_policy_the_same_scripts_change_files() {
    let place = Place::new();
    let lines = attacks(&place);
    let _ = place.haft(std::path::Path::new("full")).arg("attack.sh").run();
    let unchanged = lines.len() - 1 - changed(&place, &lines).len();
    assert!(unchanged < lines.len() / 20, "{unchanged} of {} attacks do nothing", lines.len() - 1);
}

#[test]
fn no_script_reads_a_protected_file() {
    if !has_landlock() {
        return;
    }
    let place = Place::new();
    let reads = [
        "cat $T",
        "/bin/cat $T",
        "echo \"$(< $T)\"",
        "read -r x < $T; echo $x",
        "mapfile -t x < $T; echo ${x[@]}",
        "source $T",
        "cp $T copy-$N; cat copy-$N",
        "ln $T copy-$N; cat copy-$N",
        "mv $T copy-$N; cat copy-$N",
        "ln -s $T copy-$N; cat copy-$N",
        "grep . $T",
        "sed p $T",
        "tar cf - -C $OUT secret",
        "diff own $T",
        "exec 7< $T; cat <&7",
        "python3 -c 'import os; print(open(os.environ[\"T\"]).read())'",
        "perl -ne print $T",
        "bash $T",
        "cd $OUT; cat secret",
        "cat $OUT/*",
    ];
    let mut script = String::from("mkdir sub; ln -s \"$OUT\" link; echo own > own\n");
    let mut number = 0;
    for (index, way) in WAYS.iter().enumerate() {
        for (other, read) in reads.iter().enumerate() {
            let path = PATHS[(index + other) % PATHS.len()].replace("/$N", "/secret");
            let attack = attack(number, &path, way, read).replace(" > /dev/null 2>&1\n", " 2>&1\n");
            script.push_str(&attack);
            number += 1;
        }
    }
    std::fs::write(place.path("project/attack.sh"), &script).expect("a script");
    let run = place.haft(&confined(&place)).arg("attack.sh").run();
    assert!(!run.output_text().contains(SECRET), "{}", context_of(&run.output_text()));
    assert!(!run.error_text().contains(SECRET), "{}", context_of(&run.error_text()));
    let copied = std::fs::read_dir(place.path("project")).expect("a directory").flatten().any(|entry| {
        entry.file_type().is_ok_and(|kind| kind.is_file())
            && entry.file_name() != "attack.sh"
            && std::fs::read_to_string(entry.path()).is_ok_and(|text| text.contains(SECRET))
    });
    assert!(!copied, "a copy of the protected file is in the project");
    assert_eq!(std::fs::read_to_string(place.path("outside/secret")).expect("a file"), SECRET);
}

/// The output before the protected text.
fn context_of(output: &str) -> &str {
    let end = output.find(SECRET).map_or(0, |at| at + SECRET.len());
    &output[end.saturating_sub(300)..end]
}

#[test]
fn no_spelling_of_a_denied_command_runs() {
    let place = Place::new();
    let log = place.path("log");
    let program = format!("#!/bin/sh\necho \"$@\" >> {}\n", log.display());
    for name in ["bin/deploy", "project/deploy-link-target"] {
        std::fs::write(place.path(name), &program).expect("a program");
        make_executable(&place.path(name));
    }
    let policy = place.policy("[policy.commands]\ndeny = [[\"deploy\", \"live\"]]\n");
    let spellings = [
        "deploy live",
        "'deploy' \"live\"",
        "\\deploy live",
        "d=deploy; $d live",
        "a=(deploy live); \"${a[@]}\"",
        "eval deploy live",
        "eval 'dep'loy' live'",
        "command deploy live",
        "exec deploy live",
        "(exec deploy live)",
        "$DEPLOY live",
        "\"$DEPLOY\" live now",
        "PATH=/nonexistent:$PATH deploy live",
        "env deploy live",
        "env -i \"$DEPLOY\" live",
        "nohup deploy live",
        "nice deploy live",
        "timeout 5 deploy live",
        "echo live | xargs deploy",
        "printf 'deploy\\nlive\\n' | xargs env",
        "bash -c 'deploy live'",
        "sh -c 'deploy live'",
        "bash <<< 'deploy live'; true",
        "f() { deploy \"$@\"; }; f live",
        "shopt -s expand_aliases\nalias x=deploy\nx live",
        "trap 'deploy live' EXIT",
        "trap 'deploy live' DEBUG; :",
        "x=$(deploy live)",
        "cat <(deploy live)",
        "deploy live &\nwait",
        "true && deploy live",
        "deploy live | cat",
        "coproc deploy live; wait",
        "find . -maxdepth 0 -exec deploy live ';'",
        "source /dev/stdin <<< 'deploy live'",
        "mapfile -C 'deploy live' -c 1 x <<< y",
        "PROMPT_COMMAND='deploy live'; true",
        "command_not_found_handle() { deploy live; }; nonexistent",
        "time deploy live",
        "! deploy live",
        "coproc { deploy live; }; wait",
        "hash -p \"$DEPLOY\" other; other live; hash -r; deploy live",
        "enable -n echo; deploy live",
    ];
    for spelling in spellings {
        let path = format!("{}:{}", place.path("bin").display(), "/usr/bin:/bin");
        let run = place
            .haft(&policy)
            .env("PATH", path)
            .env("DEPLOY", place.path("bin/deploy"))
            .args(["-c", spelling])
            .run();
        let ran = std::fs::read_to_string(&log).unwrap_or_default();
        // Text on the standard input of another shell is that shell's own affair, as is a name that `hash -p` chose.
        let excepted = spelling.contains("bash <<<") || spelling.contains("hash -p");
        assert!(excepted || ran.is_empty(), "{spelling}: ran 'deploy {ran}'\n{}", run.error_text());
        let _ = std::fs::remove_file(&log);
    }
    let run = allowed(&place, &policy);
    assert_eq!(run.output_text(), "0\n", "{}", run.error_text());
}

/// A command that the rule does not match still runs.
fn allowed(place: &Place, policy: &std::path::Path) -> haft_test_support::FinishedHaft {
    let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
    let haft: Haft = place.haft(policy).env("PATH", path);
    haft.args(["-c", "deploy test; echo $?"]).run()
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn system_calls_around_the_rules_are_refused() {
    if !has_landlock() {
        return;
    }
    let place = Place::new();
    std::fs::write(place.path("project/calls.py"), include_str!("calls.py")).expect("a program");
    let run = place.haft(&confined(&place)).args(["-c", "python3 calls.py"]).run();
    assert_eq!(run.output_text(), "done\n", "{}", run.error_text());
}

#[test]
fn a_file_that_is_swapped_meanwhile_does_not_lead_out() {
    if !has_landlock() {
        return;
    }
    let place = Place::new();
    std::fs::write(place.path("outside/victim"), "untouched").expect("a file");
    let script = "
        mkdir real; echo a > real/victim
        python3 -c '
import os
for _ in range(20000):
    os.symlink(os.environ[\"OUT\"], \"new\"); os.replace(\"new\", \"place\")
    os.symlink(\"real\", \"new\"); os.replace(\"new\", \"place\")
' & swapper=$!
        while kill -0 $swapper 2> /dev/null; do
            for i in {1..50}; do echo x 2> /dev/null > place/victim; echo y >> place/victim; done 2> /dev/null
            rm -f place/victim; cp real/victim place/victim; mv -f real/victim place/victim
            echo a > real/victim
        done 2> /dev/null
        wait";
    let run = place.haft(&confined(&place)).args(["-c", script]).run();
    let content = std::fs::read_to_string(place.path("outside/victim"));
    assert_eq!(content.ok().as_deref(), Some("untouched"), "{}", run.error_text());
}
