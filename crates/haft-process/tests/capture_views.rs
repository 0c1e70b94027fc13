//! Views, compared with a model that keeps the whole stream in memory.

use std::ops::Range;

use haft_process::capture::{CaptureLimits, LineSearch, Output, OutputSlice, OutputView, SpillDirectory};

/// A random number generator with a fixed seed.
struct ViewRandom(u64);

impl ViewRandom {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A stream, its kept ranges, and its output.
struct ViewCase {
    stream: Vec<u8>,
    retained: Vec<Range<u64>>,
    output: Output,
    _directory: tempfile::TempDir,
}

impl ViewCase {
    fn new(stream: Vec<u8>, limits: CaptureLimits, spill: bool, random: &mut ViewRandom) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let spill_directory = SpillDirectory::open(directory.path()).expect("an open directory");
        let output = Output::new(limits, spill.then_some(spill_directory));
        let mut rest = stream.as_slice();
        while !rest.is_empty() {
            let (chunk, after) =
                rest.split_at(rest.len().min(1 + random.below(1 + stream.len() as u64 / 3) as usize));
            if random.below(2) == 0 {
                output.append(chunk);
            } else {
                let mut buffer = chunk.to_vec();
                buffer.resize(chunk.len() + random.below(9) as usize, 0);
                output.append_buffer(&mut buffer, chunk.len());
            }
            rest = after;
        }
        output.finish();
        let retained = Self::retained(stream.len() as u64, limits, spill);
        Self { stream, retained, output, _directory: directory }
    }

    fn retained(total: u64, limits: CaptureLimits, spill: bool) -> Vec<Range<u64>> {
        let (head, tail) = (limits.head as u64, limits.tail as u64);
        let spilled =
            if spill && total > head + tail && limits.spill > head + tail { limits.spill } else { 0 };
        let prefix_end = head.max(spilled).min(total);
        let tail_start = total - tail.min(total.saturating_sub(head));
        let ranges =
            if prefix_end >= tail_start { [0..total, 0..0] } else { [0..prefix_end, tail_start..total] };
        ranges.into_iter().filter(|range| !range.is_empty()).collect()
    }

    fn is_complete(&self) -> bool {
        self.retained.len() < 2
            && self.retained.first().is_none_or(|range| *range == (0..self.stream.len() as u64))
    }

    fn kept(&self, range: &Range<u64>) -> Vec<u8> {
        let kept = self.retained.iter().map(|kept| kept.start.max(range.start)..kept.end.min(range.end));
        let kept = kept.filter(|kept| kept.start < kept.end);
        kept.flat_map(|kept| &self.stream[kept.start as usize..kept.end as usize]).copied().collect()
    }

    fn newlines(&self, range: Range<usize>) -> u64 {
        self.stream[range].iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// Returns the start of a line.
    fn line_start(&self, line: u64) -> u64 {
        let mut starts = std::iter::once(0).chain(
            self.stream
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'\n')
                .map(|(index, _)| index as u64 + 1),
        );
        starts.nth(line.saturating_sub(1) as usize).unwrap_or(self.stream.len() as u64)
    }

    fn total_lines(&self) -> u64 {
        self.stream.split_inclusive(|byte| *byte == b'\n').count() as u64
    }

    /// Returns the range that a view selects.
    fn range(&self, view: &OutputView) -> Range<u64> {
        let total = self.stream.len() as u64;
        match view {
            OutputView::HeadAndTail => 0..total,
            OutputView::Bytes(range) => range.start.min(total)..range.end.min(total),
            OutputView::Lines { first, last } if first <= last => {
                self.line_start(*first)..self.line_start(last + 1)
            }
            OutputView::HeadBytes(count) => 0..total.min(*count),
            OutputView::HeadLines(count) => 0..self.line_start(count + 1),
            OutputView::TailBytes(count) => total.saturating_sub(*count)..total,
            OutputView::TailLines(0) => total..total,
            OutputView::TailLines(count) => {
                self.line_start(self.total_lines().saturating_sub(*count) + 1)..total
            }
            _ => 0..0,
        }
    }

