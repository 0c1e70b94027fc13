//! Plans are complete: every command that is planted anywhere in a script is a step of its plan.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use haft_lang::plan::{ScriptPlan, plan};
use haft_lang::walk::SyntaxNode;
use haft_lang::{BuiltinsOnly, ParseOptions, Script};

fn planned(source: &str) -> ScriptPlan {
    let script = Script::parse(source.as_bytes(), &ParseOptions { extglob: true, ..ParseOptions::default() });
    assert!(script.error().is_none(), "{source}\n{:?}", script.error());
    plan(&script.program(), source.as_bytes(), &BuiltinsOnly)
}

fn names(plan: &ScriptPlan) -> BTreeSet<String> {
    let literal = plan.steps.iter().filter_map(|step| step.argv.first()?.literal());
    literal.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// Generates scripts of every construct, with numbered commands in them.
struct Planter {
    state: u64,
    planted: usize,
}

impl Planter {
    fn below(&mut self, bound: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % bound
    }

    fn plant(&mut self) -> String {
        self.planted += 1;
        format!("planted{}", self.planted)
    }

    /// Generates statements on one line, without single quotes.
    fn list(&mut self, depth: u32) -> String {
        let first = self.command(depth);
        match self.below(5) {
            0 => format!("{first}; {}", self.command(depth)),
            1 => format!("{first} && {}", self.command(depth)),
            2 => format!("{first} | {}", self.command(depth)),
            3 => format!("! {first} || {}", self.command(depth)),
            _ => first,
        }
    }

    fn command(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.plant();
        }
        let inner = depth - 1;
        match self.below(17) {
            0 => format!("{{ {}; }} > {}", self.list(inner), self.word(inner)),
            1 => format!("( {} )", self.list(inner)),
            2 => format!(
                "if {}; then {}; elif {}; then {}; else {}; fi",
                self.list(inner),
                self.list(inner),
                self.list(inner),
                self.list(inner),
                self.list(inner)
            ),
            3 => format!("for x in {}; do {}; done", self.word(inner), self.list(inner)),
            4 => format!("for ((i = {}; i < 3; i++)); do {}; done", self.word(inner), self.list(inner)),
            5 => format!("while {}; do {}; done", self.list(inner), self.list(inner)),
            6 => format!(
                "case {} in {}) {};; *) {};& esac",
                self.word(inner),
                self.word(inner),
                self.list(inner),
                self.list(inner)
            ),
            7 => format!("select x in {}; do {}; done", self.word(inner), self.list(inner)),
            8 => format!(
                "[[ {} = {} && ( -f {} || ! {} ) ]]",
                self.word(inner),
                self.word(inner),
                self.word(inner),
                self.word(inner)
            ),
            9 => format!("(( {} + 1 ))", self.word(inner)),
            10 => format!("f{}() {{ {}; }} 2> {}", self.below(9), self.list(inner), self.word(inner)),
            11 => format!("coproc {{ {}; }}", self.list(inner)),
            12 => format!(
                "x={} y[{}]={} {} {} < {}",
                self.word(inner),
                self.word(inner),
                self.word(inner),
                self.plant(),
                self.word(inner),
                self.word(inner)
            ),
            13 => format!("time {} {}", self.plant(), self.word(inner)),
            14 => format!("a=([{}]={} {})", self.word(inner), self.word(inner), self.word(inner)),
            15 => self.wrapped(inner),
            _ => format!("declare b={} c=({})", self.word(inner), self.word(inner)),
        }
    }

    fn wrapped(&mut self, depth: u32) -> String {
        let name = self.plant();
        match self.below(12) {
            0 => format!("sudo -u root {name} {}", self.word(depth)),
            1 => format!("env A=1 -u B {name}"),
            2 => format!("timeout -k 5 10 nice -n 3 {name}"),
            3 => format!("ls | xargs -0 -n 1 {name} -x"),
            4 => format!("find . -name x -exec {name} {{}} \\;"),
            5 => format!("bash -ec '{}'", self.list(0)) + &format!("; {name}"),
            6 => format!("trap '{name}; {}' EXIT", self.list(0)),
            7 => format!("eval '{name} x' \\; {}", self.plant()),
            8 => format!("command exec -a other {name}"),
            9 => format!("PROMPT_COMMAND='{name} 1'"),
            10 => format!("let 'x = y[$({name})]'"),
            _ => format!("nohup /bin/sh -c \"{name} a | {}\" &", self.plant()) + "\ntrue",
        }
    }

    fn word(&mut self, depth: u32) -> String {
        if depth == 0 {
            return "w".to_owned();
        }
        let inner = depth - 1;
        match self.below(16) {
            0 => format!("$( {} )", self.list(inner)),
            1 => format!("\"a $( {} ) b\"", self.list(inner)),
            2 => format!("`{}`", self.plant()),
            3 => format!("${{v:-{}}}", self.word(inner)),
            4 => format!("${{v#{}}}", self.word(inner)),
            5 => format!("${{v/{}/{}}}", self.word(inner), self.word(inner)),
            6 => format!("$(( {} * 2 ))", self.word(inner)),
            7 => format!("${{v[{}]}}", self.word(inner)),
            8 => format!("${{v:{}:{}}}", self.word(inner), self.word(inner)),
            9 => format!("$'q'\"${{v:+{}}}\"", self.word(inner)),
            10 => format!("p${{v^^{}}}", self.word(inner)),
            11 => format!("${{v[$({})]}}", self.plant()),
            12 => format!("\"${{v=$({})}}\"", self.plant()),
            13 => format!("~/x$({})", self.plant()),
            14 => format!("$({} <<< {})", self.plant(), self.word(inner)),
            _ => format!("\"`{}`\"", self.plant()),
        }
    }
}

