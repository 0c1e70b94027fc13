//! `caller`.

use haft_text::Bytes;

use super::Context;
use super::integer::parse_integer;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let frames = context.calls().frames().to_vec();
    let main = context.session().source_name();
    let depth = match arguments.first() {
        None => None,
        Some(text) => match parse_integer(text) {
            Some(number) => Some(number),
            None => return context.usage(format_args!("{text}: invalid number")),
        },
    };
    let has_main = context.session().has_main();
    if depth.is_none() && frames.is_empty() && has_main {
        return context.print(b"0 NULL\n");
    }
    let level = usize::try_from(depth.unwrap_or(0)).ok();
    let Some(index) = level.and_then(|level| frames.len().checked_sub(level + 1)) else { return Ok(1) };
    let line = frames[index].line;
    let outer = index.checked_sub(1).and_then(|outer| frames.get(outer));
    let source = outer.map_or(main, |frame| frame.source.clone());
    let text = match (depth, outer) {
        (None, None) if !has_main => format!("{line} NULL\n").into_bytes(),
        (Some(_), None) if !has_main => return Ok(1),
        (None, _) => [format!("{line} ").as_bytes(), &source, b"\n"].concat(),
        (Some(_), outer) => {
            let name = outer.map_or_else(|| b"main".to_vec(), |frame| frame.name.to_vec());
            [format!("{line} ").as_bytes(), &name, b" ", &source, b"\n"].concat()
        }
    };
    context.print(&text)
}
