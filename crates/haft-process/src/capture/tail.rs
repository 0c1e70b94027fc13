/// The last bytes of a stream. Memory is allocated as it fills.
///
/// Small pieces are copied into a ring buffer. A buffer that replaces the whole content is taken over without a copy, in
/// exchange for the previous one.
#[derive(Debug)]
pub(super) struct Tail {
    ring: RingBuffer,
    /// The last buffer that was taken over. If `filled` is not 0, the content is the end of its first `filled` bytes.
    taken: Vec<u8>,
    filled: usize,
}

impl Tail {
    /// Makes a tail of at most `capacity` bytes.
    pub(super) fn new(capacity: usize) -> Self {
        Self { ring: RingBuffer::new(capacity), taken: Vec::new(), filled: 0 }
    }

    pub(super) fn len(&self) -> usize {
        if self.filled > 0 { self.ring.capacity } else { self.ring.len() }
    }

    /// Appends bytes and drops the oldest ones beyond the capacity.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.filled > 0 {
            self.ring.push(&self.taken[..self.filled]);
            self.filled = 0;
        }
        self.ring.push(bytes);
    }

    /// Appends the first `filled` bytes of a buffer. Exchanges the buffer for one of the same length and at least the same
    /// capacity, if that avoids a copy.
    pub(super) fn exchange(&mut self, buffer: &mut Vec<u8>, filled: usize) {
        if filled < self.ring.capacity.max(1) {
            return self.push(&buffer[..filled]);
        }
        self.taken.reserve(buffer.capacity().saturating_sub(self.taken.len()));
        self.taken.resize(buffer.len(), 0);
        std::mem::swap(&mut self.taken, buffer);
        self.filled = filled;
    }

    /// Appends up to `limit` bytes from `offset` on to `into`.
    pub(super) fn copy(&self, offset: usize, limit: usize, into: &mut Vec<u8>) {
        if self.filled == 0 {
            return self.ring.copy(offset, limit, into);
        }
        let content = &self.taken[self.filled - self.ring.capacity..self.filled];
        let content = &content[offset.min(content.len())..];
        into.extend_from_slice(&content[..content.len().min(limit)]);
    }
}

/// A ring buffer of at most `capacity` bytes.
#[derive(Debug)]
struct RingBuffer {
    /// The content. At capacity, the oldest byte is at `start` and the content wraps around.
    buffer: Vec<u8>,
    start: usize,
    capacity: usize,
}

impl RingBuffer {
    fn new(capacity: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, capacity }
    }

    fn len(&self) -> usize {
        self.buffer.len()
    }

    fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len() - bytes.len().min(self.capacity)..];
        let (growing, wrapping) = bytes.split_at(bytes.len().min(self.capacity - self.buffer.len()));
        self.buffer.extend_from_slice(growing);
        let (to_end, from_start) = wrapping.split_at(wrapping.len().min(self.buffer.len() - self.start));
        self.buffer[self.start..self.start + to_end.len()].copy_from_slice(to_end);
        self.buffer[..from_start.len()].copy_from_slice(from_start);
        self.start += wrapping.len();
        if self.start >= self.capacity {
            self.start -= self.capacity;
        }
    }

    fn copy(&self, offset: usize, limit: usize, into: &mut Vec<u8>) {
        let (older, newer) = (&self.buffer[self.start..], &self.buffer[..self.start]);
        let from_older = &older[offset.min(older.len())..];
        let from_older = &from_older[..from_older.len().min(limit)];
        let from_newer = &newer[offset.saturating_sub(older.len()).min(newer.len())..];
        into.extend_from_slice(from_older);
        into.extend_from_slice(&from_newer[..from_newer.len().min(limit - from_older.len())]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tail: &Tail, expected: &[u8]) {
        assert_eq!(tail.len(), expected.len());
        for offset in 0..=expected.len() {
            for limit in 0..=expected.len() - offset {
                let mut copied = Vec::new();
                tail.copy(offset, limit, &mut copied);
                assert_eq!(copied, expected[offset..offset + limit]);
            }
        }
    }

    #[test]
    fn the_tail_has_the_last_bytes_in_order() {
        let stream: Vec<u8> = (0..100).collect();
        for capacity in 0..9 {
            for step in 1..12 {
                for exchanged in [1, 2, 3, usize::MAX] {
                    let mut tail = Tail::new(capacity);
                    let mut buffer = Vec::with_capacity(40);
                    buffer.resize(16, 0);
                    for (index, chunk) in stream.chunks(step).enumerate() {
                        if index % exchanged == 0 {
                            buffer[..chunk.len()].copy_from_slice(chunk);
                            tail.exchange(&mut buffer, chunk.len());
                            assert!(buffer.len() == 16 && buffer.capacity() >= 40);
                        } else {
                            tail.push(chunk);
                        }
                        let end = index * step + chunk.len();
                        check(&tail, &stream[end - end.min(capacity)..end]);
                    }
                }
            }
        }
    }
}
