//! Paths that may not change, in a project that may: hooks of a repository, and files that the policy names.

use std::path::Path;

use haft_test_support::is_root;

use crate::attacks::{WAYS, attack};
use crate::support::{Place, has_landlock};

const HOOK: &str = "project/.git/hooks/pre-commit";

/// Commands that change the protected file `$T`, or put another one in its place.
const CHANGES: [&str; 20] = [
    "echo x > $T",
    "cp own $T",
    "tee $T < own",
    "sed -i s/./x/ $T",
    "awk 'BEGIN { print 1 > ENVIRON[\"T\"] }'",
    "sort -o $T own",
    "install -m 755 own $T",
    "ln -f own $T",
    "rm -rf .git/hooks",
    "mv .git/hooks old-$N",
    "mv .git old-$N; mkdir -p .git/hooks; cp own .git/hooks/pre-commit",
    "mv -T .git/hooks old-$N; ln -s .. .git/hooks",
    "rm -rf .git; mkdir -p .git/hooks; cp own .git/hooks/pre-commit",
    "ln .git/hooks/pre-commit link-$N; echo x > link-$N",
    "mkdir new-$N; mv -T new-$N .git/hooks",
    "umount .git/hooks; echo x > $T",
    "mount -o remount,rw,bind .git/hooks; echo x > $T",
    "unshare -m sh -c 'umount -l .git/hooks .git; echo x > $T'",
    "nsenter -t 1 -m sh -c 'echo x > $T'",
    "for p in /proc/[0-9]*/root; do echo x > $p$T; done",
];

/// A project with a hook, in place of which the attacks put something else.
fn project() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path("project/.git/hooks")).expect("a directory");
    for (name, text) in [(HOOK, "untouched"), ("project/.git/config", "[core]\n"), ("project/own", "own\n")] {
        std::fs::write(place.path(name), text).expect("a file");
    }
    std::fs::write(place.path("project/.git/HEAD"), "ref: refs/heads/main\n").expect("a file");
    place
}

fn is_untouched(place: &Place) -> bool {
    let names = std::fs::read_dir(place.path("project/.git/hooks")).map(Iterator::count);
    let content = std::fs::read_to_string(place.path(HOOK));
    content.ok().as_deref() == Some("untouched") && names.ok() == Some(1)
}

/// Whether programs cannot change the hooks on this machine.
fn enforces(place: &Place) -> bool {
    let run = place.haft(Path::new("workspace")).args(["--json", "-c", ":"]).run().json();
    let unenforced = run["enforced"]["unenforced"].to_string();
    has_landlock() && !unenforced.contains(".git/hooks'")
}

#[test]
fn no_script_changes_the_hooks_of_a_repository() {
    let place = project();
    if !enforces(&place) {
        return println!("skipped: no mount namespaces");
    }
    let hook = place.path(HOOK).display().to_string();
    let mut failed = Vec::new();
    for (index, change) in CHANGES.iter().enumerate() {
        let lines: Vec<String> = WAYS
            .iter()
            .enumerate()
            .map(|(other, way)| attack(index * WAYS.len() + other, &hook, way, change))
            .map(|attack| format!("echo own > own; {attack}"))
            .collect();
        std::fs::write(place.path("project/attack.sh"), lines.concat()).expect("a script");
        let run = place.haft(Path::new("workspace")).arg("attack.sh").run();
        if !is_untouched(&place) {
            failed.push(format!("{change}: {}", run.error_text()));
            std::fs::create_dir_all(place.path("project/.git/hooks")).expect("a directory");
            std::fs::write(place.path(HOOK), "untouched").expect("a file");
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn commands_and_tools_of_haft_do_not_change_them_either() {
    let place = project();
    let hook = place.path(HOOK);
    let script = format!(
        "mv .git g && mkdir -p .git/hooks; echo x > .git/hooks/new; rm -rf .git; mv .git/hooks g; echo x > {0}
        tool file_write path=.git/hooks/pre-commit content=x; tool file_write path=.git/hooks/new content=x
        tool file_edit path={0} old=untouched new=x; tool file_write path=none/../.git/hooks/new content=x
        ln -s .git/hooks/new link; tool file_write path=link content=x; echo added > added",
        hook.display()
    );
    for options in [&[][..], &["--no-external"]] {
        let run = place.haft(Path::new("workspace")).args(options).args(["-c", &script]).run();
        assert!(is_untouched(&place), "{options:?}: {}", run.error_text());
        std::fs::remove_file(place.path("project/added")).expect("the script has run");
    }
}

#[test]
fn the_tree_around_protected_paths_can_change() {
    let place = project();
    let script = "echo 1 > .git/config && /bin/cp own .git/new && mv .git/new .git/renamed && rm own && /bin/mkdir -p a/b &&
        mv a c && /bin/pwd && /usr/bin/env sh -c 'echo 2 >> .git/config; pwd'; cat .git/config; ls .git";
    let run = place.haft(Path::new("workspace")).args(["-c", script]).run();
    let here = place.path("project").canonicalize().expect("a path").display().to_string();
    let expected = format!("{here}\n{here}\n1\n2\nHEAD\nconfig\nhooks\nrenamed\n");
    assert_eq!(run.output_text(), expected, "{}", run.error_text());
    assert!(is_untouched(&place));
}

#[test]
fn files_that_the_policy_names_are_read_only_for_programs() {
    let place = project();
    if !enforces(&place) {
        return println!("skipped: no mount namespaces");
    }
    std::fs::create_dir_all(place.path("project/deep/down")).expect("a directory");
    std::fs::write(place.path("project/deep/down/lock"), "untouched").expect("a file");
    let policy = place.policy(
        "[policy.files]\nwrite = [\"$project\", \"$devices\"]\ndeny_write = [\"./deep/down/lock\", \"./missing\"]\n",
    );
    let script = "sh -c 'echo x > deep/down/lock'; /bin/rm -f deep/down/lock; /bin/mv deep other; /bin/mv deep/down other
        /bin/mkdir other; /bin/touch deep/down/new deep/new; ls deep/down deep";
    let result = place.haft(&policy).args(["--json", "-c", script]).run().json();
    let lock = std::fs::read_to_string(place.path("project/deep/down/lock"));
    assert_eq!(lock.ok().as_deref(), Some("untouched"), "{result:#}");
    assert_eq!(result["stdout"]["text"], "deep:\ndown\nnew\n\ndeep/down:\nlock\nnew\n", "{result:#}");
    let missing = result["enforced"]["unenforced"].to_string();
    assert!(missing.contains("/missing', which does not exist"), "{missing}");
}

#[test]
fn a_spawned_program_cannot_change_them() {
    let place = project();
    if !enforces(&place) || !is_root() {
        return println!("skipped: no mount namespaces");
    }
    let agent = "#!/bin/sh\npwd\nsh -c 'echo x > .git/hooks/pre-commit'\n";
    std::fs::write(place.path("bin/agent"), agent).expect("a program");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path("bin/agent"), mode).expect("a mode");
    let run = haft_test_support::Haft::new(env!("CARGO_BIN_EXE_haft"))
        .directory(place.path("project"))
        .env("HOME", place.path("home"))
        .args(["spawn", "--policy", "workspace", "--"])
        .arg(place.path("bin/agent"))
        .run();
    let here = place.path("project").canonicalize().expect("a path");
    assert_eq!(run.output_text(), format!("{}\n", here.display()), "{}", run.error_text());
    assert!(is_untouched(&place), "{}", run.error_text());
}