#[test]
fn every_planted_command_is_planned() {
    for seed in 0..3000 {
        let mut planter = Planter { state: seed, planted: 0 };
        let mut source = String::new();
        for _ in 0..3 {
            let depth = 1 + planter.below(4) as u32;
            let list = planter.list(depth);
            let _ = writeln!(source, "{list}");
        }
        let here = planter.plant();
        let _ = write!(source, "cat <<E\nline $({here}) ${{x:-`{}`}}\nE\n", planter.plant());
        let plan = planned(&source);
        let found = names(&plan);
        let missing: Vec<String> = (1..=planter.planted)
            .map(|number| format!("planted{number}"))
            .filter(|name| !found.contains(name))
            .collect();
        assert!(missing.is_empty(), "seed {seed}: {missing:?} of\n{source}\n{plan}");
    }
}

#[test]
fn commands_in_unusual_places_are_planned() {
    let places = [
        "cat < <(planted1)",
        "tee >(planted1)",
        "x[$(planted1)]=1",
        "exec {fd[$(planted1)]}>file",
        "${x@Q}$(planted1)",
        "${!x[$(planted1)]}",
        "echo {a,$(planted1)}",
        "echo @(a|$(planted1))",
        "case x in $(planted1)) ;; esac",
        "[[ a =~ $(planted1) ]]",
        "for ((;$(planted1);)); do :; done",
        "echo $[ $(planted1) ]",
        "echo ${x:$(planted1)}",
        "echo ${x//$(planted1)/y}",
        "select x in $(planted1); do :; done",
        "f() { :; } < $(planted1)",
        "time planted1",
        "! planted1",
        "coproc planted1",
        "coproc N { planted1; }",
        "planted1 &",
        "export x=$(planted1)",
        "declare -A m=([$(planted1)]=1)",
        "cat <<-E\n\t$(planted1)\n\tE\n",
        "echo \"$(cat <<E\n$(planted1)\nE\n)\"",
        "mapfile -C 'planted1' -c 1 a",
        "trap planted1 INT",
        "trap -- 'planted1' 0",
        "complete -F planted1 x",
        "jobs -x planted1",
        "bind -x '\"\\C-x\": planted1' ",
        "command -p planted1",
        "exec planted1",
        "sudo -- planted1",
        "spawn command=planted1",
        "tool bash command=planted1",
        "haft -c planted1",
        "haft run --timeout 1s -c planted1",
        "haft spawn --timeout 1s -- planted1",
        "haft tool call bash command=planted1",
        "valgrind -q planted1",
        "perf record -o file planted1",
        "pkexec planted1",
        "sg root planted1",
        "xargs -I {} planted1 {}",
        "find . -ok planted1 {} +",
        "sh -c 'eval planted1'",
        "watch -n 1 planted1 x",
        "flock /tmp/x -c planted1",
        "env -S 'planted1 x'",
        "setsid -f planted1",
        "su - user -c 'planted1'",
        "busybox sh -c planted1",
        "PS1=x PROMPT_COMMAND=planted1",
        "let x=$(planted1)",
        "echo `echo \\`planted1\\``",
        "shopt -s expand_aliases\nalias q='planted1'\nq",
        "spawn name=[\"$(planted1)\"]",
    ];
    for place in places {
        let plan = planned(place);
        assert!(names(&plan).contains("planted1"), "{place}\n{plan}");
    }
}

