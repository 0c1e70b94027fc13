//! Shrinks a script that shows a failure.

use crate::mutate::tokens;

/// Returns a small script for which `shows` is still true, by removing lines, tokens and bytes repeatedly.
pub(crate) fn shrink(script: &[u8], shows: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut script = script.to_vec();
    loop {
        let before = script.len();
        let lines = script.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        script = leave_out(lines, &shows);
        script = leave_out(tokens(&script), &shows);
        script = leave_out(script.into_iter().map(|byte| vec![byte]).collect(), &shows);
        if script.len() == before {
            return script;
        }
    }
}

/// Removes runs of pieces, long ones first, while `shows` stays true.
fn leave_out(mut pieces: Vec<Vec<u8>>, shows: &impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut run = pieces.len().div_ceil(2);
    while run > 0 {
        let mut at = 0;
        while at < pieces.len() {
            let end = (at + run).min(pieces.len());
            let fewer = [&pieces[..at], &pieces[end..]].concat();
            if shows(&fewer.concat()) {
                pieces = fewer;
            } else {
                at += run;
            }
        }
        run /= 2;
    }
    pieces.concat()
}
