//! Recognises variables that contain secrets, and masks their values in text.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Words in the name of a variable that contains a secret.
const SECRET_WORDS: &[&str] =
    &["KEY", "KEYS", "PAT", "PWD", "CREDENTIAL", "CREDENTIALS", "CREDS", "COOKIE", "COOKIES"];
/// Endings of words in the name of a variable that contains a secret.
const SECRET_WORD_ENDINGS: &[&str] =
    &["TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "APIKEY"];
/// Last words of names whose values are locations of secrets, not secrets.
const LOCATION_WORDS: &[&str] =
    &["FILE", "FILES", "PATH", "DIR", "DIRECTORY", "HOME", "SOCK", "SOCKET", "URL", "TTY"];
/// Names that contain such a word, but no secret.
const NOT_SECRET: &[&str] = &["PWD", "OLDPWD"];
/// Replaces a secret that has no name.
const MASK: &str = "***";
/// Shorter values are not masked, because they occur in unrelated text.
const MIN_MASKED_BYTES: usize = 8;

/// Whether a variable probably contains a secret, judged by its name. Numbers and booleans are not secrets.
#[must_use]
pub fn looks_secret(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let value = value.as_bytes();
    let plain = value.iter().all(u8::is_ascii_digit) && value.len() < 12;
    if plain || matches!(value, b"true" | b"false" | b"yes" | b"no") || NOT_SECRET.contains(&name.as_str()) {
        return false;
    }
    let words: Vec<&str> = name.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    let is_secret = |word: &&str| {
        SECRET_WORDS.contains(word) || SECRET_WORD_ENDINGS.iter().any(|ending| word.ends_with(ending))
    };
    let is_location = words.last().is_some_and(|last| LOCATION_WORDS.contains(last));
    !is_location && words.iter().any(is_secret)
}

/// Masks secrets in text: values of variables that look secret, passwords and tokens in URLs, and the values of headers such
/// as `Authorization`.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// Names and values, longest value first.
    secrets: Vec<(String, String)>,
    /// Further patterns to mask.
    patterns: Vec<Regex>,
}

impl Redactor {
    /// Makes a redactor for the secrets among these variables.
    pub fn new<'a>(variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>) -> Redactor {
        let mut redactor = Redactor::default();
        redactor.add(variables);
        redactor
    }

    /// Adds the secrets among these variables.
    pub fn add<'a>(&mut self, variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>) {
        let secrets = variables.into_iter().filter(|(name, value)| looks_secret(name, value));
        let text = |(name, value): (&OsStr, &OsStr)| {
            Some((name.to_string_lossy().into_owned(), value.to_str()?.to_owned()))
        };
        self.secrets.extend(secrets.filter_map(text).filter(|(_, value)| value.len() >= MIN_MASKED_BYTES));
        self.secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    }

    /// Masks everything that matches a regular expression.
    ///
    /// # Errors
    /// If it is not a valid regular expression. The message says why.
    pub fn add_pattern(&mut self, pattern: &str) -> Result<(), String> {
        self.patterns.push(Regex::new(pattern).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Returns the text with all secrets masked: `[NAME]` for the value of a variable, `***` for others.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for (name, value) in &self.secrets {
            if masked.contains(value.as_str()) {
                masked = Cow::Owned(masked.replace(value.as_str(), &format!("[{name}]")));
            }
        }
        for pattern in &self.patterns {
            if let Cow::Owned(changed) = pattern.replace_all(&masked, MASK) {
                masked = Cow::Owned(changed);
            }
        }
        for pattern in PATTERNS.iter().filter(|pattern| (pattern.can_match)(text)) {
            let regex = pattern.regex.as_ref();
            if let Some(Cow::Owned(changed)) = regex.map(|regex| regex.replace_all(&masked, mask)) {
                masked = Cow::Owned(changed);
            }
        }
        masked
    }

    /// Masks all secrets in place.
    pub fn redact(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.text(text) {
            *text = masked;
        }
    }
}

/// A pattern with the groups `before`, `key` and `after`. Only `key` is masked.
struct SecretPattern {
    /// Compiled on first use, because that takes longer than a short command.
    regex: LazyLock<Option<Regex>>,
    /// Whether a text can match at all.
    can_match: fn(&str) -> bool,
}

