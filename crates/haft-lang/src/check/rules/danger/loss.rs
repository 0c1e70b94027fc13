//! Loss of work, history and data.

use super::step_tree::{has_letter, name, words};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::plan::{FileUseMode, PlanStep, ScriptPlan, resolved_path};

/// `git reset --hard`.
pub(in crate::check::rules) static GIT_LOSES_WORK: Rule = Rule {
    code: "git-loses-work",
    severity: Severity::Note,
    summary: "a git command that discards changes or history",
    explanation: "Uncommitted changes cannot be recovered, and a forced push replaces commits of other people. \
        git stash keeps changes, git clean -n shows what would be removed, git push \
        --force-with-lease fails if the remote has new commits.",
    wrong: &[
        "git reset --hard",
        "git -C repo reset --hard HEAD~1",
        "git clean -fdx",
        "git clean --force",
        "git checkout -- .",
        "git checkout .",
        "git checkout -f main",
        "git restore .",
        "git stash drop",
        "git stash clear",
        "git branch -D topic",
        "git push --force",
        "git push -f origin main",
        "git push origin +main",
        "git reflog expire --expire=now --all",
    ],
    right: &[
        "git reset HEAD~1",
        "git clean -n",
        "git clean -fdn",
        "git checkout main",
        "git checkout -b topic",
        "git checkout -- file",
        "git restore --staged .",
        "git push --force-with-lease",
        "git push origin main",
        "git stash",
        "git branch -d topic",
        "git commit -m 'reset --hard'",
    ],
    matcher: RuleMatcher::Plan(git_loses_work),
};

fn git_loses_work(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    for step in plan.steps.iter().filter(|step| name(step) == b"git") {
        if let Some(message) = lost(&words(step)) {
            report.add(step.span, message);
        }
    }
}

/// Returns what a git command discards.
fn lost(words: &[&[u8]]) -> Option<&'static str> {
    let mut rest = words;
    while let [option, after @ ..] = rest
        && option.starts_with(b"-")
    {
        rest = if matches!(*option, b"-C" | b"-c" | b"--git-dir" | b"--work-tree") {
            after.get(1..)?
        } else {
            after
        };
    }
    let (command, words) = rest.split_first()?;
    let has = |wanted: &[&[u8]]| words.iter().any(|word| wanted.contains(word));
    let letter = |letter: u8| {
        words
            .iter()
            .any(|word| word.len() > 1 && word[0] == b'-' && word[1] != b'-' && word[1..].contains(&letter))
    };
    let everything = has(&[b".", b"*", b":/", b"./"]);
    let discards = match *command {
        b"reset" => has(&[b"--hard"]),
        b"clean" => (letter(b'f') || has(&[b"--force"])) && !letter(b'n') && !has(&[b"--dry-run"]),
        b"checkout" | b"switch" => {
            letter(b'f')
                || has(&[b"--force", b"--discard-changes"])
                || (everything && *command == b"checkout")
        }
        b"restore" => everything && (!has(&[b"--staged", b"-S"]) || has(&[b"--worktree", b"-W"])),
        b"stash" => matches!(words.first(), Some(&(b"drop" | b"clear"))),
        _ => false,
    };
    let history = match *command {
        b"push" => {
            letter(b'f') || has(&[b"--force", b"--mirror"]) || words.iter().any(|word| word.starts_with(b"+"))
        }
        b"branch" => letter(b'D'),
        b"reflog" => words.first() == Some(&&b"expire"[..]) && has(&[b"--expire=now"]),
        _ => false,
    };
    match (discards, history) {
        (true, _) => Some("this discards uncommitted changes"),
        (_, true) => Some("this discards commits, possibly those of other people"),
        _ => None,
    }
}

/// Shell history files.
const HISTORY: &[&str] =
    &[".bash_history", ".zsh_history", ".sh_history", ".ash_history", ".local/share/fish/fish_history"];