    fn check(&self, view: &OutputView, budget: usize) {
        let slice = self.output.slice(view, budget).expect("a readable output");
        let context = format!("{view:?} in {budget} of {:?} with {:?}", self.retained, slice);
        self.check_pieces(&slice, &context);
        let shown = slice.to_bytes();
        assert!(shown.len() <= budget, "{context}");
        let range = self.range(view);
        let by_lines =
            matches!(view, OutputView::Lines { .. } | OutputView::HeadLines(_) | OutputView::TailLines(_));
        if self.is_complete() || !by_lines {
            let kept = self.kept(&range);
            if kept.len() <= budget {
                assert_eq!(shown, kept, "{context}");
            } else if budget > 8 {
                assert!(shown.len() >= budget / 4, "{context}");
            }
            let omitted: u64 =
                slice.omissions.iter().map(|omission| omission.bytes.end - omission.bytes.start).sum();
            let asked = range.end.saturating_sub(range.start);
            assert_eq!(omitted + shown.len() as u64, asked, "{context}");
            assert_eq!(slice.is_whole(), shown.len() as u64 == asked, "{context}");
        } else {
            // A line start in lost bytes is unknown, but all kept bytes in the range must be present.
            let kept = self.kept(&range);
            if kept.len() <= budget {
                assert!(shown.len() >= kept.len(), "{context}");
            }
            assert!(slice.is_whole() || !slice.omissions.is_empty(), "{context}");
        }
    }

    /// Checks that every piece matches the stream and has the right line number.
    fn check_pieces(&self, slice: &OutputSlice, context: &str) {
        assert_eq!(slice.total_bytes, self.stream.len() as u64);
        assert_eq!(slice.total_lines, self.total_lines());
        let mut end = 0;
        for piece in &slice.pieces {
            assert!(piece.start >= end && !piece.bytes.is_empty(), "{context}");
            end = piece.end();
            let start = piece.start as usize;
            assert_eq!(piece.bytes, self.stream[start..end as usize], "{context}");
            assert_eq!(piece.first_line, self.newlines(0..start) + 1, "{context}");
        }
        for omission in slice.omissions.iter().filter(|omission| omission.lost == 0) {
            let range = omission.bytes.start as usize..omission.bytes.end as usize;
            assert_eq!(omission.lines, self.newlines(range), "{context}");
        }
    }

    /// Returns the numbers of the matching lines in all kept bytes.
    fn matching(&self, needle: &str) -> Vec<u64> {
        let mut matching = Vec::new();
        for range in &self.retained {
            let kept = &self.stream[range.start as usize..range.end as usize];
            let numbers = self.newlines(0..range.start as usize) + 1..;
            for (number, line) in numbers.zip(kept.split_inclusive(|byte| *byte == b'\n')) {
                if String::from_utf8_lossy(line).contains(needle) {
                    matching.push(number);
                }
            }
        }
        matching
    }

    fn check_search(&self, needle: &str, before: u64, after: u64) {
        let search = LineSearch::new(needle).expect("a pattern").context(before, after);
        let slice = self.output.slice(&OutputView::Matches(search), usize::MAX).expect("a readable output");
        let context = format!("{needle} of {:?} with {slice:?}", self.retained);
        self.check_pieces(&slice, &context);
        let expected = self.matching(needle);
        let found: Vec<u64> = slice.pieces.iter().flat_map(|piece| &piece.matches).copied().collect();
        assert_eq!(found, expected, "{context}");
        let counts = slice.matches.expect("a search");
        assert_eq!((counts.total, counts.shown), (expected.len() as u64, expected.len() as u64), "{context}");
        if self.is_complete() {
            let near =
                |line: u64| expected.iter().any(|found| line + before >= *found && line <= found + after);
            let shown: Vec<u64> = (1..=self.total_lines()).filter(|line| near(*line)).collect();
            let lines =
                slice.pieces.iter().flat_map(|piece| piece.first_line..piece.first_line + piece.lines());
            assert_eq!(lines.collect::<Vec<_>>(), shown, "{context}");
        }
    }
}

