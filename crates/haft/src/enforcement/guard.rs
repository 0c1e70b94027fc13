//! Asks a policy about every command, file and connection of a run.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use haft_fs::{FileRules, GuardedAccess};
use haft_kernel::{CommandGate, GatedCommand, InProcessKind};
use haft_mcp::ClientQuestions;
use haft_policy::{CommandRequest, Decision, DispatchKind, FileAccess, Policy, PolicyVerdict};
use haft_process::{Denial, StartPolicy, StartRequest};
use schemars::JsonSchema;
use serde::Serialize;

use super::approval::{Approval, Approvals};
use super::prompt::ClientPrompt;

/// Decisions that the result of a run lists.
const MAX_RECORDED_DECISIONS: usize = 100;

/// A decision of a policy other than to allow something without a question.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub(crate) struct RecordedDecision {
    /// The command, file or host.
    pub(crate) subject: String,
    /// Whether it was allowed in the end.
    pub(crate) allowed: bool,
    #[serde(flatten)]
    pub(crate) decision: Decision,
}

/// Writes what was decided about what, and the rule.
impl fmt::Display for RecordedDecision {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = match (self.decision.verdict, self.allowed) {
            (PolicyVerdict::Ask, true) => "approved",
            (PolicyVerdict::Ask, false) => "not approved",
            _ => "denied",
        };
        write!(text, "{answer}: {} {}", self.subject, self.decision)
    }
}

/// A policy, the person who can be asked, and the decisions so far.
#[derive(Debug)]
pub(super) struct PolicyGuard {
    policy: Arc<Policy>,
    approvals: Option<Approvals>,
    decisions: Arc<Mutex<Vec<RecordedDecision>>>,
    /// The session of an MCP client, whose records have its decisions.
    session: Option<Arc<ClientQuestions>>,
}

impl PolicyGuard {
    pub(super) fn new(policy: Policy, approvals: Option<Approvals>) -> PolicyGuard {
        PolicyGuard { policy: Arc::new(policy), approvals, decisions: Arc::default(), session: None }
    }

    /// A guard with the same policy and the same list of decisions, for a session whose client can ask a person.
    pub(super) fn asking(&self, session: &Arc<ClientQuestions>) -> PolicyGuard {
        let (policy, decisions) = (self.policy.clone(), self.decisions.clone());
        let approvals = Some(Approvals::by(ClientPrompt(session.clone())));
        PolicyGuard { policy, approvals, decisions, session: Some(session.clone()) }
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    pub(super) fn decisions(&self) -> Vec<RecordedDecision> {
        self.decisions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks a person if necessary. Returns the reason if the answer is no.
    fn settle(&self, subject: String, decision: Decision) -> Result<(), String> {
        let (allowed, outcome) = match decision.verdict {
            PolicyVerdict::Allow => return Ok(()),
            PolicyVerdict::Deny => (false, "denied by the policy"),
            PolicyVerdict::Ask => match self.ask(&subject, &decision) {
                Approval::Once | Approval::Always => (true, "approved"),
                Approval::Refused => (false, "refused by the user"),
                Approval::Unavailable => (false, "needs approval"),
            },
        };
        let separator = if decision.reason.is_empty() { "" } else { ":" };
        let reason = format!("{outcome}{separator} {decision}");
        self.record(RecordedDecision { subject, allowed, decision });
        if allowed { Ok(()) } else { Err(reason) }
    }

    fn ask(&self, subject: &str, decision: &Decision) -> Approval {
        self.approvals.as_ref().map_or(Approval::Unavailable, |approvals| approvals.ask(subject, decision))
    }

    fn record(&self, decision: RecordedDecision) {
        self.session.iter().for_each(|session| session.decided(&decision.to_string()));
        let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        if decisions.len() < MAX_RECORDED_DECISIONS && !decisions.contains(&decision) {
            decisions.push(decision);
        }
    }
}

impl StartPolicy for PolicyGuard {
    fn decide(&self, request: &StartRequest<'_>) -> Result<(), Denial> {
        let argv: Vec<&[u8]> = request.argv.iter().map(|word| word.as_bytes()).collect();
        let decision = self.policy.decide_command(&CommandRequest {
            kind: DispatchKind::External,
            argv: &argv,
            path: Some(request.program),
            directory: request.directory.unwrap_or(Path::new("/")),
        });
        self.settle(shown(&argv), decision).map_err(|reason| Denial { reason })
    }
}

impl CommandGate for PolicyGuard {
    fn check_command(&self, request: &GatedCommand<'_>) -> Result<(), String> {
        let kind = match request.kind {
            InProcessKind::Function => DispatchKind::Function,
            InProcessKind::Builtin => DispatchKind::Builtin,
            InProcessKind::Command => DispatchKind::InProcess,
            InProcessKind::Script => DispatchKind::Script,
            InProcessKind::Tool => DispatchKind::Tool,
        };
        let argv: Vec<&[u8]> = request.words.iter().map(|word| word.as_bytes()).collect();
        let directory = request.directory;
        let decision =
            self.policy.decide_command(&CommandRequest { kind, argv: &argv, path: None, directory });
        match decision.verdict {
            PolicyVerdict::Allow => Ok(()),
            _ => self.settle(shown(&argv), decision),
        }
    }

    fn check_connection(&self, host: &str, port: u16) -> Result<(), String> {
        self.settle(format!("{host}:{port}"), self.policy.decide_network(host, port))
    }
}

impl FileRules for PolicyGuard {
    fn check(&self, access: GuardedAccess, path: &Path) -> io::Result<()> {
        let access = match access {
            GuardedAccess::Read => FileAccess::Read,
            GuardedAccess::Write => FileAccess::Write,
            GuardedAccess::Create => FileAccess::Create,
            GuardedAccess::Delete => FileAccess::Delete,
        };
        let decision = self.policy.decide_file(access, path);
        if decision.is_allowed() {
            return Ok(());
        }
        let subject = format!("{} {}", access.as_str(), haft_config::printable(path));
        self.settle(subject, decision).map_err(|_| rustix::io::Errno::ACCESS.into())
    }
}

/// A command as text for a person.
fn shown(argv: &[&[u8]]) -> String {
    let words = argv.iter().map(|word| haft_config::printable(OsStr::from_bytes(word)));
    words.collect::<Vec<_>>().join(" ")
}
