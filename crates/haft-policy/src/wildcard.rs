//! Patterns on byte strings: `*` matches any text, `?` one byte, and a backslash makes the next byte literal.

/// Whether a pattern has a special character.
pub(crate) fn is_wild(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| b"*?\\".contains(byte))
}

/// Whether a whole text matches a pattern. Takes time proportional to the product of their lengths at most.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, from));
                at += 1;
                continue;
            }
            Some(b'?') => at += 1,
            Some(b'\\') if pattern.get(at + 1) == Some(&text[from]) => at += 2,
            Some(byte) if *byte == text[from] && *byte != b'\\' => at += 1,
            _ => {
                let Some((star, begin)) = retry else { return false };
                retry = Some((star, begin + 1));
                (at, from) = (star, begin + 1);
                continue;
            }
        }
        from += 1;
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// Whether some text that starts with `prefix` can match. Errs on the side of true.
pub(crate) fn may_match(pattern: &[u8], prefix: &[u8]) -> bool {
    let literal = pattern.iter().position(|byte| b"*?\\".contains(byte)).unwrap_or(pattern.len());
    let common = literal.min(prefix.len());
    pattern[..common] == prefix[..common] && (literal < pattern.len() || prefix.len() <= literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_whole_texts() {
        for (pattern, text) in [
            ("*", ""),
            ("a*c", "abbc"),
            ("*.org", "x.org"),
            ("a?c", "abc"),
            ("\\*", "*"),
            ("a*b*c", "aXbXbc"),
        ] {
            assert!(matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a", "ab"), ("?", ""), ("\\*", "x"), ("a*b", "acbd"), ("\\", "\\x")]
        {
            assert!(!matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_little_time() {
        let pattern = b"*a".repeat(1000);
        assert!(!matches(&pattern, &b"a".repeat(999)) && !matches(&pattern, &b"b".repeat(10_000)));
    }

    #[test]
    fn unknown_ends_may_match() {
        assert!(may_match(b"push", b"pu") && may_match(b"p*", b"push") && may_match(b"push", b""));
        assert!(!may_match(b"push", b"pull") && !may_match(b"push", b"pushed"));
    }
}
