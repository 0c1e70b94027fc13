//! The query of a request, and the filter in it.

use std::time::{SystemTime, UNIX_EPOCH};

use haft_records::{RunFilter, TextPattern};

use crate::reply::RequestError;

/// The most runs of one reply.
const MAX_COUNT: usize = 5000;

/// The parameters of a query.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Query {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        Query(pairs.map(|(name, value)| (decode(name), decode(value))).collect())
    }

    /// A parameter that is not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// A parameter that is a number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// The range of a list: the number of runs before it, and its length.
    pub(crate) fn range(&self) -> (usize, usize) {
        let number = |name, default| self.number(name).map_or(default, |number| number as usize);
        (number("offset", 0), number("count", 100).min(MAX_COUNT))
    }

    /// The filter of a list.
    pub(crate) fn filter(&self) -> Result<RunFilter, RequestError> {
        let grep = self.get("q").map(TextPattern::new).transpose().map_err(RequestError::bad_request)?;
        let owned = |name| self.get(name).map(str::to_owned);
        Ok(RunFilter {
            since: self.number("hours").map(|hours| now().saturating_sub(hours.saturating_mul(3_600_000))),
            until: self.number("until"),
            failed: self.get("state") == Some("failed"),
            running: self.get("state") == Some("running"),
            session: owned("session"),
            agent: owned("agent"),
            grep,
            limit: None,
        })
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Decodes `%XX` and `+`.
pub(crate) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match (first, code.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (byte, _) => {
                bytes.push(if *byte == b'+' { b' ' } else { *byte });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        let query = Query::parse("q=a%20b%2Bc+d&offset=7&empty=&bad=%zz%f");
        assert_eq!(query.get("q"), Some("a b+c d"));
        assert_eq!(query.number("offset"), Some(7));
        assert_eq!(query.get("empty"), None);
        assert_eq!(query.get("bad"), Some("%zz%f"));
        assert_eq!(query.range(), (7, 100));
    }
}
