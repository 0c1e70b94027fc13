//! Questions to the person at a client, by elicitation.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_kernel::run::Controller;
use rmcp::RoleServer;
use rmcp::model::{
    BooleanSchema, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, PrimitiveSchemaDefinition, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RequestHandle};
use tokio::runtime::Handle;

use super::observer::CallRecord;

/// Interval between checks whether the script was asked to end.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The field of the form that makes an answer last.
const ALWAYS: &str = "always";

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAnswer {
    /// Yes.
    Accepted {
        /// Whether the answer also holds for the same question later.
        always: bool,
    },
    /// No, or the question was dismissed, or the script was ended meanwhile.
    Declined,
    /// The client cannot ask a person.
    Unavailable,
}

/// Asks the person at the client that runs a script in a session.
#[derive(Debug)]
pub struct ClientQuestions {
    runtime: Handle,
    script: Mutex<Option<AskingScript>>,
    /// The record of the script.
    record: Mutex<Option<Arc<dyn CallRecord>>>,
}

/// The script that a session runs.
#[derive(Clone, Debug)]
struct AskingScript {
    client: Peer<RoleServer>,
    controller: Controller,
}

impl ClientQuestions {
    /// Questions of a session that runs no script yet. Called within the runtime of the server.
    pub(crate) fn new() -> ClientQuestions {
        ClientQuestions { runtime: Handle::current(), script: Mutex::default(), record: Mutex::default() }
    }

    /// Sends further questions to the client of this script, to none if it cannot ask a person, and decisions to the record.
    pub(crate) fn start_script(
        &self,
        client: Option<Peer<RoleServer>>,
        record: Option<Arc<dyn CallRecord>>,
        controller: &Controller,
    ) {
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) = record;
        let script = client.map(|client| AskingScript { client, controller: controller.clone() });
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = script;
    }

    /// Ends the questions of a script that has ended.
    pub(crate) fn end_script(&self) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Tells the record of the script about a decision of the policy.
    pub fn decided(&self, decision: &str) {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner).clone();
        record.inspect(|record| record.decided(decision));
    }

    /// Asks a question that can be answered with yes or no, and waits for the answer or the end of the script. `always` describes
    /// an answer that holds from now on. Must not be called on a thread of an async runtime.
    pub fn ask(&self, message: &str, always: &str) -> ClientAnswer {
        let script = self.script.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(script) = script else { return ClientAnswer::Unavailable };
        self.runtime.block_on(script.ask(question(message, always)))
    }
}

impl AskingScript {
    async fn ask(&self, question: ServerRequest) -> ClientAnswer {
        let options = PeerRequestOptions::no_options();
        let sent = self.client.send_cancellable_request(question, options).await;
        let Ok(mut request) = sent else { return ClientAnswer::Unavailable };
        loop {
            tokio::select! {
                answer = &mut request.rx => return match answer {
                    Ok(Ok(ClientResult::ElicitResult(result))) => answer_of(&result),
                    _ => ClientAnswer::Unavailable,
                },
                () = tokio::time::sleep(CANCEL_CHECK_INTERVAL) => {
                    if self.controller.is_cancelled() || self.controller.is_finished() {
                        return withdraw(request).await;
                    }
                }
            }
        }
    }
}

/// Tells the client that the answer is no longer needed.
async fn withdraw(request: RequestHandle<RoleServer>) -> ClientAnswer {
    let _ = request.cancel(Some("the script was ended".to_owned())).await;
    ClientAnswer::Declined
}

/// Whether the client of a request has declared that it can show a form to a person.
pub(crate) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // A client that names no mode supports forms.
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// A form whose acceptance is the answer.
fn question(message: &str, always: &str) -> ServerRequest {
    let field = BooleanSchema::new().title(always.to_owned()).with_default(false);
    let schema = ElicitationSchema::builder()
        .property(ALWAYS, PrimitiveSchemaDefinition::Boolean(field))
        .build_unchecked();
    let message = message.to_owned();
    let form = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema };
    ServerRequest::ElicitRequest(ElicitRequest::new(form))
}

fn answer_of(result: &ElicitResult) -> ClientAnswer {
    match result.action {
        ElicitationAction::Accept => {
            let always = result.content.as_ref().is_some_and(|content| content[ALWAYS] == true);
            ClientAnswer::Accepted { always }
        }
        _ => ClientAnswer::Declined,
    }
}
