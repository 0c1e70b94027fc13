//! File modes as GNU's `chmod` and `mkdir -m` take them, and as `ls` and `stat` show them.

use haft_fs::FileType;

/// All bits that `chmod` can change.
pub(crate) const ALL_BITS: u32 = 0o7777;

const SET_USER_ID: u32 = 0o4000;
const SET_GROUP_ID: u32 = 0o2000;
const STICKY: u32 = 0o1000;
const ALL_READ: u32 = 0o444;
const ALL_WRITE: u32 = 0o222;
const ALL_EXECUTE: u32 = 0o111;

/// An octal mode with at most this many digits keeps the set-ID bits of directories.
const SHORT_OCTAL_DIGITS: usize = 4;

/// One change of a mode.
#[derive(Clone, Copy, Debug)]
struct ModeChange {
    operator: u8,
    value: ModeValue,
    affected: u32,
    bits: u32,
    mentioned: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModeValue {
    Bits,
    /// `X`: execution, for directories and files that some user may execute.
    ExecuteIfAny,
    /// The permissions of the user, group or others.
    Copy,
}

/// A parsed mode, such as `u+x,go=r` or `644`.
#[derive(Clone, Debug)]
pub(crate) struct ModeChanges(Vec<ModeChange>);

impl ModeChanges {
    /// Parses a mode. Returns `None` if it is invalid.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        if text.first().is_some_and(|byte| (b'0'..b'8').contains(byte)) {
            let bits = parse_octal(text)?;
            let set_bits = SET_USER_ID | SET_GROUP_ID | STICKY;
            let mentioned = if text.len() <= SHORT_OCTAL_DIGITS { bits & set_bits | 0o777 } else { ALL_BITS };
            let change =
                ModeChange { operator: b'=', value: ModeValue::Bits, affected: ALL_BITS, bits, mentioned };
            return Some(Self(vec![change]));
        }
        let mut changes = Vec::new();
        for clause in text.split(|byte| *byte == b',') {
            parse_clause(clause, &mut changes)?;
        }
        Some(Self(changes))
    }

    /// Exactly these bits, for `--reference`.
    pub(crate) fn exactly(bits: u32) -> Self {
        Self(vec![ModeChange {
            operator: b'=',
            value: ModeValue::Bits,
            affected: ALL_BITS,
            bits,
            mentioned: ALL_BITS,
        }])
    }

    /// The new mode of a file with the mode `old`.
    pub(crate) fn apply(&self, old: u32, is_directory: bool, umask: u32) -> u32 {
        self.apply_with_bits(old, is_directory, umask).0
    }

    /// The mode of a new directory.
    pub(crate) fn new_directory(&self, umask: u32) -> u32 {
        let (mode, named) = self.apply_with_bits(0o777, true, umask);
        // With the sticky bit, others may write only if the mode says so.
        let made = if mode & STICKY == 0 { mode } else { mode & !(0o022 & !named) };
        made & ALL_BITS
    }

    /// The new mode, and the bits that the changes determine.
    fn apply_with_bits(&self, old: u32, is_directory: bool, umask: u32) -> (u32, u32) {
        let mut mode = old & ALL_BITS;
        let mut named = 0;
        for change in &self.0 {
            let kept = if is_directory { (SET_USER_ID | SET_GROUP_ID) & !change.mentioned } else { 0 };
            let bits = match change.value {
                ModeValue::Bits => change.bits,
                ModeValue::ExecuteIfAny if is_directory || mode & ALL_EXECUTE != 0 => {
                    change.bits | ALL_EXECUTE
                }
                ModeValue::ExecuteIfAny => change.bits,
                ModeValue::Copy => spread(change.bits & mode),
            };
            let bits = bits & (if change.affected == 0 { !umask } else { change.affected }) & !kept;
            named |= bits;
            mode = match change.operator {
                b'=' => {
                    let preserved = if change.affected == 0 { 0 } else { !change.affected } | kept;
                    named |= ALL_BITS & !preserved;
                    mode & preserved | bits
                }
                b'+' => mode | bits,
                _ => mode & !bits,
            };
        }
        (mode & ALL_BITS, named)
    }
}

/// Permissions of one class of users as those of all.
fn spread(bits: u32) -> u32 {
    [ALL_READ, ALL_WRITE, ALL_EXECUTE]
        .into_iter()
        .filter(|all| bits & all != 0)
        .fold(bits, |sum, all| sum | all)
}

fn parse_octal(text: &[u8]) -> Option<u32> {
    let mut bits = 0;
    for digit in text {
        bits = bits * 8 + u32::from(digit.checked_sub(b'0').filter(|digit| *digit < 8)?);
        if bits > ALL_BITS {
            return None;
        }
    }
    Some(bits)
}

