//! Shell scripts of other projects, run by haft in place of their shell: the results equal those
//! under bash. Tests of programs that are not installed are skipped.

use std::path::{Path, PathBuf};

use haft_test_support::{FinishedHaft, Haft, Scratch};

/// A shell under the names that scripts use.
struct Shell {
    path: String,
    /// A directory in which `sh` and `bash` are links to this shell.
    directory: PathBuf,
}

/// Both shells, bash first.
fn shells(scratch: &Scratch) -> [Shell; 2] {
    [("bash", "/bin/bash"), ("haft", env!("CARGO_BIN_EXE_haft"))].map(|(name, target)| {
        let directory = scratch.file(&format!("bin-{name}"));
        std::fs::create_dir(&directory).unwrap();
        for alias in ["sh", "bash"] {
            std::os::unix::fs::symlink(target, directory.join(alias)).unwrap();
        }
        Shell { path: directory.join("bash").to_str().unwrap().to_owned(), directory }
    })
}

impl Shell {
    /// A call of the shell in a directory, with the shell first in `PATH`.
    fn call(&self, directory: &Path) -> Haft {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", self.directory.display());
        Haft::new(&self.path)
            .directory(directory)
            .env("PATH", path)
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@example.invalid")
            .env("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@example.invalid")
            .env("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    }

    fn script(&self, directory: &Path, text: &str) -> FinishedHaft {
        self.call(directory).args(["-c", text]).run()
    }
}

/// Whether all of these programs are installed.
fn present(names: &[&str]) -> bool {
    let found = |name: &&str| {
        ["/usr/local/bin", "/usr/bin", "/bin"]
            .iter()
            .any(|directory| Path::new(directory).join(name).exists())
    };
    let missing: Vec<_> = names.iter().filter(|name| !found(name)).collect();
    if !missing.is_empty() {
        eprintln!("skipped: {missing:?} not on this machine");
    }
    missing.is_empty()
}

/// Runs a script under both shells in equal directories, and compares output and status.
fn same(text: &str) {
    let scratch = Scratch::new();
    let [bash, haft] = shells(&scratch);
    let outcomes = [&bash, &haft].map(|shell| {
        let place = scratch.file("place");
        std::fs::create_dir(&place).unwrap();
        let finished = shell.script(&place, text);
        std::fs::remove_dir_all(&place).unwrap();
        let plain = |text: String| text.replace(shell.directory.to_str().unwrap(), "BIN");
        (plain(finished.output_text()), plain(finished.error_text()), finished)
    });
    let [(expected, bash_errors, bash), (seen, errors, haft)] = outcomes;
    assert!(!expected.is_empty(), "bash writes nothing: {bash_errors}");
    assert_eq!(expected, seen, "bash says: {bash_errors}\nhaft says: {errors}");
    assert_eq!(bash.code(), haft.code(), "{errors}");
}

#[test]
fn configure_made_by_autoconf_comes_to_the_same_results() {
    if !present(&["autoconf", "m4", "gcc", "make"]) {
        return;
    }
    let scratch = Scratch::new();
    let [bash, haft] = shells(&scratch);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/configure.ac");
    let results = [&bash, &haft].map(|shell| {
        // Both directories have the same name, since it becomes part of the output.
        let place = scratch.file("place");
        std::fs::create_dir_all(place.join("sub")).unwrap();
        std::fs::copy(&source, place.join("configure.ac")).unwrap();
        std::fs::write(place.join("Makefile.in"), "all: ; @echo @place@ @feature@ '@CC@' '@LN_S@' '@ECHO_N@'\n").unwrap();
        std::fs::write(place.join("sub/settings.sh.in"), "place='@place@'\nCFLAGS='@CFLAGS@'\n").unwrap();
        let made = shell
            .script(&place, "$BASH $(command -v autoconf) && $BASH $(command -v autoheader) && CONFIG_SHELL=$BASH $BASH ./configure --enable-feature --with-place='/a b' && make SHELL=$BASH")
            .status(0);
        let files = ["configure", "config.h.in", "config.h", "Makefile", "sub/settings.sh", "config.status"];
        let contents = files.map(|file| {
            let text = std::fs::read_to_string(place.join(file)).unwrap();
            (file, text.replace(&shell.path, "SHELL"))
        });
        std::fs::remove_dir_all(&place).unwrap();
        (made.output_text(), contents)
    });
    let [(expected, bash_files), (seen, haft_files)] = results;
    assert_eq!(expected, seen);
    for ((name, expected), (_, seen)) in bash_files.iter().zip(&haft_files) {
        assert_eq!(expected, seen, "{name}");
    }
}

#[test]
fn git_runs_its_scripts_and_hooks() {
    if !present(&["git"]) {
        return;
    }
    same(
        r#"exec 2>&1
        git init -q -b main . && for n in 1 2 3; do echo $n > f; git add f; git commit -qm "c$n"; done
        mkdir other && git -C other init -q -b main && git -C other commit -q --allow-empty -m first
        path=$(git --exec-path); PATH=$path:$PATH
        git() { command git -c protocol.file.allow=always "$@"; }
        GIT_ALLOW_PROTOCOL=file; export GIT_ALLOW_PROTOCOL
        "$BASH" "$path/git-submodule" add -q "$PWD/other" sub; "$BASH" "$path/git-submodule" status | cut -c2-41
        git commit -qm sub; cat .gitmodules | sed "s,$PWD,PWD,"
        export FILTER_BRANCH_SQUELCH_WARNING=1
        "$BASH" "$path/git-filter-branch" -f --msg-filter 'sed s/^/x/' HEAD~1 -- main 2>&1 | tr '\r' '\n' | grep -v Rewrite
        git log --format=%s
        printf '#!/usr/bin/env bash\necho hook "$@"\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout
        git checkout -q -b side HEAD~1; echo z > g; git add g; git commit -qm side; git rebase -q main; git log --format=%s; git status --short"#,
    );
}

#[test]
fn scripts_around_compressed_files() {
    if !present(&["gzip", "zgrep", "zdiff"]) {
        return;
    }
    same(
        r#"printf 'one\ntwo\nthree\n' > a; printf 'one\n2\nthree\n' > b; gzip -k a b
        run() { local tool=$1; shift; "$BASH" "$(command -v "$tool")" "$@"; echo "$tool: $?"; }
        run zgrep -n t a.gz b.gz; run zgrep -c nothing a.gz; run zgrep -e two a; run zcat a.gz b.gz; run zdiff a.gz b.gz; run zcmp a.gz a
        run gunzip -c a.gz; run zforce a.gz; run znew --help | head -1; run gzexe --version | head -1; run zmore --help | head -1"#,
    );
}

#[test]
fn scripts_of_the_base_system() {
    same(
        r#"run() { [ -e "$1" ] || return 0; "$BASH" "$@" 2>&1; echo "${1##*/}: $?"; }
        run /usr/bin/ldd /bin/true | sed 's/0x[0-9a-f]*/ADDRESS/'
        run /usr/bin/which.debianutils -a sh ls nosuch
        run /usr/bin/dpkg-maintscript-helper supports rm_conffile; run /usr/bin/dpkg-maintscript-helper --help | head -3
        run /usr/bin/savelog -h | head -2; run /usr/sbin/service --version; run /bin/true | tail -1; echo end"#,
    );
}

#[test]
fn make_uses_it_as_its_shell() {
    if !present(&["make", "gcc"]) {
        return;
    }
    same(
        r##"printf 'int answer(void) { return 42; }\n' > a.c; printf 'int answer(void); int main(void) { return answer() - 42; }\n' > main.c
        cat > Makefile <<'E'
OBJECTS := $(patsubst %.c,%.o,$(wildcard *.c))
VERSION := $(shell printf '%s' "1.2" | tr . -)
.ONESHELL: report
program: $(OBJECTS)
	gcc -o $@ $^
%.o: %.c
	@echo CC $<; gcc -c -o $@ $<
report: program
	set -e
	for f in $(OBJECTS); do [ -s "$$f" ] && echo "$$f $${f%.o}"; done
	if ./program; then echo ok '$(VERSION)'; fi
fail:
	@(exit 3)
E
        make --no-print-directory SHELL="$BASH" report; make --no-print-directory -j2 SHELL="$BASH" -B program | sort; make SHELL="$BASH" fail 2>&1 | sed 's/.*Error/Error/'"##,
    );
}

#[test]
fn programs_that_call_a_shell_get_it() {
    if !present(&["python3", "perl"]) {
        return;
    }
    same(
        r#"python3 - "$BASH" <<'E'
import subprocess, sys
shell = sys.argv[1]
run = lambda text, **more: subprocess.run(text, shell=True, executable=shell, capture_output=True, text=True, **more)
r = run('echo "a  b" | tr a-z A-Z; exit 3'); print(r.stdout, r.returncode)
r = run('cat; echo $#', input="given"); print(r.stdout)
r = run('yes | head -2'); print(r.stdout, r.returncode)
r = subprocess.run([shell], input="read x\nline\necho \"got $x\"\ncat\nrest\n", capture_output=True, text=True); print(r.stdout)
import os
reader, writer = os.pipe()
subprocess.run([shell, '-c', f'echo through >&{writer}'], pass_fds=[writer]); os.close(writer); print(os.read(reader, 100))
E
        perl -e 'open(my $p, "-|", $ENV{BASH_PATH}, "-c", "echo one; echo two >&2; exit 4") or die; print <$p>; close $p; print $? >> 8, "\n"' 2>/dev/null
        xargs -n1 "$BASH" -c 'echo "<$1>"' _ <<<"a b c"; find . -maxdepth 0 -exec "$BASH" -c 'echo "$0 $1"' x {} \;; env -i "$BASH" -c 'echo "${PATH:+set} $0 $-"' | sed 's/[^ ]*$//'"#,
    );
}
