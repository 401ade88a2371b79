//! Connections: from a socket to the routes, for strangers who are in no hurry.
//!
//! Always: there are so many connections at most, and a head that does not come in time ends its
//! connection, so that whoever opens many and says nothing keeps out nobody for long. When the
//! server is told to stop, no connection is taken any more, and requests under way are answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// The most connections at a time; others wait in the kernel.
const MOST: usize = 1024;
/// How long the head of a request may take, and how long a connection may rest between two.
const HEAD: Duration = Duration::from_secs(30);
/// How long to rest if the system has no more descriptors.
const EXHAUSTED: Duration = Duration::from_millis(200);

/// Serves until it is told to stop, and what was begun is answered.
pub(crate) async fn listen(listener: TcpListener, router: Router, mut told: watch::Receiver<bool>) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(MOST));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            // An error means that nobody is left who could stop it.
            _ = told.wait_for(|stop| *stop) => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let watched = graceful.watch(connection(stream, peer, router.clone()));
                tokio::spawn(async move {
                    // A connection that breaks is its other side's business.
                    let _ = watched.await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "accepting");
                tokio::time::sleep(EXHAUSTED).await;
            }
        }
    }
    drop(listener);
    graceful.shutdown().await;
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    // Answers are small and whole; waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let routes = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        routes.call(request)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service)
}
