//! Asks the user which agent to launch.

use std::io::{BufRead as _, Write as _};

use haft_launch::{Catalogue, Error, ErrorKind, HostFacts, LaunchRequest, LaunchSelection};
use rustix::stdio::{stderr, stdin};
use rustix::termios::isatty;

/// Selects what a request names, and asks the user if several agents match.
pub(super) fn select<'c>(
    catalogue: &'c Catalogue,
    request: &mut LaunchRequest,
    surroundings: &HostFacts,
) -> Result<LaunchSelection<'c>, Error> {
    match catalogue.select(request, surroundings) {
        Err(error) => match error.kind() {
            ErrorKind::Undecided(names) if isatty(stdin()) && isatty(stderr()) => match ask(names) {
                Some(name) => {
                    request.agent = Some(name);
                    catalogue.select(request, surroundings)
                }
                None => Err(error),
            },
            _ => Err(error),
        },
        selected => selected,
    }
}

/// The name that the user enters, or its number.
fn ask(names: &[String]) -> Option<String> {
    let mut terminal = std::io::stderr().lock();
    for (index, name) in names.iter().enumerate() {
        let _ = writeln!(terminal, "{:>3}  {name}", index + 1);
    }
    let _ = write!(terminal, "which agent? ");
    let _ = terminal.flush();
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).ok()?;
    let answer = answer.trim();
    let numbered = answer.parse::<usize>().ok().and_then(|number| names.get(number.checked_sub(1)?));
    numbered.or_else(|| names.iter().find(|name| *name == answer)).cloned()
}
