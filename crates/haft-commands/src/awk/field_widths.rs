//! Fields of fixed widths, as `FIELDWIDTHS` describes them.

use haft_text::encoding::Encoding;

use super::record::SplitField;

/// A field: how many characters come before it, and its width. `None` takes the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldWidth {
    skip: usize,
    width: Option<usize>,
}

/// Reads a value of `FIELDWIDTHS`: numbers, `SKIP:WIDTH`, and `*` at the end.
pub(super) fn parse_widths(text: &[u8]) -> Result<Vec<FieldWidth>, String> {
    let text = String::from_utf8_lossy(text);
    let words: Vec<&str> = text.split([' ', '\t', '\n']).filter(|word| !word.is_empty()).collect();
    let mut widths = Vec::with_capacity(words.len());
    for (index, word) in words.iter().enumerate() {
        let (skip, width) = word.split_once(':').unwrap_or(("0", word));
        let is_last = index + 1 == words.len();
        let field = match (skip.parse().ok(), width, width.parse::<usize>()) {
            (Some(skip), "*", _) if is_last => Some(FieldWidth { skip, width: None }),
            (Some(skip), _, Ok(width)) if width > 0 => Some(FieldWidth { skip, width: Some(width) }),
            _ => None,
        };
        match field {
            Some(field) => widths.push(field),
            None if width == "*" && !is_last => {
                return Err("`*' must be the last designator in FIELDWIDTHS".to_owned());
            }
            None => {
                let rest = text.find(word).map_or("", |at| &text[at..]);
                return Err(format!("invalid FIELDWIDTHS value, for field {}, near `{rest}'", index + 1));
            }
        }
    }
    Ok(widths)
}

/// Cuts a text into fields. The last one may be shorter.
pub(super) fn split_widths(
    text: &[u8],
    widths: &[FieldWidth],
    encoding: Encoding,
    fields: &mut Vec<SplitField>,
) {
    let after = |at: usize, count: usize| {
        let taken = encoding.characters(&text[at..]).take(count);
        at + taken.map(<[u8]>::len).sum::<usize>()
    };
    let mut at = 0;
    for field in widths {
        at = after(at, field.skip);
        if at >= text.len() {
            return;
        }
        let end = field.width.map_or(text.len(), |width| after(at, width));
        fields.push(SplitField { range: (at, end), separator: (end, end) });
        at = end;
    }
}
