//! Matches that the programs of GNU find.

use super::{GnuRegex, GnuRegexOptions, GnuSyntax};
use crate::encoding::Encoding;

fn compile(pattern: &str, syntax: GnuSyntax) -> GnuRegex {
    GnuRegex::new(pattern.as_bytes(), GnuRegexOptions::new(syntax, Encoding::Utf8)).unwrap()
}

/// The texts of a match and its groups, separated by commas. `-` is a group that did not take part.
fn groups(pattern: &str, subject: &str) -> String {
    let captures = compile(pattern, GnuSyntax::SedExtended).captures(subject.as_bytes(), 0).unwrap();
    let text = |range: Option<std::ops::Range<usize>>| range.map_or("-", |range| &subject[range]);
    captures.map_or_else(String::new, |captures| captures.into_iter().map(text).collect::<Vec<_>>().join(","))
}

fn error(pattern: &str, syntax: GnuSyntax) -> String {
    let result = GnuRegex::new(pattern.as_bytes(), GnuRegexOptions::new(syntax, Encoding::Utf8));
    result.err().map_or_else(String::new, |error| error.to_string())
}

#[test]
fn the_leftmost_longest_match_is_found() {
    assert_eq!(groups("a|ab|abc", "xabcd"), "abc");
    assert_eq!(groups("a?(ab)?", "ab"), "ab,ab");
    assert_eq!(groups("x*", "aaa"), "");
    assert_eq!(groups("\\<b", "ab b"), "b");
}

#[test]
fn groups_are_those_of_the_library() {
    assert_eq!(groups("(a|ab)(c|bcd)(d*)", "abcd"), "abcd,a,bcd,");
    assert_eq!(groups("(a*)*", "b"), ",");
    assert_eq!(groups("(a*)+", "b"), ",");
    assert_eq!(groups("(a|(b))*", "ba"), "ba,a,b");
    assert_eq!(groups("(a)|b", "b"), "b,-");
    assert_eq!(groups("(a?){3}", "aa"), "aa,");
}

#[test]
fn back_references_match_the_text_of_a_group() {
    assert_eq!(groups("(.+)\\1", "xabab"), "abab,ab");
    assert_eq!(groups("(a*)b\\1", "aabaa"), "aabaa,aa");
    assert_eq!(groups("^(.*)\\n\\1$", "xnx"), "xnx,x");
}

#[test]
fn a_search_that_backtracks_too_long_fails() {
    let regex = compile("(a+)*(a+)*(a+)*\\1b", GnuSyntax::SedExtended);
    assert!(regex.is_match(format!("{}cb", "a".repeat(200)).as_bytes()).is_err());
}

#[test]
fn errors_have_the_words_of_the_library() {
    let basic = GnuSyntax::SedBasic;
    assert_eq!(error("\\(", basic), "Unmatched ( or \\(");
    assert_eq!(error("a**", basic), "Invalid preceding regular expression");
    assert_eq!(error("a**", GnuSyntax::GrepBasic), "");
    assert_eq!(error("[b-a]", basic), "Invalid range end");
    assert_eq!(error("[a-c-e]", basic), "Invalid range end");
    assert_eq!(error("[", basic), "Invalid regular expression");
    assert_eq!(error("a\\{2,1\\}", basic), "Invalid content of \\{\\}");
    assert_eq!(error("a{2", GnuSyntax::SedExtended), "Unmatched \\{");
    assert_eq!(error("a{2", GnuSyntax::GrepExtended), "");
    assert_eq!(error("\\(a\\)\\2", basic), "Invalid back reference");
    assert_eq!(error("*a", GnuSyntax::SedExtended), "Invalid preceding regular expression");
}

#[test]
fn invalid_bytes_are_not_characters() {
    let regex = compile("a.b", GnuSyntax::GrepBasic);
    assert_eq!(regex.is_match(b"a\xFFb"), Ok(false));
    let options = GnuRegexOptions::new(GnuSyntax::GrepBasic, Encoding::Bytes);
    assert_eq!(GnuRegex::new(b"a.b", options).unwrap().is_match(b"a\xFFb"), Ok(true));
}

#[test]
fn letters_match_in_either_case() {
    let options =
        GnuRegexOptions { ignore_case: true, ..GnuRegexOptions::new(GnuSyntax::SedBasic, Encoding::Utf8) };
    let matches = |pattern: &str, subject: &str| {
        GnuRegex::new(pattern.as_bytes(), options).unwrap().is_match(subject.as_bytes()).unwrap()
    };
    assert!(matches("straße", "STRAße") && matches("[a-c]", "B") && matches("É", "é"));
    assert!(!matches("[^a]", "A") && !matches("k", "\u{212A}"));
    assert!(matches("\\(a\\)\\1", "aA"));
}

#[test]
fn awk_reads_the_escapes_of_strings() {
    let awk =
        |pattern: &str, subject: &str| compile(pattern, GnuSyntax::Awk).is_match(subject.as_bytes()).unwrap();
    assert!(awk("a\\/b\\t\\052", "a/b\t*") && awk("[\\]]", "]") && awk("\\yfoo\\y", "a foo b"));
    assert!(awk("+a", "+a") && awk("a{,x", "a{,x") && !awk("(a)b\\1", "aba"));
}

#[test]
fn a_search_of_many_lines_finds_the_lines_that_match_one_by_one() {
    let text = "abc\n\nxb\nword here\n \nend";
    let patterns = ["^$", "b$", "^x", "\\<here\\>", "[^a]", ".", "\\s", "a.*b", "\\`e", "d\\'", "zz"];
    for pattern in patterns {
        let regex = compile(pattern, GnuSyntax::GrepBasic);
        let expected = text.split('\n').position(|line| regex.is_match(line.as_bytes()) == Ok(true));
        let found = regex.find_line(text.as_bytes(), 0);
        let line = found.map(|at| text[..at].matches('\n').count());
        assert_eq!(line, expected, "{pattern}");
    }
}
