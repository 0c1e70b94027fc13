//! Rendering terminal output as text.

use std::time::Instant;

use haft_process::capture::render::{Renderer, VirtualTerminal, render};
use haft_process::capture::{CaptureLimits, Output, OutputView};

fn text(output: &Output) -> String {
    output.slice(&OutputView::HeadAndTail, usize::MAX).expect("an output in memory").to_text().text
}

fn rendered(bytes: impl AsRef<[u8]>) -> String {
    text(&render(bytes.as_ref(), VirtualTerminal::new(24, 80)))
}

#[test]
fn plain_text_is_unchanged() {
    assert_eq!(rendered(""), "");
    assert_eq!(rendered("one\r\n\r\n  two\r\n"), "one\n\n  two\n");
    assert_eq!(rendered("no newline"), "no newline");
    assert_eq!(rendered("grün ☃ 漢字 🦀\r\n"), "grün ☃ 漢字 🦀\n");
}

#[test]
fn text_from_a_pipe_needs_no_carriage_returns() {
    let terminal = VirtualTerminal::new(24, 80).line_feed_returns();
    assert_eq!(text(&render(b"one\n  two\nthree", terminal)), "one\n  two\nthree");
    assert_eq!(text(&render(b"one\r\ntwo\r\n", terminal)), "one\ntwo\n");
}

#[test]
fn progress_bars_show_their_last_state() {
    let mut bytes = b"start\r\n".to_vec();
    for percent in 0..=100 {
        bytes.extend(format!("\r[{:<50}] {percent}%\x1b[K", "#".repeat(percent / 2)).bytes());
    }
    bytes.extend(b"\r\ndone\r\n");
    assert_eq!(rendered(bytes), format!("start\n[{}] 100%\ndone\n", "#".repeat(50)));
}

#[test]
fn redrawn_progress_lines_show_their_last_state() {
    let mut bytes = b"a 0\r\nb 0\r\n".to_vec();
    for step in 1..=9 {
        bytes.extend(format!("\x1b[2Aa {step}\r\nb {step}\r\n").bytes());
    }
    assert_eq!(rendered(bytes), "a 9\nb 9\n");
}

#[test]
fn colours_backspaces_erasures_and_trailing_spaces_are_removed() {
    assert_eq!(rendered("\x1b[1;31merror\x1b[0m: bad   \r\n"), "error: bad\n");
    assert_eq!(rendered("abd\x08c\r\n"), "abc\n");
    assert_eq!(rendered("secret\r\x1b[2Kshown\r\n\r\n\r\n"), "shown\n");
    assert_eq!(rendered("\x1b]0;title\x07text\r\n"), "text\n");
    assert_eq!(rendered("a\tb\r\n"), "a       b\n");
}

#[test]
fn scrolled_lines_are_kept_in_order() {
    let lines: String = (0..10_000).map(|number| format!("line {number}\r\n")).collect();
    assert_eq!(rendered(&lines), lines.replace('\r', ""));
}

#[test]
fn wrapped_lines_are_joined() {
    let wide: String = (0..20_000).map(|number| char::from(b'a' + (number % 26) as u8)).collect();
    assert_eq!(rendered(format!("{wide}\r\nnext\r\n")), format!("{wide}\nnext\n"));
    let spaced = "word ".repeat(5_000);
    assert_eq!(rendered(format!("{spaced}\r\n")), format!("{}\n", spaced.trim_end()));
}

#[test]
fn the_alternate_screen_is_dropped_unless_it_is_still_shown() {
    assert_eq!(rendered("before\r\n\x1b[?1049hfull screen\x1b[?1049lafter\r\n"), "before\nafter\n");
    assert_eq!(rendered("before\r\n\x1b[?1049h\x1b[Heditor"), "before\neditor");
}

#[test]
fn invalid_utf8_is_replaced_and_marked_lossy() {
    let output = render(b"a\xffb\r\n", VirtualTerminal::new(24, 80));
    let summary = output.summary(&OutputView::HeadAndTail, 1024).expect("an output in memory");
    assert_eq!(summary.text, "a\u{fffd}b\n");
    assert!(summary.lossy);
    let mut renderer =
        Renderer::new(VirtualTerminal::new(24, 80), Output::new(CaptureLimits::default(), None));
    renderer.push(b"a\xe2\x98");
    renderer.push(b"\x83\xff");
    assert_eq!(renderer.screen(), "a☃\u{fffd}");
}

#[test]
fn pieces_render_like_the_whole() {
    let bytes = "\x1b[31mgr\u{fc}n\x1b[0m \u{2603}\r\n\x1b[2Ka\x1b[5Cb\rc\x1b[K\r\n".repeat(40);
    let whole = rendered(&bytes);
    for size in [1, 2, 3, 7, 100] {
        let mut renderer =
            Renderer::new(VirtualTerminal::new(24, 80), Output::new(CaptureLimits::default(), None));
        for piece in bytes.as_bytes().chunks(size) {
            renderer.push(piece);
        }
        assert_eq!(text(&renderer.finish()), whole);
    }
}

