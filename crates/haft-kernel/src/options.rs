//! The options of `set -o` and of `shopt`.

/// The options of `set -o`, in the order of its listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SetOption {
    /// `allexport`, `-a`.
    AllExport,
    /// `braceexpand`, `-B`.
    BraceExpand,
    /// `emacs`.
    Emacs,
    /// `errexit`, `-e`.
    ErrorExit,
    /// `errtrace`, `-E`.
    ErrorTrace,
    /// `functrace`, `-T`.
    FunctionTrace,
    /// `hashall`, `-h`.
    HashAll,
    /// `histexpand`, `-H`.
    HistoryExpand,
    /// `history`.
    History,
    /// `ignoreeof`.
    IgnoreEof,
    /// `interactive-comments`.
    InteractiveComments,
    /// `keyword`, `-k`.
    Keyword,
    /// `monitor`, `-m`.
    Monitor,
    /// `noclobber`, `-C`.
    NoClobber,
    /// `noexec`, `-n`.
    NoExecute,
    /// `noglob`, `-f`.
    NoGlob,
    /// `nolog`.
    NoLog,
    /// `notify`, `-b`.
    Notify,
    /// `nounset`, `-u`.
    NoUnset,
    /// `onecmd`, `-t`.
    OneCommand,
    /// `physical`, `-P`.
    Physical,
    /// `pipefail`.
    PipeFail,
    /// `posix`.
    Posix,
    /// `privileged`, `-p`.
    Privileged,
    /// `verbose`, `-v`.
    Verbose,
    /// `vi`.
    Vi,
    /// `xtrace`, `-x`.
    Trace,
}

/// The options of `shopt`, in the order of its listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ShellOption {
    /// `autocd`.
    AutoCd,
    /// `assoc_expand_once`.
    AssocExpandOnce,
    /// `cdable_vars`.
    CdableVariables,
    /// `cdspell`.
    CdSpell,
    /// `checkhash`.
    CheckHash,
    /// `checkjobs`.
    CheckJobs,
    /// `checkwinsize`.
    CheckWindowSize,
    /// `cmdhist`.
    CommandHistory,
    /// `compat31`.
    Compat31,
    /// `compat32`.
    Compat32,
    /// `compat40`.
    Compat40,
    /// `compat41`.
    Compat41,
    /// `compat42`.
    Compat42,
    /// `compat43`.
    Compat43,
    /// `compat44`.
    Compat44,
    /// `complete_fullquote`.
    CompleteFullQuote,
    /// `direxpand`.
    DirectoryExpand,
    /// `dirspell`.
    DirectorySpell,
    /// `dotglob`.
    DotGlob,
    /// `execfail`.
    ExecFail,
    /// `expand_aliases`.
    ExpandAliases,
    /// `extdebug`.
    ExtendedDebug,
    /// `extglob`.
    ExtendedGlob,
    /// `extquote`.
    ExtendedQuote,
    /// `failglob`.
    FailGlob,
    /// `force_fignore`.
    ForceFignore,
    /// `globasciiranges`.
    GlobAsciiRanges,
    /// `globskipdots`.
    GlobSkipDots,
    /// `globstar`.
    GlobStar,
    /// `gnu_errfmt`.
    GnuErrorFormat,
    /// `histappend`.
    HistoryAppend,
    /// `histreedit`.
    HistoryReedit,
    /// `histverify`.
    HistoryVerify,
    /// `hostcomplete`.
    HostComplete,
    /// `huponexit`.
    HangUpOnExit,
    /// `inherit_errexit`.
    InheritErrorExit,
    /// `interactive_comments`.
    InteractiveComments,
    /// `lastpipe`.
    LastPipe,
    /// `lithist`.
    LiteralHistory,
    /// `localvar_inherit`.
    LocalInherit,
    /// `localvar_unset`.
    LocalUnset,
    /// `login_shell`.
    LoginShell,
    /// `mailwarn`.
    MailWarn,
    /// `no_empty_cmd_completion`.
    NoEmptyCmdCompletion,
    /// `nocaseglob`.
    NoCaseGlob,
    /// `nocasematch`.
    NoCaseMatch,
    /// `noexpand_translation`.
    NoexpandTranslation,
    /// `nullglob`.
    NullGlob,
    /// `patsub_replacement`.
    PatternReplacement,
    /// `progcomp`.
    ProgrammableCompletion,
    /// `progcomp_alias`.
    ProgrammableCompletionAlias,
    /// `promptvars`.
    PromptVariables,
    /// `restricted_shell`.
    RestrictedShell,
    /// `shift_verbose`.
    ShiftVerbose,
    /// `sourcepath`.
    SourcePath,
    /// `varredir_close`.
    VariableRedirectClose,
    /// `xpg_echo`.
    XpgEcho,
}

