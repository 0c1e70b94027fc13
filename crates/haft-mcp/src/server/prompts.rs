//! MCP prompts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, ListPromptsResult, Prompt as Offered, PromptArgument, PromptMessage, Role,
};
use tokio::sync::watch;

/// A prompt that clients can offer to their users.
pub struct Prompt {
    /// The name of the prompt.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// Its arguments: name, description, and whether it is required.
    pub parameters: Vec<(String, Option<String>, bool)>,
    /// Renders the prompt with the given arguments, or returns an error message.
    pub text: Box<MakeText>,
}

type MakeText = dyn Fn(&BTreeMap<String, String>) -> Result<String, String> + Send + Sync;

impl std::fmt::Debug for Prompt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Prompt({})", self.name)
    }
}

impl Prompt {
    /// Whether another prompt looks the same to clients.
    fn looks_like(&self, other: &Prompt) -> bool {
        (&self.name, &self.description, &self.parameters)
            == (&other.name, &other.description, &other.parameters)
    }
}

/// The prompts that a server offers, and a count of their changes.
#[derive(Debug)]
pub(crate) struct OfferedPrompts {
    current: Mutex<Arc<Vec<Prompt>>>,
    changes: watch::Sender<u64>,
}

impl OfferedPrompts {
    pub(crate) fn new(prompts: Vec<Prompt>) -> OfferedPrompts {
        OfferedPrompts { current: Mutex::new(Arc::new(prompts)), changes: watch::Sender::new(0) }
    }

    /// The prompts at present.
    pub(crate) fn current(&self) -> Arc<Vec<Prompt>> {
        self.lock().clone()
    }

    /// Replaces the prompts, and counts a change if clients would see one.
    pub(crate) fn replace(&self, prompts: Vec<Prompt>) {
        let mut current = self.lock();
        let same = current.len() == prompts.len()
            && current.iter().zip(&prompts).all(|(one, other)| one.looks_like(other));
        *current = Arc::new(prompts);
        drop(current);
        if !same {
            self.changes.send_modify(|count| *count += 1);
        }
    }

    /// Changes whenever clients would see other prompts.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Vec<Prompt>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reply to `prompts/list`.
pub(crate) fn list(prompts: &[Prompt]) -> ListPromptsResult {
    let parameter = |(name, description, required): &(String, Option<String>, bool)| {
        let argument = PromptArgument::new(name).with_required(*required);
        match description {
            Some(description) => argument.with_description(description),
            None => argument,
        }
    };
    let prompt = |prompt: &Prompt| {
        let arguments = prompt.parameters.iter().map(parameter).collect();
        Offered::new(&prompt.name, Some(&prompt.description), Some(arguments))
    };
    ListPromptsResult::with_all_items(prompts.iter().map(prompt).collect())
}

/// The reply to `prompts/get`.
pub(crate) fn get(
    prompts: &[Prompt],
    name: &str,
    arguments: Option<JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let invalid = |message: String| ErrorData::invalid_params(message, None);
    let prompt = prompts
        .iter()
        .find(|prompt| prompt.name == name)
        .ok_or_else(|| invalid(format!("unknown prompt '{name}'")))?;
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    let given: BTreeMap<String, String> =
        arguments.unwrap_or_default().into_iter().map(|(name, value)| (name, text(value))).collect();
    let missing = prompt.parameters.iter().find(|(name, _, required)| *required && !given.contains_key(name));
    if let Some((name, ..)) = missing {
        return Err(invalid(format!("missing argument '{name}'")));
    }
    let text = (prompt.text)(&given).map_err(invalid)?;
    let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    Ok(result.with_description(&prompt.description))
}
