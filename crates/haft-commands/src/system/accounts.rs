//! Names of users and groups, from the files of the session.

use std::io::Read as _;
use std::path::Path;

use haft_fs::OpenOptions;
use haft_kernel::Session;

/// The largest part of a file of accounts that is read.
const MAX_ACCOUNT_BYTES: u64 = 16 << 20;

/// The users and groups of `/etc/passwd` and `/etc/group`.
pub(crate) struct Accounts {
    users: Vec<Account>,
    groups: Vec<Account>,
}

/// A line of one of the files.
#[derive(Clone)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) id: u32,
    /// The primary group of a user.
    pub(crate) group: u32,
    /// The members of a group.
    members: Vec<String>,
}

impl Accounts {
    pub(crate) fn read(session: &Session) -> Self {
        let lines = |path| -> Vec<Account> { content(session, path).lines().filter_map(account).collect() };
        Self { users: lines("/etc/passwd"), groups: lines("/etc/group") }
    }

    pub(crate) fn user_name(&self, id: u32) -> Option<&str> {
        self.users.iter().find(|user| user.id == id).map(|user| user.name.as_str())
    }

    pub(crate) fn group_name(&self, id: u32) -> Option<&str> {
        self.groups.iter().find(|group| group.id == id).map(|group| group.name.as_str())
    }

    /// The id of a user with this name.
    pub(crate) fn user_id(&self, name: &str) -> Option<u32> {
        self.users.iter().find(|user| user.name == name).map(|user| user.id)
    }

    /// The id of a group with this name.
    pub(crate) fn group_id(&self, name: &str) -> Option<u32> {
        self.groups.iter().find(|group| group.name == name).map(|group| group.id)
    }

    /// Finds a user by name, or by number.
    pub(crate) fn user(&self, name: &str) -> Option<&Account> {
        let number = || name.strip_prefix('+').unwrap_or(name).parse::<u32>().ok();
        let named = self.users.iter().find(|user| user.name == name);
        named.or_else(|| number().and_then(|id| self.users.iter().find(|user| user.id == id)))
    }

    /// The groups of a user, the primary group first.
    pub(crate) fn groups_of(&self, user: &Account) -> Vec<u32> {
        let is_member = |group: &&Account| group.members.contains(&user.name) && group.id != user.group;
        let others = self.groups.iter().filter(is_member).map(|group| group.id);
        std::iter::once(user.group).chain(others).collect()
    }
}

fn content(session: &Session, path: &str) -> String {
    let mut content = Vec::new();
    let file = session.files().open(Path::new(path), &OpenOptions::new().read(true));
    let _ = file.and_then(|file| file.take(MAX_ACCOUNT_BYTES).read_to_end(&mut content));
    String::from_utf8_lossy(&content).into_owned()
}

/// Parses a line of `/etc/passwd` or `/etc/group`.
fn account(line: &str) -> Option<Account> {
    let fields: Vec<&str> = line.split(':').collect();
    let last = fields.get(3).copied().unwrap_or_default();
    Some(Account {
        name: (*fields.first()?).to_owned(),
        id: fields.get(2)?.parse().ok()?,
        group: last.parse().unwrap_or_default(),
        members: last.split(',').map(str::to_owned).collect(),
    })
}
