//! The files of plans: a table of commands, and commands that bash runs in a temporary directory.

#![expect(clippy::disallowed_types, reason = "the commands are run by bash, as the oracle of the plan")]
#![expect(clippy::disallowed_methods, reason = "only programs that the machine has are run")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use haft_lang::plan::{
    Expansion, FileScope, FileUseMode, PlannedWord, ScriptPlan, UsedFile, WordPiece, plan,
};
use haft_lang::{BuiltinsOnly, ParseOptions, Script};

fn planned(source: &str) -> ScriptPlan {
    let script = Script::parse(source.as_bytes(), &ParseOptions::default());
    assert!(script.error().is_none(), "{source}");
    plan(&script.program(), source.as_bytes(), &BuiltinsOnly)
}

/// Formats a path as in the tables: dynamic pieces as in the script, `/**` for a tree, `?` for a target that
/// may be a directory.
fn shown(file: &UsedFile) -> String {
    let piece = |piece: &WordPiece| match piece {
        WordPiece::Literal(text) => text.to_string(),
        WordPiece::Dynamic { source, .. } => source.to_string(),
    };
    let path: String = file.target.pieces.iter().map(piece).collect();
    match file.scope {
        FileScope::Exact => path,
        FileScope::Inside => path + "?",
        FileScope::Tree => path + "/**",
    }
}

fn list(files: &[UsedFile]) -> String {
    files.iter().map(shown).collect::<Vec<_>>().join(" ")
}

/// Script, reads, writes, deletes, and whether the lists are complete.
type Case = (&'static str, &'static str, &'static str, &'static str, bool);

