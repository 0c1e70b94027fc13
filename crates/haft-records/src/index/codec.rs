//! The binary form of an index.

use super::{Covered, JournalIndex, RunEntry, StageEntry, TextSpan};
use crate::chain::ChainHash;

/// The first bytes of an index. Another format has another number.
const MAGIC: &[u8; 8] = b"haftidx1";

/// Bytes of the encoded form of a run and of a stage.
const RUN_BYTES: usize = 7 * 8 + 10 * 4;
const STAGE_BYTES: usize = 3 * 4 + 3 * 8;

impl JournalIndex {
    pub(super) fn encode(&self) -> Vec<u8> {
        let strings = self.strings.join("\0");
        let sections = [
            self.runs.len() * RUN_BYTES,
            self.stages.len() * STAGE_BYTES,
            self.ids.len(),
            self.texts.len(),
            strings.len(),
        ];
        let mut bytes = Vec::with_capacity(sections.iter().sum::<usize>() + 128);
        bytes.extend_from_slice(MAGIC);
        put(&mut bytes, &[self.covered.bytes, self.covered.last_line]);
        bytes.extend_from_slice(&self.covered.last_hash.to_hex());
        put(&mut bytes, &sections.map(|length| length as u64));
        self.runs.iter().for_each(|run| run.encode(&mut bytes));
        self.stages.iter().for_each(|stage| stage.encode(&mut bytes));
        bytes.extend_from_slice(&self.ids);
        bytes.extend_from_slice(&self.texts);
        bytes.extend_from_slice(strings.as_bytes());
        bytes
    }

    /// Decodes an index. Returns `None` if it has another format or is damaged.
    pub(super) fn decode(bytes: &[u8]) -> Option<JournalIndex> {
        let mut input = IndexReader(bytes.strip_prefix(MAGIC)?);
        let covered = Covered {
            bytes: input.u64()?,
            last_line: input.u64()?,
            last_hash: ChainHash::from_hex(input.take(crate::chain::HASH_DIGITS)?)?,
        };
        let mut lengths = [0; 5];
        for length in &mut lengths {
            *length = usize::try_from(input.u64()?).ok()?;
        }
        let runs = input.take(lengths[0])?.chunks_exact(RUN_BYTES).map_while(RunEntry::decode);
        let runs: Vec<RunEntry> = runs.collect();
        let stages = input.take(lengths[1])?.chunks_exact(STAGE_BYTES).map_while(StageEntry::decode);
        let stages: Vec<StageEntry> = stages.collect();
        let (ids, texts) = (input.take(lengths[2])?.to_vec(), input.take(lengths[3])?.to_vec());
        let strings = std::str::from_utf8(input.take(lengths[4])?).ok()?;
        let strings = strings.split('\0').map(str::to_owned).collect();
        let is_valid = stages.iter().all(|stage| (stage.run as usize) < runs.len());
        is_valid.then_some(JournalIndex { runs, stages, ids, texts, strings, covered, open: None })
    }
}

impl RunEntry {
    fn encode(&self, bytes: &mut Vec<u8>) {
        put(
            bytes,
            &[self.time, self.duration_us, self.cpu_us, self.bytes, self.max_rss, self.start_at, self.end_at],
        );
        let small = [
            self.id.at,
            self.id.length,
            self.text.at,
            self.text.length,
            self.session,
            self.agent,
            self.tool,
            self.stages,
            self.code.cast_unsigned(),
            self.kind,
        ];
        small.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    }

    fn decode(bytes: &[u8]) -> Option<RunEntry> {
        let mut input = IndexReader(bytes);
        Some(RunEntry {
            time: input.u64()?,
            duration_us: input.u64()?,
            cpu_us: input.u64()?,
            bytes: input.u64()?,
            max_rss: input.u64()?,
            start_at: input.u64()?,
            end_at: input.u64()?,
            id: TextSpan { at: input.u32()?, length: input.u32()? },
            text: TextSpan { at: input.u32()?, length: input.u32()? },
            session: input.u32()?,
            agent: input.u32()?,
            tool: input.u32()?,
            stages: input.u32()?,
            code: input.u32()?.cast_signed(),
            kind: input.u32()?,
        })
    }
}

impl StageEntry {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let small = [self.run, self.program, self.code.cast_unsigned()];
        small.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        put(bytes, &[self.wall_us, self.cpu_us, self.bytes]);
    }

    fn decode(bytes: &[u8]) -> Option<StageEntry> {
        let mut input = IndexReader(bytes);
        Some(StageEntry {
            run: input.u32()?,
            program: input.u32()?,
            code: input.u32()?.cast_signed(),
            wall_us: input.u64()?,
            cpu_us: input.u64()?,
            bytes: input.u64()?,
        })
    }
}

fn put(bytes: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
}

/// Bytes that are still to be decoded.
struct IndexReader<'a>(&'a [u8]);

impl<'a> IndexReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoded_index_is_the_encoded_one_and_a_cut_one_is_rejected() {
        let index = JournalIndex {
            runs: vec![RunEntry { time: 7, code: -1, kind: 3, ..RunEntry::default() }],
            stages: vec![StageEntry { wall_us: 9, ..StageEntry::default() }],
            ids: b"r1".to_vec(),
            texts: b"true\n".to_vec(),
            strings: vec!["one".to_owned(), "two".to_owned()],
            ..JournalIndex::default()
        };
        let bytes = index.encode();
        let decoded = JournalIndex::decode(&bytes).expect("an index");
        assert_eq!((&decoded.runs, &decoded.stages), (&index.runs, &index.stages));
        assert_eq!(
            (&decoded.ids, &decoded.texts, &decoded.strings),
            (&index.ids, &index.texts, &index.strings)
        );
        assert!((0..bytes.len()).all(|length| JournalIndex::decode(&bytes[..length]).is_none()));
    }
}
