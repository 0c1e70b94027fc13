//! Finds the answer to a request.

use std::sync::Arc;

use http::{HeaderValue, Method, Request, StatusCode, header};
use hyper::body::Incoming;

use crate::query::{Query, decode};
use crate::reply::{Reply, RequestError};
use crate::server::WatchState;
use crate::{assets, events, output, overlays, reply, runs};

/// Answers a request.
pub(crate) async fn answer(request: Request<Incoming>, state: &Arc<WatchState>) -> Reply {
    let query = Query::parse(request.uri().query().unwrap_or_default());
    if let Some(entered) = enter(&request, &query, state) {
        return entered;
    }
    let access = &state.access;
    let checked = access.check_site(request.method(), request.headers());
    if let Err(refusal) = checked.and_then(|()| access.check_cookie(request.headers())) {
        return reply::error(refusal.into());
    }
    let path: Vec<String> = request.uri().path().split('/').skip(1).map(decode).collect();
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    let answered = match *request.method() {
        Method::GET => get(&words, query, state).await,
        Method::POST => post(&words, state).await,
        _ => Err(RequestError::new(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are possible")),
    };
    answered.unwrap_or_else(reply::error)
}

/// Moves the token from the address to a cookie.
fn enter(request: &Request<Incoming>, query: &Query, state: &WatchState) -> Option<Reply> {
    let access = &state.access;
    let is_entry = request.method() == Method::GET && request.uri().path() == "/";
    query
        .get("token")
        .filter(|token| is_entry && access.is_own_host(request.headers()) && access.is_token(token))?;
    let mut entry = assets::entry();
    entry.headers_mut().insert(header::SET_COOKIE, HeaderValue::from_str(&access.set_cookie()).ok()?);
    Some(entry)
}

async fn get(path: &[&str], query: Query, state: &Arc<WatchState>) -> Result<Reply, RequestError> {
    match *path {
        [""] | ["run", _] | ["overlays"] | ["overlays", _] | ["stats"] => Ok(assets::page()),
        ["assets", name] => assets::file(name).ok_or_else(unknown),
        ["api", "events"] => events::subscribe(&query, state),
        ["api", "runs"] => blocking(state, move |state| runs::list(&query, state)).await,
        ["api", "stats"] => blocking(state, move |state| runs::statistics(&query, state)).await,
        ["api", "runs", id] => {
            let id = id.to_owned();
            blocking(state, move |state| runs::detail(&id, state)).await
        }
        ["api", "outputs", id, "lines"] => {
            let id = id.to_owned();
            blocking(state, move |state| output::lines(&id, &query, state)).await
        }
        ["api", "outputs", id, "recording"] => {
            let id = id.to_owned();
            blocking(state, move |state| output::recording(&id, &query, state)).await
        }
        ["api", "outputs", id, "raw"] => {
            let id = id.to_owned();
            blocking(state, move |state| output::raw(&id, &query, state)).await
        }
        ["api", "overlays"] => blocking(state, overlays::list).await,
        ["api", "overlays", id] => {
            let id = id.to_owned();
            blocking(state, move |state| overlays::show(&id, state)).await
        }
        _ => Err(unknown()),
    }
}

async fn post(path: &[&str], state: &Arc<WatchState>) -> Result<Reply, RequestError> {
    match *path {
        ["api", "runs", id, "kill"] => {
            let id = id.to_owned();
            blocking(state, move |state| runs::kill(&id, state)).await
        }
        ["api", "overlays", id, action] => {
            let (id, action) = (id.to_owned(), action.to_owned());
            blocking(state, move |state| overlays::change(&id, &action, state)).await
        }
        _ => Err(unknown()),
    }
}

fn unknown() -> RequestError {
    RequestError::not_found("there is nothing at this address")
}

/// Does work that may block on another thread.
async fn blocking(
    state: &Arc<WatchState>,
    work: impl FnOnce(&Arc<WatchState>) -> Result<Reply, RequestError> + Send + 'static,
) -> Result<Reply, RequestError> {
    let state = state.clone();
    let done = tokio::task::spawn_blocking(move || work(&state)).await;
    done.unwrap_or_else(|_| {
        Err(RequestError::new(StatusCode::INTERNAL_SERVER_ERROR, "the request has failed"))
    })
}
