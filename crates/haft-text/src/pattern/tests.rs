//! Expectations are the results of bash 5.2.

use super::*;

fn compile(text: &str) -> Pattern {
    Pattern::compile(text.as_bytes(), PatternOptions { extended: true, ..PatternOptions::default() })
}

fn matches(pattern: &str, subject: &str) -> bool {
    compile(pattern).matches(subject.as_bytes())
}

#[test]
fn basic_operators() {
    for (pattern, subject) in [
        ("", ""),
        ("abc", "abc"),
        ("a*c", "abbbc"),
        ("*", ""),
        ("?", "é"),
        ("[é]", "é"),
        ("[!a]", "é"),
        ("[]a]", "]"),
        ("[]-a]", "^"),
        ("[a-]", "-"),
        ("[[:alpha:]]", "é"),
        ("[[:digit:]x]", "x"),
        ("[[=a=]b]", "a"),
        ("[[.a.]]", "a"),
        ("[a", "[a"),
        ("\\*", "*"),
        ("[\\]]", "]"),
        ("[a\\-z]", "-"),
        ("*a*b", "xaxxb"),
    ] {
        assert!(matches(pattern, subject), "{pattern} {subject}");
    }
    for (pattern, subject) in [
        ("a", ""),
        ("?", ""),
        ("[z-a]", "b"),
        ("[!a]", "a"),
        ("\\*", "x"),
        ("[a\\-z]", "b"),
        ("[[:no:]]", "n"),
    ] {
        assert!(!matches(pattern, subject), "{pattern} {subject}");
    }
}

#[test]
fn extglob_groups() {
    for (pattern, subject) in [
        ("@(a|b)c", "bc"),
        ("?(a)b", "b"),
        ("*(ab)", "ababab"),
        ("+(a|bc)", "abca"),
        ("!(a)", "aa"),
        ("!(a|b)", ""),
        ("!(*.c)", "a.h"),
        ("a!(b)c", "abbc"),
        ("@(a|@(b|c))", "c"),
        ("@([)]|x)", ")"),
        ("@(a", "@(a"),
        ("*(a", "*(a"),
    ] {
        assert!(matches(pattern, subject), "{pattern} {subject}");
    }
    for (pattern, subject) in
        [("+(a)", ""), ("!(a)", "a"), ("!(*.c)", "a.c"), ("@(a|b)", "ab"), ("*(a", "xx")]
    {
        assert!(!matches(pattern, subject), "{pattern} {subject}");
    }
    assert!(!Pattern::compile(b"@(a)", PatternOptions::default()).matches(b"a"));
}

#[test]
fn a_group_after_a_star_does_not_begin_at_the_end() {
    for (pattern, subject, matched) in [
        ("*!(a)", "a", false),
        ("*!(a)", "aa", true),
        ("*!(a)", "ba", true),
        ("*!(a|aa)", "aa", false),
        ("b*!(a)", "ba", false),
        ("b*!(a)", "b", true),
        ("*+()", "a", false),
        ("*?(b)", "a", true),
        ("**(b)", "a", true),
    ] {
        assert_eq!(matches(pattern, subject), matched, "{pattern} {subject}");
    }
}

#[test]
fn case_and_locale_are_respected() {
    let folded = PatternOptions { ignore_case: true, ..PatternOptions::default() };
    assert!(Pattern::compile("É[a-c]x".as_bytes(), folded).matches("éBX".as_bytes()));
    assert_eq!(Pattern::compile(b"A*", folded).prefix(b"aab", false), Some(1));
    let bytewise = PatternOptions { bytewise: true, ..PatternOptions::default() };
    assert!(Pattern::compile(b"??", bytewise).matches("é".as_bytes()));
    assert!(!matches("??", "é"));
    assert!(compile("?").matches(b"\xff"));
}

