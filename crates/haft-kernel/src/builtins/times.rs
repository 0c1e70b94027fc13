//! `times`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    if let Err(end) = options::parse(context, arguments, "") {
        return end;
    }
    let [own_user, own_system, user, system] = clocks();
    let text =
        format!("{} {}\n{} {}\n", minutes(own_user), minutes(own_system), minutes(user), minutes(system));
    context.print(text.as_bytes())
}

/// Returns user and system time of this process, then of its children, in hundredths of a second.
fn clocks() -> [u64; 4] {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut fields = after_name.split_whitespace().skip(11).map(|field| field.parse().unwrap_or(0));
    std::array::from_fn(|_| fields.next().unwrap_or(0))
}

fn minutes(hundredths: u64) -> String {
    format!("{}m{}.{:03}s", hundredths / 6000, hundredths / 100 % 60, hundredths % 100 * 10)
}