#[test]
fn unknown_effects_are_opaque() {
    let scripts = [
        "$cmd x",
        "\"$@\"",
        "eval \"$x\"",
        "eval ls $x",
        "source file",
        ". ./env",
        "source \"$x\"",
        "sh -c \"$x\"",
        "bash script.sh",
        "curl x | sh",
        "bash -s a",
        "trap \"$x\" EXIT",
        "echo $((x))",
        "echo $(( $1 + 1 ))",
        "(( x++ ))\nread x",
        "[[ $x -eq 1 ]]",
        "[[ -v $x ]]",
        "echo ${a[$i]}",
        "echo ${a['$(id)']}",
        "a[$1]=2",
        "echo ${!x}",
        "echo \"${x@P}\"",
        "declare -n r=$1",
        "declare \"$x=1\"",
        "declare -i n=$x",
        "printf -v \"$x\" a",
        "printf -v 'a[$(id)]' a",
        "read \"a[$x]\"",
        "unset \"$x\"",
        "test -v \"$x\"",
        "PATH=/x",
        "LD_PRELOAD=x ls",
        "PS4='$(id)'",
        "BASH_ENV=x bash -c ls",
        "PROMPT_COMMAND=$x",
        "alias ls=rm",
        "enable -f ./x.so x",
        "hash -p /tmp/x ls",
        "fc -s",
        "sudo $options rm",
        "spawn command=sh argv=[\"-c\", \"rm -rf /x\"]",
        "spawn command=$program",
        "tool $name",
        "tool bash command=\"$text\"",
        "haft run file",
        "haft launch",
        "run-parts directory",
        "uv run file",
        "sudo --unknown rm",
        "xargs $x",
        "find . $x",
        "env -S \"$x\"",
        "let \"$x\"",
        "export $x",
        "mapfile -C \"$x\" a",
        "complete -C \"$x\" y",
        "compgen -W '$(id)'",
        "sudo -s",
        "su",
        "wait -p \"$x\"",
        "echo ${x: $y}",
        "getopts a \"$x\"",
        "echo `(`",
        "xargs -I{} sh -c 'rm {}'",
        "xargs -I % sh -c 'rm %'",
        "find . -exec sh -c 'rm {}' \\;",
        "parallel rm",
        "echo x | at now",
        "bash -c 'if'",
        "ssh host rm",
        "make",
        "make -C lib install",
        "npm test",
        "python3 -c 'import os'",
        "python3.12 x.py",
        "perl -pe s/a/b/e x",
        "awk -f x.awk",
        "awk 'BEGIN { system(\"id\") }'",
        "awk '{ print | \"sh\" }'",
        "awk '{ \"id\" | getline x }'",
        "awk \"{ $x }\"",
        "sed s/a/b/e x",
        "sed -n '1e id' x",
        "sed -i 's/a/b/w x' y",
        "sed \"s/a/$x/\" y",
        "sed -f x.sed y",
        "sed -e p -e 'e id' y",
        "sed -iex 's/a/b/e' y",
        "sed -nEe 'e id' y",
        "gawk -i x '{ print }' y",
        "git -c core.pager=$x log",
        "git -c core.sshCommand=id fetch",
        "git config core.hooksPath x",
        "git --config-env=core.pager=X log",
        "git filter-branch --all",
        "tar $x",
        "docker exec c id",
        "kubectl exec p -- id",
        "vim -c '!id' x",
        "less +!id x",
        "gdb -ex 'shell id'",
        "PYTHONPATH=x ls",
        "bash <<E\n$x\nE",
        "{ bash; } <<< id",
    ];
    for script in scripts {
        let plan = planned(script);
        assert!(plan.steps.iter().any(|step| !step.opaque.is_empty()), "{script}\n{plan}");
    }
}

