//! `id`: writes user and group ids.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use super::accounts::{Account, Accounts};
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{
    ArgumentStyle, CommandDescriptor, CommandParameter, Example, JsonKind, ParameterKind,
};
use crate::group::gnu_command;
use crate::rows::{JsonCell, column, json_option};
use crate::step_aside::names_come_from_files;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "id",
    summary: "Write the ids of a user and of its groups.",
    style: ArgumentStyle::GnuMixed(&["[USER]..."]),
    parameters: &[
        CommandParameter::short_flag("a", 'a', "Do nothing."),
        CommandParameter::new("user", ParameterKind::Flag, "Write only the user id.").letter('u'),
        CommandParameter::new("group", ParameterKind::Flag, "Write only the primary group id.").letter('g'),
        CommandParameter::new("groups", ParameterKind::Flag, "Write only the ids of all groups.").letter('G'),
        CommandParameter::new("name", ParameterKind::Flag, "Write a name instead of a number.").letter('n'),
        CommandParameter::new("real", ParameterKind::Flag, "Write the real id instead of the effective one.")
            .letter('r'),
        CommandParameter::new("zero", ParameterKind::Flag, "Separate entries with NUL bytes.").letter('z'),
        json_option(&[
            column("uid", JsonKind::Number, "The real user id."),
            column("euid", JsonKind::Number, "The effective user id."),
            column("user", JsonKind::Text, "The name of the user, or null."),
            column("gid", JsonKind::Number, "The primary group id."),
            column("group", JsonKind::Text, "Its name, or null."),
            column("groups", JsonKind::Numbers, "The ids of all groups."),
        ]),
    ],
    details: &[
        "Names come from `/etc/passwd` and `/etc/group`. The user of an isolated session has the id 1000.",
    ],
    statuses: &[("0", "success"), ("1", "a user does not exist or has no name, or wrong usage")],
    examples: &[Example {
        summary: "The user of an isolated session",
        script: "id; id -u",
        output: "uid=1000 gid=1000 groups=1000\n1000\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { steps_aside: Some(steps_aside), ..gnu_command(&DESCRIPTOR, run) };

/// The program knows users that are not in `/etc/passwd`, and the security context of the process.
fn steps_aside(session: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    let is_single = ["user", "group"].iter().any(|name| arguments.flag(name));
    let identity = session.host_identity();
    let accounts = Accounts::read(session);
    let has_names = || {
        let groups = identity.groups.first().and_then(|group| accounts.group_name(*group));
        let users = [identity.user, identity.effective_user].map(|user| accounts.user_name(user));
        users.iter().all(Option::is_some)
            && groups.is_some()
            && names_come_from_files(session, "passwd")
            && names_come_from_files(session, "group")
    };
    !is_single || !arguments.operands.is_empty() || (arguments.flag("name") && !has_names())
}

/// The ids of one user.
struct UserIds {
    user: u32,
    effective_user: u32,
    groups: Vec<u32>,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        run.collect_rows(&DESCRIPTOR, arguments);
        let single = ["user", "group", "groups"].iter().filter(|name| arguments.flag(name)).count();
        if single > 1 {
            return run.fail("cannot print \"only\" of more than one choice");
        }
        if single == 0 && (arguments.flag("name") || arguments.flag("real")) {
            return run.fail("cannot print only names or real IDs in default format");
        }
        if single == 0 && arguments.flag("zero") {
            return run.fail("option --zero not permitted in default format");
        }
        let accounts = Accounts::read(run.context.session());
        if arguments.operands.is_empty() {
            let identity = run.context.session().host_identity();
            let ids = UserIds {
                user: identity.user,
                effective_user: identity.effective_user,
                groups: identity.groups,
            };
            return show(run, arguments, &accounts, &ids, false);
        }
        let several = arguments.operands.len() > 1;
        for operand in &arguments.operands {
            let Some(user) = accounts.user(&String::from_utf8_lossy(operand)) else {
                let shown = run.quote(operand);
                run.complain(format_args!("{shown}: no such user"));
                run.set_status(1);
                continue;
            };
            show(run, arguments, &accounts, &ids_of(&accounts, user), several)?;
        }
        Ok(())
    })
}

fn ids_of(accounts: &Accounts, user: &Account) -> UserIds {
    UserIds { user: user.id, effective_user: user.id, groups: accounts.groups_of(user) }
}

/// Writes what the options ask for.
fn show(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    accounts: &Accounts,
    ids: &UserIds,
    several: bool,
) -> Result<(), Stop> {
    run.row(|| {
        vec![
            ids.user.into(),
            ids.effective_user.into(),
            accounts.user_name(ids.user).into(),
            ids.groups[0].into(),
            accounts.group_name(ids.groups[0]).into(),
            JsonCell::List(ids.groups.iter().map(|group| (*group).into()).collect()),
        ]
    });
    let user = if arguments.flag("real") { ids.user } else { ids.effective_user };
    let separator = if arguments.flag("zero") { "\0" } else { " " };
    let text = if arguments.flag("user") {
        named(run, arguments, "user", user, accounts.user_name(user))
    } else if arguments.flag("group") {
        named(run, arguments, "group", ids.groups[0], accounts.group_name(ids.groups[0]))
    } else if arguments.flag("groups") {
        let name = |group: &u32| named(run, arguments, "group", *group, accounts.group_name(*group));
        ids.groups.iter().map(name).collect::<Vec<_>>().join(separator)
    } else {
        whole(accounts, ids)
    };
    let end = match (arguments.flag("zero"), several && arguments.flag("groups")) {
        (false, _) => "\n",
        (true, false) => "\0",
        (true, true) => "\0\0",
    };
    run.write(format!("{text}{end}").as_bytes())
}

/// An id, or its name with `-n`.
fn named(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    kind: &str,
    id: u32,
    name: Option<&str>,
) -> String {
    match name {
        Some(name) if arguments.flag("name") => return name.to_owned(),
        None if arguments.flag("name") => {
            run.complain(format_args!("cannot find name for {kind} ID {id}"));
            run.set_status(1);
        }
        _ => {}
    }
    id.to_string()
}

/// The default format.
fn whole(accounts: &Accounts, ids: &UserIds) -> String {
    let with_name = |id: u32, name: Option<&str>| match name {
        Some(name) => format!("{id}({name})"),
        None => id.to_string(),
    };
    let user = |id| with_name(id, accounts.user_name(id));
    let group = |id: u32| with_name(id, accounts.group_name(id));
    let effective = match ids.user == ids.effective_user {
        true => String::new(),
        false => format!(" euid={}", user(ids.effective_user)),
    };
    let groups: Vec<String> = ids.groups.iter().map(|id| group(*id)).collect();
    format!("uid={} gid={}{effective} groups={}", user(ids.user), group(ids.groups[0]), groups.join(","))
}
