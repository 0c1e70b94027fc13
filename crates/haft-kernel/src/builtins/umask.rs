//! `umask`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "Sp") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let symbolic = options::has(&flags, b'S');
    if let Some(mode) = operands.first() {
        let parsed = if mode.first().is_some_and(u8::is_ascii_digit) {
            octal(mode)
        } else {
            symbolic_mask(mode, context.open_files().umask())
        };
        match parsed {
            Ok(mask) => {
                context.open_files_mut().set_umask(mask);
                context.session().kernel.permit(mask);
            }
            Err(problem) => {
                context.error(problem);
                return Ok(1);
            }
        }
        return if symbolic {
            context.print(format!("{}\n", shown(context.open_files().umask())).as_bytes())
        } else {
            Ok(0)
        };
    }
    let mask = context.open_files().umask();
    let value = if symbolic { shown(mask) } else { format!("{mask:04o}") };
    let prefix = match (options::has(&flags, b'p'), symbolic) {
        (true, true) => "umask -S ",
        (true, false) => "umask ",
        (false, _) => "",
    };
    context.print(format!("{prefix}{value}\n").as_bytes())
}

fn octal(text: &[u8]) -> Result<u32, String> {
    let parsed = std::str::from_utf8(text).ok().and_then(|digits| u32::from_str_radix(digits, 8).ok());
    parsed
        .filter(|mask| *mask <= 0o777)
        .ok_or_else(|| format!("{}: octal number out of range", String::from_utf8_lossy(text)))
}

/// Returns the permissions that a mask allows, as `u=rwx,g=rx,o=rx`.
fn shown(mask: u32) -> String {
    let class = |name: char, shift: u32| {
        let left = !mask >> shift & 7;
        let letters: String = [(4, 'r'), (2, 'w'), (1, 'x')]
            .iter()
            .filter(|(bit, _)| left & bit != 0)
            .map(|(_, l)| *l)
            .collect();
        format!("{name}={letters}")
    };
    [class('u', 6), class('g', 3), class('o', 0)].join(",")
}

/// Applies a symbolic mode such as `g+w,o=` to the permissions that a mask allows.
fn symbolic_mask(text: &[u8], mask: u32) -> Result<u32, String> {
    let mut allowed = !mask & 0o777;
    for clause in text.split(|byte| *byte == b',') {
        let who_length = clause.iter().take_while(|byte| b"ugoa".contains(byte)).count();
        let (who, mut rest) = clause.split_at(who_length);
        let who = who.iter().fold(0, |bits, letter| {
            bits | match letter {
                b'u' => 0o700,
                b'g' => 0o070,
                b'o' => 0o007,
                _ => 0o777,
            }
        });
        let who = if who == 0 { 0o777 } else { who };
        if rest.is_empty() {
            return Err("`': invalid symbolic mode operator".to_owned());
        }
        while let Some((&operator, after)) = rest.split_first() {
            if !b"+-=".contains(&operator) {
                return Err(format!("`{}': invalid symbolic mode operator", char::from(operator)));
            }
            let length = after.iter().take_while(|byte| !b"+-=".contains(byte)).count();
            let (letters, next) = after.split_at(length);
            let bits = who & permissions(letters, allowed)?;
            allowed = match operator {
                b'+' => allowed | bits,
                b'-' => allowed & !bits,
                _ => allowed & !who | bits,
            };
            rest = next;
        }
    }
    Ok(!allowed & 0o777)
}

fn permissions(letters: &[u8], allowed: u32) -> Result<u32, String> {
    letters.iter().try_fold(0, |bits, letter| {
        Ok(bits
            | match letter {
                b'r' => 0o444,
                b'w' => 0o222,
                b'x' => 0o111,
                b'X' if allowed & 0o111 != 0 => 0o111,
                b'X' | b's' | b't' => 0,
                other => return Err(format!("`{}': invalid symbolic mode character", char::from(*other))),
            })
    })
}
