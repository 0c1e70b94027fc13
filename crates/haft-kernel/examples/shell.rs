//! A plain shell made of the kernel: `shell -c TEXT [NAME ARGUMENTS…]`, or `shell FILE [ARGUMENTS…]`, or a script on
//! standard input.

use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::ExitCode;
use std::sync::Arc;

use haft_kernel::options::SetOption;
use haft_kernel::{Bytes, Kernel, Session, Unwind};
use haft_process::{Disposition, Signals, set_disposition};

fn main() -> ExitCode {
    ExitCode::from(run())
}

fn run() -> u8 {
    let kernel = Kernel::builder().plain_shell(true).build();
    let mut session = new_session(kernel);
    let _ = set_disposition(Signals::QUIT, Disposition::Ignore);
    let mut arguments: Vec<Bytes> =
        std::env::args_os().skip(1).map(|argument| Bytes::from(argument.into_vec())).collect();
    while arguments.first().is_some_and(|first| first.len() > 1 && first[0] == b'-' && first[1] != b'c') {
        for letter in &arguments.remove(0)[1..] {
            if let Some(option) = SetOption::from_letter(*letter) {
                session.set_option(option, true);
            }
        }
    }
    let text = match arguments.first().map(|first| first.to_vec()) {
        Some(first) if first == b"-c" => {
            let name = arguments.get(2).cloned().unwrap_or_else(|| "haft".into());
            session.set_command(&name, arguments.get(3..).unwrap_or_default().to_vec());
            arguments.get(1).cloned().unwrap_or_default().into_vec()
        }
        Some(file) => {
            session.set_script(&file, arguments[1..].to_vec());
            match std::fs::read(std::ffi::OsStr::from_bytes(&file)) {
                Ok(text) => text,
                Err(error) => {
                    eprintln!("{}: {error}", String::from_utf8_lossy(&file));
                    return 127;
                }
            }
        }
        None => {
            let mut text = Vec::new();
            let _ = std::io::stdin().read_to_end(&mut text);
            text
        }
    };
    let result = session.run_main(&text);
    let _ = session.finish();
    match result {
        Ok(status) => u8::try_from(status).unwrap_or(255),
        Err(Unwind::Signal(signal)) => u8::try_from(128 + signal).unwrap_or(255),
        Err(_) => 130,
    }
}

fn new_session(kernel: Arc<Kernel>) -> Session {
    let mut session = Session::new(kernel);
    #[expect(clippy::disallowed_methods, reason = "a binary hands the library its environment")]
    let environment: Vec<_> = std::env::vars_os().collect();
    session.import_environment(environment.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())));
    #[expect(clippy::disallowed_methods, reason = "a binary hands the library its directory")]
    if let Ok(directory) = std::env::current_dir() {
        session.set_directory(directory);
    }
    for (number, descriptor) in
        [(0, rustix::stdio::stdin()), (1, rustix::stdio::stdout()), (2, rustix::stdio::stderr())]
    {
        if let Ok(owned) = rustix::io::fcntl_dupfd_cloexec(descriptor, 10) {
            session.open_descriptor(number, owned);
        }
    }
    session
}
