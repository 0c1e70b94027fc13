//! Tools as commands of scripts, where no other command has their name.

use std::sync::{Mutex, PoisonError};

use haft_kernel::builtins::Context;
use haft_kernel::{Backend, Bytes, Flow, ToolError};
use haft_tools::{CallOptions, CallProgress, Envelope, ErrorCode, Tool, exact};
use serde_json::Value;

use super::{SessionTools, words};

impl Backend for SessionTools {
    fn has_tool(&self, name: &[u8]) -> bool {
        std::str::from_utf8(name).is_ok_and(|name| !name.contains('/') && self.registry().has(name))
    }

    fn call_tool(&self, context: &mut Context<'_>, words: &[Bytes]) -> Result<Flow, ToolError> {
        let Some((name, arguments)) = words.split_first() else { return Ok(Ok(0)) };
        let envelope = self.call(context, &String::from_utf8_lossy(name), arguments);
        if envelope.code() == Some(ErrorCode::ToolNotFound) {
            return Err(ToolError::NotFound(name.clone()));
        }
        Ok(show(context, envelope))
    }

    fn tool_names(&self) -> Vec<String> {
        self.registry().names()
    }

    fn tool_parameters(&self, name: &[u8]) -> Vec<String> {
        let snapshot = self.registry().snapshot();
        let tool = std::str::from_utf8(name).ok().and_then(|name| snapshot.get(name));
        let names = tool.into_iter().flat_map(|tool| tool.parameters().names());
        names.map(|name| format!("{name}=")).collect()
    }

    fn release(&self) {
        self.release_registry();
    }

    fn resolve_real_path(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

impl SessionTools {
    /// Calls a tool with the session's directory, exported variables and cancel token.
    pub(super) fn call(&self, context: &mut Context<'_>, name: &str, arguments: &[Bytes]) -> Envelope {
        let registry = self.registry();
        let options = CallOptions {
            directory: Some(context.session().directory().to_owned()),
            environment: Some(context.session_mut().exports()),
            cancel: Some(context.cancel_token().clone()),
            toolset: self.toolset(),
            ..CallOptions::default()
        };
        let read = |tool: Tool| match arguments {
            [dash] if dash.as_ref() == b"-" => words::of_input(context),
            words => tool.arguments(&words::of(context, words)),
        };
        let arguments = match registry.find_for(name, &options).and_then(read) {
            Ok(arguments) => arguments,
            Err(fault) => return Envelope::failure(fault),
        };
        // Output so far comes before the tool's.
        context.flush();
        let session = Mutex::new(context.session_mut());
        let tell = |progress: &CallProgress| {
            let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = session.write(2, format!("{name}: {progress}\n").as_bytes());
        };
        registry.call_with_progress(name, arguments, &options, &tell)
    }
}

/// Prints an answer: the result on standard output, everything else on standard error.
pub(super) fn show(context: &mut Context<'_>, envelope: Envelope) -> Flow {
    let status = envelope.exit_status();
    context.print_error(envelope.stderr.as_bytes());
    remarks(&envelope).into_iter().for_each(|remark| context.error(remark));
    match envelope.outcome {
        Ok(result) => {
            let text = printed(&result);
            context.set_data(result);
            context.print(text.as_bytes())
        }
        Err(fault) => {
            context.error(fault.message);
            context.check()?;
            Ok(status)
        }
    }
}

/// Remarks about a result: notes, and how to read truncated outputs.
pub(crate) fn remarks(envelope: &Envelope) -> Vec<String> {
    let cut = envelope.truncated.iter().map(|truncated| {
        let (stream, id, total) = (truncated.stream, &truncated.id, truncated.total_bytes);
        format!("not all {total} bytes of {stream} are shown; `haft tool call output id={id}` shows more")
    });
    envelope.notes.iter().cloned().chain(cut).collect()
}

/// A result as text: a string as it is, any other value as JSON.
pub(crate) fn printed(result: &Value) -> String {
    let exact = exact::to_text(result);
    match result {
        // A large integer is held as a string.
        Value::String(_) if !exact.starts_with('"') => format!("{exact}\n"),
        Value::String(text) if text.is_empty() || text.ends_with('\n') => text.clone(),
        Value::String(text) => format!("{text}\n"),
        _ => format!("{exact}\n"),
    }
}