fn compare(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (script, reads, writes, deletes, complete) in cases {
        let files = planned(script).files;
        let actual = (list(&files.reads), list(&files.writes), list(&files.deletes), files.complete);
        let expected = ((*reads).to_owned(), (*writes).to_owned(), (*deletes).to_owned(), *complete);
        if actual != expected {
            wrong.push(format!("{script}\n  is       {actual:?}\n  expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn options_are_parsed_like_gnu_getopt() {
    compare(&[
        ("head -n5 a -c 3 b", "a b", "", "", true),
        ("head -5 a", "a", "", "", true),
        ("head --lines=5 a", "a", "", "", true),
        ("head --lines 5 a", "a", "", "", true),
        ("head --lin 5 a", "a", "", "", true),
        ("head -- -n", "-n", "", "", true),
        ("cat a - b", "a b", "", "", true),
        ("sort in -oout", "in", "out", "", true),
        ("sort -ro out -k 2 in", "in", "out", "", true),
        ("sort --output=out in", "in", "out", "", true),
        ("sort --output \"$x\" in", "in", "$x", "", true),
        ("sort --unheard-of in", "in", "", "", false),
        ("rm -rf -- -x", "", "", "-x/**", true),
        ("rm a -r b", "", "", "a/** b/**", true),
        ("cp --help", "", "", "", true),
    ]);
}

#[test]
fn files_of_commands_that_read() {
    compare(&[
        ("cat *.txt", "*.txt", "", "", true),
        ("grep -rn x", "./**", "", "", true),
        ("grep x a b", "a b", "", "", true),
        ("grep -e x a", "a", "", "", true),
        ("grep -f list a", "list a", "", "", true),
        ("grep x", "", "", "", true),
        ("diff -r a b", "a/** b/**", "", "", true),
        ("cmp a b 1 2", "a b", "", "", true),
        ("ls", ".", "", "", true),
        ("ls -R src", "src/**", "", "", true),
        ("jq --arg a b '.x' f g", "f g", "", "", true),
        ("jq -f prog f", "prog f", "", "", true),
        ("awk -F: '{ print $1 }' x=1 f", "f", "", "", true),
        ("awk '$1 > 5' f", "f", "", "", true),
        ("awk '{ print > \"out\" }' f", "f", "", "", false),
        ("tr a b < in", "in", "", "", true),
        ("python3 x.py a", "x.py", "", "", false),
        ("bash x.sh a", "x.sh", "", "", false),
        ("bash -c 'cat a'", "a", "", "", true),
        (". ./env", "./env", "", "", false),
        ("./x.sh", "./x.sh", "", "", false),
        ("make", "", "", "", false),
        ("echo hello", "", "", "", true),
        ("wc -l < /dev/null", "", "", "", true),
    ]);
}

#[test]
fn files_of_commands_that_write() {
    compare(&[
        ("cp a b", "a", "b?", "", true),
        ("cp a b/", "a", "b/a", "", true),
        ("cp a b c", "a b", "c/a c/b", "", true),
        ("cp -t d a x/b", "a x/b", "d/a d/b", "", true),
        ("cp -T a b", "a", "b", "", true),
        ("cp -r a b", "a/**", "b/**", "", true),
        ("cp x.c{,.bak}", "x.c", "x.c.bak?", "", true),
        ("cp src/*.c d/", "src/*.c", "d/*.c", "", true),
        ("cp \"$a\" \"$b\"", "$a", "$b?", "", true),
        ("cp -b a b", "a", "b?", "", false),
        ("mv a b", "", "b?", "a", true),
        ("mv a b d", "", "d/a d/b", "a b", true),
        ("ln -s a b", "", "b?", "", true),
        ("ln -s /x/y", "", "y", "", true),
        ("install -m 755 a b/", "a", "b/a", "", true),
        ("install -d a/b", "", "a a/b", "", true),
        ("install -D a b/c", "a", "b b/c?", "", true),
        ("tee a b", "", "a b", "", true),
        ("echo x | tee -a a", "", "a", "", true),
        ("touch a", "", "a", "", true),
        ("mkdir -p a/b/c", "", "a a/b a/b/c", "", true),
        ("rmdir -p a/b", "", "", "a/b a", true),
        ("truncate -s 0 a", "", "a", "", true),
        ("shred -u a", "", "a", "a", true),
        ("uniq a b", "a", "b", "", true),
        ("dd if=a of=b bs=1", "a", "b", "", true),
        ("chmod -R 755 d", "", "d/**", "", true),
        ("chmod -x f", "", "f", "", true),
        ("chmod u+x,g-w f", "", "f", "", true),
        ("chown -R a:b d", "", "d/**", "", true),
        ("chown --reference=r f", "r", "f", "", true),
        ("mktemp x.XXXX", "", "x.XXXX", "", true),
        ("mktemp", "", "${TMPDIR:-/tmp}/tmp.XXXXXXXXXX", "", true),
        ("sed s/a/b/ f", "f", "", "", true),
        ("sed -i s/a/b/ f g", "f g", "f g", "", true),
        ("sed -i.bak -e s/a/b/ f", "f", "f f.bak", "", true),
        ("sed -n -i s/a/b/ f", "f", "f", "", true),
        ("sed -ne 'w out' f", "f", "", "", false),
        ("patch f p", "p", "f", "", false),
        ("split -l 5 a b", "a", "b*", "", true),
        ("csplit a 5", "a", "xx*", "", true),
        ("rm -f a b", "", "", "a b", true),
        ("rm -rf build/*.o", "", "", "build/*.o/**", true),
    ]);
}

#[test]
fn files_of_archives_and_compression() {
    compare(&[
        ("tar xzf a.tgz", "a.tgz", "./**", "", true),
        ("tar -xf a.tar -C d", "a.tar", "d/**", "", true),
        ("tar --extract --file=a.tar --directory d", "a.tar", "d/**", "", true),
        ("tar czf o.tgz -C src x y", "src/x/** src/y/**", "o.tgz", "", true),
        ("tar cvf o.tar a b", "a/** b/**", "o.tar", "", true),
        ("tar tf a.tar", "a.tar", "", "", true),
        ("tar rf a.tar x", "x/**", "a.tar", "", true),
        ("tar xOf a.tar x", "a.tar", "", "", true),
        ("tar czf - d | cat", "d/**", "", "", true),
        ("tar --remove-files -cf o.tar d", "d/**", "o.tar", "d/**", true),
        ("gzip a", "a", "a.gz", "a", true),
        ("gzip -k a", "a", "a.gz", "", true),
        ("gzip -c a", "a", "", "", true),
        ("gunzip a.tgz", "a.tgz", "a.tar", "a.tgz", true),
        ("gzip -d a", "a", "", "a", false),
        ("xz -d a.xz", "a.xz", "a", "a.xz", true),
        ("zstd a", "a", "a.zst", "", true),
        ("zstd -d a.zst -o b", "a.zst", "b", "", true),
        ("zip -r o d -x '*.o'", "d/**", "o.zip", "", true),
        ("unzip a.zip -d d", "a.zip", "d/**", "", true),
        ("unzip -l a.zip", "a.zip", "", "", true),
    ]);
}

#[test]
fn files_of_find_and_git() {
    compare(&[
        ("find . -name x", "./**", "", "", true),
        ("find a b -name '*.o' -delete", "a/** b/**", "", "a? b?", true),
        ("find -L d -fprint out", "d/**", "out", "", true),
        ("find d -delete", "d/**", "", "d/**", true),
        ("find d -exec rm {} +", "d/**", "", "{}", true),
        ("ls | xargs rm", ".", "", "standard input", true),
        ("git status", "./**", "", "", true),
        ("git add a b", "a/** b/**", ".git/**", "", true),
        ("git checkout main", "", "./**", "", false),
        ("git checkout -- a b", "", "a/** b/**", "", false),
        ("git -C r reset --hard", "", "r/**", "", true),
        ("git clean -fdx", "", "", "./**", true),
        ("git clean -n", "./**", "", "", true),
        ("git rm -r d", "", ".git/**", "d/**", true),
        ("git mv a b", "", ".git/** b/**", "a/**", true),
        ("git apply p", "p", "./**", "", true),
        ("git clone https://h/x/r.git", "", "r/**", "", true),
        ("git clone -b x --depth 1 https://h/r d", "", "d/**", "", true),
        ("git frobnicate", "", "", "", false),
    ]);
}

#[test]
fn files_of_network_transfers() {
    compare(&[
        ("curl -o out https://h/x", "", "out", "", true),
        ("curl -sSLO https://h/d/x.tgz?y=1", "", "x.tgz", "", true),
        ("curl -T up https://h/", "up", "", "", true),
        ("curl --data @body -F f=@pic https://h/", "body pic", "", "", true),
        ("wget https://h/x.tgz", "", "x.tgz", "", true),
        ("wget -qO out https://h/", "", "out", "", true),
        ("wget -P d https://h/x", "", "d/x", "", true),
        ("wget -r https://h/", "", "./**", "", true),
        ("rsync -a --delete a/ b", "a//**", "b/**", "b/**", true),
        ("rsync -av a host:b", "a/**", "", "", true),
        ("scp -r host:x d", "", "d/**", "", true),
    ]);
}

#[test]
fn relative_paths_belong_to_the_directory_of_cd() {
    compare(&[
        ("cd d && rm x", "", "", "d/x", true),
        ("cd a; cd b; rm x ../y /z", "", "", "a/b/x a/y /z", true),
        ("(cd a; rm x); rm y", "", "", "a/x y", true),
        ("cd a | rm x; rm y", "", "", "x y", true),
        ("cd a & rm x", "", "", "x", true),
        ("x=$(cd a; rm b); rm c", "", "", "a/b c", true),
        ("mkdir a && cd a\ntouch b", "", "a a/b", "", true),
        ("cd a || exit\ntouch b", "", "a/b", "", true),
        ("if true; then cd a; fi; rm x", "", "", "$PWD/x", true),
        ("for i in 1 2; do cd a; rm x; done", "", "", "$PWD/a/x", true),
        ("f() { cd a; }; f; rm x", "", "", "$PWD/x", true),
        ("cd; rm x", "", "", "~/x", true),
        ("cd \"$d\"; rm x", "", "", "$d/x", true),
        ("cd -; rm x", "", "", "$PWD/x", true),
        ("env -C a rm x; rm y", "", "", "a/x y", true),
        ("sh -c 'cd a; rm x'; rm y", "", "", "a/x y", true),
        ("cd a; sort < x > y", "a/x", "a/y", "", true),
    ]);
}

#[test]
fn variables_that_are_set_once_are_resolved() {
    compare(&[
        ("f=x; rm \"$f\"", "", "", "x", true),
        ("d=a; f=$d/b; rm ${f}.c", "", "", "a/b.c", true),
        ("l='a b'; rm $l", "", "", "a b", true),
        ("l='a b'; rm \"$l\"", "", "", "a b", true),
        ("for i in a b; do rm $i.x; done", "", "", "a.x b.x", true),
        ("f() { local x=a; rm \"$x\"; }", "", "", "a", true),
        ("f=x; f=y; rm $f", "", "", "$f", true),
        ("if c; then f=x; fi; rm $f", "", "", "$f", false),
        ("f=x command true; rm $f", "", "", "$f", true),
        ("f=x; read f; rm $f", "", "", "$f", true),
        ("rm $1", "", "", "$1", true),
    ]);
}

#[test]
fn files_of_wrapped_commands() {
    compare(&[
        ("sudo -u x cp a b", "a", "b?", "", true),
        ("env A=1 nice -n 5 timeout 3 rm x", "", "", "x", true),
        ("command rm x", "", "", "x", true),
        ("/bin/rm x", "", "", "x", true),
        ("xargs -a list rm", "list", "", "standard input", true),
        ("flock lock rm x", "", "lock", "x", true),
        ("rm() { :; }; rm x", "", "", "", true),
    ]);
}

#[test]
fn redirections_and_arguments_are_distinguished() {
    let plan = planned("tee out < in");
    let modes: Vec<FileUseMode> = plan.steps[0].files.iter().map(|file| file.mode).collect();
    assert_eq!(modes, [FileUseMode::Read, FileUseMode::Write]);
    let uses: Vec<String> = plan.steps[0].files.iter().map(|file| format!("{:?}", file.by)).collect();
    assert_eq!(uses, ["Redirection", "Command"]);
}

/// A script to run, and the programs that it needs beyond the basic ones.
type Run = (&'static str, &'static [&'static str]);

const RUNS: &[Run] = &[
    ("cp a b", &[]),
    ("cp a dir", &[]),
    ("cp a a2 dir/", &[]),
    ("cp -r dir new", &[]),
    ("cp -t dir a a2", &[]),
    ("cp a{,.bak}", &[]),
    ("mv a b", &[]),
    ("mv a a2 dir", &[]),
    ("mv dir new", &[]),
    ("rm a", &[]),
    ("rm -rf dir a", &[]),
    ("rm *.txt", &[]),
    ("rmdir empty", &[]),
    ("mkdir -p x/y/z", &[]),
    ("touch new", &[]),
    ("truncate -s 1 a", &[]),
    ("echo x | tee t1 t2 > t3", &[]),
    ("echo x | tee -a a", &[]),
    ("sed -i s/a/X/ a", &[]),
    ("sed -i.bak s/a/X/ a a2", &[]),
    ("sort -o sorted a a2", &[]),
    ("sort -u a -o a", &[]),
    ("uniq a u", &[]),
    ("ln -s a l", &[]),
    ("ln a l", &[]),
    ("ln -s ../a dir/", &[]),
    ("install -m 600 a new", &[]),
    ("install -D a p/q/r", &[]),
    ("install -d p/q", &[]),
    ("dd if=a of=b 2>/dev/null", &[]),
    ("split -l 1 a part.", &[]),
    ("csplit -s -f cs a 2", &[]),
    ("gzip a", &["gzip"]),
    ("gzip -k a", &["gzip"]),
    ("gzip a && gunzip a.gz", &["gzip"]),
    ("bzip2 a", &["bzip2"]),
    ("xz a", &["xz"]),
    ("zstd -q a", &["zstd"]),
    ("tar cf o.tar dir a", &["tar"]),
    ("tar cf o.tar dir && mkdir x && tar xf o.tar -C x", &["tar"]),
    ("tar --remove-files -cf o.tar dir", &["tar"]),
    ("zip -q o a a2", &["zip"]),
    ("zip -q o.zip a && unzip -q o.zip -d x", &["zip", "unzip"]),
    ("find dir -name '*.x' -delete", &["find"]),
    ("find dir -type f -exec rm {} +", &["find"]),
    ("find . -name '*.txt' -fprint found", &["find"]),
    ("ls *.txt | xargs rm", &["xargs"]),
    ("mktemp tmp.XXXXXX", &[]),
    ("shred -u a", &["shred"]),
    ("cd dir && rm f.x && touch g", &[]),
    ("(cd dir; touch g); touch h", &[]),
    ("d=dir; for f in p q; do touch \"$d/$f\"; done", &[]),
    ("awk '{ print }' a > b", &["awk"]),
    ("git init -q r && cp a r && cd r && git add a", &["git"]),
    (
        "git init -q r && cd r && git config user.email x && git config user.name x && touch f && git add f \
         && git -c core.hooksPath=none commit -qm 1 && git checkout -q -b t && git rm -q f",
        &["git"],
    ),
    ("git init -q r && cd r && touch x && git clean -fdxq", &["git"]),
];

#[test]
fn commands_only_change_the_planned_files() {
    let mut wrong = Vec::new();
    for (number, (script, programs)) in RUNS.iter().enumerate() {
        if !programs.iter().all(|program| is_installed(program)) {
            continue;
        }
        let directory = std::env::temp_dir().join(format!("haft-plan-files-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        fixture(&directory);
        let before = snapshot(&directory);
        let run = Command::new("bash").arg("-c").arg(script).current_dir(&directory).output();
        let run = run.expect("bash runs");
        let after = snapshot(&directory);
        let _ = std::fs::remove_dir_all(&directory);
        assert!(run.status.success(), "{script}: {}", String::from_utf8_lossy(&run.stderr));
        wrong.extend(differences(script, &before, &after));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).exists())
}

fn fixture(directory: &Path) {
    const FILES: &[(&str, &str)] = &[
        ("a", "a\nb\nb\n"),
        ("a2", "c\n"),
        ("1.txt", "1"),
        ("2.txt", "2"),
        ("dir/f.x", "f"),
        ("dir/g.y", "g"),
    ];
    std::fs::create_dir_all(directory.join("dir")).expect("a directory");
    std::fs::create_dir_all(directory.join("empty")).expect("a directory");
    FILES.iter().for_each(|(name, text)| std::fs::write(directory.join(name), text).expect("a file"));
}

/// All files below a directory: whether each is a directory, and its content.
type Snapshot = BTreeMap<PathBuf, (bool, Vec<u8>)>;

fn snapshot(directory: &Path) -> Snapshot {
    let mut files = BTreeMap::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        for entry in std::fs::read_dir(&next).expect("a directory").flatten() {
            let path = entry.path();
            let kind = entry.file_type().expect("a kind");
            let content = if kind.is_file() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
            files.insert(path.strip_prefix(directory).expect("below").to_owned(), (kind.is_dir(), content));
            if kind.is_dir() {
                pending.push(path);
            }
        }
    }
    files
}

/// Returns changes that are not planned, and planned files that do not exist.
fn differences(script: &str, before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let files = planned(script).files;
    let mut wrong = Vec::new();
    for (path, _) in after.iter().filter(|(path, now)| before.get(*path) != Some(now)) {
        if !files.writes.iter().any(|file| covers(file, path)) {
            wrong.push(format!("{script}: {} was written; planned: {}", path.display(), list(&files.writes)));
        }
    }
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        if !files.deletes.iter().any(|file| covers(file, path) || is_below(file, path)) {
            wrong.push(format!(
                "{script}: {} was removed; planned: {}",
                path.display(),
                list(&files.deletes)
            ));
        }
    }
    wrong.extend(missing_files(script, &files.writes, &files.deletes, after));
    wrong
}

/// Returns planned files that do not exist afterwards, unless they are also deleted.
fn missing_files(script: &str, writes: &[UsedFile], deletes: &[UsedFile], after: &Snapshot) -> Vec<String> {
    let exact = writes.iter().filter(|file| file.scope == FileScope::Exact);
    let names = exact.filter_map(|file| Some(String::from_utf8_lossy(file.target.literal()?).into_owned()));
    let missing = names.map(PathBuf::from).filter(|path| {
        path.is_relative() && !after.contains_key(path) && !deletes.iter().any(|file| covers(file, path))
    });
    missing.map(|path| format!("{script}: {} was planned but not written", path.display())).collect()
}

/// Whether a path is inside a removed or renamed file.
fn is_below(file: &UsedFile, path: &Path) -> bool {
    file.target.literal().is_some_and(|name| path.starts_with(&*String::from_utf8_lossy(name)))
}

/// Whether a planned file covers a path.
fn covers(file: &UsedFile, path: &Path) -> bool {
    let Some(pattern) = pattern(&file.target) else { return true };
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let path = path.to_string_lossy();
    let below = format!("{pattern}/*");
    let inside = || pattern == "." || matches_glob(below.as_bytes(), path.as_bytes());
    matches_glob(pattern.as_bytes(), path.as_bytes()) || (file.scope != FileScope::Exact && inside())
}

/// Converts a path to a pattern; `None` if it comes from the input of a command.
fn pattern(item: &PlannedWord) -> Option<String> {
    let piece = |piece: &WordPiece| match piece {
        WordPiece::Literal(text) => Some(text.to_string()),
        WordPiece::Dynamic { by: Expansion::Input, .. } => None,
        WordPiece::Dynamic { .. } => Some("*".to_owned()),
    };
    item.pieces.iter().map(piece).collect()
}

fn matches_glob(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            matches_glob(rest, text) || (!text.is_empty() && matches_glob(pattern, &text[1..]))
        }
        ([first, rest @ ..], [same, more @ ..]) if first == same => matches_glob(rest, more),
        _ => false,
    }
}
