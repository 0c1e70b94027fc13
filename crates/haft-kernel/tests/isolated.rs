//! Scripts on files in memory, with no program at hand.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use haft_fs::{FileSystem as _, Memory, OpenOptions};
use haft_kernel::{Kernel, Session};

/// Runs a script whose output goes to a file in memory; yields the file, and the status.
fn run(script: &str) -> (String, i32) {
    let files = Memory::with_standard_files(1 << 20);
    let kernel = Kernel::builder().files(Arc::new(files.clone())).external(false).build();
    let mut session = Session::new(kernel);
    let status = session.run_main(format!("exec > /out 2> /err\n{script}").as_bytes()).expect("it ends");
    let mut output = String::new();
    let options = OpenOptions::new().read(true);
    files.open(Path::new("/out"), &options).expect("the output").read_to_string(&mut output).expect("text");
    (output, status)
}

#[track_caller]
fn check(script: &str, expected: &str) {
    assert_eq!(run(script).0, expected, "{script}");
}

#[test]
fn files_are_written_read_and_tested() {
    check(
        "echo one > /tmp/f; echo two >> /tmp/f; read x < /tmp/f; echo $x; mapfile -t a < /tmp/f; echo ${#a[@]}",
        "one\n2\n",
    );
    check(
        "echo x > f; [ -f f ] && [ -s /f ] && ! [ -e g ] && [ -d /tmp ] && [ -c /dev/null ]; echo $?",
        "0\n",
    );
    check("x=$(< /nope); echo $?; read y < /nope; echo $?", "1\n1\n");
}

#[test]
fn directories_are_entered_and_listed() {
    check(
        "cd /tmp; pwd; > a.c; > b.c; > .h; echo *; echo /t*/?.c; cd ..; pwd; cd /nope; echo $?",
        "/tmp\na.c b.c\n/tmp/a.c /tmp/b.c\n/\n1\n",
    );
    check("pushd /tmp; dirs; popd", "/tmp /\n/tmp /\n/\n");
}

#[test]
fn scripts_are_sourced() {
    check("echo 'f() { echo \"f $1\"; }; return 4' > /lib.sh; . /lib.sh; echo $?; f x", "4\nf x\n");
}

#[test]
fn programs_are_refused() {
    let (output, status) = run("ls; echo $?; /bin/ls; echo $?; exit 3");
    assert_eq!((output.as_str(), status), ("126\n126\n", 3));
}

#[test]
fn a_full_disk_is_an_error_like_others() {
    check(
        "x=$(printf '%0100000d' 0); for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $x > /tmp/$i || break; done; > /tmp/1; echo $i; (( i > 5 )) && echo full",
        "11\nfull\n",
    );
}
