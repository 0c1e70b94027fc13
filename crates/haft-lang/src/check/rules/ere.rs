//! Finds certain syntax errors in extended regular expressions.

/// Returns the syntax error in an extended regular expression; `None` if there is no certain one.
pub(super) fn find_error(expression: &[u8]) -> Option<&'static str> {
    let mut open = 0usize;
    let mut rest = expression;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' => match after.split_first() {
                Some((_, after)) => rest = after,
                None => return Some("trailing backslash"),
            },
            b'(' => open += 1,
            b')' if open > 0 => open -= 1,
            b'[' => match bracket(after) {
                Ok(after) => rest = after,
                Err(error) => return Some(error),
            },
            b'{' => {
                if let Some(error) = interval(after) {
                    return Some(error);
                }
            }
            _ => {}
        }
    }
    (open > 0).then_some("unmatched \"(\"")
}

/// Returns the text after a bracket expression whose `[` has been read.
fn bracket(text: &[u8]) -> Result<&[u8], &'static str> {
    const UNCLOSED: &str = "unmatched \"[\"";
    let mut rest = text.strip_prefix(b"^").unwrap_or(text);
    let mut first = true;
    loop {
        let (byte, after) = rest.split_first().ok_or(UNCLOSED)?;
        match (byte, after.first()) {
            (b']', _) if !first => return Ok(after),
            (b'[', Some(kind @ (b':' | b'.' | b'='))) => {
                let inside = &after[1..];
                let end = inside.windows(2).position(|pair| pair == [*kind, b']']).ok_or(UNCLOSED)?;
                if *kind == b':' && !is_class(&inside[..end]) {
                    return Err("unknown character class");
                }
                rest = &inside[end + 2..];
            }
            (from, Some(b'-')) => match after.get(1) {
                Some(to) if is_backward(*from, *to) => return Err("invalid range end"),
                _ => rest = after,
            },
            _ => rest = after,
        }
        first = false;
    }
}

/// Whether the ends of a range are in reverse order. Both must be ASCII letters or digits of one kind.
fn is_backward(from: u8, to: u8) -> bool {
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        _ => 0,
    };
    kind(from) != 0 && kind(from) == kind(to) && from > to
}

fn is_class(name: &[u8]) -> bool {
    const CLASSES: [&str; 12] = [
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        "xdigit",
    ];
    CLASSES.iter().any(|class| class.as_bytes() == name)
}

/// Returns the error in an interval `{m,n}`.
fn interval(text: &[u8]) -> Option<&'static str> {
    let end = text.iter().take(16).position(|byte| *byte == b'}')?;
    let mut bounds = text[..end].splitn(2, |byte| *byte == b',');
    let number = |digits: Option<&[u8]>| std::str::from_utf8(digits?).ok()?.parse::<u32>().ok();
    let (least, most) = (number(bounds.next())?, number(bounds.next())?);
    (least > most).then_some("invalid interval bounds")
}

#[cfg(test)]
mod tests {
    use super::find_error;

    #[test]
    fn expressions_that_grep_accepts_are_valid() {
        let good = [
            "",
            "a|b",
            "(a|b)*",
            "[]a]",
            "[^]a]",
            "[[:alpha:]_]+",
            "a{2,3}",
            "a{,3}",
            "{",
            "a{x",
            ")",
            "\\(",
            "[a\\]",
            "*a",
            "a**",
            "[a-]",
            "[-a]",
            "^(\\+|-)$",
            "[[.hyphen.]]",
            "[+--]",
            "(()|a)",
        ];
        for expression in good {
            assert_eq!(find_error(expression.as_bytes()), None, "{expression}");
        }
    }

    #[test]
    fn expressions_that_grep_refuses_are_invalid() {
        for expression in
            ["(", "(a", "[a", "[", "[]", "a\\", "[z-a]", "[[:foo:]]", "a{3,2}", "((a)", "[[:alpha:]"]
        {
            assert!(find_error(expression.as_bytes()).is_some(), "{expression}");
        }
    }
}
