//! Running downloads or encoded text.

use std::collections::{BTreeMap, BTreeSet};

use super::step_tree::{StepTree, has_letter, is_input, name, words};
use crate::Bytes;
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::plan::{
    Expansion, FileUse, FileUseMode, OpaqueReason, PlanStep, PlannedWord, ScriptPlan, StepRole, UsedBy,
    WordPiece, interpreter_reads_input, is_interpreter, is_shell, resolved_path, variable_name,
};

/// Programs that download files.
const DOWNLOADERS: &[&[u8]] =
    &[b"curl", b"wget", b"aria2c", b"fetch", b"http", b"https", b"xh", b"lynx", b"w3m"];

/// Programs that verify a checksum or signature.
const VERIFIERS: &[&[u8]] = &[
    b"sha256sum",
    b"sha512sum",
    b"sha1sum",
    b"sha384sum",
    b"sha224sum",
    b"md5sum",
    b"b2sum",
    b"shasum",
    b"cksum",
    b"gpg",
    b"gpgv",
    b"gpg2",
    b"minisign",
    b"cosign",
    b"openssl",
    b"signify",
    b"slsa-verifier",
];

/// `curl … | sh`.
pub(in crate::check::rules) static RUNS_DOWNLOAD: Rule = Rule {
    code: "runs-download",
    severity: Severity::Warning,
    summary: "a download or decoded text is run without review",
    explanation: "The server, or an encoding, hides what runs, and if the connection breaks, only part of it \
        runs. Save the download to a file, verify its checksum or signature, review it, and then run \
        it.",
    wrong: &[
        "curl -fsSL https://example.org/install.sh | sh",
        "wget -qO- https://example.org/x | sudo bash",
        "curl https://example.org/x | sudo -E bash -s -- --yes",
        "curl https://example.org/x | tee copy | sh",
        "curl https://example.org/x | python3",
        "curl https://example.org/x | perl - -a",
        "curl https://example.org/x | bash /dev/stdin",
        "curl https://example.org/x.gz | gunzip | env A=1 sh",
        "{ curl https://example.org/x; } | { sh; }",
        "bash <(curl https://example.org/x)",
        "source <(curl https://example.org/x)",
        ". <(wget -qO- https://example.org/x)",
        "bash < <(curl https://example.org/x)",
        "bash -c \"$(curl https://example.org/x)\"",
        "sh -c \"`wget -qO- https://example.org/x`\"",
        "eval \"$(curl https://example.org/x)\"",
        "eval $(curl https://example.org/x)",
        "python3 -c \"$(curl https://example.org/x)\"",
        "bash <<< \"$(curl https://example.org/x)\"",
        "exec 3< <(curl https://example.org/x); bash <&3",
        "exec 3< <(curl https://example.org/x); bash /dev/fd/3",
        "exec 3<>/dev/tcp/example.org/80; cat <&3 | sh",
        "exec {in}<>/dev/tcp/example.org/80; sh <&\"$in\"",
        "exec < <(curl https://example.org/x); sh",
        "$(curl https://example.org/x)",
        "x=$(curl https://example.org/x); eval \"$x\"",
        "x=$(curl https://example.org/x)\necho \"$x\" | sh",
        "curl -o i.sh https://example.org/x && bash i.sh",
        "wget https://example.org/i.sh; chmod +x i.sh; ./i.sh",
        "curl https://example.org/x > i.sh\n. ./i.sh",
        "echo aGkK | base64 -d | sh",
        "eval \"$(echo aGkK | base64 --decode)\"",
        "xxd -r -p x | bash",
        "sh -c 'curl https://example.org/x | sh'",
    ],
    right: &[
        "curl https://example.org/x -o x",
        "curl https://example.org/x | tar xz",
        "curl https://example.org/x | python3 -m json.tool",
        "curl https://example.org/x | python3 -c 'import sys; print(sys.stdin.read())'",
        "curl https://example.org/x | perl -ne 'print if /x/'",
        "curl https://example.org/x | jq .",
        "curl https://example.org/x | sh -c 'cat > x'",
        "curl https://example.org/x | bash count.sh",
        "curl https://example.org/x | while read -r line; do echo \"$line\"; done",
        "bash install.sh \"$(curl https://example.org/version)\"",
        "bash -c 'echo \"$1\"' _ \"$(curl https://example.org/x)\"",
        "diff <(curl https://example.org/a) <(curl https://example.org/b)",
        "x=$(curl https://example.org/x); echo \"$x\"",
        "eval \"$(ssh-agent -s)\"",
        "cat install.sh | sh",
        "exec 3< install.sh; bash <&3",
        "exec 3<>/dev/tcp/example.org/80; cat <&3",
        "exec 3< <(curl https://example.org/x); bash install.sh",
        "curl -o i.sh https://example.org/x\nsha256sum -c i.sum\nbash i.sh",
        "curl -o data.json https://example.org/x; python3 read.py data.json",
        "base64 -d x | tar x",
        "curl https://example.org/x; echo hello | sh",
    ],
    matcher: RuleMatcher::Plan(runs_download),
};

