//! Implements the MCP requests and notifications.
#![expect(deprecated, reason = "the newest protocol revision has no logging, older ones do")]

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use haft_lang::Resolver;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    Implementation, InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::task::spawn_blocking;

use super::detail::{self, ResultDetail};
use super::event::{self, ServerEvent};
use super::observer::{CallRecord, ClientName, ObservedCall};
use super::owner::ResourceOwner;
use super::reply::ToolReply;
use super::server_state::ServerState;
use super::subscriptions::{self, ClientSubscriptions};
use super::tool_definitions::BUILT_IN;
use super::tool_request::ToolRequest;
use super::{
    changes_tool, job_tool, output_tool, prompts, registry, resources, run_tool, script_tools, tasks,
};

/// Handles the requests of one client, or one request of a stateless client.
#[derive(Clone, Debug)]
pub(crate) struct ProtocolHandler {
    state: Arc<ServerState>,
    /// Owns everything that stateless clients start.
    anonymous_owner: Arc<ResourceOwner>,
    /// Set when the client initializes.
    client_owner: Arc<OnceLock<Arc<ResourceOwner>>>,
    /// The notifications that the client wants.
    subscriptions: Arc<ClientSubscriptions>,
}

impl ProtocolHandler {
    pub(crate) fn new(state: &Arc<ServerState>, anonymous_owner: &Arc<ResourceOwner>) -> ProtocolHandler {
        ProtocolHandler {
            state: state.clone(),
            anonymous_owner: anonymous_owner.clone(),
            client_owner: Arc::default(),
            subscriptions: Arc::default(),
        }
    }

    fn owner(&self) -> Arc<ResourceOwner> {
        self.client_owner.get().unwrap_or(&self.anonymous_owner).clone()
    }

    /// Calls a tool. Returns `None` if there is no tool of this name.
    pub(crate) async fn call(
        &self,
        name: &str,
        given: Option<JsonObject>,
        call: &ToolRequest,
    ) -> Option<Result<ToolReply, String>> {
        let state = &self.state;
        Some(match name {
            name if !state.offers_built_in(name) => Err(registry::not_offered(name)),
            "run" => match state.built_in.parse(name, given) {
                Ok(arguments) => run_tool::run(state, arguments, call).await,
                Err(message) => Err(message),
            },
            "job" => match state.built_in.parse(name, given) {
                Ok(arguments) => job_tool::job(state, arguments, call).await,
                Err(message) => Err(message),
            },
            "output" => state
                .built_in
                .parse(name, given)
                .and_then(|arguments| output_tool::output(state, call.owner.id, arguments)),
            "changes" => self.changes(name, given, call).await,
            "check" => self.analyze(name, given, script_tools::check).await,
            "plan" => self.analyze(name, given, script_tools::plan).await,
            _ => {
                let requested = state.setup.requested_tools.clone();
                let tools = state.setup.tools.as_ref()?;
                let mut reply = tools.call(state, name, given, requested, call).await?;
                if let Ok(reply) = &mut reply
                    && reply.failed
                {
                    reply.redact(&state.setup.redactor);
                }
                reply
            }
        })
    }

    /// Tells the observer about a call.
    fn observe(
        &self,
        owner: &ResourceOwner,
        request: &CallToolRequestParams,
        meta: &JsonObject,
    ) -> Option<Arc<dyn CallRecord>> {
        let observer = self.state.setup.observer.as_ref()?;
        let (client, arguments) = (owner.client(), request.arguments.as_ref());
        Some(observer.called(ObservedCall { client, tool: &request.name, arguments, meta }))
    }

    /// Runs `changes` on a blocking thread, because it may rename many files.
    async fn changes(
        &self,
        name: &str,
        given: Option<JsonObject>,
        call: &ToolRequest,
    ) -> Result<ToolReply, String> {
        let arguments = self.state.built_in.parse(name, given)?;
        let (state, owner) = (self.state.clone(), call.owner.id);
        let done = spawn_blocking(move || changes_tool::changes(&state, owner, &arguments)).await;
        done.unwrap_or_else(|error| Err(format!("'{name}' failed: {error}")))
    }

    /// Runs `check` or `plan` on a blocking thread, because a long script takes a while.
    async fn analyze(
        &self,
        name: &str,
        given: Option<JsonObject>,
        analysis: fn(&script_tools::ScriptArguments, &dyn Resolver) -> ToolReply,
    ) -> Result<ToolReply, String> {
        let arguments = self.state.built_in.parse(name, given)?;
        let state = self.state.clone();
        let analyzed = spawn_blocking(move || {
            let mut reply = analysis(&arguments, &*state.setup.names);
            reply.redact(&state.setup.redactor);
            reply
        })
        .await;
        analyzed.map_err(|error| format!("'{name}' failed: {error}"))
    }

    /// All offered tools: the built-in ones, and those of the registry whose names do not collide.
    async fn tools(&self) -> Vec<Tool> {
        let state = &self.state;
        let offered = |tool: &&Tool| state.offers_built_in(&tool.name);
        let mut all: Vec<Tool> = state.built_in.definitions().filter(offered).cloned().collect();
        if let Some(registry) = &state.setup.tools {
            let others = registry.list(state.setup.requested_tools.as_ref(), state.setup.detail).await;
            all.extend(others.into_iter().filter(|tool| !BUILT_IN.contains(&&*tool.name)));
        }
        all
    }

    /// The error for a name that is not offered.
    async fn unknown_tool(&self, name: &str) -> ErrorData {
        let tools = self.tools().await;
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let hint = haft_config::nearest(name, names).map(|near| format!("; did you mean '{near}'?"));
        ErrorData::invalid_params(format!("unknown tool '{name}'{}", hint.unwrap_or_default()), None)
    }
}

