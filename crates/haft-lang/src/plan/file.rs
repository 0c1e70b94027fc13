//! Redirections: which files a command reads and writes.

use crate::ast::{Descriptor, Duplicate, Redirect, RedirectKind};

use super::step::{FileScope, FileUse, Mode, UsedBy};
use super::words;

pub(super) fn file_use(redirect: &Redirect, source: &[u8]) -> FileUse {
    let (mode, target) = match &redirect.kind {
        RedirectKind::Read(word) => (Mode::Read, words::item(word, source)),
        RedirectKind::Write(word) | RedirectKind::Clobber(word) | RedirectKind::WriteBoth(word) => {
            (Mode::Write, words::item(word, source))
        }
        RedirectKind::Append(word) | RedirectKind::AppendBoth(word) => {
            (Mode::Append, words::item(word, source))
        }
        RedirectKind::ReadWrite(word) => (Mode::ReadWrite, words::item(word, source)),
        RedirectKind::HereString(word) => (Mode::HereString, words::single(word, source)),
        RedirectKind::HereDocument(document) => (Mode::HereDocument, words::single(document.body(), source)),
        RedirectKind::DuplicateInput(duplicate) => duplicated(duplicate, source, false),
        RedirectKind::DuplicateOutput(duplicate) => {
            duplicated(duplicate, source, matches!(redirect.descriptor, Descriptor::Default))
        }
    };
    let both = matches!(redirect.kind, RedirectKind::WriteBoth(_) | RedirectKind::AppendBoth(_));
    FileUse {
        descriptor: if both { Some("&".to_owned()) } else { descriptor(redirect) },
        mode,
        target,
        scope: FileScope::Exact,
        by: UsedBy::Redirection,
    }
}

/// The right side of `<&` or `>&`; `>&` without a descriptor and with a name is a file.
fn duplicated(duplicate: &Duplicate, source: &[u8], may_be_file: bool) -> (Mode, super::Item) {
    match duplicate {
        Duplicate::Descriptor { number, close } => {
            let text = format!("{number}{}", if *close { "-" } else { "" });
            (Mode::Duplicate, words::known(text.as_bytes()))
        }
        Duplicate::Close => (Mode::Close, words::known(b"")),
        Duplicate::Word(word) if may_be_file => (Mode::Write, words::item(word, source)),
        Duplicate::Word(word) => (Mode::Duplicate, words::item(word, source)),
    }
}

fn descriptor(redirect: &Redirect) -> Option<String> {
    match &redirect.descriptor {
        Descriptor::Default => None,
        Descriptor::Number(number) => Some(number.to_string()),
        Descriptor::Variable { name, .. } => Some(format!("{{{name}}}")),
    }
}
