//! The files of redirections.

use crate::ast::{Duplicate, Redirect, RedirectDescriptor, RedirectKind};

use super::step::{FileScope, FileUse, FileUseMode, UsedBy};
use super::words;

pub(super) fn file_use(redirect: &Redirect, source: &[u8]) -> FileUse {
    let (mode, target) = match &redirect.kind {
        RedirectKind::Read(word) => (FileUseMode::Read, words::item(word, source)),
        RedirectKind::Write(word) | RedirectKind::Clobber(word) | RedirectKind::WriteBoth(word) => {
            (FileUseMode::Write, words::item(word, source))
        }
        RedirectKind::Append(word) | RedirectKind::AppendBoth(word) => {
            (FileUseMode::Append, words::item(word, source))
        }
        RedirectKind::ReadWrite(word) => (FileUseMode::ReadWrite, words::item(word, source)),
        RedirectKind::HereString(word) => (FileUseMode::HereString, words::single(word, source)),
        RedirectKind::HereDocument(document) => {
            (FileUseMode::HereDocument, words::single(document.body(), source))
        }
        RedirectKind::DuplicateInput(duplicate) => duplicated(duplicate, source, false),
        RedirectKind::DuplicateOutput(duplicate) => {
            duplicated(duplicate, source, matches!(redirect.descriptor, RedirectDescriptor::Default))
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

/// Handles the right side of `<&` or `>&`. `>&name` without a file descriptor is a file.
fn duplicated(duplicate: &Duplicate, source: &[u8], may_be_file: bool) -> (FileUseMode, super::PlannedWord) {
    match duplicate {
        Duplicate::Descriptor { number, close } => {
            let text = format!("{number}{}", if *close { "-" } else { "" });
            (FileUseMode::Duplicate, words::known(text.as_bytes()))
        }
        Duplicate::Close => (FileUseMode::Close, words::known(b"")),
        Duplicate::Word(word) if may_be_file => (FileUseMode::Write, words::item(word, source)),
        Duplicate::Word(word) => (FileUseMode::Duplicate, words::item(word, source)),
    }
}

fn descriptor(redirect: &Redirect) -> Option<String> {
    match &redirect.descriptor {
        RedirectDescriptor::Default => None,
        RedirectDescriptor::Number(number) => Some(number.to_string()),
        RedirectDescriptor::Variable { name, .. } => Some(format!("{{{name}}}")),
    }
}
