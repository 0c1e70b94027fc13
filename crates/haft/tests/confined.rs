//! `--root`, `--mount`, `--put`, `--get` and `--scripts` show a script only what they name.

use std::os::unix::fs::symlink;

use haft_test_support::{Haft, Scratch};

fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft")).directory(scratch.path()).args(["run", "--timeout", "60s"])
}

/// A directory `root`, and beside it a file `secret`.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("root")).expect("a directory");
    std::fs::write(scratch.path().join("root/f"), "inside\n").expect("a file");
    std::fs::write(scratch.path().join("secret"), "secret\n").expect("a file");
    symlink(scratch.path().join("secret"), scratch.path().join("root/out")).expect("a link");
    symlink("../secret", scratch.path().join("root/up")).expect("a link");
    scratch
}

#[test]
fn a_root_is_all_that_a_script_sees() {
    let scratch = scratch();
    let outside = scratch.path().join("secret");
    let script = format!(
        "cat /f; for p in out up ../secret /../secret {0} /proc/self/root{0} /dev/fd/../../{0}; do cat $p 2> /dev/null && echo leak; done
         echo x > new; mkdir -p d/e; ls; echo y > /dev/null; cp out z 2> /dev/null; ln -f out l; cat l 2> /dev/null; cd ..; pwd; /bin/true; echo $?",
        outside.display()
    );
    let run = haft(&scratch).args(["--root", "root", "-c", &script]).run();
    let expected = "inside\nd\ndev\nf\nnew\nout\nup\n/\n126\n";
    assert!(
        ["127", "126"].iter().any(|status| run.output_text() == expected.replace("126", status)),
        "{}\n{}",
        run.output_text(),
        run.error_text()
    );
    assert_eq!(std::fs::read(scratch.path().join("root/new")).expect("was written"), b"x\n");
    assert_eq!(std::fs::read(&outside).expect("is there"), b"secret\n");
}

#[test]
fn mounts_show_directories_and_can_be_read_only() {
    let scratch = scratch();
    let script =
        "cat /a/f /w/f; echo x > /a/new; echo $?; rm /a/f; echo $?; echo y > /w/new; cat /w/up; ls /";
    let run = haft(&scratch)
        .args(["--isolated", "--mount", "root:/a:ro", "--mount", "root:/w", "-c", script])
        .run();
    assert_eq!(run.output_text(), "inside\ninside\n1\n1\na\ndev\ntmp\nw\n", "{}", run.error_text());
    assert!(run.error_text().contains("Read-only file system"), "{}", run.error_text());
    assert_eq!(std::fs::read(scratch.path().join("root/new")).expect("was written"), b"y\n");
}

#[test]
fn files_are_put_into_an_isolated_run_and_taken_out_of_it() {
    let scratch = scratch();
    haft(&scratch)
        .args(["--isolated", "--put", "secret:/in/data", "--get", "/out:result", "-c", "rev /in/data > /out"])
        .run()
        .status(0);
    assert_eq!(std::fs::read(scratch.path().join("result")).expect("was taken out"), b"terces\n");
    let run = haft(&scratch).args(["--isolated", "--get", "/none:result", "-c", ":"]).run();
    assert!(
        run.error_text().contains("cannot get '/none': No such file or directory"),
        "{}",
        run.error_text()
    );
}

#[test]
fn scripts_of_a_directory_are_commands() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path().join("scripts")).expect("a directory");
    std::fs::write(scratch.path().join("scripts/greet"), "echo hello $1\n").expect("a script");
    for arguments in [&["--isolated"][..], &["--root", "root"], &[]] {
        let run = haft(&scratch).args(arguments).args(["--scripts", "scripts", "-c", "greet you"]).run();
        assert_eq!(run.output_text(), "hello you\n", "{arguments:?}\n{}", run.error_text());
    }
}
