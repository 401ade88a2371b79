//! Connections: from a socket to the routes, for strangers who are in no hurry.
//!
//! Always: there are so many connections at most, and so many of one address; a head that does not
//! come in time ends its connection, and so does a side that does not read what it asked for. So
//! whoever opens many and does nothing keeps out nobody for long, and nobody else at all. When the
//! server is told to stop, no connection is taken any more, and requests under way are answered.

use std::net::{IpAddr, SocketAddr};
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

use crate::places::Places;
use crate::stall::Stalling;

/// How long to rest if the system has no more descriptors.
const EXHAUSTED: Duration = Duration::from_millis(200);
/// What a connection may keep of what it reads ahead: a head has to fit.
const BUFFER: usize = 32 << 10;

/// How many connections there may be, and how slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Connections {
    /// The most at a time; others wait in the kernel.
    pub most: usize,
    /// The most of one address, unless it is a proxy of ours; others are closed at once. Behind a
    /// proxy it is the most requests that one address may have under way.
    pub of_one_address: usize,
    /// How long the head of a request may take, and how long a connection may rest between two.
    pub head: Duration,
    /// How long the other side may leave an answer unread, before what it has taken counts.
    pub unread: Duration,
}

impl Default for Connections {
    fn default() -> Connections {
        let patience = Duration::from_secs(30);
        Connections { most: 1024, of_one_address: 64, head: patience, unread: patience }
    }
}

/// Serves until it is told to stop, and what was begun is answered.
pub(crate) async fn listen(
    listener: TcpListener,
    router: Router,
    connections: Connections,
    proxies: Vec<IpAddr>,
    mut told: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    let all = Arc::new(Semaphore::new(connections.most));
    let of_addresses = Places::new(connections.of_one_address);
    loop {
        let next = async {
            let place = Arc::clone(&all).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            // An error means that nobody is left who could stop it.
            _ = told.wait_for(|stop| *stop) => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let address = peer.ip().to_canonical();
                // A proxy stands for many; it has limits of its own.
                let own = if proxies.contains(&address) {
                    None
                } else if let Some(own) = of_addresses.take(address) {
                    Some(own)
                } else {
                    continue;
                };
                let watched = graceful.watch(connection(stream, peer, connections, router.clone()));
                tokio::spawn(async move {
                    // A connection that breaks is its other side's business.
                    let _ = watched.await;
                    drop((place, own));
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
    connections: Connections,
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
        .header_read_timeout(connections.head)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(Stalling::new(stream, connections.unread)), service)
}