/// Parses a clause such as `ug+rw-x`.
fn parse_clause(clause: &[u8], changes: &mut Vec<ModeChange>) -> Option<()> {
    let start = clause.iter().position(|byte| b"+-=".contains(byte))?;
    let mut affected = 0;
    for letter in &clause[..start] {
        affected |= match letter {
            b'u' => SET_USER_ID | 0o700,
            b'g' => SET_GROUP_ID | 0o070,
            b'o' => STICKY | 0o007,
            b'a' => ALL_BITS,
            _ => return None,
        };
    }
    let mut rest = &clause[start..];
    while let Some((&operator, after)) = rest.split_first() {
        if !b"+-=".contains(&operator) {
            return None;
        }
        let end = after.iter().position(|byte| b"+-=".contains(byte)).unwrap_or(after.len());
        changes.push(parse_action(operator, &after[..end], affected, end < after.len())?);
        rest = &after[end..];
    }
    Some(())
}

/// Parses what follows an operator.
fn parse_action(operator: u8, text: &[u8], affected: u32, more_follows: bool) -> Option<ModeChange> {
    let change = |value, bits, mentioned| ModeChange { operator, value, affected, bits, mentioned };
    let mentioned = |bits| if affected == 0 { bits } else { affected & bits };
    match text {
        [b'0'..=b'7', ..] => {
            let bits = parse_octal(text).filter(|_| affected == 0 && !more_follows)?;
            Some(ModeChange { affected: ALL_BITS, ..change(ModeValue::Bits, bits, ALL_BITS) })
        }
        [b'u'] => Some(change(ModeValue::Copy, 0o700, mentioned(0o700))),
        [b'g'] => Some(change(ModeValue::Copy, 0o070, mentioned(0o070))),
        [b'o'] => Some(change(ModeValue::Copy, 0o007, mentioned(0o007))),
        letters => {
            let mut bits = 0;
            let mut value = ModeValue::Bits;
            for letter in letters {
                match letter {
                    b'r' => bits |= ALL_READ,
                    b'w' => bits |= ALL_WRITE,
                    b'x' => bits |= ALL_EXECUTE,
                    b'X' => value = ModeValue::ExecuteIfAny,
                    b's' => bits |= SET_USER_ID | SET_GROUP_ID,
                    b't' => bits |= STICKY,
                    _ => return None,
                }
            }
            Some(change(value, bits, mentioned(bits)))
        }
    }
}

/// The letter of a file type, as the first column of `ls -l`.
pub(crate) fn type_letter(kind: FileType) -> u8 {
    match kind {
        FileType::File => b'-',
        FileType::Directory => b'd',
        FileType::Symlink => b'l',
        FileType::Fifo => b'p',
        FileType::Socket => b's',
        FileType::CharacterDevice => b'c',
        FileType::BlockDevice => b'b',
    }
}

/// The type and permissions of a file as `ls -l` shows them: `drwxr-xr-x`.
pub(crate) fn mode_text(kind: FileType, mode: u32) -> String {
    let mut text = String::from(char::from(type_letter(kind)));
    for (shift, special, letters) in [(6, SET_USER_ID, "sS"), (3, SET_GROUP_ID, "sS"), (0, STICKY, "tT")] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        let (set, unset) = letters.split_at(1);
        text.push_str(match (bits & 1 != 0, mode & special != 0) {
            (true, true) => set,
            (false, true) => unset,
            (true, false) => "x",
            (false, false) => "-",
        });
    }
    text
}

/// The `st_mode` of a file: its type and permission bits.
pub(crate) fn raw_mode(kind: FileType, mode: u32) -> u32 {
    let kind = match kind {
        FileType::File => 0o100_000,
        FileType::Directory => 0o040_000,
        FileType::Symlink => 0o120_000,
        FileType::Fifo => 0o010_000,
        FileType::Socket => 0o140_000,
        FileType::CharacterDevice => 0o020_000,
        FileType::BlockDevice => 0o060_000,
    };
    kind | mode
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbolic_modes_change_the_bits_they_name() {
        let apply = |text: &str, old, directory| {
            ModeChanges::parse(text.as_bytes()).map(|changes| changes.apply(old, directory, 0o022))
        };
        assert_eq!(apply("u+x", 0o644, false), Some(0o744));
        assert_eq!(apply("go-rwx,u=rw", 0o777, false), Some(0o600));
        assert_eq!(apply("+w", 0o444, false), Some(0o644));
        assert_eq!(apply("a+X", 0o644, false), Some(0o644));
        assert_eq!(apply("a+X", 0o644, true), Some(0o755));
        assert_eq!(apply("g=u", 0o640, false), Some(0o660));
        assert_eq!(apply("755", 0o2700, true), Some(0o2755));
        assert_eq!(apply("00755", 0o2700, true), Some(0o755));
        assert_eq!(apply("u+y", 0, false), None);
        assert_eq!(apply("8", 0, false), None);
        assert_eq!(apply("", 0, false), None);
    }
}
