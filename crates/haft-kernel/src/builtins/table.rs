//! The table of all builtins.

use haft_text::Bytes;

use super::{
    Builtin, BuiltinFunction, Context, Operand, alias, bg, bind, break_, builtin, caller, cd, colon, command,
    compgen, complete, compopt, continue_, declare, dirs, disown, echo, enable, eval, exec, exit, export,
    false_, fc, fg, getopts, hash, help, history, jobs, kill, let_, local, logout, mapfile, popd, printf,
    pushd, pwd, read, readonly, return_, set, shift, shopt, source, suspend, test, times, trap, true_, type_,
    ulimit, umask, unalias, unset, wait,
};
use crate::command::BuiltinTable;
use crate::flow::Flow;
use crate::kernel::{Kernel, KernelBuilder};

type WordFunction = fn(&mut Context<'_>, &[Bytes]) -> Flow;
type OperandFunction = fn(&mut Context<'_>, &[Operand]) -> Flow;

/// A builtin that takes words.
const fn words(
    name: &'static str,
    run: WordFunction,
    synopsis: &'static str,
    summary: &'static str,
) -> Builtin {
    Builtin { name, run: BuiltinFunction::Words(run), special: false, synopsis, summary }
}

/// A POSIX special builtin.
const fn special(
    name: &'static str,
    run: WordFunction,
    synopsis: &'static str,
    summary: &'static str,
) -> Builtin {
    Builtin { name, run: BuiltinFunction::Words(run), special: true, synopsis, summary }
}

/// A builtin that takes assignments.
const fn operands(
    name: &'static str,
    run: OperandFunction,
    special: bool,
    synopsis: &'static str,
    summary: &'static str,
) -> Builtin {
    Builtin { name, run: BuiltinFunction::Operands(run), special, synopsis, summary }
}

const DECLARE: &str = "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]";
const COMPGEN: &str = "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] \
                       [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]";
const COMPLETE: &str = "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] \
                        [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]";
const READARRAY: &str =
    "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]";
const TYPESET: &str = "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]";
const MAPFILE: &str =
    "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]";
const READ: &str = "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] \
                    [-u fd] [name ...]";
const KILL: &str = "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]";

static TABLE: BuiltinTable = BuiltinTable::new(ALL);

/// Returns the builtin of this name.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static Builtin> {
    TABLE.find(name)
}

impl Kernel {
    /// A builder for a kernel with the files of the machine that may start programs.
    #[must_use]
    pub fn builder() -> KernelBuilder {
        KernelBuilder::new(&TABLE)
    }
}

/// All builtins, sorted by name.
pub const ALL: &[Builtin] = &[
    special(".", source::run, ". filename [arguments]", "Runs a file in the current shell."),
    special(":", colon::run, ":", "Does nothing and succeeds."),
    words("[", test::run_bracket, "[ arg... ]", "Evaluates a conditional expression."),
    words("alias", alias::run, "alias [-p] [name[=value] ... ]", "Defines or prints aliases."),
    words("bg", bg::run, "bg [job_spec ...]", "Resumes jobs in the background."),
    words(
        "bind",
        bind::run,
        "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] \
         [keyseq:readline-function or readline-command]",
        "Binds keys of the line editor.",
    ),
    special("break", break_::run, "break [n]", "Exits loops."),
    words(
        "builtin",
        builtin::run,
        "builtin [shell-builtin [arg ...]]",
        "Runs a builtin, even if a function has its name.",
    ),
    words("caller", caller::run, "caller [expr]", "Prints the caller of the current function."),
    words("cd", cd::run, "cd [-L|[-P [-e]] [-@]] [dir]", "Changes the working directory."),
    words(
        "command",
        command::run,
        "command [-pVv] command [arg ...]",
        "Runs a command without function lookup, or describes it.",
    ),
    words("compgen", compgen::run, COMPGEN, "Prints completions of a word."),
    words("complete", complete::run, COMPLETE, "Defines how arguments are completed."),
    words("compopt", compopt::run, "compopt [-o|+o option] [-DEI] [name ...]", "Changes completion options."),
    special("continue", continue_::run, "continue [n]", "Continues with the next iteration of a loop."),
    operands("declare", declare::run, false, DECLARE, "Sets values and attributes of variables."),
    words("dirs", dirs::run, "dirs [-clpv] [+N] [-N]", "Prints the directory stack."),
    words(
        "disown",
        disown::run,
        "disown [-h] [-ar] [jobspec ... | pid ...]",
        "Removes jobs from the job table.",
    ),
    words("echo", echo::run, "echo [-neE] [arg ...]", "Writes its arguments, separated by spaces."),
    words(
        "enable",
        enable::run,
        "enable [-a] [-dnps] [-f filename] [name ...]",
        "Enables or disables builtins.",
    ),
    special("eval", eval::run, "eval [arg ...]", "Runs its arguments as a command."),
    special(
        "exec",
        exec::run,
        "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
        "Replaces the shell with a program, or makes redirections permanent.",
    ),
    special("exit", exit::run, "exit [n]", "Exits the shell."),
    operands(
        "export",
        export::run,
        true,
        "export [-fn] [name[=value] ...] or export -p",
        "Exports variables to programs.",
    ),
    words("false", false_::run, "false", "Returns a failure status."),
    words(
        "fc",
        fc::run,
        "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]",
        "Lists or reruns commands from the history.",
    ),
    words("fg", fg::run, "fg [job_spec]", "Brings a job to the foreground."),
    words(
        "getopts",
        getopts::run,
        "getopts optstring name [arg ...]",
        "Parses positional parameters as options.",
    ),
    words("hash", hash::run, "hash [-lr] [-p pathname] [-dt] [name ...]", "Caches the paths of programs."),
    words("help", help::run, "help [-dms] [pattern ...]", "Prints information about builtins."),
    words(
        "history",
        history::run,
        "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
        "Prints or changes the history.",
    ),
    words(
        "jobs",
        jobs::run,
        "jobs [-lnprs] [jobspec ...] or jobs -x command [args] or jobs --json",
        "Lists jobs.",
    ),
    words("kill", kill::run, KILL, "Sends signals to processes and jobs."),
    words("let", let_::run, "let arg [arg ...]", "Evaluates arithmetic expressions."),
    operands("local", local::run, false, "local [option] name[=value] ...", "Declares local variables."),
    words("logout", logout::run, "logout [n]", "Exits a login shell."),
    words("mapfile", mapfile::run, MAPFILE, "Reads lines into an array."),
    words("popd", popd::run, "popd [-n] [+N | -N]", "Removes a directory from the directory stack."),
    words("printf", printf::run, "printf [-v var] format [arguments]", "Formats and writes its arguments."),
    words("pushd", pushd::run, "pushd [-n] [+N | -N | dir]", "Adds a directory to the directory stack."),
    words("pwd", pwd::run, "pwd [-LP]", "Prints the working directory."),
    words("read", read::run, READ, "Reads a line into variables."),
    words("readarray", mapfile::run, READARRAY, "Reads lines into an array."),
    operands(
        "readonly",
        readonly::run,
        true,
        "readonly [-aAf] [name[=value] ...] or readonly -p",
        "Makes variables read-only.",
    ),
    special("return", return_::run, "return [n]", "Returns from a function or a sourced file."),
    special(
        "set",
        set::run,
        "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
        "Sets options and positional parameters.",
    ),
    special("shift", shift::run, "shift [n]", "Removes leading positional parameters."),
    words("shopt", shopt::run, "shopt [-pqsu] [-o] [optname ...]", "Sets or prints shell options."),
    special("source", source::run, "source filename [arguments]", "Runs a file in the current shell."),
    words("suspend", suspend::run, "suspend [-f]", "Suspends the shell."),
    words("test", test::run_test, "test [expr]", "Evaluates a conditional expression."),
    special("times", times::run, "times", "Prints processor times."),
    special(
        "trap",
        trap::run,
        "trap [-lp] [[arg] signal_spec ...]",
        "Runs commands on signals and other events.",
    ),
    words("true", true_::run, "true", "Returns a success status."),
    words("type", type_::run, "type [-afptP] name [name ...]", "Describes how a name would be interpreted."),
    operands("typeset", declare::run, false, TYPESET, "Sets values and attributes of variables."),
    words(
        "ulimit",
        ulimit::run,
        "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]",
        "Sets or prints resource limits.",
    ),
    words("umask", umask::run, "umask [-p] [-S] [mode]", "Sets or prints the file mode creation mask."),
    words("unalias", unalias::run, "unalias [-a] name [name ...]", "Removes aliases."),
    special("unset", unset::run, "unset [-f] [-v] [-n] [name ...]", "Unsets variables and functions."),
    words("wait", wait::run, "wait [-fn] [-p var] [id ...]", "Waits for processes and jobs."),
];
