use std::fmt;

use rustix::rand::{GetRandomFlags, getrandom};

/// The length of a `traceparent` of version 0.
const LENGTH: usize = 55;
/// The flag of a trace whose spans are recorded.
const SAMPLED: u8 = 1;

/// A span in a trace, as W3C Trace Context identifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The id of the trace.
    pub trace: u128,
    /// The id of the span.
    pub span: u64,
    /// The flags of the trace.
    pub flags: u8,
}

impl TraceContext {
    /// Parses a `traceparent`. Returns `None` if it is invalid.
    #[must_use]
    pub fn parse(text: &str) -> Option<TraceContext> {
        let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let whole = text.as_bytes();
        let fits = whole.len() == LENGTH || whole.get(LENGTH) == Some(&b'-') && !text.starts_with("00");
        let mut parts = text.get(..LENGTH).filter(|_| fits)?.split('-');
        let mut next = |length: usize| {
            parts.next().filter(|part| part.len() == length && part.as_bytes().iter().all(is_hex))
        };
        let (version, trace, span, flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
        let context = TraceContext {
            trace: u128::from_str_radix(trace, 16).ok()?,
            span: u64::from_str_radix(span, 16).ok()?,
            flags: u8::from_str_radix(flags, 16).ok()?,
        };
        (version != "ff" && context.trace != 0 && context.span != 0).then_some(context)
    }

    /// A span of a new trace.
    #[must_use]
    pub fn root() -> TraceContext {
        let high = u128::from(random()) << 64;
        TraceContext { trace: high | u128::from(random()), span: random(), flags: SAMPLED }
    }

    /// Another span of the same trace.
    #[must_use]
    pub fn child(self) -> TraceContext {
        TraceContext { span: random(), ..self }
    }

    /// Whether the spans of the trace are recorded.
    #[must_use]
    pub fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }
}

/// Writes a `traceparent`.
impl fmt::Display for TraceContext {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags & SAMPLED)
    }
}

/// A random number that is not 0.
fn random() -> u64 {
    let mut bytes = [0; 8];
    // Eight bytes are never delivered in parts, and the source is ready when programs run.
    let _ = getrandom(&mut bytes, GetRandomFlags::empty());
    u64::from_ne_bytes(bytes).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_valid_context_is_written_as_it_was_read() {
        let context = TraceContext::parse(VALID).expect("valid");
        assert_eq!(context.to_string(), VALID);
        assert!(context.is_sampled());
        assert!(!TraceContext::parse(&VALID.replace("-01", "-00")).expect("valid").is_sampled());
    }

    #[test]
    fn later_versions_may_be_longer() {
        assert!(TraceContext::parse(&format!("cc{}-what-follows", &VALID[2..])).is_some());
        assert!(TraceContext::parse(&format!("cc{}.what", &VALID[2..])).is_none());
        assert!(TraceContext::parse(&format!("{VALID}-more")).is_none());
    }

    #[test]
    fn invalid_contexts_are_refused() {
        for text in [
            "",
            "00",
            &VALID[..54],
            &VALID.to_uppercase(),
            &VALID.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            &VALID.replace("b7ad6b7169203331", &"0".repeat(16)),
            &format!("ff{}", &VALID[2..]),
            &VALID.replace("-01", "-0ä"),
            &VALID.replace("b7", "+7"),
        ] {
            assert_eq!(TraceContext::parse(text), None, "{text}");
        }
    }

    #[test]
    fn spans_have_ids_of_their_own() {
        let root = TraceContext::root();
        let child = root.child();
        assert!(root.trace == child.trace && root.span != child.span && child.span != 0);
        assert_eq!(TraceContext::parse(&root.to_string()), Some(root));
    }
}