impl SetOption {
    /// All options, with their names and their letters.
    pub const ALL: &'static [(Self, &'static str, Option<u8>)] = &[
        (Self::AllExport, "allexport", Some(b'a')),
        (Self::BraceExpand, "braceexpand", Some(b'B')),
        (Self::Emacs, "emacs", None),
        (Self::ErrorExit, "errexit", Some(b'e')),
        (Self::ErrorTrace, "errtrace", Some(b'E')),
        (Self::FunctionTrace, "functrace", Some(b'T')),
        (Self::HashAll, "hashall", Some(b'h')),
        (Self::HistoryExpand, "histexpand", Some(b'H')),
        (Self::History, "history", None),
        (Self::IgnoreEof, "ignoreeof", None),
        (Self::InteractiveComments, "interactive-comments", None),
        (Self::Keyword, "keyword", Some(b'k')),
        (Self::Monitor, "monitor", Some(b'm')),
        (Self::NoClobber, "noclobber", Some(b'C')),
        (Self::NoExecute, "noexec", Some(b'n')),
        (Self::NoGlob, "noglob", Some(b'f')),
        (Self::NoLog, "nolog", None),
        (Self::Notify, "notify", Some(b'b')),
        (Self::NoUnset, "nounset", Some(b'u')),
        (Self::OneCommand, "onecmd", Some(b't')),
        (Self::Physical, "physical", Some(b'P')),
        (Self::PipeFail, "pipefail", None),
        (Self::Posix, "posix", None),
        (Self::Privileged, "privileged", Some(b'p')),
        (Self::Verbose, "verbose", Some(b'v')),
        (Self::Vi, "vi", None),
        (Self::Trace, "xtrace", Some(b'x')),
    ];

    /// Returns the option of this name.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| known.as_bytes() == name).map(|(option, ..)| *option)
    }

    /// Returns the option of this letter.
    #[must_use]
    pub fn from_letter(letter: u8) -> Option<Self> {
        Self::ALL.iter().find(|(_, _, known)| *known == Some(letter)).map(|(option, ..)| *option)
    }
}

impl ShellOption {
    /// All options, with their names.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::AutoCd, "autocd"),
        (Self::AssocExpandOnce, "assoc_expand_once"),
        (Self::CdableVariables, "cdable_vars"),
        (Self::CdSpell, "cdspell"),
        (Self::CheckHash, "checkhash"),
        (Self::CheckJobs, "checkjobs"),
        (Self::CheckWindowSize, "checkwinsize"),
        (Self::CommandHistory, "cmdhist"),
        (Self::Compat31, "compat31"),
        (Self::Compat32, "compat32"),
        (Self::Compat40, "compat40"),
        (Self::Compat41, "compat41"),
        (Self::Compat42, "compat42"),
        (Self::Compat43, "compat43"),
        (Self::Compat44, "compat44"),
        (Self::CompleteFullQuote, "complete_fullquote"),
        (Self::DirectoryExpand, "direxpand"),
        (Self::DirectorySpell, "dirspell"),
        (Self::DotGlob, "dotglob"),
        (Self::ExecFail, "execfail"),
        (Self::ExpandAliases, "expand_aliases"),
        (Self::ExtendedDebug, "extdebug"),
        (Self::ExtendedGlob, "extglob"),
        (Self::ExtendedQuote, "extquote"),
        (Self::FailGlob, "failglob"),
        (Self::ForceFignore, "force_fignore"),
        (Self::GlobAsciiRanges, "globasciiranges"),
        (Self::GlobSkipDots, "globskipdots"),
        (Self::GlobStar, "globstar"),
        (Self::GnuErrorFormat, "gnu_errfmt"),
        (Self::HistoryAppend, "histappend"),
        (Self::HistoryReedit, "histreedit"),
        (Self::HistoryVerify, "histverify"),
        (Self::HostComplete, "hostcomplete"),
        (Self::HangUpOnExit, "huponexit"),
        (Self::InheritErrorExit, "inherit_errexit"),
        (Self::InteractiveComments, "interactive_comments"),
        (Self::LastPipe, "lastpipe"),
        (Self::LiteralHistory, "lithist"),
        (Self::LocalInherit, "localvar_inherit"),
        (Self::LocalUnset, "localvar_unset"),
        (Self::LoginShell, "login_shell"),
        (Self::MailWarn, "mailwarn"),
        (Self::NoEmptyCmdCompletion, "no_empty_cmd_completion"),
        (Self::NoCaseGlob, "nocaseglob"),
        (Self::NoCaseMatch, "nocasematch"),
        (Self::NoexpandTranslation, "noexpand_translation"),
        (Self::NullGlob, "nullglob"),
        (Self::PatternReplacement, "patsub_replacement"),
        (Self::ProgrammableCompletion, "progcomp"),
        (Self::ProgrammableCompletionAlias, "progcomp_alias"),
        (Self::PromptVariables, "promptvars"),
        (Self::RestrictedShell, "restricted_shell"),
        (Self::ShiftVerbose, "shift_verbose"),
        (Self::SourcePath, "sourcepath"),
        (Self::VariableRedirectClose, "varredir_close"),
        (Self::XpgEcho, "xpg_echo"),
    ];

    /// Returns the option of this name.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| known.as_bytes() == name).map(|(option, _)| *option)
    }
}

