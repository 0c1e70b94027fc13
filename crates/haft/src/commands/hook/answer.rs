//! The answers that agents expect from a hook.

use haft_policy::PolicyVerdict;
use serde_json::{Map, Value, json};

use super::call::{HookCall, HookFormat};
use super::judge::HookJudgement;

/// The answer to a call; `None` if the agent has no way to say it, so that its own behaviour applies.
pub(super) fn answer(format: HookFormat, call: &HookCall, judgement: &HookJudgement) -> Option<Value> {
    let updated = judgement.rewritten.as_ref().map(|command| updated_input(&call.input, command));
    match format {
        HookFormat::Claude | HookFormat::Codex if call.event == "PermissionRequest" => {
            permission_request(judgement)
        }
        HookFormat::Claude => Some(pre_tool_use(judgement, updated)),
        // Codex knows no question here, and accepts a permission only together with a changed input.
        HookFormat::Codex => match (judgement.verdict, &updated) {
            (PolicyVerdict::Deny, _) | (PolicyVerdict::Allow, Some(_)) => {
                Some(pre_tool_use(judgement, updated))
            }
            _ => None,
        },
        HookFormat::Gemini => gemini(judgement, updated),
        HookFormat::Cursor => Some(cursor(call, judgement, updated)),
        HookFormat::Copilot => Some(copilot(judgement, updated)),
    }
}

fn updated_input(input: &Map<String, Value>, command: &str) -> Value {
    let mut input = input.clone();
    input.insert("command".to_owned(), command.into());
    Value::Object(input)
}

/// Adds a member if there is a value.
fn with(mut object: Value, key: &str, value: Option<Value>) -> Value {
    if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
        object.insert(key.to_owned(), value);
    }
    object
}

fn pre_tool_use(judgement: &HookJudgement, updated: Option<Value>) -> Value {
    let output = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": judgement.verdict.as_str(),
        "permissionDecisionReason": judgement.reason,
    });
    json!({ "hookSpecificOutput": with(output, "updatedInput", updated) })
}

fn permission_request(judgement: &HookJudgement) -> Option<Value> {
    let decision = match judgement.verdict {
        PolicyVerdict::Allow => json!({ "behavior": "allow" }),
        PolicyVerdict::Deny => json!({ "behavior": "deny", "message": judgement.reason }),
        PolicyVerdict::Ask => return None,
    };
    Some(json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } }))
}

fn gemini(judgement: &HookJudgement, updated: Option<Value>) -> Option<Value> {
    if judgement.verdict == PolicyVerdict::Deny {
        return Some(json!({ "decision": "deny", "reason": judgement.reason }));
    }
    updated.map(|input| json!({ "hookSpecificOutput": { "tool_input": input } }))
}

fn cursor(call: &HookCall, judgement: &HookJudgement, updated: Option<Value>) -> Value {
    let permission = json!({
        "permission": judgement.verdict.as_str(),
        "user_message": judgement.reason,
        "agent_message": judgement.reason,
    });
    with(permission, "updated_input", updated.filter(|_| call.event == "preToolUse"))
}

fn copilot(judgement: &HookJudgement, updated: Option<Value>) -> Value {
    let decision = json!({
        "permissionDecision": judgement.verdict.as_str(),
        "permissionDecisionReason": judgement.reason,
    });
    with(decision, "modifiedArgs", updated)
}