/// Converts a reply to a protocol message: text, and on request the data as structured content.
pub(crate) fn result(
    reply: Result<ToolReply, String>,
    default_detail: ResultDetail,
    wants_meta: bool,
) -> CallToolResult {
    let reply = reply.unwrap_or_else(ToolReply::failure);
    let blocks = reply.content.and_then(|content| serde_json::from_value(content).ok());
    let content = blocks.unwrap_or_else(|| vec![ContentBlock::text(reply.text)]);
    let mut result =
        if reply.failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    let data = if reply.is_foreign { reply.data } else { reply.data.map(detail::versioned) };
    if [reply.detail, default_detail].contains(&ResultDetail::Full) {
        result.structured_content = data;
    } else if let Some(data) = data.filter(|_| wants_meta) {
        let outcome = (detail::OUTCOME_META.to_owned(), detail::without_output(data));
        result.meta = Some(MetaObject(JsonObject::from_iter([outcome])));
    }
    result
}

/// The methods that the server implements.
const KNOWN_METHODS: [&str; 18] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

const INSTRUCTIONS: &str = "'run' runs a bash script and returns when it ends or when a condition is met (a pattern in the \
    output, an open port, a file, silence): never poll or sleep. Long output is truncated in the middle; read the rest with \
    'output' instead of running the script again. Servers and programs that wait for input continue as jobs: use 'job'.";

impl ServerHandler for ProtocolHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("haft", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let info = &request.client_info;
        let client = ClientName { name: info.name.clone(), version: info.version.clone() };
        let answer = self.negotiate_initialize(&request)?;
        let revision = answer.protocol_version.as_str();
        (self.state.setup.log)(ServerEvent::Connected { client: &client.to_string(), revision });
        let keeps_meta = detail::keeps_meta_from_model(&request.client_info.name);
        let _ = self.client_owner.set(Arc::new(ResourceOwner::new(&self.state, client, keeps_meta)));
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().await))
    }

    /// Starts sending notifications: changed tools, and ended jobs of this client.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tokio::spawn(subscriptions::send_notifications(
            context.peer,
            [self.state.tool_changes.clone(), self.state.prompts.changes()],
            self.state.ended_jobs.subscribe(),
            self.owner().id,
            self.subscriptions.clone(),
        ));
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.set_level(request.level);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.subscribe(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    /// Sends the notifications that the client subscribed to: changed tools, and job logs that have ended.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (mut changes, mut ended_jobs) =
            (self.state.tool_changes.clone(), self.state.ended_jobs.subscribe());
        let mut prompt_changes = self.state.prompts.changes();
        changes.mark_unchanged();
        loop {
            tokio::select! {
                changed = changes.changed() => match changed {
                    Ok(()) => drop(context.sink().notify_tool_list_changed().await),
                    Err(_) => context.cancelled().await,
                },
                Ok(()) = prompt_changes.changed() => drop(context.sink().notify_prompt_list_changed().await),
                // The sink drops notifications that the client did not ask for.
                Ok(ended) = ended_jobs.recv() => drop(context.sink().notify_resource_updated(ended.uri).await),
                () = context.cancelled() => return Ok(()),
            }
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (start, tool) = (Instant::now(), request.name.clone());
        let owner = self.owner();
        let record = self.observe(&owner, &request, &context.meta);
        let call = ToolRequest::new(owner, &context, record);
        let wants_meta = call.owner.keeps_meta_from_model();
        let handler = self.clone();
        let answer = move |call: ToolRequest| async move {
            let reply = match handler.state.count_call() {
                Ok(()) => handler.call(&request.name, request.arguments, &call).await,
                Err(message) => Some(Err(message)),
            };
            call.record_reply(reply.as_ref());
            reply
        };
        let mut answer = tasks::answer(&self.state, &context, call, answer).await;
        if let tasks::CallAnswer::Immediate(Some(Err(message))) = &mut answer {
            self.state.setup.redactor.redact(message);
        }
        let outcome = match &answer {
            tasks::CallAnswer::Immediate(reply) => event::outcome(reply.as_ref()),
            tasks::CallAnswer::Task(_) => "continues as a task".to_owned(),
        };
        let called = ServerEvent::Called { tool: &tool, duration: start.elapsed(), outcome: &outcome };
        (self.state.setup.log)(called);
        match answer {
            tasks::CallAnswer::Immediate(Some(reply)) => {
                Ok(result(reply, self.state.setup.detail, wants_meta).into())
            }
            tasks::CallAnswer::Immediate(None) => Err(self.unknown_tool(&tool).await),
            tasks::CallAnswer::Task(task) => Ok(task.into()),
        }
    }

    /// The definition of a tool, against which the HTTP transport checks the headers `Mcp-Param-*`.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let built_in = self.state.built_in.definitions().find(|tool| tool.name == name).cloned();
        built_in.or_else(|| self.state.setup.tools.as_ref()?.definition(name))
    }

    /// Rejects a request whose method is unknown, or whose parameters do not have the form that the method requires.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = &request.method;
        Err(if KNOWN_METHODS.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("invalid parameters of '{method}'"), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method '{method}'"), None)
        })
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.state.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.state.tasks.update_task(&request.task_id, Vec::new())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.state.tasks.cancel_task(&request.task_id)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::list(&self.state, self.owner().id))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.state, self.owner().id, &request.uri).map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list(&self.state.prompts.current()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompts = self.state.prompts.current();
        // A prompt may run commands of its contexts.
        let made = spawn_blocking(move || prompts::get(&prompts, &request.name, request.arguments)).await;
        made.map_err(|error| ErrorData::internal_error(error.to_string(), None))?.map(Into::into)
    }
}
