//! Letting go of what is large.

use std::thread;

use haft_text::Bytes;

use crate::memory::MemoryBudget;

/// Drops a value on a thread of its own: nobody who has been told to stop waits until all of it is taken apart.
pub(crate) fn discard<T: Send + 'static>(value: T, memory: &MemoryBudget) {
    let memory = memory.clone();
    let drop_value = move || {
        let _counted = memory.enter();
        drop(value);
    };
    // Without a thread the closure is dropped here, and the value with it.
    let _ = thread::Builder::new().name("discard".to_owned()).spawn(drop_value);
}

/// The same with a list of words, if it is so long that it would be noticed.
pub(crate) fn discard_words(words: &mut Vec<Bytes>, memory: &MemoryBudget) {
    const LONG: usize = 10_000;
    if words.len() > LONG {
        discard(std::mem::take(words), memory);
    }
}
