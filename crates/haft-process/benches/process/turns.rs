//! Measuring several functions alternately, so that disturbances affect all of them.

use std::time::Duration;

use crate::time;

/// Returns the median duration of one call of each function.
pub(crate) fn compare<const N: usize>(
    rounds: usize,
    repeat: u32,
    mut actions: [&mut dyn FnMut(); N],
) -> [Duration; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for round in 0..=rounds {
        for (action, times) in actions.iter_mut().zip(&mut times) {
            let taken = time(*action, repeat);
            // The first round is a warm-up.
            if round > 0 {
                times.push(taken);
            }
        }
    }
    times.each_mut().map(|times| median(times))
}

/// Returns the median.
pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
