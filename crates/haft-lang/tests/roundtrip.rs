//! A printed program parses to the same program, for randomly generated scripts.

use haft_lang::{ParseOptions, parse, print};

/// Generates scripts. The same seed yields the same script.
struct Generator {
    state: u64,
    depth: u32,
}

impl Generator {
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap_or(0) % limit
    }

    fn pick(&mut self, choices: &[&str]) -> String {
        choices[self.below(choices.len())].to_owned()
    }

    /// Calls one of the generators; beyond a depth, always the first one.
    fn one_of(&mut self, makers: &[fn(&mut Self) -> String]) -> String {
        let index = if self.depth > 2 { 0 } else { self.below(makers.len()) };
        self.depth += 1;
        let text = makers[index](self);
        self.depth -= 1;
        text
    }

    fn several(&mut self, most: usize, separator: &str, make: fn(&mut Self) -> String) -> String {
        let count = 1 + self.below(most);
        (0..count).map(|_| make(self)).collect::<Vec<_>>().join(separator)
    }

    fn name(&mut self) -> String {
        self.pick(&["x", "y", "foo", "BAR_1", "_"])
    }

    fn piece(&mut self) -> String {
        self.one_of(&[
            |g| g.pick(&["a", "b-c", "1", "=", "x.y", "/", ",", "}", "]", "%", "a:b", "\u{e9}", "^", "+"]),
            |g| {
                g.pick(&[
                    "'s q'",
                    "\\ ",
                    "\\$",
                    "$'a\\n\\'b'",
                    "\"\"",
                    "''",
                    "$\"l\"",
                    "\\\\",
                    "\"a\\\\b\\\"\"",
                ])
            },
            |g| g.pick(&["*", "?", "[a-z]", "[!$x]", "~", "{", "{a,b}", "{1..9}", "{01..10..2}", "{a", "[x"]),
            |g| format!("${}", g.pick(&["x", "1", "@", "*", "?", "#", "$", "!", "-", "{x}", "{10}", "_y"])),
            Self::expansion,
            |g| format!("\"{}\"", g.quoted()),
            |g| format!("$({})", g.inline_list()),
            |g| format!("`{}`", g.pick(&["a", "a b", "echo \\$x", "a; b"])),
            |g| format!("$(({}))", g.arithmetic()),
            |g| format!("{}({})", g.pick(&["<", ">"]), g.inline_list()),
            |g| format!("{{{}}}", g.several(3, ",", Self::piece)),
        ])
    }

    fn quoted(&mut self) -> String {
        let piece: fn(&mut Self) -> String = |g| {
            g.one_of(&[
                |g| {
                    g.pick(&[
                        "a", " ", "b c", "*", "~", "{a,b}", "\\$", "\\\\", "\\\"", "\\n", "\n", "$", "#",
                    ])
                },
                |g| format!("${}", g.pick(&["x ", "1", "@", "{y}"])),
                Self::expansion_in_quotes,
                |g| format!("$({})", g.inline_list()),
                |g| format!("$(({}))", g.arithmetic()),
            ])
        };
        let text = self.several(3, "", piece);
        text.strip_suffix('$').map(|text| format!("{text}.")).unwrap_or(text)
    }

    fn expansion(&mut self) -> String {
        let word = self.several(2, "", Self::piece).replace('}', "\\}").replace(['{'], "\\{");
        self.expansion_with(&word)
    }

    fn expansion_in_quotes(&mut self) -> String {
        let word = self.pick(&["a", "$x", "a b", "\"q\"", "\\}", "*"]);
        self.expansion_with(&word)
    }

    fn expansion_with(&mut self, word: &str) -> String {
        let name = self.name();
        let plain = !word.contains(['{', '}', '/', '\'', '"', '`', '(', '\\', '$']);
        let word = if plain { word } else { "w" };
        let operator = self.pick(&[
            ":-", "-", ":=", ":?", ":+", "#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^", ",", ",,",
            "~",
        ]);
        match self.below(8) {
            0 => format!("${{#{name}}}"),
            1 => format!("${{!{name}}}"),
            2 => format!("${{{name}[{}]}}", self.pick(&["@", "*", "1", "$i", "i+1", "\"k\"", "x[1]"])),
            3 => format!("${{{name}:{}}}", self.pick(&["1", "1:2", " -1", "$i:$((j))", "(1)", "a?b:c"])),
            4 => format!("${{{name}@{}}}", self.pick(&["Q", "U", "a", "K"])),
            5 => format!("${{!{name}{}}}", self.pick(&["*", "@", "[@]", "[*]"])),
            6 => format!("${{{name}/{word}/{}}}", self.pick(&["", "r", "$r", "\"r\""])),
            _ => format!("${{{name}{operator}{word}}}"),
        }
    }

    fn arithmetic(&mut self) -> String {
        self.one_of(&[
            |g| g.pick(&["1", "i", "$i", "a[1]", "${x}", "0x1f", "i++", "--i", " 2 "]),
            |g| {
                format!(
                    "{} {} {}",
                    g.arithmetic(),
                    g.pick(&["+", "-", "*", "<<", "&&", "==", "?1:", "**", ","]),
                    g.arithmetic()
                )
            },
            |g| format!("({})", g.arithmetic()),
            |g| format!("-{}", g.arithmetic()),
            |g| format!("x = {}", g.arithmetic()),
        ])
    }

    fn word(&mut self) -> String {
        format!("w{}", self.several(3, "", Self::piece))
    }

    fn redirect(&mut self) -> String {
        let word = self.word();
        match self.below(8) {
            0 => "2>&1".to_owned(),
            1 => format!("<<< {word}"),
            2 => format!("{{fd}}>{word}"),
            3 => "<&-".to_owned(),
            4 => format!("3<>{word}"),
            5 => format!("&>{word}"),
            6 => format!(">> {word}"),
            _ => format!(">{word}"),
        }
    }

    fn simple(&mut self) -> String {
        let mut text = String::new();
        if self.below(4) == 0 {
            let value = self.pick(&["", "v", "$v", "\"a b\"", "~/x:~", "(1 2)", "([k]=v $w *)", "{a,b}"]);
            text += &format!("{}{}={value} ", self.name(), self.pick(&["", "+", "[1]", "[$k]"]));
        }
        text += &self.several(4, " ", Self::word);
        if self.below(4) == 0 {
            text += &format!(" {}", self.redirect());
        }
        text
    }

    fn command(&mut self) -> String {
        self.one_of(&[
            Self::simple,
            |g| format!("{{ {}; }}", g.inline_list()),
            |g| format!("( {} )", g.inline_list()),
            |g| format!("if {}; then {}; elif a; then b; else {}; fi", g.inline_list(), g.list(), g.list()),
            |g| format!("for x in {}; do {}; done", g.several(3, " ", Self::word), g.list()),
            |g| format!("for x; do {}; done {}", g.list(), g.redirect()),
            |g| format!("for (({};{};)); do {}; done", g.arithmetic(), g.arithmetic(), g.list()),
            |g| format!("while {}; do {}; done", g.inline_list(), g.list()),
            |g| {
                format!("case {} in {}) {} ;; (*|esac) {} ;& b) esac", g.word(), g.word(), g.list(), g.list())
            },
            |g| format!("[[ {} == {} && ! ( -f {} || {} ) ]]", g.word(), g.word(), g.word(), g.word()),
            |g| format!("(({}))", g.arithmetic()),
            |g| format!("{}() {{ {}; }}", g.pick(&["f", "g-h"]), g.inline_list()),
            |g| format!("function k ( {} ) {}", g.inline_list(), g.redirect()),
            |g| format!("coproc {}", g.pick(&["a b", "{ c; }", "N { c; }"])),
            |g| format!("select x in a b; do {}; done", g.list()),
            |g| {
                format!(
                    "cat <<E {}\nbody $x\n$(a)\nE\nz",
                    g.pick(&["", "| b", "&& c", "<<-'F'\n\tq\n\tF"]).replace("<<-'F'\n\tq\n\tF", "")
                )
            },
            |g| format!("declare -a {}={}", g.name(), g.pick(&["(1 2)", "x", "$y", "{1,2}"])),
        ])
    }

    fn pipeline(&mut self) -> String {
        let prefix =
            if self.below(8) == 0 { self.pick(&["! ", "time ", "time -p ! "]) } else { String::new() };
        format!("{prefix}{}", self.several(2, " | ", Self::command))
    }

    fn statement(&mut self) -> String {
        let join = self.pick(&[" && ", " || ", " && \n"]);
        self.several(2, &join, Self::pipeline)
    }

    fn inline_list(&mut self) -> String {
        self.several(2, "; ", Self::statement)
    }

    fn list(&mut self) -> String {
        let separator = self.pick(&["\n", "; ", "\n# comment\n", " & "]);
        self.several(3, &separator, Self::statement)
    }
}

#[test]
fn printed_programs_parse_to_the_same_program() {
    let options = ParseOptions::default();
    let mut accepted = 0;
    for seed in 1..=1_500u64 {
        let mut generator = Generator { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, depth: 0 };
        let text = generator.list();
        let Ok(program) = parse(text.as_bytes(), &options) else { continue };
        accepted += 1;
        let printed = print(&program);
        let shown = String::from_utf8_lossy(&printed);
        let again = parse(&printed, &options).unwrap_or_else(|error| {
            panic!("seed {seed}:\n{text}\n----\n{shown}\n{}", error.render("printed", &printed))
        });
        assert!(again == program, "seed {seed} changes:\n{text}\n----\n{shown}");
        assert_eq!(String::from_utf8_lossy(&print(&again)), shown, "seed {seed}: printing twice differs");
    }
    assert!(accepted > 1_000, "only {accepted} scripts were accepted");
}
