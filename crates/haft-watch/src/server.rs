//! The HTTP server.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use haft_overlay::OverlayStore;
use haft_process::CancelToken;
use haft_process::capture::OutputStore;
use haft_records::RecordStore;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::output::OutputCache;
use crate::routes;
use crate::tracker::{RunUpdates, track};

/// The pause after `accept` has failed.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// The most connections at a time.
const MAX_CONNECTIONS: usize = 256;
/// How long requests may take to finish when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// Data sources and address of the page.
#[derive(Debug)]
pub struct WatchSetup {
    /// The directory of the journals.
    pub records: PathBuf,
    /// Stored outputs, in the order in which they are searched.
    pub outputs: Vec<OutputStore>,
    /// The overlays.
    pub overlays: OverlayStore,
    /// The token that a browser must present.
    pub token: String,
    /// The port; 0 selects a free one.
    pub port: u16,
}

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct WatchState {
    pub(crate) access: Access,
    pub(crate) records: RecordStore,
    pub(crate) outputs: OutputCache,
    pub(crate) overlays: OverlayStore,
    pub(crate) updates: RunUpdates,
}

/// Serves the page until `cancel` is cancelled. `ready` receives the URL with the token.
///
/// # Errors
/// If the port cannot be used, or the journals cannot be followed.
pub fn serve(setup: WatchSetup, ready: impl FnOnce(&str), cancel: &CancelToken) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, setup.port))).await?;
        let port = listener.local_addr()?.port();
        let updates = track(&setup.records, cancel)?;
        let stop = updates.stop();
        let state = Arc::new(WatchState {
            access: Access::new(port, &setup.token),
            records: RecordStore::open(&setup.records),
            outputs: OutputCache::new(setup.outputs),
            overlays: setup.overlays,
            updates,
        });
        ready(&format!("http://127.0.0.1:{port}/?token={}", setup.token));
        tokio::select! { () = accept(&listener, &state) => (), () = stop.notified() => () }
        Ok(())
    });
    runtime.shutdown_timeout(STOP_TIMEOUT);
    served
}

async fn accept(listener: &TcpListener, state: &Arc<WatchState>) {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = free.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let state = state.clone();
                tokio::spawn(async move {
                    answer_requests(stream, state).await;
                    drop(permit);
                });
            }
            // A transient error: no free descriptor, or a client that gave up while it waited.
            Err(_) => tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await,
        }
    }
}

async fn answer_requests(stream: TcpStream, state: Arc<WatchState>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let state = state.clone();
        async move { Ok::<_, Infallible>(routes::answer(request, &state).await) }
    });
    // A browser may close a connection at any time.
    let _ =
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await;
}
