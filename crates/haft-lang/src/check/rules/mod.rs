//! The rules, by topic.

mod assignment;
mod command;
mod conditional;
mod danger;
mod ere;
mod files;
mod flow;
mod function;
mod here;
mod jq;
mod operand;
mod pipe;
mod quoting;
mod redirect;
mod regex;
mod remove;
mod single_bracket;
mod status;
mod text;
mod typed;
mod variable;

use super::rule::Rule;

pub(super) use flow::always_exits;

/// All rules.
pub const RULES: &[&Rule] = &[
    &command::NOT_FOUND,
    &command::BUILTIN_WRAPPED,
    &single_bracket::UNCLOSED,
    &single_bracket::NO_SPACE,
    &single_bracket::REDIRECT,
    &single_bracket::JOINED,
    &operand::UNQUOTED,
    &operand::ALWAYS_TRUE,
    &operand::GLOB,
    &operand::NOT_A_NUMBER,
    &conditional::QUOTED_REGEX,
    &conditional::TEXT_ORDER,
    &conditional::CONSTANT,
    &conditional::ASSIGNMENT,
    &conditional::SUBSTITUTION,
    &regex::BAD_REGEX,
    &regex::SED_UNTERMINATED,
    &jq::BAD_JQ,
    &typed::BAD_ARGUMENTS,
    &remove::UNQUOTED,
    &remove::ROOT,
    &remove::AFTER_CD,
    &danger::REMOVES_SYSTEM,
    &danger::OVERWRITES_SYSTEM_FILE,
    &danger::OVERWRITES_DEVICE,
    &danger::SYSTEM_PERMISSIONS,
    &danger::RUNS_DOWNLOAD,
    &danger::FORK_BOMB,
    &danger::KILLS_EVERYTHING,
    &danger::STOPS_MACHINE,
    &danger::CLEARS_SETTINGS,
    &danger::GIT_LOSES_WORK,
    &danger::CLEARS_HISTORY,
    &danger::DROPS_DATABASE,
    &quoting::GLOB,
    &quoting::TILDE,
    &quoting::ARGUMENTS,
    &files::FOR_LS,
    &files::FIND_PATTERN,
    &files::FIND_EXEC,
    &assignment::SPACES,
    &assignment::DOLLAR,
    &assignment::DECLARED_SPACES,
    &assignment::READ_DOLLAR,
    &redirect::NUMBER,
    &redirect::BOTH,
    &redirect::ORDER,
    &redirect::OVERWRITES_INPUT,
    &redirect::SUDO,
    &pipe::LOST_VARIABLE,
    &pipe::READ,
    &pipe::UNREAD,
    &pipe::EXIT,
    &flow::UNREACHABLE,
    &flow::AND_OR,
    &flow::OUTSIDE_LOOP,
    &flow::EXIT_STATUS,
    &status::AFTER_ECHO,
    &status::MASKED,
    &function::RECURSION,
    &function::SHADOWS_TEST,
    &function::LOCAL_OUTSIDE,
    &variable::UNSET,
    &variable::READ_BACKSLASH,
    &here::UNTERMINATED,
    &here::NUL_BYTES,
    &text::SHEBANG,
    &text::CARRIAGE_RETURN,
    &text::TYPOGRAPHIC_QUOTES,
    &text::NO_BREAK_SPACE,
];
