//! Kernels and sessions with the environment of this process.

use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use haft_commands::with_stand_ins;
use haft_kernel::{Kernel, KernelBuilder, Session};
use haft_process::Environment;

use crate::failure::print_message;
use crate::host_commands::host_commands;
use crate::process_context::ProcessContext;
use crate::shell::arguments::is_shell_name;
use crate::tools::{SessionTools, ToolCommand};

/// Shell variables that are set, but not exported, if the environment lacks them.
const DEFAULT_VARIABLES: [(&str, &str); 2] =
    [("PATH", "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"), ("TERM", "dumb")];

/// A kernel with all in-process commands and these tools.
pub(crate) fn kernel(tools: &Arc<SessionTools>, process: &ProcessContext) -> KernelBuilder {
    plain_kernel(process).command(Arc::new(ToolCommand(tools.clone()))).backend(tools.clone())
}

/// A kernel with all in-process commands, without tools.
pub(crate) fn plain_kernel(process: &ProcessContext) -> KernelBuilder {
    stand_in_kernel(process).list_stand_ins().commands(haft_commands::TABLE)
}

/// A kernel with the commands that run instead of GNU's programs.
fn stand_in_kernel(process: &ProcessContext) -> KernelBuilder {
    let kernel = match &process.policy {
        Some(policy) => policy.limit(Kernel::builder()),
        None => Kernel::builder(),
    };
    let process = process.clone();
    with_stand_ins(kernel).keep_programs(move || host_commands(&process))
}

/// A kernel for a shell. Under the name of another shell it has no commands and tools that this shell would not have.
pub(crate) fn shell_kernel(tools: &Arc<SessionTools>, process: &ProcessContext) -> KernelBuilder {
    let own = process.arguments.first();
    match own.is_some_and(|own| is_shell_name(own)) {
        true => stand_in_kernel(process),
        false => kernel(tools, process),
    }
}

/// A session with an environment, and with the working directory, umask and standard descriptors of this process.
pub(crate) fn familiar(
    kernel: KernelBuilder,
    environment: &Environment,
    process: &ProcessContext,
) -> Session {
    let mut session = Session::new(kernel.build());
    session.import_environment(environment.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())));
    match process.logical_directory() {
        Some(directory) => session.enter_process_directory(directory),
        // The directory was removed; this path still leads to it.
        None => session.enter_process_directory("/proc/self/cwd"),
    }
    for (name, value) in DEFAULT_VARIABLES {
        if environment.get(name).is_none() {
            let _ = session.set(name.as_bytes(), value);
        }
    }
    if environment.get("SHELL").is_none()
        && let Some(shell) = session.login_shell()
    {
        let _ = session.set(b"SHELL", shell);
    }
    session.set_umask(creation_mask());
    open_standard(&mut session, process);
    session
}

/// Gives a session the standard descriptors of this process.
pub(crate) fn open_standard(session: &mut Session, process: &ProcessContext) {
    let standard = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
    for (number, descriptor) in (0..).zip(standard).filter(|(number, _)| process.open[*number as usize]) {
        // High numbers do not collide with those that scripts use. With a low limit, any number will do.
        let duplicate = |least| rustix::io::fcntl_dupfd_cloexec(descriptor, least);
        match duplicate(10).or_else(|_| duplicate(3)) {
            Ok(owned) => session.open_descriptor(number, owned),
            Err(error) => print_message(format_args!(
                "cannot use file descriptor {number}: {}; 'ulimit -n' limits the number",
                haft_process::reason(&error.into())
            )),
        }
    }
}

/// The file mode creation mask of this process.
pub(crate) fn creation_mask() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(mask);
    mask.bits()
}
