//! Dropping of large values without delay.

use std::thread;

use haft_text::Bytes;

use crate::memory::MemoryBudget;

/// Drops a value on another thread, so that a cancelled session does not wait for it.
pub(crate) fn discard<T: Send + 'static>(value: T, memory: &MemoryBudget) {
    let memory = memory.clone();
    let drop_value = move || {
        let _counted = memory.enter();
        drop(value);
    };
    // If no thread can be started, the closure and the value are dropped here.
    let _ = thread::Builder::new().name("discard".to_owned()).spawn(drop_value);
}

/// Drops a list of words on another thread if it is long.
pub(crate) fn discard_words(words: &mut Vec<Bytes>, memory: &MemoryBudget) {
    const MIN_DISCARDED_WORDS: usize = 10_000;
    if words.len() > MIN_DISCARDED_WORDS {
        discard(std::mem::take(words), memory);
    }
}