/// The set of enabled options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellOptions {
    set: u32,
    shell: u64,
}

impl ShellOptions {
    /// Tells whether an option of `set -o` is on.
    #[must_use]
    #[inline]
    pub const fn has(self, option: SetOption) -> bool {
        self.set & (1 << option as u8) != 0
    }

    /// Turns an option of `set -o` on or off.
    pub const fn put(&mut self, option: SetOption, on: bool) {
        let bit = 1 << option as u8;
        self.set = if on { self.set | bit } else { self.set & !bit };
    }

    /// Tells whether an option of `shopt` is on.
    #[must_use]
    #[inline]
    pub const fn shell(self, option: ShellOption) -> bool {
        self.shell & (1 << option as u8) != 0
    }

    /// Turns an option of `shopt` on or off.
    pub const fn put_shell(&mut self, option: ShellOption, on: bool) {
        let bit = 1 << option as u8;
        self.shell = if on { self.shell | bit } else { self.shell & !bit };
    }

    /// Returns the letters of `$-`, without those for how the shell was started.
    #[must_use]
    pub fn letters(self) -> String {
        const LETTER_ORDER: &[u8] = b"abefhkmnptuvxBCEHPT";
        let on = |letter: &&u8| SetOption::from_letter(**letter).is_some_and(|option| self.has(option));
        LETTER_ORDER.iter().filter(on).map(|letter| char::from(*letter)).collect()
    }

    /// Returns the value of `SHELLOPTS`.
    #[must_use]
    pub fn set_names(self) -> String {
        let names = SetOption::ALL.iter().filter(|(option, ..)| self.has(*option)).map(|(_, name, _)| *name);
        names.collect::<Vec<_>>().join(":")
    }

    /// Returns the value of `BASHOPTS`.
    #[must_use]
    pub fn shell_names(self) -> String {
        let names = ShellOption::ALL.iter().filter(|(option, _)| self.shell(*option)).map(|(_, name)| *name);
        names.collect::<Vec<_>>().join(":")
    }
}

impl Default for ShellOptions {
    /// Returns the initial options of a shell that runs a script.
    fn default() -> Self {
        use SetOption as S;
        use ShellOption as O;
        let mut options = Self { set: 0, shell: 0 };
        for option in [S::BraceExpand, S::HashAll, S::InteractiveComments] {
            options.put(option, true);
        }
        for option in [
            O::CheckWindowSize,
            O::CommandHistory,
            O::CompleteFullQuote,
            O::ExtendedQuote,
            O::ForceFignore,
            O::GlobAsciiRanges,
            O::GlobSkipDots,
            O::HostComplete,
            O::InteractiveComments,
            O::PatternReplacement,
            O::ProgrammableCompletion,
            O::PromptVariables,
            O::SourcePath,
        ] {
            options.put_shell(option, true);
        }
        options
    }
}
