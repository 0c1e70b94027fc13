//! Options in rules that apply to every spelling.

use crate::command::JudgedWord;
use crate::command_rule::RuleMatch;
use crate::wildcard;

/// An option that a rule requires anywhere among the words.
#[derive(Clone, Debug)]
pub(crate) enum OptionPattern {
    /// Short options: all these letters, in any grouping.
    Short(Vec<u8>),
    /// A long option, or a word such as `-name`; it may have wildcards.
    Long(Vec<u8>),
}

impl OptionPattern {
    /// Reads a word of a rule that starts with `-`; `None` for other words.
    pub(crate) fn read(word: &[u8]) -> Option<OptionPattern> {
        match word {
            [b'-', b'-', _, ..] => Some(OptionPattern::Long(word.to_vec())),
            [b'-', letters @ ..] if !letters.is_empty() && letters != b"-" => {
                match letters.iter().all(u8::is_ascii_alphanumeric) {
                    true => Some(OptionPattern::Short(letters.to_vec())),
                    false => Some(OptionPattern::Long(word.to_vec())),
                }
            }
            _ => None,
        }
    }

    /// Whether the option is among the words before `--`.
    pub(crate) fn find(&self, words: &[JudgedWord<'_>]) -> RuleMatch {
        let end =
            words.iter().position(|word| matches!(word, JudgedWord::Known(b"--"))).unwrap_or(words.len());
        match self {
            OptionPattern::Long(option) => {
                words[..end].iter().map(|word| long(option, *word)).max().unwrap_or(RuleMatch::No)
            }
            OptionPattern::Short(letters) => {
                letters.iter().map(|letter| short(*letter, &words[..end])).min().unwrap_or(RuleMatch::No)
            }
        }
    }
}

/// Whether a word is a long option, possibly abbreviated or with a value.
fn long(option: &[u8], word: JudgedWord<'_>) -> RuleMatch {
    let JudgedWord::Known(word) = word else {
        return if could_be_option(word.prefix()) { RuleMatch::Maybe } else { RuleMatch::No };
    };
    if word.first() != Some(&b'-') {
        return RuleMatch::No;
    }
    let name = word.split(|byte| *byte == b'=').next().unwrap_or(word);
    let is_abbreviated = name.len() > 2 && name.starts_with(b"--") && option.starts_with(name);
    match wildcard::matches(option, word) || wildcard::matches(option, name) || is_abbreviated {
        true => RuleMatch::Yes,
        false => RuleMatch::No,
    }
}

/// Whether a letter is among the short options in the words.
fn short(letter: u8, words: &[JudgedWord<'_>]) -> RuleMatch {
    let in_word = |word: &JudgedWord<'_>| match word {
        JudgedWord::Known([b'-', letters @ ..])
            if letters.first() != Some(&b'-') && letters.contains(&letter) =>
        {
            RuleMatch::Yes
        }
        JudgedWord::Unknown { prefix, .. } if could_be_option(prefix) => RuleMatch::Maybe,
        _ => RuleMatch::No,
    };
    words.iter().map(in_word).max().unwrap_or(RuleMatch::No)
}

fn could_be_option(prefix: &[u8]) -> bool {
    prefix.is_empty() || prefix.starts_with(b"-")
}

/// The positions at which a subcommand may stand: the first word, or after options and their values.
pub(crate) fn skip_options(program: &[u8], words: &[JudgedWord<'_>]) -> impl Iterator<Item = usize> {
    let mut starts = vec![0];
    let (mut at, mut after_option) = (0, false);
    while let Some(word) = words.get(at) {
        let is_option = word.prefix().starts_with(b"-");
        if is_option && takes_value(program, *word) {
            at += 2;
            after_option = false;
            starts.push(at.min(words.len()));
            continue;
        }
        // A word after an option may be its value. The word after that is an operand.
        if !is_option && !after_option {
            break;
        }
        after_option = is_option;
        at += 1;
        starts.push(at);
    }
    starts.into_iter()
}

/// Whether the next word is certainly the value of an option.
fn takes_value(program: &[u8], option: JudgedWord<'_>) -> bool {
    const GIT: &[&[u8]] = &[b"-C", b"-c", b"--git-dir", b"--work-tree", b"--namespace", b"--config-env"];
    program == b"git" && matches!(option, JudgedWord::Known(option) if GIT.contains(&option))
}
