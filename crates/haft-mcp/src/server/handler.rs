//! Implements the MCP requests and notifications.
#![expect(deprecated, reason = "the newest protocol revision has no logging, older ones do")]

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use haft_lang::Resolver;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::task::spawn_blocking;

use super::event::{self, ServerEvent};
use super::owner::ResourceOwner;
use super::reply::ToolReply;
use super::server_state::ServerState;
use super::subscriptions::{self, ClientSubscriptions};
use super::tool_request::ToolRequest;
use super::{job_tool, output_tool, prompts, resources, run_tool, script_tools, tasks, tool_definitions};

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
            "run" => match tool_definitions::parse_arguments(name, given) {
                Ok(arguments) => run_tool::run(state, arguments, call).await,
                Err(message) => Err(message),
            },
            "job" => match tool_definitions::parse_arguments(name, given) {
                Ok(arguments) => job_tool::job(state, arguments, call).await,
                Err(message) => Err(message),
            },
            "output" => tool_definitions::parse_arguments(name, given)
                .and_then(|arguments| output_tool::output(state, arguments)),
            "check" => self.analyze(name, given, script_tools::check).await,
            "plan" => self.analyze(name, given, script_tools::plan).await,
            _ => {
                let mut reply = state.setup.tools.as_ref()?.call(name, given, call).await?;
                if reply.failed {
                    reply.redact(&state.setup.redactor);
                }
                Ok(reply)
            }
        })
    }

    /// Runs `check` or `plan` on a blocking thread, because a long script takes a while.
    async fn analyze(
        &self,
        name: &str,
        given: Option<JsonObject>,
        analysis: fn(&script_tools::ScriptArguments, &dyn Resolver) -> ToolReply,
    ) -> Result<ToolReply, String> {
        let arguments = tool_definitions::parse_arguments(name, given)?;
        let state = self.state.clone();
        let analyzed = spawn_blocking(move || {
            let mut reply = analysis(&arguments, &*state.setup.names);
            reply.redact(&state.setup.redactor);
            reply
        })
        .await;
        analyzed.map_err(|error| format!("\"{name}\" failed: {error}"))
    }

    /// All tools: the built-in ones, and those of the registry whose names do not collide.
    async fn tools(&self) -> Vec<Tool> {
        let mut all = tool_definitions::built_in(&self.state.setup.withheld_variables);
        if let Some(registry) = &self.state.setup.tools {
            let others = registry.list().await;
            all.extend(others.into_iter().filter(|tool| !tool_definitions::is_built_in(&tool.name)));
        }
        all
    }
}

/// Converts a reply to a protocol message.
pub(crate) fn result(reply: Result<ToolReply, String>) -> CallToolResult {
    let reply = reply.unwrap_or_else(ToolReply::failure);
    let content = vec![ContentBlock::text(reply.text)];
    let mut result =
        if reply.failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = reply.data;
    result
}

const INSTRUCTIONS: &str = "Tools for working on this machine. \"run\" runs a bash script and returns when it ends or when a \
    condition is met (a pattern in the output, an open port, a file, silence), so there is no need to poll or sleep. Long \
    output is truncated in the middle; read the rest with \"output\" instead of running the script again. Servers and \
    programs that wait for input continue as jobs; use \"job\" to read from and write to them.";

impl ServerHandler for ProtocolHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_logging()
            .enable_prompts()
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
        let client = format!("{} {}", request.client_info.name, request.client_info.version);
        let answer = self.negotiate_initialize(&request)?;
        let revision = answer.protocol_version.as_str();
        (self.state.setup.log)(ServerEvent::Connected { client: &client, revision });
        let _ = self.client_owner.set(Arc::new(ResourceOwner::new(&self.state, client)));
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
            self.state.tool_changes.clone(),
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
        changes.mark_unchanged();
        loop {
            tokio::select! {
                changed = changes.changed() => match changed {
                    Ok(()) => drop(context.sink().notify_tool_list_changed().await),
                    Err(_) => context.cancelled().await,
                },
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
        let call = ToolRequest::new(self.owner(), &context);
        let unknown = {
            let name = request.name.clone();
            move || ErrorData::invalid_params(format!("unknown tool \"{name}\""), None)
        };
        let handler = self.clone();
        let answer = move |call: ToolRequest| async move {
            handler.call(&request.name, request.arguments, &call).await
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
            tasks::CallAnswer::Immediate(Some(reply)) => Ok(result(reply).into()),
            tasks::CallAnswer::Immediate(None) => Err(unknown()),
            tasks::CallAnswer::Task(task) => Ok(task.into()),
        }
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
        Ok(resources::list(&self.state))
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
        resources::read(&self.state, &request.uri).map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list(&self.state.setup.prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&self.state.setup.prompts, &request.name, request.arguments).map(Into::into)
    }
}