/// `history -c`.
pub(in crate::check::rules) static CLEARS_HISTORY: Rule = Rule {
    code: "clears-history",
    severity: Severity::Note,
    summary: "the shell history or a log is removed",
    explanation: "Afterwards there is no record of what was done. A task rarely needs this.",
    wrong: &[
        "history -c",
        ": > ~/.bash_history",
        "rm -f ~/.bash_history",
        "shred -u \"$HOME/.zsh_history\"",
        "ln -sf /dev/null ~/.bash_history",
        "HISTFILE=/dev/null",
        "unset HISTFILE",
        "journalctl --vacuum-time=1s",
        "truncate -s 0 /var/log/auth.log",
        "rm -rf /var/log",
    ],
    right: &[
        "history",
        "history -a",
        "cat ~/.bash_history",
        "HISTFILE=~/.history",
        "rm -f /var/log/app/old.log",
        "journalctl -u x",
        "unset x",
    ],
    matcher: RuleMatcher::Plan(clears_history),
};

fn clears_history(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    for step in plan.steps.iter().filter(|step| clears(step)) {
        report.add(step.span, "this removes shell history or logs");
    }
}

fn clears(step: &PlanStep) -> bool {
    let words = words(step);
    let named = match name(step) {
        b"history" => has_letter(step, b'c'),
        b"unset" => words.contains(&&b"HISTFILE"[..]),
        b"journalctl" => words
            .iter()
            .any(|word| matches!(*word, b"--vacuum-time=1s" | b"--vacuum-size=1" | b"--vacuum-files=0")),
        _ => false,
    };
    let variable = step.assignments.iter().any(|binding| {
        binding.name == "HISTFILE"
            && binding.value.first().is_some_and(|value| value.literal() == Some(b"/dev/null"))
    });
    let overwritten =
        step.files.iter().filter(|file| matches!(file.mode, FileUseMode::Write | FileUseMode::Delete));
    let file = overwritten.into_iter().any(|file| {
        let path = resolved_path(step, &file.target);
        is_history(&crate::plan::written(&path))
    });
    named || variable || file
}

fn is_history(path: &str) -> bool {
    let logs = [
        "/var/log",
        "/var/log/",
        "/var/log/*",
        "/var/log/auth.log",
        "/var/log/wtmp",
        "/var/log/btmp",
        "/var/log/lastlog",
    ];
    let home = ["~/", "$HOME/", "${HOME}/", "/root/"];
    let below_home = home.iter().find_map(|begin| path.strip_prefix(begin));
    below_home.is_some_and(|name| HISTORY.contains(&name)) || logs.contains(&path)
}

/// `dropdb`.
pub(in crate::check::rules) static DROPS_DATABASE: Rule = Rule {
    code: "drops-database",
    severity: Severity::Note,
    summary: "a database or a table is dropped",
    explanation: "The data is lost unless there is a backup: pg_dump, mysqldump.",
    wrong: &[
        "dropdb app",
        "psql -c 'DROP DATABASE app'",
        "mysql -e 'drop table users;'",
        "mysqladmin drop app",
        "redis-cli FLUSHALL",
        "sqlite3 app.db 'DROP TABLE users'",
        "psql app <<< 'TRUNCATE users'",
    ],
    right: &[
        "createdb app",
        "psql -c 'SELECT 1'",
        "dropdb --help",
        "echo 'DROP DATABASE app'",
        "redis-cli GET x",
        "mysql -e 'select 1'",
    ],
    matcher: RuleMatcher::Plan(drops_database),
};

fn drops_database(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    for step in plan.steps.iter().filter(|step| drops(step)) {
        report.add(step.span, "this drops or empties a database or table");
    }
}

fn drops(step: &PlanStep) -> bool {
    let words = words(step);
    let statement = |text: &[u8]| {
        let text = text.to_ascii_lowercase();
        let wanted = ["drop database", "drop schema", "drop table", "truncate "];
        wanted.iter().any(|wanted| memchr::memmem::find(&text, wanted.as_bytes()).is_some())
    };
    match name(step) {
        b"dropdb" => !words.contains(&&b"--help"[..]) && !words.contains(&&b"--version"[..]),
        b"mysqladmin" => words.contains(&&b"drop"[..]),
        b"redis-cli" => words
            .iter()
            .any(|word| word.eq_ignore_ascii_case(b"flushall") || word.eq_ignore_ascii_case(b"flushdb")),
        b"psql" | b"mysql" | b"mariadb" | b"sqlite3" => {
            let input = step
                .files
                .iter()
                .filter(|file| matches!(file.mode, FileUseMode::HereDocument | FileUseMode::HereString));
            let mut texts = words.into_iter().chain(input.filter_map(|file| file.target.literal()));
            texts.any(statement)
        }
        _ => false,
    }
}
