//! Kernel sandboxes for programs: Landlock rulesets and seccomp filters.
//!
//! [`KernelRules`] say which files programs may read, write, create, delete and execute, and what they may reach on the
//! network. [`KernelRules::build`] turns them into a [`KernelSandbox`]: a Landlock ruleset and a seccomp filter that a child
//! applies to itself before exec. Nothing is mounted, and no file is created. A sandbox is built once and applied to any
//! number of programs.
//!
//! ```
//! use haft_sandbox::{Access, Machine, NetworkRule, KernelRules};
//!
//! let mut rules = KernelRules::default();
//! rules.allow("/", Access::READ | Access::EXECUTE);
//! rules.allow("/tmp", Access::WRITE | Access::CREATE | Access::DELETE);
//! rules.network = NetworkRule::None;
//!
//! let machine = Machine::probe();
//! let sandbox = rules.build(&machine).expect("a sandbox");
//! assert_eq!(sandbox.landlock.is_some(), machine.landlock_abi > 0);
//! ```
//!
//! # Exceptions
//!
//! Landlock knows only what is allowed. To [except](KernelRules::except) a directory below an allowed one, the builder
//! allows the siblings of every directory on the way instead. This works for reading and executing. A file that appears
//! later next to an excepted one cannot be read, and names of files stay visible. Exceptions from changes cannot be expressed
//! in this way, because new files would be refused; [`KernelSandbox::protected`] lists them for a mount namespace.
//!
//! # Limits
//!
//! Landlock does not restrict `stat`, `chmod`, `chown`, `utime`, extended attributes, or connections to UNIX sockets that
//! have a path. Files that are open when the program starts stay usable.

mod access;
mod exceptions;
mod filter;
mod machine;
mod rules;
mod ruleset;
mod sys;

pub use access::Access;
pub use exceptions::ProtectedPath;
pub use machine::Machine;
pub use rules::{FileRule, KernelRules, KernelSandbox, NetworkRule, SandboxError};
