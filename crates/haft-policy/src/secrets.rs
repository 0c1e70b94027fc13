//! Files with secrets, and the files and variables behind the capabilities of git.

/// Files that usually contain secrets.
pub(crate) const SECRET_FILES: &[&str] = &[
    "~/.ssh",
    "~/.gnupg",
    "~/.aws",
    "~/.azure",
    "~/.kube",
    "~/.docker/config.json",
    "~/.config/gcloud",
    "~/.config/gh",
    "~/.config/hub",
    "~/.config/op",
    "~/.netrc",
    "~/.npmrc",
    "~/.pypirc",
    "~/.pgpass",
    "~/.my.cnf",
    "~/.cargo/credentials",
    "~/.cargo/credentials.toml",
    "~/.git-credentials",
    "~/.config/git/credentials",
    "~/.password-store",
    "~/.local/share/keyrings",
    "~/.mozilla",
    "~/.config/google-chrome",
    "~/.config/chromium",
    "~/.bash_history",
    "~/.zsh_history",
    "~/.vault-token",
    "~/.terraform.d/credentials.tfrc.json",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/ssl/private",
    ".env",
    ".env.local",
    ".env.production",
    "id_rsa",
    "id_ecdsa",
    "id_ed25519",
];

/// A capability of git, and what it needs.
pub(crate) struct GitCapability {
    pub(crate) name: &'static str,
    /// Paths that may not change without it.
    pub(crate) changes: &'static [&'static str],
    /// Paths that may not be used at all without it.
    pub(crate) files: &'static [&'static str],
    /// Variables that are withheld without it.
    pub(crate) variables: &'static [&'static str],
}

/// The capabilities, in the order of [`GitSection`](crate::section::GitSection).
pub(crate) const GIT_CAPABILITIES: [GitCapability; 4] = [
    GitCapability { name: "hooks", changes: &["$git/hooks", "**/.git/hooks"], files: &[], variables: &[] },
    GitCapability {
        name: "ssh_agent",
        changes: &[],
        files: &[],
        variables: &["SSH_AUTH_SOCK", "SSH_AGENT_PID"],
    },
    GitCapability { name: "gpg", changes: &[], files: &["~/.gnupg"], variables: &["GPG_AGENT_INFO"] },
    GitCapability {
        name: "credentials",
        changes: &[],
        files: &["~/.git-credentials", "~/.config/git/credentials", "~/.cache/git/credential"],
        variables: &["GIT_ASKPASS", "SSH_ASKPASS"],
    },
];
