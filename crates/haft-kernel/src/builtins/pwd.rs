//! `pwd`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;
use crate::options::SetOption;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, _) = match options::parse(context, arguments, "LP") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let default = context.options().has(SetOption::Physical);
    let physical = flags.last().map_or(default, |flag| flag.letter == b'P');
    let mut line = context.working_directory().path().to_vec();
    if physical {
        match context.session().kernel.files.canonicalize(haft_text::path(&line)) {
            Ok(path) => line = path.into_os_string().into_encoded_bytes(),
            Err(error) => {
                let message = haft_fs::message(&error);
                context.error(format_args!(
                    "error retrieving current directory: getcwd: cannot access parent directories: {message}"
                ));
                return Ok(1);
            }
        }
    }
    line.push(b'\n');
    context.print(&line)
}
