//! The list of all builtins.

use haft_text::Bytes;

use super::{
    Builtin, Context, Operand, Run, alias, bg, bind, break_, builtin, caller, cd, colon, command, compgen,
    complete, compopt, continue_, declare, dirs, disown, echo, enable, eval, exec, exit, export, false_, fc,
    fg, getopts, hash, help, history, jobs, kill, let_, local, logout, mapfile, popd, printf, pushd, pwd,
    read, readonly, return_, set, shift, shopt, source, suspend, test, times, trap, true_, type_, ulimit,
    umask, unalias, unset, wait,
};
use crate::flow::Flow;

type Words = fn(&mut Context<'_>, &[Bytes]) -> Flow;
type Operands = fn(&mut Context<'_>, &[Operand]) -> Flow;

/// A builtin that takes words.
const fn words(name: &'static str, run: Words, synopsis: &'static str, summary: &'static str) -> Builtin {
    Builtin { name, run: Run::Words(run), special: false, synopsis, summary }
}

/// One that POSIX calls special.
const fn special(name: &'static str, run: Words, synopsis: &'static str, summary: &'static str) -> Builtin {
    Builtin { name, run: Run::Words(run), special: true, synopsis, summary }
}

/// One that takes assignments.
const fn operands(
    name: &'static str,
    run: Operands,
    special: bool,
    synopsis: &'static str,
    summary: &'static str,
) -> Builtin {
    Builtin { name, run: Run::Operands(run), special, synopsis, summary }
}

const DECLARE: &str = "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]";
const COMPGEN: &str = "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] \
                       [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]";
const COMPLETE: &str = "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] \
                        [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]";
const MAPFILE: &str =
    "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]";
const READ: &str = "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] \
                    [-u fd] [name ...]";
const KILL: &str = "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]";

/// All builtins, in the order of their names.
pub const ALL: &[Builtin] = &[
    special(".", source::run, ". filename [arguments]", "Runs a file in this shell."),
    special(":", colon::run, ": [arguments]", "Does nothing and succeeds."),
    words("[", test::run_bracket, "[ arg... ]", "Tests an expression, up to a closing bracket."),
    words("alias", alias::run, "alias [-p] [name[=value] ... ]", "Defines or shows aliases."),
    words("bg", bg::run, "bg [job_spec ...]", "Lets jobs go on in the background."),
    words(
        "bind",
        bind::run,
        "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] \
         [keyseq:readline-function or readline-command]",
        "Binds keys of a shell that edits lines.",
    ),
    special("break", break_::run, "break [n]", "Leaves loops."),
    words("builtin", builtin::run, "builtin [shell-builtin [arg ...]]", "Runs a builtin, whatever hides it."),
    words("caller", caller::run, "caller [expr]", "Shows where the running function was called."),
    words("cd", cd::run, "cd [-L|[-P [-e]] [-@]] [dir]", "Changes the working directory."),
    words(
        "command",
        command::run,
        "command [-pVv] command [arg ...]",
        "Runs a command, or tells what it is.",
    ),
    words("compgen", compgen::run, COMPGEN, "Lists names that begin with a word."),
    words("complete", complete::run, COMPLETE, "Says how arguments are completed."),
    words(
        "compopt",
        compopt::run,
        "compopt [-o|+o option] [-DEI] [name ...]",
        "Changes how arguments are completed.",
    ),
    special("continue", continue_::run, "continue [n]", "Goes on with the next round of a loop."),
    operands("declare", declare::run, false, DECLARE, "Gives variables values and attributes."),
    words("dirs", dirs::run, "dirs [-clpv] [+N] [-N]", "Shows the stack of directories."),
    words("disown", disown::run, "disown [-h] [-ar] [jobspec ... | pid ...]", "Lets jobs go."),
    words("echo", echo::run, "echo [-neE] [arg ...]", "Writes its arguments, separated by spaces."),
    words(
        "enable",
        enable::run,
        "enable [-a] [-dnps] [-f filename] [name ...]",
        "Turns builtins on and off.",
    ),
    special("eval", eval::run, "eval [arg ...]", "Runs its arguments as a script."),
    special(
        "exec",
        exec::run,
        "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
        "Becomes a program, or keeps redirections.",
    ),
    special("exit", exit::run, "exit [n]", "Ends the shell."),
    operands(
        "export",
        export::run,
        true,
        "export [-fn] [name[=value] ...] or export -p",
        "Hands variables to programs.",
    ),
    words("false", false_::run, "false", "Fails."),
    words(
        "fc",
        fc::run,
        "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]",
        "Shows or repeats lines that were entered.",
    ),
    words("fg", fg::run, "fg [job_spec]", "Brings a job to the foreground."),
    words("getopts", getopts::run, "getopts optstring name [arg ...]", "Takes options apart, one at a time."),
    words("hash", hash::run, "hash [-lr] [-p pathname] [-dt] [name ...]", "Remembers where programs are."),
    words("help", help::run, "help [-dms] [pattern ...]", "Tells about builtins."),
    words(
        "history",
        history::run,
        "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
        "Shows the lines that were entered.",
    ),
    words(
        "jobs",
        jobs::run,
        "jobs [-lnprs] [jobspec ...] or jobs -x command [args] or jobs --json",
        "Shows jobs.",
    ),
    words("kill", kill::run, KILL, "Sends signals."),
    words("let", let_::run, "let arg [arg ...]", "Evaluates arithmetic."),
    operands("local", local::run, false, "local [option] name[=value] ...", "Makes variables local."),
    words("logout", logout::run, "logout [n]", "Ends a login shell."),
    words("mapfile", mapfile::run, MAPFILE, "Reads lines into an array."),
    words("popd", popd::run, "popd [-n] [+N | -N]", "Takes a directory off the stack."),
    words("printf", printf::run, "printf [-v var] format [arguments]", "Writes its arguments by a format."),
    words("pushd", pushd::run, "pushd [-n] [+N | -N | dir]", "Puts a directory on the stack."),
    words("pwd", pwd::run, "pwd [-LP]", "Shows the working directory."),
    words("read", read::run, READ, "Reads a line into variables."),
    words("readarray", mapfile::run, MAPFILE, "Reads lines into an array."),
    operands(
        "readonly",
        readonly::run,
        true,
        "readonly [-aAf] [name[=value] ...] or readonly -p",
        "Makes variables unchangeable.",
    ),
    special("return", return_::run, "return [n]", "Leaves a function or a sourced file."),
    special(
        "set",
        set::run,
        "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
        "Sets options and positional parameters.",
    ),
    special("shift", shift::run, "shift [n]", "Drops positional parameters."),
    words("shopt", shopt::run, "shopt [-pqsu] [-o] [optname ...]", "Sets options of the shell."),
    special("source", source::run, "source filename [arguments]", "Runs a file in this shell."),
    words("suspend", suspend::run, "suspend [-f]", "Stops the shell until it is continued."),
    words("test", test::run_test, "test [expr]", "Tests an expression."),
    special("times", times::run, "times", "Shows processor times."),
    special("trap", trap::run, "trap [-lp] [[arg] signal_spec ...]", "Runs commands when something happens."),
    words("true", true_::run, "true", "Succeeds."),
    words("type", type_::run, "type [-afptP] name [name ...]", "Tells what a name means."),
    operands("typeset", declare::run, false, DECLARE, "Gives variables values and attributes."),
    words("ulimit", ulimit::run, "ulimit [-SHacdefilmnpqrstuvxR] [limit]", "Limits what programs may use."),
    words("umask", umask::run, "umask [-p] [-S] [mode]", "Sets the permissions new files do not get."),
    words("unalias", unalias::run, "unalias [-a] name [name ...]", "Removes aliases."),
    special("unset", unset::run, "unset [-f] [-v] [-n] [name ...]", "Removes variables and functions."),
    words("wait", wait::run, "wait [-fn] [-p var] [id ...]", "Waits for jobs."),
];
