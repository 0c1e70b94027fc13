//! The parsers.

use std::hint::black_box;

use brush_parser::{ParserOptions, Token, TokenizerOptions, parse_tokens, uncached_tokenize_str, word};
use haft_lang::{ParseOptions, parse};

/// haft-lang: commands and words. Says whether the text is right.
pub fn haft(text: &str) -> bool {
    black_box(parse(black_box(text.as_bytes()), &ParseOptions::default())).is_ok()
}

/// brush-parser: commands alone; words stay the text they are. What `Parser::parse_program` does, without its copies.
pub fn brush(text: &str) -> bool {
    let options = ParserOptions::default();
    let Ok(tokens) = uncached_tokenize_str(black_box(text), &TokenizerOptions::default()) else {
        return false;
    };
    black_box(parse_tokens(&tokens, &options)).is_ok()
}

/// brush-parser: commands, then each word, as far as a first look goes: what is in `$(…)` is still text.
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
