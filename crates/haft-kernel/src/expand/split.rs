//! The characters that separate fields.

/// What `IFS` says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Separators {
    /// For each byte: 0 none, 1 white space, 2 another separator.
    kinds: &'static [u8; 256],
    own: Option<[u8; 256]>,
    /// The first character of `IFS`, which joins `"$*"`.
    pub(crate) join: Option<u8>,
}

static DEFAULT: [u8; 256] = {
    let mut kinds = [0; 256];
    kinds[b' ' as usize] = 1;
    kinds[b'\t' as usize] = 1;
    kinds[b'\n' as usize] = 1;
    kinds
};

impl Separators {
    /// What a value of `IFS` says; `None` is an unset one.
    pub(crate) fn new(ifs: Option<&[u8]>) -> Self {
        let ifs = match ifs {
            None | Some(b" \t\n") => {
                return Self { kinds: &DEFAULT, own: None, join: Some(b' ') };
            }
            Some(ifs) => ifs,
        };
        let mut kinds = [0; 256];
        for byte in ifs {
            kinds[usize::from(*byte)] = if matches!(byte, b' ' | b'\t' | b'\n') { 1 } else { 2 };
        }
        Self { kinds: &DEFAULT, own: Some(kinds), join: ifs.first().copied() }
    }

    /// Whether a byte separates, and is no white space.
    #[inline]
    pub(crate) fn is_hard(&self, byte: u8) -> bool {
        self.kind(byte) == 2
    }

    /// Whether a byte separates.
    #[inline]
    pub(crate) fn separates(&self, byte: u8) -> bool {
        self.kind(byte) != 0
    }

    #[inline]
    fn kind(&self, byte: u8) -> u8 {
        match &self.own {
            None => self.kinds[usize::from(byte)],
            Some(own) => own[usize::from(byte)],
        }
    }
}
