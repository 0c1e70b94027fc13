//! `echo`.

use super::Context;
use crate::bytes::Bytes;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let mut line = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            line.push(b' ');
        }
        line.extend_from_slice(argument);
    }
    line.push(b'\n');
    context.print(&line)
}
