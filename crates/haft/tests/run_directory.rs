//! Runs without a usable temporary directory: a full disk, or a directory of another user.
//!
//! Each test mounts small file systems over the temporary directories, in namespaces of its own, and is skipped where
//! that is not allowed.

use haft_test_support::{FinishedHaft, Haft, Scratch};

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// Mounts a small file system over each temporary directory, and hides the user's directories.
const MOUNT: &str = "
    cp \"$1\" \"$2/haft\" && chmod 755 \"$2\" \"$2/haft\" && mount --bind \"$2\" /mnt || exit 77
    for place in /tmp /var/tmp /dev/shm; do
        mount -t tmpfs -o size=64k,nr_inodes=20,mode=1777 tmpfs $place || exit 77
    done
    unset TMPDIR XDG_RUNTIME_DIR HOME
    cd /
";
/// A disk without free blocks.
const FULL: &str = "for place in /tmp /var/tmp /dev/shm; do cat /dev/zero 2>/dev/null >$place/fill; done";
/// A disk without free inodes.
const NO_FILES: &str =
    "for place in /tmp /var/tmp /dev/shm; do for i in $(seq 30); do : 2>/dev/null >$place/$i; done; done";
/// Another user owns the directories that haft uses.
const FOREIGN: &str = "for place in /tmp /var/tmp /dev/shm; do mkdir $place/haft-0 $place/haft-65534; chown 1234 $place/haft-*; done";

/// Runs a script in which `$haft` is haft run by `user`, with the temporary directories that `prepare` sets
/// up. Returns `None` if namespaces are not allowed.
fn run(prepare: &str, user: &str, script: &str) -> Option<FinishedHaft> {
    let scratch = Scratch::new();
    let privileges = format!("haft=\"setpriv --reuid={user} --regid={user} --clear-groups /mnt/haft\"");
    let words = ["unshare", "-pfm", "--mount-proc", "--kill-child", "bash", "-c"];
    let whole = format!("{MOUNT}\n{prepare}\n{privileges}\n{script}");
    let finished = Haft::by(words).arg(whole).args(["bash", HAFT]).arg(scratch.path()).run();
    let refused = finished.code() == Some(77) || finished.error_text().starts_with("unshare:");
    if refused {
        println!("skipped: no namespaces or mounts here: {finished}");
    }
    (!refused).then_some(finished)
}

fn everywhere(script: &str, check: impl Fn(&str, &FinishedHaft)) {
    for (name, prepare) in [("full", FULL), ("no files", NO_FILES), ("foreign", FOREIGN)] {
        for user in ["0", "65534"] {
            if let Some(finished) = run(prepare, user, script) {
                check(&format!("{name} as {user}\n{finished}"), &finished);
            }
        }
    }
}

#[test]
fn a_large_output_is_kept_whole_when_the_disk_is_full_or_the_directory_is_foreign() {
    everywhere("$haft spawn --json -- seq 100000", |case, finished| {
        let result = finished.json();
        assert_eq!(result["stdout"]["total_bytes"], 588_895, "{case}");
        assert_eq!(result["stdout"]["truncated"], false, "{case}");
        assert_eq!(result["stdout"]["text"].as_str().map(str::len), Some(588_895), "{case}");
    });
}

#[test]
fn a_killed_haft_leaves_no_process_when_the_disk_is_full_or_the_directory_is_foreign() {
    let script = "
        $haft spawn -- sleep 4321 & pid=$!
        until pgrep -fx 'sleep 4321' >&2; do sleep .02; done
        kill -9 $pid
        for i in $(seq 500); do pgrep -fx 'sleep 4321' >&2 || break; sleep .02; done
        pgrep -fx 'sleep 4321' || echo none";
    everywhere(script, |case, finished| assert_eq!(finished.output_text(), "none\n", "{case}"));
}

#[test]
fn a_foreign_temporary_directory_stays_clean() {
    let script =
        "$haft run -c 'seq 100000 | tail -n1'; ls /tmp /var/tmp /dev/shm | grep -v ':\\|^$' | sort -u";
    for user in ["0", "65534"] {
        if let Some(finished) = run(FOREIGN, user, script) {
            assert_eq!(finished.output_text(), "100000\nhaft-0\nhaft-65534\n", "{finished}");
        }
    }
}

#[test]
fn output_that_fits_on_disk_only_in_part_says_so_and_is_counted() {
    let half = "umount /tmp; mount -t tmpfs -o size=512k,mode=1777 tmpfs /tmp";
    let Some(finished) = run(half, "0", "$haft spawn --json -- seq 300000") else { return };
    let result = finished.json();
    assert_eq!(result["stdout"]["total_bytes"], 1_988_895, "{finished}");
    assert_eq!(result["stdout"]["truncated"], true, "{finished}");
    let reason = result["stdout"]["spill_failed"].as_str().unwrap_or_default();
    assert!(reason.contains("No space left on device"), "{finished}");
    assert!(result["stdout"]["omitted"]["lost_bytes"].as_u64() > Some(1_000_000), "{finished}");
}
