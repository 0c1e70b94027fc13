//! The positional and special parameters: `$1`, `$0`, `$?`, `$_`, `$!`, `PIPESTATUS`, and the position of `getopts`.

use haft_text::Bytes;

use crate::shared::CopyOnWrite;

/// The parameters of a shell that are not variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    /// `$1` and up.
    positional: CopyOnWrite<Vec<Bytes>>,
    /// Whether `set` has replaced the positional parameters since the current sourced file began.
    positional_was_set: bool,
    /// `$0`.
    zero: Bytes,
    /// `$?`.
    status: i32,
    /// `PIPESTATUS`.
    pipe_status: Vec<i32>,
    /// `$_`.
    last_argument: Bytes,
    /// `$!`.
    last_background: Option<i32>,
    getopts: GetoptsPosition,
    /// The status of the last command substitution in the command that is being expanded.
    substitution_status: Option<i32>,
}

/// The position at which `getopts` continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GetoptsPosition {
    /// The `OPTIND` that the last call left behind. A different value makes `getopts` start over.
    pub(crate) index: i64,
    /// The offset within that argument.
    pub(crate) offset: usize,
}

/// `$?`, `PIPESTATUS` and `$_`, saved while a trap runs.
#[derive(Debug)]
pub(crate) struct SavedParameters {
    pub(crate) status: i32,
    pipe_status: Vec<i32>,
    last_argument: Bytes,
}

impl Parameters {
    /// The parameters of a new shell with this `$0`.
    pub(super) fn new(zero: &str) -> Self {
        Self { zero: zero.into(), ..Self::default() }
    }

    /// Prepares the positional parameters for [`Parameters::for_subshell`], so that it does not copy them.
    pub(super) fn share(&mut self) {
        self.positional.share();
    }

    /// A subshell inherits every parameter.
    pub(super) fn for_subshell(&self) -> Self {
        Self { positional_was_set: false, substitution_status: None, ..self.clone() }
    }

    /// `$1` and up.
    #[inline]
    pub(crate) fn positional(&self) -> &[Bytes] {
        &self.positional
    }

    /// Sets `$1` and up.
    pub(crate) fn set_positional(&mut self, arguments: Vec<Bytes>) {
        self.positional = CopyOnWrite::Own(arguments);
    }

    /// Sets `$1` and up on behalf of the `set` builtin.
    pub(crate) fn set_positional_by_builtin(&mut self, arguments: Vec<Bytes>) {
        self.set_positional(arguments);
        self.positional_was_set = true;
    }

    /// Sets `$1` and up; returns the previous ones for [`Parameters::restore_positional`].
    #[inline]
    pub(crate) fn replace_positional(&mut self, arguments: Vec<Bytes>) -> CopyOnWrite<Vec<Bytes>> {
        std::mem::replace(&mut self.positional, CopyOnWrite::Own(arguments))
    }

    /// Puts back what [`Parameters::replace_positional`] returned; returns the parameters it replaces.
    #[inline]
    pub(crate) fn restore_positional(
        &mut self,
        positional: CopyOnWrite<Vec<Bytes>>,
    ) -> CopyOnWrite<Vec<Bytes>> {
        std::mem::replace(&mut self.positional, positional)
    }

    /// The positional parameters, to be restored later.
    pub(crate) fn save_positional(&self) -> CopyOnWrite<Vec<Bytes>> {
        self.positional.clone()
    }

    /// Removes the first `count` positional parameters.
    pub(crate) fn shift(&mut self, count: usize) {
        self.positional.make_mut().drain(..count);
    }

    /// Whether `set` has replaced the positional parameters since [`Parameters::mark_positional`].
    pub(crate) fn positional_was_set(&self) -> bool {
        self.positional_was_set
    }

    /// Sets the mark that [`Parameters::positional_was_set`] reads; returns the previous one.
    pub(crate) fn mark_positional(&mut self, was_set: bool) -> bool {
        std::mem::replace(&mut self.positional_was_set, was_set)
    }

    /// Takes the positional parameters without dropping them, for a process that is about to exit.
    pub(crate) fn take_positional(&mut self) -> CopyOnWrite<Vec<Bytes>> {
        std::mem::take(&mut self.positional)
    }

    /// `$0`.
    pub(crate) fn zero(&self) -> &Bytes {
        &self.zero
    }

    /// Sets `$0`; returns the previous value.
    pub(crate) fn set_zero(&mut self, zero: Bytes) -> Bytes {
        std::mem::replace(&mut self.zero, zero)
    }

    /// `$?`.
    #[inline]
    pub(crate) fn status(&self) -> i32 {
        self.status
    }

    /// Sets `$?`.
    #[inline]
    pub(crate) fn set_status(&mut self, status: i32) {
        self.status = status;
    }

    /// `PIPESTATUS`.
    pub(crate) fn pipe_status(&self) -> &[i32] {
        &self.pipe_status
    }

    /// Sets `PIPESTATUS`.
    pub(crate) fn set_pipe_statuses(&mut self, statuses: Vec<i32>) {
        self.pipe_status = statuses;
    }

    /// Sets `PIPESTATUS` to one status.
    #[inline]
    pub(crate) fn set_pipe_status(&mut self, status: i32) {
        self.pipe_status.clear();
        self.pipe_status.push(status);
    }

    /// `$_`.
    pub(crate) fn last_argument(&self) -> &Bytes {
        &self.last_argument
    }

    /// Makes `$_` empty.
    pub(crate) fn clear_last_argument(&mut self) {
        self.last_argument = Bytes::new();
    }

    /// Sets `$_` and leaves its old value in `argument`, whose allocation can be used again.
    #[inline]
    pub(crate) fn swap_last_argument(&mut self, argument: &mut Bytes) {
        std::mem::swap(&mut self.last_argument, argument);
    }

    /// `$!`.
    pub(crate) fn last_background(&self) -> Option<i32> {
        self.last_background
    }

    /// Sets `$!`.
    pub(crate) fn set_last_background(&mut self, pid: Option<i32>) {
        self.last_background = pid;
    }

    /// The position at which `getopts` continues.
    pub(crate) fn getopts(&self) -> GetoptsPosition {
        self.getopts
    }

    /// Sets where `getopts` continues.
    pub(crate) fn set_getopts(&mut self, position: GetoptsPosition) {
        self.getopts = position;
    }

    /// Makes `getopts` start over with the next argument.
    pub(crate) fn reset_getopts(&mut self) {
        self.getopts = GetoptsPosition::default();
    }

    /// Forgets the status of earlier command substitutions.
    #[inline]
    pub(crate) fn clear_substitution_status(&mut self) {
        self.substitution_status = None;
    }

    /// Sets the status of the last command substitution.
    pub(crate) fn set_substitution_status(&mut self, status: i32) {
        self.substitution_status = Some(status);
    }

    /// The status of the last command substitution of this command, if it had one.
    pub(crate) fn take_substitution_status(&mut self) -> Option<i32> {
        self.substitution_status.take()
    }

    /// Saves what a trap must not change.
    pub(crate) fn save(&self) -> SavedParameters {
        SavedParameters {
            status: self.status,
            pipe_status: self.pipe_status.clone(),
            last_argument: self.last_argument.clone(),
        }
    }

    /// Puts back what [`Parameters::save`] returned.
    pub(crate) fn restore(&mut self, saved: SavedParameters) {
        self.status = saved.status;
        self.pipe_status = saved.pipe_status;
        self.last_argument = saved.last_argument;
    }
}