fn stream(random: &mut ViewRandom, length: u64) -> Vec<u8> {
    let line = 1 + random.below(60);
    let mut stream = Vec::new();
    while (stream.len() as u64) < length {
        match random.below(line + 1) {
            0 => stream.push(b'\n'),
            1 => stream.extend("☃".bytes()),
            2 => stream.extend("é🦀".bytes()),
            other => stream.push(b'a' + (other % 26) as u8),
        }
    }
    stream
}

fn views(random: &mut ViewRandom, bytes: u64, lines: u64) -> Vec<OutputView> {
    let mut place = |limit: u64| random.below(limit + 3);
    let (start, first) = (place(bytes), place(lines));
    vec![
        OutputView::HeadAndTail,
        OutputView::Bytes(start..start + place(bytes)),
        OutputView::Bytes(place(bytes)..u64::MAX),
        OutputView::Lines { first, last: first + place(lines) },
        OutputView::Lines { first, last: first },
        OutputView::HeadBytes(place(bytes)),
        OutputView::HeadLines(place(lines)),
        OutputView::TailBytes(place(bytes)),
        OutputView::TailLines(place(lines)),
    ]
}

#[test]
fn views_match_the_model() {
    let mut random = ViewRandom(0x2545_f491_4f6c_dd1d);
    for _ in 0..1500 {
        let length = random.below(600);
        let stream = stream(&mut random, length);
        let limits = CaptureLimits {
            head: random.below(100) as usize,
            tail: random.below(100) as usize,
            spill: [0, 150, 400, 10_000][random.below(4) as usize],
        };
        let spill = random.below(3) > 0;
        let case = ViewCase::new(stream, limits, spill, &mut random);
        assert_eq!(case.output.retained(), case.retained);
        assert_eq!(case.output.is_complete(), case.is_complete());
        for view in views(&mut random, case.stream.len() as u64, case.total_lines()) {
            for budget in [usize::MAX, random.below(200) as usize, 0, 1] {
                case.check(&view, budget);
            }
        }
        for needle in ["a", "é", "bc", "zz"] {
            let (before, after) = (random.below(4), random.below(4));
            case.check_search(needle, before, after);
        }
    }
}

#[test]
fn views_find_lines_in_a_large_spill_file() {
    let mut random = ViewRandom(0x0dd0_5eed);
    for spill in [64 << 20, 1_500_000] {
        let stream = stream(&mut random, 3_000_000);
        let limits = CaptureLimits { head: 1000, tail: 70_000, spill };
        let case = ViewCase::new(stream, limits, true, &mut random);
        for _ in 0..12 {
            for view in views(&mut random, case.stream.len() as u64, case.total_lines()) {
                case.check(&view, 5000);
            }
        }
        case.check_search("zyx", 1, 0);
    }
}

#[test]
fn cut_text_has_no_broken_characters() {
    let mut random = ViewRandom(0xface);
    for _ in 0..300 {
        let stream = stream(&mut random, 500);
        let limits = CaptureLimits {
            head: 60 + random.below(9) as usize,
            tail: 60 + random.below(9) as usize,
            spill: 0,
        };
        let case = ViewCase::new(stream, limits, false, &mut random);
        for view in views(&mut random, case.stream.len() as u64, case.total_lines()) {
            let text = case.output.slice(&view, random.below(150) as usize).expect("memory").to_text();
            assert!(!text.lossy && !text.text.contains('\u{fffd}'), "{view:?}: {text:?}");
        }
    }
}

