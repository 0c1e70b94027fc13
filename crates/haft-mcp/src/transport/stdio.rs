//! The pair of descriptors that a client has started us with.
//!
//! They are taken away from their numbers before anything else runs, so that nothing in this process and no child can
//! write a byte between two messages, or read one away. Nor can a script that runs in this process open them by name, as
//! `/proc/self/fd/N`. Children are kept from that by [`protect_process`](haft_process::protect_process).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::pin::Pin;

use rustix::fs::{FileType, Mode, OFlags, fstat};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::shutdown::ClientDescriptors;

/// What comes from the client.
pub(crate) type BoxedReader = Pin<Box<dyn AsyncRead + Send>>;
/// What goes to it.
pub(crate) type BoxedWriter = Pin<Box<dyn AsyncWrite + Send>>;

/// The client's ends of our standard input and output.
#[derive(Debug)]
pub struct Stdio {
    input: OwnedFd,
    output: OwnedFd,
}

impl Stdio {
    /// Takes standard input and output for the messages alone: what reads the one from now on reads nothing, what writes
    /// to the other writes to standard error.
    ///
    /// # Errors
    /// If the system is out of descriptors, or one of the two is not open.
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

    /// Both as streams of the runtime.
    pub(crate) fn split(self) -> io::Result<(BoxedReader, BoxedWriter)> {
        Ok((reader(self.input)?, writer(self.output)?))
    }

    /// Whether it is a person who would have to write the messages.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        rustix::termios::isatty(&self.input)
    }

    /// Both descriptors once more, to be watched.
    pub(crate) fn duplicate(&self) -> io::Result<ClientDescriptors> {
        Ok(ClientDescriptors { input: self.input.try_clone()?, output: self.output.try_clone()? })
    }
}

fn reader(descriptor: OwnedFd) -> io::Result<BoxedReader> {
    Ok(match (kind(&descriptor)?, reopen(&descriptor, OFlags::RDONLY)) {
        (FileType::Fifo, Ok(own)) => Box::pin(pipe::Receiver::from_owned_fd(own)?),
        (FileType::Socket, _) => Box::pin(stream(descriptor)?),
        // Read on a thread: a file, a terminal, or a pipe of another user, which cannot be opened anew.
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

/// The same pipe, opened anew: others who hold the one we were given shall not find it non-blocking.
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