fn runs_download(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    let step_tree = StepTree::of(plan);
    let tainted = tainted(&step_tree);
    for (index, step) in plan.steps.iter().enumerate() {
        if let Some(source) = run_source(&step_tree, index, step, &tainted) {
            let message = match source {
                TextOrigin::Network => "this runs a download without review",
                TextOrigin::Encoded => "this runs encoded text, which hides what it does",
            };
            report.add(step.span, message).hint("save it to a file, review it, and then run the file");
        }
    }
    run_files(plan, report);
}

/// The origin of text that is run.
#[derive(Clone, Copy)]
enum TextOrigin {
    Network,
    Encoded,
}

/// The variables and file descriptors that hold a download.
#[derive(Default)]
struct Tainted {
    variables: BTreeSet<Bytes>,
    descriptors: BTreeSet<Vec<u8>>,
}

impl Tainted {
    /// Whether a word expands one of the variables.
    fn is_used(&self, item: &PlannedWord) -> bool {
        uses_variable(item, &self.variables)
    }

    /// Whether a file of a step is one of the descriptors: `<&3`, `/dev/fd/3`.
    fn is_read(&self, file: &FileUse) -> bool {
        match file.mode {
            FileUseMode::Duplicate => match file.target.literal() {
                Some(number) => self.descriptors.contains(number.strip_suffix(b"-").unwrap_or(number)),
                None => self.is_used(&file.target),
            },
            FileUseMode::Read => self.is_named(&file.target),
            _ => false,
        }
    }

    /// Whether a path names one of the descriptors.
    fn is_named(&self, path: &PlannedWord) -> bool {
        const DIRECTORIES: [&[u8]; 2] = [b"/dev/fd/", b"/proc/self/fd/"];
        let Some(path) = path.literal() else { return false };
        let number = DIRECTORIES.iter().find_map(|directory| path.strip_prefix(*directory));
        number.is_some_and(|number| self.descriptors.contains(number))
    }
}

/// Returns the origin of the output of some steps.
fn source(steps: &[PlanStep], tainted: &Tainted) -> Option<TextOrigin> {
    let network = |step: &PlanStep| DOWNLOADERS.contains(&name(step)) || step.files.iter().any(is_socket);
    let prints = |step: &PlanStep| {
        matches!(name(step), b"echo" | b"printf") && step.argv.iter().any(|item| tainted.is_used(item))
    };
    let reads = |step: &PlanStep| {
        step.files.iter().any(|file| tainted.is_used(&file.target) || tainted.is_read(file))
    };
    if steps.iter().any(|step| network(step) || prints(step) || reads(step)) {
        return Some(TextOrigin::Network);
    }
    steps.iter().any(decodes).then_some(TextOrigin::Encoded)
}

fn is_socket(file: &FileUse) -> bool {
    matches!(file.mode, FileUseMode::Read | FileUseMode::ReadWrite)
        && file.target.prefix().starts_with(b"/dev/tcp/")
}

fn decodes(step: &PlanStep) -> bool {
    let has = |word: &[u8]| words(step).contains(&word);
    match name(step) {
        b"base64" | b"base32" | b"basenc" => {
            has_letter(step, b'd') || has_letter(step, b'D') || has(b"--decode")
        }
        b"xxd" => has_letter(step, b'r'),
        b"openssl" => has(b"-d"),
        b"uudecode" => true,
        _ => false,
    }
}

/// Returns the variables and file descriptors that hold a download.
fn tainted(step_tree: &StepTree<'_>) -> Tainted {
    let nothing = Tainted::default();
    let mut found = Tainted::default();
    for (index, step) in step_tree.steps.iter().enumerate() {
        let fetches = |role| step_tree.parts(index, role).any(|part| source(part, &nothing).is_some());
        if !step.assignments.is_empty() && fetches(StepRole::Substitution) {
            found.variables.extend(step.assignments.iter().map(|binding| binding.name.clone()));
        }
        if name(step) != b"exec" || step.argv.len() != 1 {
            continue;
        }
        for file in step.files.iter().filter(|file| file.by == UsedBy::Redirection) {
            let fetched = is_socket(file)
                || is_made_by(&file.target, Expansion::Process) && fetches(StepRole::ProcessSubstitution)
                || is_made_by(&file.target, Expansion::Command) && fetches(StepRole::Substitution);
            if fetched {
                let descriptor = file.descriptor.as_deref().unwrap_or("0");
                let variable = descriptor.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
                found.variables.extend(variable.map(|name| Bytes::from(name.as_bytes())));
                found.descriptors.insert(descriptor.as_bytes().to_vec());
            }
        }
    }
    found
}

fn uses_variable(item: &PlannedWord, names: &BTreeSet<Bytes>) -> bool {
    !names.is_empty()
        && item.pieces.iter().any(|piece| match piece {
            WordPiece::Dynamic { by: Expansion::Parameter, source } => {
                variable_name(source).is_some_and(|name| names.contains(name))
            }
            _ => false,
        })
}

fn is_made_by(item: &PlannedWord, wanted: Expansion) -> bool {
    item.pieces.iter().any(|piece| matches!(piece, WordPiece::Dynamic { by, .. } if *by == wanted))
}