/// Options and input of programs may contain commands.
#[test]
fn commands_in_options_and_input_of_programs_are_planned() {
    let scripts = [
        "bash <<'E'\nplanted\nE",
        "sh <<< planted",
        "sudo bash -s x <<< 'planted a'",
        "tar -I planted -xf x",
        "tar -xIplanted -f x",
        "tar --to-command='planted x' -xf y",
        "tar -cf x --checkpoint-action=exec=planted y",
        "rsync -aze planted a b",
        "rsync --rsh='planted -p 1' a b",
        "ssh -o ProxyCommand='planted %h' host",
        "scp -S planted a b",
        "sort --compress-program=planted x",
        "split --filter='planted > $FILE' x",
        "man -P planted ls",
        "git -c alias.x='!planted' x",
        "git config alias.x '!planted y'",
        "git rebase -x planted main",
        "git rebase --exec 'planted x' main",
        "git bisect run planted x",
        "git submodule foreach --recursive 'planted x'",
        "git clone -u planted x y",
        "git fetch --upload-pack=planted x",
        "GIT_SSH_COMMAND='planted -i x' git fetch",
        "PAGER=planted man ls",
        "export EDITOR=planted",
        "ssh-agent planted",
        "ls | entr -r planted x",
    ];
    for script in scripts {
        let plan = planned(script);
        assert!(names(&plan).contains("planted"), "{script}\n{plan}");
    }
}

#[test]
fn known_effects_are_not_opaque() {
    let scripts = [
        "ls -l",
        "i=0; while ((i < 10)); do i=$((i + 1)); done",
        "for i in 1 2 3; do echo $((i * 2)); done",
        "for ((i = 0; i < 3; i++)); do :; done",
        "echo $(($# + $?))",
        "[[ $# -eq 1 ]]",
        "a=(1 2); echo ${a[0]} ${a[@]}",
        "declare -A m; m[$key]=1; echo ${m[$key]}",
        "read -r line",
        "printf -v x a",
        "trap - EXIT",
        "trap '' INT",
        "command -v ls",
        "command -v $x",
        "find . -name x*",
        "declare -p x",
        "export A=$x",
        "sudo -u root ls",
        "timeout 5 ls",
        "PS1='> '",
        "exec > log",
        "set -euo pipefail",
        "cd \"$dir\" && ls \"$target\"",
        "case $x in a) ls;; esac",
        "[ \"$x\" = y ]",
        "echo \"${x:-y}\" > \"$file\"",
        "unset x",
        "env",
        "bash --version",
        "xargs -0 rm < list",
        "sed 's/[^/]*$//; /x/I,$d; 3,5!p' x",
        "sed -ne '/a/{p;q}' -e 's|a|b|gI' x",
        "sed -i.bak -E 's/(a|b)\\/[[:alpha:]]+/\\1/g' x",
        "awk -F: '$1 == \"root\" || /x/ { n += $3 } END { print n }' /etc/passwd",
        "awk -v x=\"$y\" '{ print x }' z",
        "git commit -m \"$message\"",
        "git -c user.name=x -C dir log --oneline",
        "tar -czf x.tar.gz dir",
        "tar xf x.tar --checkpoint-action=dot",
        "rsync -av a b",
        "docker ps",
        "less x",
        "python3 --version",
        "sort -u x",
    ];
    for script in scripts {
        let plan = planned(script);
        assert!(plan.steps.iter().all(|step| step.opaque.is_empty()), "{script}\n{plan}");
    }
}

/// Every command of every installed script is a step.
#[test]
fn installed_scripts_are_planned_completely() {
    let mut scripts = 0;
    for directory in ["/usr/bin", "/usr/sbin", "/usr/lib/git-core", "/etc/init.d", "/usr/share/doc"] {
        let Ok(entries) = std::fs::read_dir(directory) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let Ok(source) = std::fs::read(&path) else { continue };
            let line = source.split(|byte| *byte == b'\n').next().unwrap_or_default();
            if !line.starts_with(b"#!") || !line.ends_with(b"sh") {
                continue;
            }
            let script = Script::parse(source.as_slice(), &ParseOptions::default());
            let mut commands = 0;
            SyntaxNode::List(&script.program().body).descend(&mut |node| {
                commands += usize::from(matches!(node, SyntaxNode::Command(_)));
            });
            let plan = plan(&script.program(), &source, &BuiltinsOnly);
            assert!(
                plan.steps.len() >= commands,
                "{}: {} steps, {commands} commands",
                path.display(),
                plan.steps.len()
            );
            scripts += 1;
        }
    }
    println!("{scripts} scripts");
}
