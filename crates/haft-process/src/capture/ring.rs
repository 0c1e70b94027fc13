/// The last bytes of a stream, at most `capacity` of them. Memory grows with what is in it.
#[derive(Debug)]
pub(super) struct Ring {
    /// Below capacity, the content in order; at capacity, the oldest byte is at `start` and the content wraps around.
    buffer: Vec<u8>,
    start: usize,
    capacity: usize,
}

impl Ring {
    pub(super) fn new(capacity: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, capacity }
    }

    pub(super) fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Adds bytes at the end and forgets as many at the front as do not fit.
    pub(super) fn push(&mut self, bytes: &[u8]) {
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

    /// Appends to `into` up to `limit` bytes, beginning `offset` bytes after the oldest one.
    pub(super) fn copy(&self, offset: usize, limit: usize, into: &mut Vec<u8>) {
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

    #[test]
    fn the_ring_holds_the_last_bytes_in_order() {
        for capacity in 0..9 {
            for step in 1..12 {
                let mut ring = Ring::new(capacity);
                let stream: Vec<u8> = (0..100).collect();
                for (index, chunk) in stream.chunks(step).enumerate() {
                    ring.push(chunk);
                    let end = index * step + chunk.len();
                    let expected = &stream[end - end.min(capacity)..end];
                    for offset in 0..=expected.len() {
                        for limit in 0..=expected.len() - offset {
                            let mut copied = Vec::new();
                            ring.copy(offset, limit, &mut copied);
                            assert_eq!(copied, expected[offset..offset + limit]);
                        }
                    }
                    assert_eq!(ring.len(), expected.len());
                }
            }
        }
    }
}
