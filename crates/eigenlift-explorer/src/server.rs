//! The server of one page for one person.

use crate::guard::{self, Guard};
use crate::{Workbench, routes};
use axum::Router;
use axum::middleware::from_fn_with_state;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

/// The longest that the head of a request, or the next request on a connection, is waited for.
const LONGEST_HEAD: Duration = Duration::from_secs(15);
/// What is waited after the system could not give a connection: it has too many files open, say.
const BREATH: Duration = Duration::from_secs(1);

/// Where the server listens and what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address; loopback unless other machines are to reach it.
    pub host: IpAddr,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// The largest upload, in bytes.
    pub most_upload: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { host: Ipv4Addr::LOCALHOST.into(), port: 0, most_upload: 64 << 20 }
    }
}

/// A server that has an address and is not yet running.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    guard: Arc<Guard>,
    most_upload: usize,
}

impl Server {
    /// Takes an address.
    ///
    /// # Errors
    /// When the port is taken, or the system has no random numbers for the token.
    pub fn bind(settings: &Settings) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::new(settings.host, settings.port))?;
        listener.set_nonblocking(true)?;
        let guard = Guard::new(listener.local_addr()?).map_err(io::Error::other)?;
        Ok(Self { listener, guard: Arc::new(guard), most_upload: settings.most_upload })
    }

    /// The address of the page, with its token.
    pub fn url(&self) -> String {
        self.guard.url()
    }

    /// Serves the page until the process ends.
    ///
    /// # Errors
    /// When the network cannot be used at all.
    pub fn run(self, workbench: impl Workbench) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let router = routes::router(Arc::new(workbench), self.most_upload)
                .layer(from_fn_with_state(self.guard, guard::check));
            serve(&listener, &router).await
        })
    }
}

/// Answers every connection. Why not by axum alone: it waits for the head of a request for ever.
async fn serve(listener: &tokio::net::TcpListener, router: &Router) -> io::Result<()> {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) => {
                continue;
            }
            Err(_) => {
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        // A connection that fails is the other side's matter.
        tokio::spawn(async move {
            let mut settings = http1::Builder::new();
            settings.timer(TokioTimer::new()).header_read_timeout(LONGEST_HEAD);
            let _ = settings.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
