//! Prompts that a client may offer to its user.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, ListPromptsResult, Prompt as Offered, PromptArgument, PromptMessage, Role,
};

/// A prompt with its parameters.
pub struct Prompt {
    /// The name it is asked for by.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The parameters it takes: name, description, whether it must be given.
    pub parameters: Vec<(String, Option<String>, bool)>,
    /// Makes the text for these arguments, or says why it cannot.
    pub text: Box<MakeText>,
}

type MakeText = dyn Fn(&BTreeMap<String, String>) -> Result<String, String> + Send + Sync;

impl std::fmt::Debug for Prompt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Prompt({})", self.name)
    }
}

/// What there is.
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

/// The text of one.
pub(crate) fn get(
    prompts: &[Prompt],
    name: &str,
    arguments: Option<JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let refused = |message: String| ErrorData::invalid_params(message, None);
    let prompt = prompts
        .iter()
        .find(|prompt| prompt.name == name)
        .ok_or_else(|| refused(format!("there is no prompt \"{name}\"")))?;
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    let given: BTreeMap<String, String> =
        arguments.unwrap_or_default().into_iter().map(|(name, value)| (name, text(value))).collect();
    let missing = prompt.parameters.iter().find(|(name, _, required)| *required && !given.contains_key(name));
    if let Some((name, ..)) = missing {
        return Err(refused(format!("the argument \"{name}\" is missing")));
    }
    let text = (prompt.text)(&given).map_err(refused)?;
    let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    Ok(result.with_description(&prompt.description))
}