#[test]
fn shortest_and_longest_prefixes_and_suffixes() {
    let path = b"/usr/local/lib.tar.gz";
    assert_eq!(compile("*/").prefix(path, false), Some(1));
    assert_eq!(compile("*/").prefix(path, true), Some(11));
    assert_eq!(compile(".*").suffix(path, false), Some(18));
    assert_eq!(compile(".*").suffix(path, true), Some(14));
    assert_eq!(compile("x*").suffix(path, true), None);
    assert_eq!(compile("*").suffix("aé".as_bytes(), false), Some(3));
    assert_eq!(compile("?").suffix("aé".as_bytes(), false), Some(1));
    assert_eq!(compile("+([a-z.])").suffix(path, true), Some(11));
}

#[test]
fn all_matches_are_found() {
    let replace = |pattern: &str, subject: &str| {
        let pattern = compile(pattern);
        let mut result = String::new();
        let mut at = 0;
        for range in pattern.find_iter(subject.as_bytes()) {
            result.push_str(&subject[at..range.start]);
            result.push('R');
            at = range.end;
        }
        result + &subject[at..]
    };
    assert_eq!(replace("a", "banana"), "bRnRnR");
    assert_eq!(replace("an*", "banana"), "bR");
    assert_eq!(replace("?(z)", "abc"), "RaRbRc");
    assert_eq!(replace("*(a)", "abc"), "RRbRc");
    assert_eq!(replace("[é]", "aéé"), "aRR");
    assert_eq!(replace("*", ""), "R");
    assert_eq!(replace("?(a)", ""), "");
    assert_eq!(replace("", "abc"), "abc");
    assert_eq!(compile("a?").find(b"xabab"), Some(1..3));
}

#[test]
fn only_a_literal_period_matches_a_leading_period() {
    for (pattern, name, matched) in [
        ("*", ".a", false),
        ("?a", ".a", false),
        ("[.]a", ".a", false),
        (".*", ".a", true),
        ("@(.a|b)", ".a", true),
        ("!(b)", ".a", false),
        ("*.a", "x.a", true),
        ("*(x).a", ".a", true),
        ("?(x).a", ".a", true),
        ("*.a", ".a", false),
        ("@(|x).a", ".a", false),
        ("+(x|).a", ".a", false),
        ("!(x).a", ".a", false),
        ("*(.)a", ".a", true),
    ] {
        assert_eq!(compile(pattern).matches_name(name.as_bytes()), matched, "{pattern} {name}");
    }
}

#[test]
fn quoted_text_matches_itself() {
    let text = "a*[b]?\\(é|!-^~ /.";
    let mut quoted = Vec::new();
    quote_into(&mut quoted, text.as_bytes());
    let options = PatternOptions { extended: true, ..PatternOptions::default() };
    assert_eq!(Pattern::compile(&quoted, options).literal(), Some(text.as_bytes()));
    assert_eq!(unquote(&quoted), text.as_bytes());
    assert!(!has_operators(&quoted, true));
    for (text, active) in [("a*", true), ("[", false), ("[a]", true), ("+(a)", true), ("a+b", false)] {
        assert_eq!(has_operators(text.as_bytes(), true), active, "{text}");
    }
}

#[test]
fn hostile_patterns_match_in_polynomial_time() {
    let subject = "a".repeat(2000);
    assert!(!matches(&"*a".repeat(50).replace("*a", "*a*"), &"b".repeat(2000)));
    assert!(!matches(&format!("{}b", "*a".repeat(200)), &subject));
    assert!(!matches("*(*(a)*(a)*(a))b", &subject));
    assert!(!matches("+(+(+(a|aa)|aaa)|a)b", &subject));
    assert!(!matches(&format!("{}b", "?(a)".repeat(100)), &subject));
    assert!(matches(&format!("{}x", "@(".repeat(5000)), &format!("{}x", "@(".repeat(5000))));
    let nested = format!("{}a{}", "!(".repeat(8), ")".repeat(8));
    let _ = matches(&nested, &subject[..100]);
}