/// Returns the origin of the text that a step runs.
fn run_source(
    step_tree: &StepTree<'_>,
    index: usize,
    step: &PlanStep,
    tainted: &Tainted,
) -> Option<TextOrigin> {
    let part = |role: StepRole| step_tree.parts(index, role).find_map(|part| source(part, tainted));
    if reads_input(step) {
        return match step.files.iter().rev().find(|file| is_input(file) || tainted.is_read(file)) {
            Some(file) if tainted.is_read(file) => Some(TextOrigin::Network),
            Some(file) if is_made_by(&file.target, Expansion::Process) => part(StepRole::ProcessSubstitution),
            Some(file) if is_made_by(&file.target, Expansion::Command) => part(StepRole::Substitution),
            Some(file) if tainted.is_used(&file.target) => Some(TextOrigin::Network),
            Some(_) => None,
            None => match step_tree.upstream(index) {
                Some(steps) => source(steps, tainted),
                None => tainted.descriptors.contains(&b"0"[..]).then_some(TextOrigin::Network),
            },
        };
    }
    let runner = is_shell(name(step)) || is_interpreter(name(step)) || matches!(name(step), b"source" | b".");
    if runner && let Some(script) = script(step) {
        if is_made_by(script, Expansion::Process) {
            return part(StepRole::ProcessSubstitution);
        }
        if tainted.is_named(script) {
            return Some(TextOrigin::Network);
        }
    }
    let text = text(step)?;
    if text.iter().any(|item| is_made_by(item, Expansion::Command)) {
        return part(StepRole::Substitution);
    }
    text.iter().any(|item| tainted.is_used(item)).then_some(TextOrigin::Network)
}

/// Whether a step runs its standard input as a script.
fn reads_input(step: &PlanStep) -> bool {
    let opaque = step.opaque.iter().any(|opaque| opaque.reason == OpaqueReason::ScriptInput);
    let named = || {
        let file = script(step).and_then(PlannedWord::literal);
        matches!(file, Some(b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0"))
            && (is_shell(name(step)) || is_interpreter(name(step)) || matches!(name(step), b"source" | b"."))
    };
    opaque || named() || (is_interpreter(name(step)) && interpreter_reads_input(&step.argv[1..]))
}

/// Returns the first operand of a shell or an interpreter.
fn script(step: &PlanStep) -> Option<&PlannedWord> {
    step.argv.iter().skip(1).find(|item| !item.prefix().starts_with(b"-"))
}

/// Returns the arguments that a step runs as a script.
fn text(step: &PlanStep) -> Option<&[PlannedWord]> {
    let first = step.argv.first()?;
    if is_made_by(first, Expansion::Command) && step.argv.len() == 1 {
        return Some(std::slice::from_ref(first));
    }
    let name = name(step);
    if name == b"eval" {
        return step.argv.get(1..);
    }
    let letters: &[u8] = if is_shell(name) { b"c" } else { b"ecr" };
    let runs = is_shell(name) || is_interpreter(name);
    let option = |item: &PlannedWord| {
        item.literal().is_some_and(|word| {
            word.len() > 1
                && word[0] == b'-'
                && word[1] != b'-'
                && word.iter().any(|letter| letters.contains(letter))
        })
    };
    let at = step.argv.iter().position(option).filter(|_| runs)?;
    step.argv.get(at + 1..at + 2)
}

/// Finds files that are downloaded and then run without verification.
fn run_files(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    let mut downloads: BTreeMap<Vec<u8>, &PlanStep> = BTreeMap::new();
    for step in &plan.steps {
        if VERIFIERS.contains(&name(step)) {
            downloads.clear();
        }
        let run = executed(step).and_then(|file| {
            let path = resolved_path(step, &file);
            Some((downloads.get(without_dot(path.literal()?))?, path))
        });
        if let Some((download, path)) = run {
            let shown = String::from_utf8_lossy(path.literal().unwrap_or_default()).into_owned();
            let found =
                report.add(step.span, format!("this runs the download \"{shown}\" without verification"));
            found.relate(download.span, "downloaded here").hint("verify its checksum first: sha256sum -c");
        }
        if DOWNLOADERS.contains(&name(step)) {
            for file in step.files.iter().filter(|file| file.mode == FileUseMode::Write) {
                if let Some(path) = resolved_path(step, &file.target).literal() {
                    downloads.insert(without_dot(path).to_vec(), step);
                }
            }
        }
    }
}

fn without_dot(path: &[u8]) -> &[u8] {
    path.strip_prefix(b"./").unwrap_or(path)
}

/// Returns the file that a step runs: a program given by its path, or the script of an interpreter.
fn executed(step: &PlanStep) -> Option<PlannedWord> {
    let first = step.argv.first()?;
    let base = name(step);
    if is_shell(base) || is_interpreter(base) || matches!(base, b"source" | b".") {
        let read =
            step.files.iter().find(|file| file.by == UsedBy::Command && file.mode == FileUseMode::Read);
        return read.map(|file| file.target.clone());
    }
    first.literal().filter(|word| word.contains(&b'/')).map(|_| first.clone())
}