#[test]
fn scrolled_lines_are_readable_before_the_end() {
    let mut renderer =
        Renderer::new(VirtualTerminal::new(2, 20), Output::new(CaptureLimits::default(), None));
    renderer.push(b"one\r\ntwo\r\nthree\r\n");
    assert_eq!(
        renderer.output().slice(&OutputView::HeadAndTail, 100).expect("memory").to_bytes(),
        b"one\ntwo"
    );
    assert_eq!(renderer.screen(), "three");
    renderer.resize(VirtualTerminal::new(10, 40));
    renderer.push(b"four\r\n");
    assert_eq!(text(&renderer.finish()), "one\ntwo\nthree\nfour\n");
}

#[test]
fn lost_bytes_are_marked_in_rendered_text() {
    let output = Output::new(CaptureLimits { head: 10, tail: 10, spill: 0 }, None);
    output.append(b"first\r\n\x1b[3");
    output.append(&[b'x'; 100]);
    output.append(b"\r\nlast\r\n");
    output.finish();
    let text = text(&output.rendered(VirtualTerminal::new(24, 80)).expect("memory"));
    assert_eq!(text, "first\n\n[… 98 bytes lost …]\nxx\nlast\n");
}

/// A random number generator with a fixed seed.
struct RenderRandom(u64);

impl RenderRandom {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Returns random bytes with many control sequences.
fn random_input(random: &mut RenderRandom, length: usize) -> Vec<u8> {
    let finals = b"@ABCDEFGHJKLMPSTXZ`abcdefghlmnqrstu";
    let texts = [
        "a",
        "漢",
        "e\u{301}",
        "🦀",
        "\u{fe0f}",
        "\u{200d}",
        "☃\u{fe0f}",
        "\u{ad}",
        "👨\u{200d}👩",
        "\u{1100}\u{1161}",
    ];
    let mut bytes = Vec::new();
    while bytes.len() < length {
        match random.below(12) {
            0 => bytes.push(random.next() as u8),
            1 => bytes.extend(b"\r\n"),
            2 => bytes.push(random.below(32) as u8),
            3 => bytes.extend([0x1b, random.below(128) as u8]),
            4 => bytes.extend(
                format!(
                    "\x1b[?{}{}",
                    [1, 6, 25, 47, 1049][random.below(5) as usize],
                    if random.below(2) == 0 { 'h' } else { 'l' }
                )
                .bytes(),
            ),
            5..8 => {
                bytes.extend(b"\x1b[");
                for index in 0..random.below(4) {
                    let limit = [3, 30, 600, 70_000][random.below(4) as usize];
                    bytes.extend(
                        format!("{}{}", if index > 0 { ";" } else { "" }, random.below(limit)).bytes(),
                    );
                }
                bytes.push(finals[random.below(finals.len() as u64) as usize]);
            }
            _ => {
                let text = texts[random.below(texts.len() as u64) as usize];
                for _ in 0..random.below(40) {
                    bytes.extend(text.bytes());
                }
            }
        }
    }
    bytes
}

#[test]
fn random_input_never_panics_at_any_terminal_size() {
    let seed = 0x9e37_79b9_7f4a_7c15;
    let mut random = RenderRandom(seed);
    let sizes = [
        (1, 1),
        (1, 2),
        (2, 1),
        (1, 80),
        (24, 1),
        (2, 2),
        (3, 3),
        (24, 80),
        (50, 132),
        (500, 500),
        (0, 0),
        (9999, 9999),
    ];
    for round in 0..40 {
        for (rows, columns) in sizes {
            let length = if rows > 100 { 2_000 } else { 6_000 };
            let bytes = random_input(&mut random, length);
            let mut renderer = Renderer::new(
                VirtualTerminal::new(rows, columns),
                Output::new(CaptureLimits::default(), None),
            );
            for piece in bytes.chunks(1 + random.below(500) as usize) {
                renderer.push(piece);
                if round % 4 == 0 && random.below(3) == 0 {
                    renderer.resize(VirtualTerminal::new(
                        1 + random.below(60) as u16,
                        1 + random.below(60) as u16,
                    ));
                }
            }
            let _ = renderer.screen();
            renderer.finish();
        }
    }
}

#[test]
fn hostile_sequences_take_linear_time() {
    let terminal = VirtualTerminal::new(500, 500);
    for sequence in [
        "\x1b[65535b",
        "\x1b[J",
        "\x1bc",
        "\x1b[?1049h",
        "\x1b[T",
        "\x1b[?1049;1049;1049;1049h",
        "\x1b[6\r5535b",
    ] {
        let bytes = format!("x{}", sequence.repeat(100_000));
        let start = Instant::now();
        let output = render(bytes.as_bytes(), terminal);
        assert!(start.elapsed().as_secs() < 20, "{sequence:?} took {:?}", start.elapsed());
        assert!(output.slice(&OutputView::HeadLines(1), 10).expect("memory").lossy, "{sequence:?}");
    }
}
