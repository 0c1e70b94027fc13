//! Matching of patterns without groups.

use super::engine::Run;
use super::parse::Item;

/// Whether the items match the whole subject. Only the last `*` is ever returned to: what an earlier one could give up, the
/// later one could take as well.
pub(super) fn matches(run: &Run<'_>, items: &[Item]) -> bool {
    let (mut item, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match items.get(item) {
            None if at == run.subject.len() => return true,
            Some(Item::Star) if !(run.protect_period && at == 0) => {
                if item + 1 == items.len() {
                    return true;
                }
                retry = Some((item + 1, at));
                item += 1;
                continue;
            }
            Some(Item::Star) => return false,
            Some(other) => {
                if let Some(next) = one(run, other, at) {
                    (item, at) = (item + 1, next);
                    continue;
                }
            }
            None => {}
        }
        // The last `*` takes one character more.
        let Some((after_star, start)) = retry else { return false };
        let Some(start) = next_start(run, &items[after_star], start) else { return false };
        retry = Some((after_star, start));
        (item, at) = (after_star, start);
    }
}

/// The next place after `start` at which an item may begin.
fn next_start(run: &Run<'_>, item: &Item, start: usize) -> Option<usize> {
    let (next, _) = run.step(start)?;
    match item {
        Item::Literal(text) if !run.ignore_case => {
            memchr::memchr(*text.first()?, &run.subject[next..]).map(|offset| next + offset)
        }
        _ => Some(next),
    }
}

/// Where one item that is no `*` ends.
fn one(run: &Run<'_>, item: &Item, at: usize) -> Option<usize> {
    if let Item::Literal(text) = item {
        return run.literal_at(text, at);
    }
    if run.protect_period && at == 0 {
        return None;
    }
    let (next, code) = run.step(at)?;
    match item {
        Item::Set(set) => set.contains(code, run.ignore_case).then_some(next),
        _ => Some(next),
    }
}
