//! The files that the commands read.

use std::path::Path;

/// Names of files that commands get as operands. Some do not exist.
pub(crate) const OPERANDS: &[&str] = &[
    "words",
    "numbers",
    "fields",
    "commas",
    "sorted",
    "sorted2",
    "empty",
    "newlines",
    "unfinished",
    "one-line",
    "bytes",
    "long",
    "paragraphs",
    "returns",
    "repeated",
    "nul",
    "-",
    "a b",
    "it's",
    "missing",
    "no such\nfile",
    "directory",
    "utf8",
    "months",
    "versions",
    "sizes",
];

/// Names of files for standard input.
pub(crate) const INPUTS: &[&str] = &[
    "words",
    "numbers",
    "fields",
    "commas",
    "sorted",
    "empty",
    "newlines",
    "unfinished",
    "bytes",
    "repeated",
    "paragraphs",
];

/// Makes all files.
pub(crate) fn make(directory: &Path) {
    let put = |name: &str, content: &[u8]| std::fs::write(directory.join(name), content).expect("a file");
    put("words", b"pear\napple\nBanana\n  cherry\napple\nfig\tdate\n\nzebra quince\nAPPLE\n");
    put("numbers", b"10\n9\n-3\n2.5\n1e3\n0x10\n+7\n 42\n007\nabc\n1,000\n-0\n.5\n10\n");
    put("fields", b"a 1 x\nb 2 y\n a  3 z\nc\t4\tw\n\nb 10 v\nA 2 y\n");
    put("commas", b"k1,v1,3\nk2,v2,1\nk3,,2\nk1,v4\nno separator\n,,\n");
    put("sorted", b"a 1\nb 2\nc 3\ne 5\ng 7\n");
    put("sorted2", b"a x\nc y\nc z\nd w\ng v\nh\n");
    put("empty", b"");
    put("newlines", b"\n\n\n");
    put("unfinished", b"first\nsecond\nthird without newline");
    put("one-line", b"only\n");
    let bytes: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
    put("bytes", &bytes);
    let long: Vec<u8> =
        (0..40).flat_map(|line| [vec![b'a' + line % 26; 150], b"\n".to_vec()].concat()).collect();
    put("long", &long);
    put("paragraphs", b"one\ntwo\n\n\n\nthree\n\nfour\n\n\\:\\:\\:\nhead\n\\:\\:\nbody\n\\:\nfoot\n");
    put("returns", b"a\r\nb\r\n\r\nc\rd\r\n");
    put("repeated", b"x\nx\nX\nx\ny\ny\nz\nz z\nz  z\n1 a\n2 a\n2 A\n");
    put("nul", b"a\0b\0c\0c\0\0d");
    put("a b", b"file with a blank\n");
    put("it's", b"file with a quote\n");
    put("utf8", "h\u{e9}llo w\u{f6}rld\n\u{65e5}\u{672c}\u{8a9e} x\n\u{1f980}\n".as_bytes());
    put("months", b"feb\nJan\nDECember\nxyz\n mar\nApril\n");
    put("versions", b"1.10\n1.9\n1.2rc1\n1.2\n1.2~beta\nfile-1.2.tar.gz\nfile-1.10.tar.gz\n01\n1\n.hidden\n");
    put("sizes", b"1K\n2M\n512\n1G\n3k\n-2K\n1.5M\nKK\n10\n");
    std::fs::create_dir(directory.join("directory")).expect("a directory");
}
