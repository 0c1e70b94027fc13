//! Matching of patterns without groups.

use super::engine::PatternMatcher;
use super::parse::PatternItem;

/// Tells whether the items match the whole subject. Backtracking to the last `*` is enough, because it can match every text that an
/// earlier `*` could leave over.
pub(super) fn matches(matcher: &PatternMatcher<'_>, items: &[PatternItem]) -> bool {
    let (mut item, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match items.get(item) {
            None if at == matcher.subject.len() => return true,
            Some(PatternItem::Star) if !(matcher.protect_period && at == 0) => {
                if item + 1 == items.len() {
                    return true;
                }
                retry = Some((item + 1, at));
                item += 1;
                continue;
            }
            Some(PatternItem::Star) => return false,
            Some(other) => {
                if let Some(next) = match_one(matcher, other, at) {
                    (item, at) = (item + 1, next);
                    continue;
                }
            }
            None => {}
        }
        // Let the last `*` match one more character.
        let Some((after_star, start)) = retry else { return false };
        let Some(start) = next_start(matcher, &items[after_star], start) else { return false };
        retry = Some((after_star, start));
        (item, at) = (after_star, start);
    }
}

/// Returns the next position after `start` where an item may begin.
fn next_start(matcher: &PatternMatcher<'_>, item: &PatternItem, start: usize) -> Option<usize> {
    let (next, _) = matcher.step(start)?;
    match item {
        PatternItem::Literal(text) if !matcher.ignore_case => {
            memchr::memchr(*text.first()?, &matcher.subject[next..]).map(|offset| next + offset)
        }
        _ => Some(next),
    }
}

/// Returns the end of a match of one item other than `*`.
fn match_one(matcher: &PatternMatcher<'_>, item: &PatternItem, at: usize) -> Option<usize> {
    if let PatternItem::Literal(text) = item {
        return matcher.literal_at(text, at);
    }
    if matcher.protect_period && at == 0 {
        return None;
    }
    let (next, code) = matcher.step(at)?;
    match item {
        PatternItem::Set(set) => set.contains(code, matcher.ignore_case).then_some(next),
        _ => Some(next),
    }
}
