//! Load: clients that submit and count as fast as they can, and go on when a server dies.
//!
//! A client sends until it gets an answer, as real ones do; so everything is acknowledged in the
//! end, and the counts must be exactly what was sent, whatever was killed in between.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use stunt_parcel::Digest;
use stunt_parcel::messages::EventId;
use stunt_server::command;
use stunt_server::store::{Place, Role};

use super::client::Client;
use super::process::Server;
use super::{Made, sealed};

/// What became of a load.
#[derive(Debug, Default)]
pub struct Kept {
    /// Reports and events that were acknowledged.
    pub acknowledged: u64,
    /// Acknowledged reports that are not there.
    pub lost: u64,
    /// What the server counted in all.
    pub counted: u64,
    /// What it should have counted.
    pub expected: u64,
    /// How often a server was killed.
    pub kills: u32,
}

/// Where the clients find a server at the moment.
type Bases = Arc<Mutex<Vec<String>>>;

/// A parcel that was acknowledged, with its bytes.
type Sent = (Vec<u8>, Digest);

const FUNCTIONS: usize = 8;

fn made(number: usize) -> Made {
    let function = format!("load{}", number % FUNCTIONS);
    Made { bytes: 4000, ..Made::new(&format!("{:04x}", number % FUNCTIONS), &[&function, "main"]) }
}