static PATTERNS: [SecretPattern; 3] = [
    SecretPattern {
        regex: LazyLock::new(|| {
            Regex::new(r#"(?P<before>[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@'"]*:)(?P<key>[^\s/@'"]+)(?P<after>@)"#)
                .ok()
        }),
        can_match: |text| text.contains("://") && text.contains('@'),
    },
    SecretPattern {
        regex: LazyLock::new(|| {
            Regex::new(r#"(?i)(?P<before>\b(?:authorization|x-api-key|api-key|private-token)["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest)\s+)?)(?P<key>[^\s"']+)(?P<after>)"#).ok()
        }),
        can_match: names_secret_header,
    },
    SecretPattern {
        regex: LazyLock::new(|| {
            Regex::new(r#"(?i)(?P<before>[?&](?:[a-z0-9_-]*token|api[_-]?key|key|secret|client[_-]secret|password|sig|signature)=)(?P<key>[^\s&#'"]+)(?P<after>)"#).ok()
        }),
        can_match: |text| text.contains(['?', '&']) && text.contains('='),
    },
];

/// Whether a text contains the name of a header whose value is a secret.
fn names_secret_header(text: &str) -> bool {
    let lower = || text.to_ascii_lowercase();
    let is_named =
        |text: String| ["authorization", "api-key", "private-token"].iter().any(|name| text.contains(name));
    text.contains([':', '=']) && is_named(lower())
}

/// Returns the replacement of a match. References to variables (`$NAME`) and masked values (`[NAME]`) are kept.
fn mask(found: &Captures<'_>) -> String {
    if found["key"].starts_with(['$', '[']) {
        return found[0].to_owned();
    }
    format!("{}{MASK}{}", &found["before"], &found["after"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(name: &str, value: &str) -> bool {
        looks_secret(OsStr::new(name), OsStr::new(value))
    }

    #[test]
    fn secrets_are_recognised_by_name() {
        for name in [
            "GITHUB_TOKEN",
            "OPENAI_API_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "PGPASSWORD",
            "MYSQL_PWD",
            "npm_config__authToken",
            "CLIENT_SECRET",
            "SECRET_KEY_BASE",
            "AZURE_PAT",
            "VAULT_TOKEN",
            "GPG_PASSPHRASE",
            "SESSION_COOKIE",
            "GOOGLE_CREDENTIALS",
        ] {
            assert!(secret(name, "abcdefgh12"), "{name}");
        }
    }

    #[test]
    fn other_variables_are_not_secrets() {
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "HOME",
            "SSH_AUTH_SOCK",
            "KEYBOARD",
            "TOKENIZERS_PARALLELISM",
            "AWS_REGION",
            "AWS_PROFILE",
            "SSH_KEY_PATH",
            "GOOGLE_CREDENTIALS_FILE",
            "COMPATIBLE",
            "XDG_RUNTIME_DIR",
            "MONKEY",
        ] {
            assert!(!secret(name, "abcdefgh12"), "{name}");
        }
        assert!(!secret("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000") && !secret("USE_TOKEN", "true"));
    }

    #[test]
    fn added_patterns_are_masked() {
        let mut redactor = Redactor::default();
        redactor.add_pattern("acme-[0-9a-f]+").unwrap();
        assert_eq!(redactor.text("login acme-12ab now"), "login *** now");
        assert!(redactor.add_pattern("(").is_err());
    }

    #[test]
    fn values_passwords_and_headers_are_masked() {
        let variables =
            [("GITHUB_TOKEN", "ghp_0123456789"), ("SHORT_KEY", "abc"), ("MODE", "ordinary-value")];
        let variables = variables.map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        let redactor = Redactor::new(variables);
        let cases = [
            ("Authorization: Bearer ghp_0123456789", "Authorization: Bearer [GITHUB_TOKEN]"),
            ("Authorization: Bearer other-0123", "Authorization: Bearer ***"),
            ("authorization: other-0123", "authorization: ***"),
            ("Authorization: Bearer $GITHUB_TOKEN", "Authorization: Bearer $GITHUB_TOKEN"),
            ("git clone https://me:hunter2@example.org/x", "git clone https://me:***@example.org/x"),
            ("https://:hunter2@example.org", "https://:***@example.org"),
            ("https://example.org:8080/a@b", "https://example.org:8080/a@b"),
            ("x-api-key: k0123", "x-api-key: ***"),
            ("abc ordinary-value", "abc ordinary-value"),
            (
                "https://example.org/?access_token=k0123&page=2",
                "https://example.org/?access_token=***&page=2",
            ),
            ("curl 'http://h/x?a=1&api_key=k0123'", "curl 'http://h/x?a=1&api_key=***'"),
            ("http://h/?monkey=1&token=$TOKEN", "http://h/?monkey=1&token=$TOKEN"),
        ];
        for (text, masked) in cases {
            assert_eq!(redactor.text(text), masked);
        }
    }
}
