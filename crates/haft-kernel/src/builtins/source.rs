//! `source` and `.`.

use haft_text::Bytes;
use haft_text::encoding;

use super::{Context, options};
use crate::flow::{CANNOT_EXECUTE, Flow};
use crate::options::{SetOption, ShellOption};

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (_, operands) = match options::parse(context, arguments, "") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let Some((name, parameters)) = operands.split_first() else {
        return context.usage("filename argument required");
    };
    if name.contains(&b'/') && context.session().is_restricted() {
        context.error(format_args!("{name}: restricted"));
        return Ok(1);
    }
    let Some(path) = find(context, name) else { return fail(context, name, "file not found") };
    let content = match context.session_mut().read_file(&path)? {
        Ok(content) => content,
        Err(error) => {
            let message = match error.kind() {
                std::io::ErrorKind::IsADirectory => "is a directory".to_owned(),
                _ => haft_fs::message(&error),
            };
            return fail(context, name, &message);
        }
    };
    if encoding::is_binary(&content) {
        context.error(format_args!("{name}: cannot execute binary file"));
        return Ok(CANNOT_EXECUTE);
    }
    context.session_mut().source_file(&path, &content, (!parameters.is_empty()).then_some(parameters))
}

/// Finds the file. A name without a slash is searched in `PATH`, then, outside of POSIX mode, in the working directory.
fn find(context: &Context<'_>, name: &Bytes) -> Option<Bytes> {
    let session = context.session();
    if name.contains(&b'/') || !session.options.shell(ShellOption::SourcePath) {
        return Some(name.clone());
    }
    let path = session.value(b"PATH").unwrap_or_default();
    for directory in path.split(|byte| *byte == b':').filter(|directory| !directory.is_empty()) {
        let candidate = [directory, b"/", name].concat();
        let absolute = session.resolve(&candidate);
        if session.kernel.files.metadata(haft_text::path(&absolute)).is_ok_and(|metadata| metadata.is_file())
        {
            return Some(candidate.into());
        }
    }
    (!session.options.has(SetOption::Posix)).then(|| name.clone())
}

fn fail(context: &mut Context<'_>, name: &Bytes, message: &str) -> Flow {
    match message {
        "is a directory" | "file not found" => context.error(format_args!("{name}: {message}")),
        _ => context.session_mut().report(format_args!("{name}: {message}")),
    }
    context.session().unless_posix(1)
}
