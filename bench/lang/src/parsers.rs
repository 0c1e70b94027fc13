//! The parsers.

use std::hint::black_box;

use brush_parser::{ParserOptions, Token, TokenizerOptions, parse_tokens, uncached_tokenize_str, word};
use haft_lang::{ParseOptions, parse};

/// Parses commands and words with haft-lang. Returns whether the text is valid.
pub fn haft(text: &str) -> bool {
    black_box(parse(black_box(text.as_bytes()), &ParseOptions::default())).is_ok()
}

/// Parses only commands with brush-parser; words stay text. Equivalent to `Parser::parse_program`, without
/// its copies.
pub fn brush(text: &str) -> bool {
    let options = ParserOptions::default();
    let Ok(tokens) = uncached_tokenize_str(black_box(text), &TokenizerOptions::default()) else {
        return false;
    };
    black_box(parse_tokens(&tokens, &options)).is_ok()
}

/// Parses commands and then each word with brush-parser. Command substitutions stay text.
pub fn brush_words(text: &str) -> bool {
    let options = ParserOptions::default();
    let Ok(tokens) = uncached_tokenize_str(black_box(text), &TokenizerOptions::default()) else {
        return false;
    };
    for token in &tokens {
        if let Token::Word(text, _) = token {
            black_box(word::parse(text, &options)).ok();
        }
    }
    black_box(parse_tokens(&tokens, &options)).is_ok()
}
