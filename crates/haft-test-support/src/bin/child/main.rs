//! A program that misbehaves in the ways that tests need: `haft-test-child MODE ARGUMENT…`. Under another name, it replaces the
//! program of that name.
//!
//! It does not use Rust's runtime start-up, which would ignore `SIGPIPE` and reopen closed standard descriptors, so its report
//! shows exactly what it inherited. None of its processes lives longer than two minutes.
#![no_main]

mod input;
mod launch;
mod output;
mod random;
mod report;
mod resources;
mod stand_in;
mod stay;
mod sys;
mod tool;
mod tree;

/// Runs the mode in the first argument and returns an exit status.
fn run() -> i32 {
    sys::limit_life();
    if let Some(directory) = stand_in::wanted() {
        return stand_in::run(&directory);
    }
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    if let Some(name) = arguments.first().and_then(|program| tool::name(program)) {
        return tool::answer(&name, arguments.len() > 1);
    }
    let mode = arguments.get(1).map_or("", String::as_str);
    let rest: Vec<&str> = arguments.iter().skip(2).map(String::as_str).collect();
    match mode {
        "exit" => number(rest[0]) as i32,
        "die" => stay::die(number(rest[0]) as i32),
        "sleep" => stay::sleep(),
        "stubborn" => stay::stubborn(rest[0]),
        "headless" => stay::headless(rest[0]),
        "as-owner" => stay::as_owner(rest[0]),
        "polite" => stay::polite(rest[0], number(rest[1]) as i32),
        "wait-for" => stay::wait_for(rest[0]),
        "daemon" => stay::daemon(rest[0], &rest[1..]),
        "bystander" => stay::bystander(rest[0]),
        "bytes" => output::bytes(rest[0]),
        "flood" => output::flood(number(rest[0])),
        "lines" => output::lines(number(rest[0])),
        "interleave" => output::interleave(number(rest[0])),
        "drip" => output::drip(number(rest[0]), number(rest[1])),
        "count" => input::count(),
        "flood-then-count" => input::flood_then_count(number(rest[0])),
        "deaf" => input::deaf(&rest),
        "ask" => input::ask(rest[0], rest[1]),
        "await-input" => input::await_input(rest[0]),
        "report" => report::print(),
        "report-to" => report::write(rest[0]),
        "window" => report::window(),
        "burn" => resources::burn(),
        "allocate" => resources::allocate(number(rest[0]) as usize),
        "allocate-and-wait" => resources::allocate_and_wait(number(rest[0]) as usize),
        "fork" => resources::fork_many(number(rest[0])),
        "orphans" => resources::orphans(number(rest[0]), rest[1], rest[2]),
        "random-tree" => random::grow(number(rest[0]), number(rest[1])),
        "stray" => tree::stray(rest[0], rest[1]),
        "tree" => tree::grow(rest[0], rest[1], rest[2]),
        "pause" => stay::pause(rest[1]),
        "launch" => launch::launch(&rest),
        _ => {
            eprintln!("unknown mode '{mode}'");
            2
        }
    }
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}
