//! Standard input and output as a transport.
//!
//! The two descriptors move to other numbers before anything else runs. From then on no code in this process and no
//! child can write between two messages or read one. Scripts in this process cannot open them as `/proc/self/fd/N`
//! either. [`protect_process`](haft_process::protect_process) keeps child processes from doing so.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::pin::Pin;

use rustix::fs::{FileType, Mode, OFlags, fstat};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::shutdown::ClientDescriptors;

/// Messages from the client.
pub(crate) type BoxedReader = Pin<Box<dyn AsyncRead + Send>>;
/// Messages to the client.
pub(crate) type BoxedWriter = Pin<Box<dyn AsyncWrite + Send>>;

/// Standard input and output, reserved for protocol messages.
#[derive(Debug)]
pub struct Stdio {
    input: OwnedFd,
    output: OwnedFd,
}

impl Stdio {
    /// Reserves standard input and output for protocol messages. Afterwards, descriptor 0 is `/dev/null`, and
    /// descriptor 1 is standard error.
    ///
    /// # Errors
    /// Fails if the system is out of descriptors, or if one of the two is not open.
    pub fn take() -> io::Result<Stdio> {
        let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdin(&null)?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        haft_process::withhold_file(&input);
        haft_process::withhold_file(&output);
        Ok(Stdio { input, output })
    }

    /// Converts both descriptors to streams of the runtime.
    pub(crate) fn split(self) -> io::Result<(BoxedReader, BoxedWriter)> {
        Ok((reader(self.input)?, writer(self.output)?))
    }

    /// Whether standard input is a terminal, so that a person would have to write the messages.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        rustix::termios::isatty(&self.input)
    }

    /// Duplicates both descriptors, to be polled.
    pub(crate) fn duplicate(&self) -> io::Result<ClientDescriptors> {
        Ok(ClientDescriptors { input: self.input.try_clone()?, output: self.output.try_clone()? })
    }
}

fn reader(descriptor: OwnedFd) -> io::Result<BoxedReader> {
    Ok(match (kind(&descriptor)?, reopen(&descriptor, OFlags::RDONLY)) {
        (FileType::Fifo, Ok(own)) => Box::pin(pipe::Receiver::from_owned_fd(own)?),
        (FileType::Socket, _) => Box::pin(stream(descriptor)?),
        // Files and terminals are read on a thread. So is a pipe of another user, which cannot be reopened.
        _ => Box::pin(tokio::fs::File::from_std(File::from(descriptor))),
    })
}

fn writer(descriptor: OwnedFd) -> io::Result<BoxedWriter> {
    Ok(match (kind(&descriptor)?, reopen(&descriptor, OFlags::WRONLY)) {
        (FileType::Fifo, Ok(own)) => Box::pin(pipe::Sender::from_owned_fd(own)?),
        (FileType::Socket, _) => Box::pin(stream(descriptor)?),
        _ => Box::pin(tokio::fs::File::from_std(File::from(descriptor))),
    })
}

fn kind(descriptor: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(descriptor)?.st_mode))
}

/// Opens the same pipe again. `O_NONBLOCK` belongs to the open file description, so other holders of the original
/// descriptor are not affected.
fn reopen(descriptor: &OwnedFd, mode: OFlags) -> io::Result<OwnedFd> {
    if kind(descriptor)? != FileType::Fifo {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let path = format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd());
    Ok(rustix::fs::open(path, mode | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
}

fn stream(descriptor: OwnedFd) -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(descriptor);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