#[test]
fn the_default_view_cuts_between_lines() {
    let output = Output::new(CaptureLimits::default(), None);
    for number in 1..=1000 {
        output.append(format!("line {number}\n").as_bytes());
    }
    let text = output.slice(&OutputView::HeadAndTail, 50).expect("memory").to_text().text;
    assert_eq!(
        text,
        "line 1\nline 2\nline 3\n[… 8844 bytes in 994 lines omitted …]\nline 998\nline 999\nline 1000\n"
    );
}

fn numbered() -> Output {
    let directory = tempfile::tempdir().expect("a directory");
    let spill = SpillDirectory::open(directory.path()).expect("an open directory");
    let output = Output::new(CaptureLimits { head: 10, tail: 200, spill: 1000 }, Some(spill));
    for number in 1..=500 {
        output.append(format!("line {number}\r\n").as_bytes());
    }
    output.finish();
    output
}

#[test]
fn searches_number_lines_before_and_after_lost_bytes() {
    let output = numbered();
    let search = LineSearch::new("(^line 9|7)$|500$").expect("a pattern").context(1, 0);
    let slice = output.slice(&OutputView::Matches(search.limit(3)), 10_000).expect("a readable output");
    assert_eq!(
        slice.to_text().text,
        "6-line 6\r\n7:line 7\r\n8-line 8\r\n9:line 9\r\n--\n16-line 16\r\n17:line 17\r\n"
    );
    let matches = slice.matches.expect("a search");
    assert_eq!((matches.shown, matches.total), (3, 15));
    assert!(!slice.is_whole());
    assert_eq!(slice.omissions.len(), 1);
    assert_eq!(slice.omissions[0].lost, slice.lost_bytes);
    let search = LineSearch::new("500$").expect("a pattern");
    let slice = output.slice(&OutputView::Matches(search), 10_000).expect("a readable output");
    assert_eq!(slice.to_text().text, "500:line 500\r\n");
}

#[test]
fn searches_count_matches_beyond_the_budget() {
    let output = numbered();
    let search = LineSearch::new("line").expect("a pattern");
    let slice = output.slice(&OutputView::Matches(search), 40).expect("a readable output");
    let matches = slice.matches.expect("a search");
    assert_eq!((slice.to_bytes().len(), matches.shown), (40, 5));
    assert_eq!(matches.total, 111 + 20);
}

#[test]
fn matches_in_very_long_lines_are_shown_with_context() {
    let directory = tempfile::tempdir().expect("a directory");
    let spill = SpillDirectory::open(directory.path()).expect("an open directory");
    let output = Output::new(CaptureLimits::default(), Some(spill));
    output.append(b"short\n");
    let mut line = vec![b'-'; 5 << 20];
    // Across the boundary of two parts of a search.
    line[(1 << 20) - 3..][..6].copy_from_slice(b"needle");
    output.append(&line);
    output.append(b"\nneedle too\n");
    let search = LineSearch::new("needle").expect("a pattern");
    let slice = output.slice(&OutputView::Matches(search), 4000).expect("a readable output");
    let matches = slice.matches.expect("a search");
    assert_eq!((matches.shown, matches.total), (2, 2));
    assert_eq!((slice.pieces[0].first_line, slice.pieces[0].bytes.len()), (2, 1000));
    assert!(slice.pieces[0].bytes.windows(6).any(|window| window == b"needle"));
    assert_eq!(
        (slice.pieces[1].first_line, slice.pieces[1].bytes.as_slice()),
        (3, b"needle too\n".as_slice())
    );
    assert_eq!(slice.omissions.len(), 2);
}

#[test]
fn invalid_patterns_are_errors() {
    let error = LineSearch::new("(").expect_err("not a pattern");
    assert!(error.to_string().starts_with("invalid pattern: "), "{error}");
    assert!(LineSearch::new(&"a{1000}".repeat(1000)).is_err());
}
