//! Pseudoterminals for children.

use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{SpecialCodeIndex, Winsize, tcgetattr, tcsetwinsize};

use crate::command::{Command, DescriptorSource};
use crate::error::{Error, ErrorKind};

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TerminalSize {
    /// Number of rows.
    pub rows: u16,
    /// Number of columns.
    pub columns: u16,
}

impl Default for TerminalSize {
    /// 24 rows and 80 columns.
    fn default() -> TerminalSize {
        TerminalSize { rows: 24, columns: 80 }
    }
}

/// The default end-of-file character.
const CTRL_D: u8 = 4;

/// The master side of a pseudoterminal.
#[derive(Debug)]
pub(crate) struct PseudoTerminal {
    master: OwnedFd,
}

impl PseudoTerminal {
    /// Creates a pseudoterminal. Its slave side becomes standard input, output and error of the command, and the controlling
    /// terminal of a new session.
    pub(crate) fn open(
        size: TerminalSize,
        command: &mut Command,
    ) -> Result<(PseudoTerminal, DescriptorSource), Error> {
        let failed = |error: rustix::io::Errno| {
            Error::new(
                ErrorKind::Terminal,
                format!("cannot create a terminal: {}", crate::error::reason(&error.into())),
            )
        };
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).map_err(failed)?;
        grantpt(&master).map_err(failed)?;
        unlockpt(&master).map_err(failed)?;
        let name = ptsname(&master, Vec::new()).map_err(failed)?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).map_err(failed)?;
        let number = slave.as_raw_fd();
        let terminal = PseudoTerminal { master };
        terminal.resize(size).map_err(failed)?;
        let slave = DescriptorSource::from(slave);
        for standard in 0..3 {
            command.descriptor(standard, slave.clone());
        }
        command.controlling_terminal(number);
        Ok((terminal, slave))
    }

    /// Duplicates the master side.
    pub(crate) fn duplicate(&self) -> Result<OwnedFd, Error> {
        rustix::io::fcntl_dupfd_cloexec(&self.master, 0)
            .map_err(|error| Error::system("duplicate the terminal", error))
    }

    /// Changes the size. The kernel sends `SIGWINCH` to the foreground processes.
    pub(crate) fn resize(&self, size: TerminalSize) -> rustix::io::Result<()> {
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.master, size)
    }

    /// Returns the end-of-file character from the current settings of the terminal.
    pub(crate) fn end_of_input(&self) -> u8 {
        tcgetattr(self.master.as_fd())
            .map_or(CTRL_D, |settings| settings.special_codes[SpecialCodeIndex::VEOF])
    }
}
