//! Mutates scripts.

use crate::random::SeededRandom;

/// Tokens to insert into scripts.
const TOKENS: [&str; 96] = [
    "if", "then", "elif", "else", "fi", "for", "in", "do", "done", "while", "until", "case", "esac",
    "select", "function", "time", "coproc", "{", "}", "!", "[[", "]]", "(", ")", "((", "))", "$(", "$((",
    "${", "$[", "]", "[", "`", "\"", "'", "$'", "$\"", "\\", "\n", "\\\n", ";", ";;", ";&", ";;&", "&", "&&",
    "||", "|", "|&", "<", ">", "<<", "<<-", "<<<", ">>", ">|", "<>", ">&", "<&", "&>", "&>>", "<(", ">(",
    "2>", "{fd}>", "#", " ", "\t", "=", "+=", "a=(", "a[", "]=", "*", "?", "~", "$", "$@", "${#", "${!",
    ":-", "//", "@(", "!(", "=~", "==", "-f", "x", "1", "EOF", "<<EOF", "\nEOF\n", " )", "( )", "&-", "\r",
];

/// Mutates a script in one to four places.
pub(crate) fn mutate(script: &[u8], random: &mut SeededRandom) -> Vec<u8> {
    let mut tokens: Vec<Vec<u8>> = tokens(script);
    for _ in 0..=random.below(4) {
        let at = random.below(tokens.len().max(1));
        let other = random.below(tokens.len().max(1));
        match random.below(7) {
            _ if tokens.is_empty() => tokens.push(token(random)),
            0 | 1 => drop(tokens.remove(at)),
            2 => tokens.insert(at, tokens[other].clone()),
            3 => tokens.swap(at, other),
            4 | 5 => tokens.insert(at, token(random)),
            _ => tokens[at] = damage(&tokens[at], random),
        }
    }
    tokens.concat()
}

/// Generates random bytes.
pub(crate) fn noise(random: &mut SeededRandom) -> Vec<u8> {
    let length = random.below(200);
    (0..length).map(|_| byte(random)).collect()
}

/// Generates random tokens.
pub(crate) fn soup(random: &mut SeededRandom) -> Vec<u8> {
    let length = random.below(60);
    (0..length).flat_map(|_| token(random)).collect()
}

fn token(random: &mut SeededRandom) -> Vec<u8> {
    random.choose(&TOKENS).as_bytes().to_vec()
}

fn byte(random: &mut SeededRandom) -> u8 {
    u8::try_from(random.below(256)).unwrap_or(0)
}

/// Changes a byte of a token, or truncates the token there.
fn damage(token: &[u8], random: &mut SeededRandom) -> Vec<u8> {
    let mut damaged = token.to_vec();
    let at = random.below(damaged.len().max(1));
    match damaged.get_mut(at) {
        Some(place) if random.once_in(2) => *place = byte(random),
        Some(_) => damaged.truncate(at),
        None => damaged.push(byte(random)),
    }
    damaged
}

/// Splits a script into words and single bytes.
pub(crate) fn tokens(script: &[u8]) -> Vec<Vec<u8>> {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    script.chunk_by(|left, right| word(left) && word(right)).map(<[u8]>::to_vec).collect()
}
