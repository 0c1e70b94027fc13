//! MCP prompts.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, ListPromptsResult, Prompt as Offered, PromptArgument, PromptMessage, Role,
};

/// A prompt that clients can offer to their users.
pub struct Prompt {
    /// The name of the prompt.
    pub name: String,
    /// What it is for.
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
        .ok_or_else(|| invalid(format!("unknown prompt \"{name}\"")))?;
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    let given: BTreeMap<String, String> =
        arguments.unwrap_or_default().into_iter().map(|(name, value)| (name, text(value))).collect();
    let missing = prompt.parameters.iter().find(|(name, _, required)| *required && !given.contains_key(name));
    if let Some((name, ..)) = missing {
        return Err(invalid(format!("missing argument \"{name}\"")));
    }
    let text = (prompt.text)(&given).map_err(invalid)?;
    let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    Ok(result.with_description(&prompt.description))
}
