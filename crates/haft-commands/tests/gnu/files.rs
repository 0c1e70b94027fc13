//! The files that the commands read.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
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
    "floats",
    "suffixes",
    "new\nline",
    "./-n",
    "bad\u{fffd}name",
    "huge",
    "hole",
    "invalid",
    "secret",
    "closed",
    "closed/x",
    "words/",
    "words/x",
    "",
];

/// Names of files with checksums.
pub(crate) const SUMS: &[&str] =
    &["sums", "sums-good", "sums-tag", "sums-bsd", "sums-escaped", "sums-missing", "words"];

/// Names of files in base64.
pub(crate) const ENCODED: &[&str] = &["b64", "b64-open", "b64-garbage", "b64-two", "b64-short", "b64-bad"];

/// Names of files that can be joined.
pub(crate) const JOINED: &[&str] = &[
    "sorted",
    "sorted2",
    "join1",
    "join2",
    "join3",
    "join-commas1",
    "join-commas2",
    "join-unsorted",
    "join-case",
    "empty",
    "-",
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
    "huge",
    "hole",
    "invalid",
    "nul",
];

/// The length of a line that no buffer holds.
const HUGE_LINE: usize = 150_000;

/// Makes files whose names or contents are unusual. [`bytes`] gives the byte of a replacement character.
fn make_hostile(directory: &Path) {
    let put = |name: &str, content: &[u8]| {
        std::fs::write(directory.join(os_string(name)), content).expect("a file");
    };
    put("new\nline", b"in a file with a newline\n");
    put("-n", b"in a file with a dash\nx\n");
    put("bad\u{fffd}name", b"in a file whose name is not text\na\n");
    put("huge", &[&vec![b'a'; HUGE_LINE], b"\nb\n".as_slice(), &vec![b'c'; HUGE_LINE]].concat());
    put("hole", b"start\n");
    let hole = std::fs::File::options().write(true).open(directory.join("hole")).expect("a file");
    hole.set_len(20_000).expect("a hole");
    put("invalid", b"a\xff b\n\xc3\xa9 x\n\xc3\ny \xe2\x82\n\xf0\x9f\xa6\x80 z\nplain\n\xed\xa0\x80 w\n");
    put("secret", b"nobody may read this\n");
    std::fs::create_dir(directory.join("closed")).expect("a directory");
    put("closed/x", b"in a closed directory\n");
    for name in ["secret", "closed"] {
        let none = std::os::unix::fs::PermissionsExt::from_mode(0o0);
        std::fs::set_permissions(directory.join(name), none).expect("its mode");
    }
}

/// Lets the directory that nobody may read be removed.
pub(crate) fn reopen(directory: &Path) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.join("closed"), mode).expect("its mode");
}

/// The bytes of a word of a call. A replacement character stands for a byte that is not text.
pub(crate) fn bytes(word: &str) -> Vec<u8> {
    let byte = |character: char, buffer: &mut Vec<u8>| match character {
        '\u{fffd}' => buffer.push(0xFF),
        other => buffer.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
    };
    word.chars().fold(Vec::new(), |mut buffer, character| {
        byte(character, &mut buffer);
        buffer
    })
}

/// The same as a name of a file.
pub(crate) fn os_string(word: &str) -> OsString {
    OsString::from_vec(bytes(word))
}

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
    put("random", b"0123456789abcdef and more");
    put("join1", b"a 1 x\nb 2 y\nb 3 z\nc 4\n  d   5  \nf\ng 7 8 9\n");
    put("join2", b"a one\nb two\nb too \nd four\ne five\nf\tsix\tseven\nh\n");
    put("join3", b"\na\nb x\n\nc");
    put("join-commas1", b"id,name,size\n1,ann,\n2,,7\n2,bob,8\n4,dan,9\n,x,\n");
    put("join-commas2", b"id,city\n1,Rome\n2,Oslo\n3,Bern\n4,\n");
    put("join-unsorted", b"b 1\na 2\nd 3\nc 4\n");
    put("join-case", b"A 1\nb 2\nC 3\n");
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
    put(
        "floats",
        b"1e3\n1E-2\n-inf\n0x1F\n1e\n.5e1\n5.\n-0\n+1\n\t 3\n-1e2\n18446744073709551615\ninfi\n.\n",
    );
    put(
        "suffixes",
        b"a.b.c\na.b\na\n.\n..\n.a\n.a~\na~\na.~1~\na.0\na.00\na0\na00b\na0b\nA.tar.gz\na.tar.gz\na1.tar\na.1.x\na-1\na+1\n~\n1~\n1\n",
    );
    put("b64", b"aGVsbG8gd29ybGQsIGhlbGxv\nIHdvcmxk\nIQ==\n");
    put("b64-open", b"aGVsbG8");
    put("b64-garbage", b"aG Vs*bG8=\r\n");
    put("b64-two", b"YQ==YWI=YWJj");
    put("b64-short", b"YWJjY\n");
    put("b64-bad", b"YW=j");
    make_sums(directory);
    std::fs::create_dir(directory.join("directory")).expect("a directory");
    make_hostile(directory);
}

/// Makes lists of the checksums of `words` and `empty` and of files that do not exist.
fn make_sums(directory: &Path) {
    const SUMS: [[&str; 2]; 3] = [
        ["MD5", "d41d8cd98f00b204e9800998ecf8427e"],
        ["SHA1", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
        ["SHA256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ];
    let put = |name: &str, line: &dyn Fn(&str, &str) -> String| {
        let text: String = SUMS.iter().map(|[tag, sum]| line(tag, sum)).collect();
        std::fs::write(directory.join(name), text).expect("a list of checksums");
    };
    put("sums", &|_, sum| format!("# comment\n{sum}  empty\n{sum} *words\n\nbad line\n{sum}  missing\r\n"));
    put("sums-good", &|_, sum| format!("{}  empty\n{sum} *empty\n \t{sum}  empty\n", sum.to_uppercase()));
    put("sums-tag", &|tag, sum| {
        format!("{tag} (empty) = {sum}\n{tag}(empty)= {sum}\n{tag} (a) b) = {sum}\n{tag} x\n")
    });
    put("sums-bsd", &|_, sum| format!("{sum} empty\n{sum}  empty\n{sum} x\n{sum}\n{sum} \n{sum}  \n"));
    put("sums-escaped", &|tag, sum| {
        format!("\\{sum}  a\\nb\n\\{sum}  a\\x\n\\{tag} (c\\\\d\\r) = {sum}\n\\{sum}  empty\n")
    });
    put("sums-missing", &|_, sum| format!("{sum}  missing\n{sum}  directory\n"));
}
