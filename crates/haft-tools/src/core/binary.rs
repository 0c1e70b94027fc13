//! Detection of binary files.

/// File signatures.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x7fELF", "ELF executable or library"),
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\0asm", "WebAssembly module"),
    (b"RIFF", "RIFF media"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O binary"),
    (b"!<arch>\n", "ar archive"),
];

/// Returns the type of a binary file from its first bytes, or `None` if it may be text.
pub(super) fn binary_type(beginning: &[u8]) -> Option<&'static str> {
    let known = SIGNATURES.iter().find(|(start, _)| beginning.starts_with(start)).map(|(_, kind)| *kind);
    if known.is_some_and(|_| beginning.iter().any(|byte| *byte == 0 || *byte >= 0x80)) {
        return known;
    }
    beginning.contains(&0).then_some("binary data")
}

#[cfg(test)]
mod tests {
    use super::binary_type;

    #[test]
    fn binary_types_are_detected_and_text_is_not() {
        assert_eq!(binary_type(b"\x7fELF\x02\x01\x01\0"), Some("ELF executable or library"));
        assert_eq!(binary_type(b"%PDF-1.4\n%\xe2\xe3"), Some("PDF document"));
        assert_eq!(binary_type(b"a\0b"), Some("binary data"));
        assert_eq!(binary_type(b"ID3 is how a text may begin"), None);
        assert_eq!(binary_type("grün".as_bytes()), None);
        assert_eq!(binary_type(b""), None);
    }
}
