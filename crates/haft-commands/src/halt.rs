//! When failures stop a fan-out.

/// After how many failures a fan-out stops, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halt {
    /// The number of failed items that triggers the stop.
    pub failures: u64,
    /// Whether running items are terminated too, rather than only no new ones started.
    pub now: bool,
}

impl Halt {
    /// Parses `never`, `soon` or `now`, the last two optionally with `,fail=N`. `Some(None)` is `never`; `None` is a
    /// syntax error.
    pub(crate) fn parse(text: &str) -> Option<Option<Self>> {
        let (when, rest) = text.split_once(',').unwrap_or((text, "fail=1"));
        let failures = rest.strip_prefix("fail=")?.parse::<u64>().ok().filter(|failures| *failures > 0)?;
        match when {
            "never" if text == "never" => Some(None),
            "soon" => Some(Some(Self { failures, now: false })),
            "now" => Some(Some(Self { failures, now: true })),
            _ => None,
        }
    }
}