/// One client: until it is told to stop, it submits a report, then counts an event, each until an
/// answer comes.
fn client(
    number: usize,
    bases: &Bases,
    to: &stunt_parcel::Recipient,
    stop: &AtomicBool,
    acknowledged: &AtomicU64,
) -> Vec<Sent> {
    let mut sent = Vec::new();
    let mut round = number;
    let mut clients: Vec<Client> = Vec::new();
    let mut pick = |round: usize| -> Client {
        let bases = bases.lock().unwrap().clone();
        let base = bases[round % bases.len()].clone();
        if let Some(known) = clients.iter().find(|client| client.base == base) {
            return known.clone();
        }
        clients.push(Client::new(base));
        clients.last().unwrap().clone()
    };
    while !stop.load(Ordering::Relaxed) {
        round += 1;
        let (parcel, digest) = sealed(&made(round).report(), to);
        let mut tries = round;
        loop {
            match pick(tries).try_put(&parcel, digest) {
                Ok(answer) if matches!(answer.status, 200 | 201) => break,
                Ok(answer) => assert_eq!(answer.status, 503, "{answer:?}"),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
            tries += 1;
        }
        acknowledged.fetch_add(1, Ordering::Relaxed);
        sent.push((parcel, digest));
        let event = EventId::random();
        loop {
            let signature = format!("{:04x}", round % FUNCTIONS);
            match pick(tries).try_count(&signature, event) {
                Ok(answer) if matches!(answer.status, 200 | 201) => break,
                Ok(answer) => assert_eq!(answer.status, 503, "{answer:?}"),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
            tries += 1;
        }
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    sent
}

/// Kills a server on SQLite so many times while clients submit, and looks what is left.
pub fn killed(folder: &Path, kills: u32) -> Kept {
    let server = Server::start(folder, None, None);
    let bases: Bases = Arc::new(Mutex::new(vec![server.base.clone()]));
    let to = Client::new(&server.base).recipient();
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut server = Some(server);
    let sent = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|number| {
                scope.spawn({
                    let (bases, to, stop, acknowledged) = (&bases, &to, &stop, &acknowledged);
                    move || client(1000 * number, bases, to, stop, acknowledged)
                })
            })
            .collect();
        for kill in 0..kills {
            // Kill at another moment each time, but never an idle server.
            let before = acknowledged.load(Ordering::Relaxed);
            let more = 3 + u64::from(kill * 7 % 23);
            wait_for(|| acknowledged.load(Ordering::Relaxed) >= before + more);
            server.take().unwrap().kill();
            let new = Server::start(folder, None, None);
            *bases.lock().unwrap() = vec![new.base.clone()];
            server = Some(new);
        }
        stop.store(true, Ordering::Relaxed);
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    let server = server.unwrap();
    let place = Place::Sqlite(folder.join("stunt.db"));
    let secret = command::add_token(&place, "test", Role::Maintainer).unwrap();
    let kept = look(&server.base, &secret, &sent, acknowledged.load(Ordering::Relaxed), kills);
    server.stop();
    kept
}

/// Two replicas on one database, one of them killed under load.
pub fn one_of_two(folder: &Path, database: &str) -> Kept {
    let key = folder.join("key");
    stunt_server::identity(&key, true).unwrap();
    let start = |name: &str| Server::start(&folder.join(name), Some(database), Some(&key));
    let (first, second) = (start("first"), start("second"));
    let bases: Bases = Arc::new(Mutex::new(vec![first.base.clone(), second.base.clone()]));
    let to = Client::new(&first.base).recipient();
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    let sent = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|number| {
                scope.spawn({
                    let (bases, to, stop, acknowledged) = (&bases, &to, &stop, &acknowledged);
                    move || client(1000 * number, bases, to, stop, acknowledged)
                })
            })
            .collect();
        wait_for(|| acknowledged.load(Ordering::Relaxed) >= 60);
        // Clients still try it now and then, as behind a balancer that has not noticed.
        first.kill();
        let before = acknowledged.load(Ordering::Relaxed);
        wait_for(|| acknowledged.load(Ordering::Relaxed) >= before + 60);
        stop.store(true, Ordering::Relaxed);
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    let place = Place::Postgres(database.to_owned());
    let secret = command::add_token(&place, "test", Role::Maintainer).unwrap();
    let kept = look(&second.base, &secret, &sent, acknowledged.load(Ordering::Relaxed), 1);
    second.stop();
    kept
}

fn wait_for(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(300), "nothing happens any more");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What a server has of what it acknowledged.
fn look(base: &str, secret: &str, sent: &[Sent], acknowledged: u64, kills: u32) -> Kept {
    let client = Client::new(base);
    let lost = sent.iter().filter(|(parcel, digest)| {
        // A parcel that was here before is answered by 200, a new one by 201.
        client.put(parcel, *digest).status != 200
    });
    let lost = lost.count() as u64;
    let list = client.with_token(secret).get("/api/v1/tickets?state=all&limit=200").json();
    let tickets = list["tickets"].as_array().unwrap();
    let counted = tickets.iter().map(|ticket| ticket["count"].as_u64().unwrap()).sum();
    Kept { acknowledged, lost, counted, expected: acknowledged, kills }
}

/// How fast a server takes reports.
#[derive(Debug)]
pub struct Speed {
    /// Reports in all.
    pub reports: usize,
    /// Reports a second.
    pub per_second: f64,
    /// Half of the answers came within so many milliseconds.
    pub median: f64,
    /// 99 of 100 did.
    pub p99: f64,
    /// The size of a parcel.
    pub bytes: usize,
}

/// Submits reports from so many clients at once, for so long. They are sealed beforehand.
pub fn speed(base: &str, clients: usize, reports: usize) -> Speed {
    let to = Client::new(base).recipient();
    let parcels: Vec<Sent> =
        (0..reports).map(|number| sealed(&made(number).report(), &to)).collect();
    let bytes = parcels[0].0.len();
    let begun = Instant::now();
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let part = reports.div_ceil(clients);
        let threads: Vec<_> = parcels
            .chunks(part)
            .map(|parcels| {
                scope.spawn(move || {
                    let client = Client::new(base);
                    let time = |(parcel, digest): &Sent| {
                        let begun = Instant::now();
                        assert_eq!(client.put(parcel, *digest).status, 201);
                        begun.elapsed().as_secs_f64() * 1000.0
                    };
                    parcels.iter().map(time).collect::<Vec<f64>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let seconds = begun.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    Speed {
        reports,
        per_second: reports as f64 / seconds,
        median: times[times.len() / 2],
        p99: times[times.len() * 99 / 100],
        bytes,
    }
}
