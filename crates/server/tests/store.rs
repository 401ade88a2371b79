//! The store on both databases: the same tests, on SQLite and on PostgreSQL.

#[path = "store/attacks.rs"]
mod attacks;
mod common;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use attacks::{
    attack_drown_the_audit_log, attack_evict_the_double_by_claims,
    attack_rewrite_a_tickets_words_and_frames, attack_token_of_a_disabled_person,
};
use common::postgres::Postgres;
use common::tables::{submission, tables};
use common::{Folder, Made};
use sqlx::AssertSqlSafe;
use stunt_parcel::Digest;
use stunt_parcel::messages::{Count, EventId};
use stunt_server::store::{
    Double, Figure, Filter, LinkState, NewBuild, Outcome, Place, ReplayFrame, ReplayResult,
    ReplayState, Retention, Role, Settings, Sort, State, StateFilter, Submission, TicketId,
    TrackerSettings,
};
use stunt_server::{Clock, Error, Store};

/// A store with a clock that the test sets.
struct World {
    store: Store,
    time: Arc<AtomicI64>,
    place: Place,
}

impl World {
    fn later(&self, time: Duration) {
        self.time.fetch_add(time.as_millis() as i64, Ordering::Relaxed);
    }

    async fn submit(&self, made: &Made) -> TicketId {
        let submitted = self.store.submit(submission(&made.report())).await.unwrap();
        assert!(submitted.new);
        submitted.ticket
    }

    async fn count(&self, signature: &str, build: Option<&str>, version: Option<&str>) -> i64 {
        let count = Count {
            id: EventId::random(),
            signature: signature.to_owned(),
            program: "parser".to_owned(),
            build_id: build.map(str::to_owned),
            version: version.map(str::to_owned),
        };
        let counted = self.store.count(&count).await.unwrap().unwrap();
        assert!(counted.new);
        counted.count
    }
}

const DAY: Duration = Duration::from_secs(86_400);
const FIRST: &str = "5d41402abc4b2a76b9719d911017c592ab8eb92f";
const SECOND: &str = "aaaa402abc4b2a76b9719d911017c592ab8eb92f";

type Test = for<'a> fn(&'a World) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

macro_rules! suite {
    ($($name:ident),+ $(,)?) => {
        const SUITE: &[(&str, Test)] = &[$((stringify!($name), |world| Box::pin($name(world)))),+];
        mod sqlite {
            $(#[test] fn $name() { super::on_sqlite(|world| Box::pin(super::$name(world))); })+
        }
    };
}

suite![
    failures_are_grouped,
    nothing_counts_twice,
    the_best_doubles_are_kept,
    attack_evict_the_double_by_claims,
    attack_rewrite_a_tickets_words_and_frames,
    attack_token_of_a_disabled_person,
    attack_drown_the_audit_log,
    new_builds_regress,
    the_list_is_searched_and_paged,
    common_words_are_found_together,
    people_and_secrets,
    builds_and_replays,
    a_worker_that_is_gone,
    notes_and_states_are_logged,
    old_things_go,
    counts_by_day_and_build,
    strangers_builds_have_an_end,
    what_is_no_text_is_no_fault_of_the_server,
    who_asks_is_given_a_double_of_their_build,
    issues_are_made_once_and_their_state_comes_back,
];

fn on_sqlite(test: Test) {
    let folder = Folder::new();
    run(Place::Sqlite(folder.path().join("a b?.db")), test);
}

fn run(place: Place, test: Test) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // Not midnight, so that a minute more is the same day.
        let time = Arc::new(AtomicI64::new(1_794_825_360_000));
        let store = Store::open(&place, Clock::Set(Arc::clone(&time))).await.unwrap();
        test(&World { store: store.clone(), time, place }).await;
        store.close().await;
    });
}

#[test]
fn everything_on_postgres() {
    let postgres = Postgres::start();
    for (name, test) in SUITE {
        eprintln!("{name}");
        run(Place::Postgres(postgres.database(name)), *test);
    }
}

async fn failures_are_grouped(world: &World) {
    let first = Made::new("1111", &["field", "line", "main"]);
    let ticket = world.submit(&first).await;
    assert_eq!(ticket.to_string(), "T-1");
    // Another build: another signature, the same functions.
    let again = Made { build: SECOND.to_owned(), signature: "2222".to_owned(), ..first.clone() };
    assert_eq!(world.submit(&again).await, ticket);
    let other = world.submit(&Made::new("3333", &["other", "main"])).await;
    assert_ne!(other, ticket);
    // A program of another name has failures of its own.
    let elsewhere = Made { program: "reader", signature: "4444".to_owned(), ..first.clone() };
    assert_ne!(world.submit(&elsewhere).await, ticket);
    // Without names, the signature alone decides.
    let bare = world.submit(&Made::new("5555", &[])).await;
    assert_ne!(world.submit(&Made::new("6666", &[])).await, bare);
    assert_eq!(world.submit(&Made::new("5555", &[])).await, bare);

    let ticket = world.store.ticket(ticket).await.unwrap();
    assert_eq!(ticket.row.title, "SIGSEGV in field ← line ← main");
    assert_eq!(ticket.row.count, 2);
    assert_eq!(ticket.signatures, ["1111", "2222"]);
    assert_eq!(ticket.frames.len(), 3);
    assert_eq!(ticket.frames[0].location.as_deref(), Some("parser.c:10"));
    for signature in ["1111", "2222"] {
        let (known, double) = world.store.ask(signature).await.unwrap().unwrap();
        assert_eq!(known, ticket.row.id);
        let file = world.store.report_file(&double.unwrap().digest.to_string()).await.unwrap();
        assert_eq!(Digest::of(&file.unwrap()), double.unwrap().digest);
    }
    assert!(world.store.ask("7777").await.unwrap().is_none());
}

async fn nothing_counts_twice(world: &World) {
    let data = Made::new("1111", &["f"]).report();
    let first = world.store.submit(submission(&data)).await.unwrap();
    assert!(first.new);
    let again = world.store.submit(submission(&data)).await.unwrap();
    assert_eq!((again.ticket, again.new), (first.ticket, false));
    // The same report, sealed anew.
    let resealed = Submission { parcel: Digest::of(b"other"), ..submission(&data) };
    assert!(world.store.submit(resealed).await.unwrap().new);
    assert_eq!(world.store.ticket(first.ticket).await.unwrap().row.count, 1);
    assert_eq!(world.store.parcel(Digest::of(b"other")).await.unwrap(), Some(first.ticket));

    let event = Count {
        id: EventId::random(),
        signature: "1111".to_owned(),
        program: "parser".to_owned(),
        build_id: None,
        version: None,
    };
    // Many at once: as when a client does not trust the first answer.
    let mut tasks = Vec::new();
    for _ in 0..20 {
        let (store, event) = (world.store.clone(), event.clone());
        tasks.push(tokio::spawn(async move { store.count(&event).await.unwrap().unwrap() }));
    }
    let mut new = 0;
    for task in tasks {
        let counted = task.await.unwrap();
        assert_eq!(counted.count, 2);
        new += u32::from(counted.new);
    }
    assert_eq!(new, 1);
    // Whoever asked, and sends a report all the same, has met one failure.
    let data = Made { build: SECOND.to_owned(), ..Made::new("1111", &["f"]) }.report();
    let report = Submission { event: Some(event.id), ..submission(&data) };
    assert!(world.store.submit(report).await.unwrap().new);
    let unasked = EventId::random();
    let data = Made { program: "again", ..Made::new("1111", &["f"]) }.report();
    let report = Submission { event: Some(unasked), ..submission(&data) };
    assert!(world.store.submit(report).await.unwrap().new);
    let told = world.store.count(&Count { id: unasked, ..event.clone() }).await.unwrap().unwrap();
    assert_eq!((told.count, told.new), (3, false));
    let unknown = Count { signature: "9999".to_owned(), ..event };
    assert!(world.store.count(&unknown).await.unwrap().is_none());
    // Many new reports of one failure at once are all one ticket.
    let mut tasks = Vec::new();
    for _ in 0..20 {
        let store = world.store.clone();
        tasks.push(tokio::spawn(async move {
            let made = Made::new("abcd", &["same", "place"]);
            store.submit(submission(&made.report())).await.unwrap().ticket
        }));
    }
    let mut tickets = Vec::new();
    for task in tasks {
        tickets.push(task.await.unwrap());
    }
    tickets.dedup();
    assert_eq!(tickets.len(), 1);
    assert_eq!(world.store.ticket(tickets[0]).await.unwrap().row.count, 20);
}

/// A build that replays need.
async fn bring_build(store: &Store) {
    let build = NewBuild {
        build_id: FIRST.to_owned(),
        name: "parser".to_owned(),
        version: None,
        data: vec![1, 2, 3],
    };
    store.add_build("anna", &build).await.unwrap();
}

/// A replay that fails as reported, with this count.
fn fails(figure: Figure) -> ReplayResult {
    let figure = Some(figure);
    ReplayResult { outcome: Outcome::Same, figure, ..ReplayResult::untried("said") }
}

/// Replays a ticket, and says how that ended; gives the double that was replayed.
async fn replayed(store: &Store, ticket: TicketId, result: &ReplayResult) -> String {
    store.request_replay("anna", ticket, FIRST, None).await.unwrap();
    let job = store.take_job("w", DAY).await.unwrap().unwrap();
    store.finish_job(job.replay, Some("w"), result).await.unwrap();
    job.double
}

async fn kept(store: &Store, ticket: TicketId) -> Vec<Double> {
    let doubles = store.ticket(ticket).await.unwrap().doubles;
    doubles.into_iter().filter(|double| double.kept).collect()
}

async fn the_best_doubles_are_kept(world: &World) {
    let store = &world.store;
    bring_build(store).await;
    let made = Made::new("1111", &["f"]);
    let mut ticket = TicketId(0);
    for leak in [50.0, 40.0, 60.0, 30.0, 20.0, 70.0] {
        ticket = world.submit(&Made { leak, ..made.clone() }).await;
    }
    // The first ones, and the one that says to reveal least, which has its chance.
    let bits = async || -> Vec<f64> {
        kept(store, ticket).await.iter().map(|double| double.leak_bits).collect()
    };
    assert_eq!(bits().await, [50.0, 40.0, 60.0, 20.0]);
    let doubles = store.ticket(ticket).await.unwrap().doubles;
    assert_eq!(doubles.len(), 6);
    for double in &doubles {
        let file = store.report_file(&double.digest).await.unwrap();
        assert_eq!(file.is_some(), double.kept);
    }
    assert_eq!(store.ticket(ticket).await.unwrap().row.leak_bits, Some(50.0));
    // What fails here goes to the front, by what is counted here.
    replayed(store, ticket, &fails(Figure::Counted(20.5))).await;
    replayed(store, ticket, &fails(Figure::Counted(20.25))).await;
    assert_eq!(bits().await, [40.0, 20.0, 50.0, 60.0]);
    assert_eq!(store.ticket(ticket).await.unwrap().row.leak_bits, Some(20.25));
    // What could not be counted comes behind what was, and before what nobody has tried.
    replayed(store, ticket, &fails(Figure::Uncounted("too long".to_owned()))).await;
    assert_eq!(bits().await, [40.0, 20.0, 50.0, 60.0]);
    // Many that were confirmed drive out others.
    let fewer = Settings { doubles_kept: 1, ..Settings::default() };
    store.change_settings("admin", &fewer).await.unwrap();
    world.submit(&Made { leak: 4.0, ..made.clone() }).await;
    assert_eq!(bits().await, [40.0, 4.0]);
    replayed(store, ticket, &fails(Figure::Counted(4.0))).await;
    assert_eq!(bits().await, [4.0]);
    let none = Settings { doubles_kept: 0, ..Settings::default() };
    assert!(matches!(store.change_settings("a", &none).await, Err(Error::Invalid(_))));
}

async fn new_builds_regress(world: &World) {
    let state = async |ticket| world.store.ticket(ticket).await.unwrap().row.state;
    let ticket = world.submit(&Made::new("1111", &["f"])).await;
    world.count("1111", None, Some("1.0")).await;
    world.later(DAY);
    world.store.set_state("anna", ticket, State::Fixed, None).await.unwrap();
    world.later(DAY);
    // Builds that were there before the fix, and events that say nothing, change nothing.
    world.count("1111", Some(FIRST), None).await;
    world.count("1111", None, Some("1.0")).await;
    world.count("1111", None, None).await;
    assert_eq!(state(ticket).await, State::Fixed);
    world.count("1111", Some(SECOND), None).await;
    assert_eq!(state(ticket).await, State::Regressed);
    // Fixed again: now that build is old, too.
    world.store.set_state("anna", ticket, State::Fixed, None).await.unwrap();
    world.later(DAY);
    world.count("1111", Some(SECOND), None).await;
    assert_eq!(state(ticket).await, State::Fixed);
    world.count("1111", None, Some("2.0")).await;
    assert_eq!(state(ticket).await, State::Regressed);
    // The build that was said to have the fix fails.
    world.store.set_state("anna", ticket, State::Fixed, Some(SECOND)).await.unwrap();
    world.later(DAY);
    world.count("1111", Some(SECOND), None).await;
    assert_eq!(state(ticket).await, State::Regressed);
    // A report regresses as a count does.
    world.store.set_state("anna", ticket, State::Fixed, None).await.unwrap();
    world.later(DAY);
    let third = Made { build: "bbbb".to_owned(), ..Made::new("cccc", &["f"]) };
    assert_eq!(world.submit(&third).await, ticket);
    assert_eq!(state(ticket).await, State::Regressed);
    let log = world.store.audit(None, 100).await.unwrap();
    assert_eq!(log.iter().filter(|entry| entry.action == "ticket.regressed").count(), 4);
}

async fn the_list_is_searched_and_paged(world: &World) {
    let mut ids = Vec::new();
    for number in 0..45 {
        let function = format!("parse_part{number}");
        let leak = f64::from(100 - number);
        let program = if number % 3 == 0 { "reader" } else { "parser" };
        let made =
            Made { leak, program, ..Made::new(&format!("{number:04x}"), &[&function, "main"]) };
        ids.push(world.submit(&made).await);
        world.later(Duration::from_secs(60));
    }
    for _ in 0..7 {
        world.count("0003", None, None).await;
    }
    world.store.set_state("anna", ids[5], State::Fixed, None).await.unwrap();
    let all = async |filter: &Filter| {
        let (mut tickets, mut filter) = (Vec::new(), filter.clone());
        loop {
            let page = world.store.list(&filter).await.unwrap();
            tickets.extend(page.tickets);
            let Some(next) = page.next else { return tickets };
            // As it goes through a URL.
            filter.after = Some(next.to_string().parse().unwrap());
        }
    };
    let paged = Filter { limit: 7, ..Filter::default() };
    for sort in [Sort::LastSeen, Sort::FirstSeen, Sort::Count, Sort::Leak] {
        for state in [StateFilter::All, StateFilter::Unfixed, StateFilter::Fixed, StateFilter::Open]
        {
            let tickets = all(&Filter { sort, state, ..paged.clone() }).await;
            let expected = match state {
                StateFilter::All => 45,
                StateFilter::Fixed => 1,
                _ => 44,
            };
            assert_eq!(tickets.len(), expected, "{sort:?} {state:?}");
            let mut numbers: Vec<_> = tickets.iter().map(|ticket| ticket.id).collect();
            let ordered = tickets.windows(2).all(|pair| match sort {
                Sort::LastSeen => pair[0].last_seen >= pair[1].last_seen,
                Sort::FirstSeen => pair[0].first_seen >= pair[1].first_seen,
                Sort::Count => pair[0].count >= pair[1].count,
                Sort::Leak => pair[0].leak_bits <= pair[1].leak_bits,
            });
            assert!(ordered, "{sort:?}");
            numbers.sort();
            numbers.dedup();
            assert_eq!(numbers.len(), expected);
        }
    }
    let counts = all(&Filter { sort: Sort::Count, ..paged.clone() }).await;
    assert_eq!((counts[0].id, counts[0].count), (ids[3], 8));
    assert_eq!(counts[0].spark.len(), 30);
    assert_eq!(counts[0].spark.iter().sum::<i64>(), 8);
    let search = async |search: &str| {
        let filter = Filter { search: search.to_owned(), ..paged.clone() };
        all(&filter).await.into_iter().map(|ticket| ticket.id).collect::<Vec<_>>()
    };
    assert_eq!(search("parse_part17").await, [ids[17]]);
    assert_eq!(search("PART17 sigsegv").await, [ids[17]]);
    assert_eq!(search("part1").await.len(), 11);
    assert_eq!(search("reader sigsegv").await.len(), 15);
    assert_eq!(search("T-9").await, [TicketId(9)]);
    assert_eq!(search("nothing").await, []);
    assert_eq!(search("part17 nothing").await, []);
    assert_eq!(search("'; DROP TABLE tickets; --").await, []);
    assert_eq!(search("%").await.len(), 44);
    assert_eq!(search("0011").await, [ids[17]]);
    let of_program = Filter { program: Some("reader".to_owned()), ..paged.clone() };
    assert_eq!(all(&of_program).await.len(), 15);
    assert_eq!(world.store.programs().await.unwrap(), ["parser", "reader"]);
    world.later(Duration::from_secs(60));
    let totals = world.store.totals().await.unwrap();
    assert_eq!((totals.open, totals.fixed, totals.regressed), (44, 1, 0));
}

async fn common_words_are_found_together(world: &World) {
    const TICKETS: i64 = 62_000;
    let pool = tables(&world.place).await;
    let numbers = match &world.place {
        Place::Sqlite(_) => format!(
            "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {TICKETS}) \
             SELECT i FROM n) numbers"
        ),
        Place::Postgres(_) => format!("generate_series(CAST(1 AS BIGINT), {TICKETS}) numbers(i)"),
    };
    let terms = |word: &str, which: &str| {
        format!("INSERT INTO terms (term, ticket) SELECT {word}, i FROM {numbers} WHERE {which}")
    };
    for sql in [
        format!(
            "INSERT INTO tickets (id, grouping_key, program, kind, title, words, frames, state, \
             first_seen, last_seen, count, leak) SELECT i, 'key' || i, 'p', 'signal', 'title', \
             'words', '[]', 'open', 1, i % 1000, 1, 1.0 FROM {numbers}"
        ),
        terms("'every'", "1 = 1"),
        terms("'left'", "i <= 31000"),
        terms("'right'", "i > 31000"),
        terms("'few' || (i % 10)", "i % 100 = 0"),
    ] {
        sqlx::query(AssertSqlSafe(sql)).execute(&pool).await.unwrap();
    }
    pool.close().await;
    // What is most recent first, and of those the newest.
    let expected = |which: &dyn Fn(i64) -> bool| {
        let mut ids: Vec<i64> = (1..=TICKETS).filter(|&id| which(id)).collect();
        ids.sort_by_key(|id| (-(id % 1000), -id));
        ids.truncate(150);
        ids
    };
    let found = async |search: &str| {
        let mut filter = Filter { search: search.to_owned(), limit: 50, ..Filter::default() };
        let mut ids = Vec::new();
        for _ in 0..3 {
            let page = world.store.list(&filter).await.unwrap();
            ids.extend(page.tickets.iter().map(|ticket| ticket.id.0));
            filter.after = page.next;
            if filter.after.is_none() {
                break;
            }
        }
        ids
    };
    let all: &dyn Fn(i64) -> bool = &|_| true;
    assert_eq!(found("every").await, expected(all));
    assert_eq!(found("every left").await, expected(&|id| id <= 31_000));
    assert_eq!(found("right every").await, expected(&|id| id > 31_000));
    assert_eq!(found("left right").await, [0; 0]);
    assert_eq!(found("left right every").await, [0; 0]);
    let few = |id: i64| id % 100 == 0 && id <= 31_000;
    assert_eq!(found("left few").await, expected(&few));
    assert_eq!(found("few0 every").await, expected(&|id| id % 100 == 0));
    assert_eq!(found("few1 every").await, [0; 0]);
}

async fn people_and_secrets(world: &World) {
    let store = &world.store;
    store.add_user("setup", "anna", "correct horse", Role::Admin).await.unwrap();
    store.add_user("anna", "ben", "battery staple", Role::Maintainer).await.unwrap();
    let again = store.add_user("anna", "ben", "battery staple", Role::Maintainer).await;
    assert!(matches!(again, Err(Error::Conflict(_))));
    assert!(matches!(
        store.add_user("anna", "c", "short", Role::Admin).await,
        Err(Error::Invalid(_))
    ));
    assert!(store.log_in("anna", "wrong horse!").await.unwrap().is_none());
    assert!(store.log_in("nobody", "correct horse").await.unwrap().is_none());
    let (session, cookie) = store.log_in("anna", "correct horse").await.unwrap().unwrap();
    assert_eq!(store.session(&cookie).await.unwrap().unwrap(), session);
    assert!(store.session("something else").await.unwrap().is_none());
    world.later(15 * DAY);
    assert!(store.session(&cookie).await.unwrap().is_none());
    let (_, cookie) = store.log_in("ben", "battery staple").await.unwrap().unwrap();
    store.log_out(&cookie).await.unwrap();
    assert!(store.session(&cookie).await.unwrap().is_none());
    let last = store.audit(None, 1).await.unwrap().remove(0);
    assert_eq!((last.who.as_str(), last.action.as_str()), ("ben", "logout"));
    // A new password or role ends sessions; the last admin stays.
    let (_, cookie) = store.log_in("ben", "battery staple").await.unwrap().unwrap();
    store.set_password("anna", "ben", "another password").await.unwrap();
    assert!(store.session(&cookie).await.unwrap().is_none());
    assert!(store.log_in("ben", "battery staple").await.unwrap().is_none());
    let (_, cookie) = store.log_in("ben", "another password").await.unwrap().unwrap();
    store.set_role("anna", "ben", None).await.unwrap();
    assert!(store.session(&cookie).await.unwrap().is_none());
    assert!(store.log_in("ben", "another password").await.unwrap().is_none());
    let last = store.set_role("anna", "anna", Some(Role::Maintainer)).await;
    assert!(matches!(last, Err(Error::Conflict(_))));
    assert_eq!(store.users().await.unwrap()[0].role, Role::Admin);
    // Tokens.
    let (token, secret) = store.add_token("anna", "ci", Role::Reporter).await.unwrap();
    assert!(store.tokens().await.unwrap().iter().all(|it| it.used.is_none()));
    assert_eq!(store.token(&secret).await.unwrap().unwrap().id, token.id);
    assert!(store.tokens().await.unwrap()[0].used.is_some());
    store.revoke_token("anna", token.id).await.unwrap();
    assert!(store.token(&secret).await.unwrap().is_none());
    assert!(matches!(store.revoke_token("anna", token.id).await, Err(Error::NotFound(_))));
    // No secret is in the log.
    let log = serde_json::to_string(&store.audit(None, 100).await.unwrap()).unwrap();
    for secret in [&secret, &cookie, "another password"] {
        assert!(!log.contains(secret));
    }
    if let Place::Sqlite(file) = &world.place {
        // Nor in the database, in the clear.
        for name in [file.clone(), file.with_extension("db-wal")] {
            let bytes = std::fs::read(name).unwrap_or_default();
            for secret in [secret.as_bytes(), cookie.as_bytes(), b"another password"] {
                assert!(!bytes.windows(secret.len()).any(|part| part == secret));
            }
        }
    }
}

async fn builds_and_replays(world: &World) {
    let store = &world.store;
    let ticket = world.submit(&Made::new("1111", &["f"])).await;
    let data: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    for id in [FIRST, SECOND] {
        let new = NewBuild {
            build_id: id.to_owned(),
            name: "parser".to_owned(),
            version: Some("1.0".to_owned()),
            data: data.clone(),
        };
        let build = store.add_build("anna", &new).await.unwrap();
        assert_eq!(store.build_file(&build).await.unwrap(), data);
        // Bringing it again changes nothing.
        store.add_build("anna", &new).await.unwrap();
    }
    assert_eq!(store.builds(Some("parser")).await.unwrap().len(), 2);
    assert!(store.builds(Some("other")).await.unwrap().is_empty());
    assert!(store.ticket(ticket).await.unwrap().builds[0].uploaded);
    let bad = NewBuild { build_id: "../x".into(), name: "x".into(), version: None, data: vec![] };
    assert!(matches!(store.add_build("anna", &bad).await, Err(Error::Invalid(_))));
    assert!(matches!(
        store.request_replay("a", ticket, "dead", None).await,
        Err(Error::NotFound(_))
    ));

    // The reported build fails: the double is confirmed.
    let replay = store.request_replay("anna", ticket, FIRST, None).await.unwrap();
    assert_eq!(replay.state, ReplayState::Waiting);
    let job = store.take_job("w1", DAY).await.unwrap().unwrap();
    assert_eq!((job.replay, job.build_id.as_str()), (replay.id, FIRST));
    assert!(store.take_job("w2", DAY).await.unwrap().is_none());
    let result = |outcome| ReplayResult { outcome, ..ReplayResult::untried("said") };
    store.finish_job(job.replay, Some("w1"), &result(Outcome::Same)).await.unwrap();
    let replay = store.replay(replay.id).await.unwrap();
    assert_eq!(replay.result.unwrap().outcome, Outcome::Same);
    let found = store.ticket(ticket).await.unwrap();
    assert_eq!(found.doubles[0].confirmed, Some(true));
    assert_eq!(found.row.proposed_build, None);
    assert_eq!(found.replays.len(), 1);

    // A new build that does not fail proposes that it is fixed.
    store.request_replay("anna", ticket, SECOND, None).await.unwrap();
    let job = store.take_job("w1", DAY).await.unwrap().unwrap();
    store.finish_job(job.replay, Some("w1"), &result(Outcome::NoFailure)).await.unwrap();
    let found = store.ticket(ticket).await.unwrap();
    assert_eq!(found.row.proposed_build.as_deref(), Some(SECOND));
    assert_eq!(found.row.state, State::Open);
    store.set_state("anna", ticket, State::Fixed, Some(SECOND)).await.unwrap();
    assert_eq!(store.ticket(ticket).await.unwrap().row.proposed_build, None);

    // A double that does not fail with its own build goes behind the others.
    let liar = Made { leak: 0.0, ..Made::new("1111", &["f"]) };
    world.submit(&liar).await;
    let best = store.ticket(ticket).await.unwrap().doubles[0].digest.clone();
    store.request_replay("anna", ticket, FIRST, None).await.unwrap();
    let job = store.take_job("w1", DAY).await.unwrap().unwrap();
    assert_ne!(job.double, best);
    store.finish_job(job.replay, Some("w1"), &result(Outcome::NoFailure)).await.unwrap();
    let found = store.ticket(ticket).await.unwrap();
    assert_eq!(found.doubles[0].digest, best);
    // With nothing left to be tried, the best is replayed.
    store.request_replay("anna", ticket, FIRST, None).await.unwrap();
    let job = store.take_job("w1", DAY).await.unwrap().unwrap();
    assert_eq!(job.double, best);
    store.finish_job(job.replay, Some("w1"), &ReplayResult::untried("no")).await.unwrap();
    assert_eq!(found.doubles[0].confirmed, Some(true));
    assert!(found.row.leak_bits.unwrap() > 1.0);

    // Another file for a build takes the place of the one before, which nobody needs.
    let third = NewBuild {
        build_id: "cccc".to_owned(),
        name: "parser".to_owned(),
        version: None,
        data: b"one".to_vec(),
    };
    let before = store.add_build("anna", &third).await.unwrap();
    let third = NewBuild { data: b"another".to_vec(), ..third };
    let after = store.add_build("anna", &third).await.unwrap();
    assert_eq!(store.build_file(&after).await.unwrap(), b"another");
    if let Place::Sqlite(file) = &world.place {
        let files = file.with_file_name("builds");
        assert!(!files.join(&before.digest).exists() && files.join(&after.digest).exists());
    }

    store.remove_build("anna", FIRST).await.unwrap();
    assert!(matches!(store.build(FIRST).await, Err(Error::NotFound(_))));
    // The other has the same bytes, and still has its file.
    let other = store.build(SECOND).await.unwrap();
    assert_eq!(store.build_file(&other).await.unwrap(), data);
}

async fn a_worker_that_is_gone(world: &World) {
    let store = &world.store;
    let ticket = world.submit(&Made::new("1111", &["f"])).await;
    let new = NewBuild {
        build_id: FIRST.to_owned(),
        name: "parser".to_owned(),
        version: None,
        data: vec![1, 2, 3],
    };
    store.add_build("anna", &new).await.unwrap();
    let replay = store.request_replay("anna", ticket, FIRST, None).await.unwrap();
    // Giving it back is no try, and others have it at once; only who has it can.
    for _ in 0..5 {
        assert!(store.take_job("w0", DAY).await.unwrap().is_some());
        store.release_job(replay.id, "other").await.unwrap();
        assert_eq!(store.replay(replay.id).await.unwrap().state, ReplayState::Running);
        store.release_job(replay.id, "w0").await.unwrap();
        assert_eq!(store.replay(replay.id).await.unwrap().state, ReplayState::Waiting);
    }
    for worker in ["w1", "w2", "w3"] {
        assert!(store.take_job(worker, DAY).await.unwrap().is_some());
        assert!(store.take_job("other", DAY).await.unwrap().is_none());
        world.later(2 * DAY);
    }
    // The first comes back too late.
    let late = ReplayResult::untried("late");
    store.finish_job(replay.id, Some("w1"), &late).await.unwrap();
    assert_eq!(store.replay(replay.id).await.unwrap().state, ReplayState::Running);
    // After three it is given up.
    assert!(store.take_job("w4", DAY).await.unwrap().is_none());
    let replay = store.replay(replay.id).await.unwrap();
    assert_eq!(replay.result.unwrap().outcome, Outcome::Untried);
}

async fn notes_and_states_are_logged(world: &World) {
    let ticket = world.submit(&Made::new("1111", &["f"])).await;
    let text = "<script>alert(1)</script>\nnot ours";
    let note = world.store.add_note("anna", ticket, text).await.unwrap();
    assert_eq!(world.store.ticket(ticket).await.unwrap().notes, [note]);
    for bad in ["", "  ", "a\0b"] {
        assert!(matches!(world.store.add_note("a", ticket, bad).await, Err(Error::Invalid(_))));
    }
    let nowhere = world.store.add_note("anna", TicketId(99), "x").await;
    assert!(matches!(nowhere, Err(Error::NotFound("ticket"))));
    world.store.set_state("anna", ticket, State::Fixed, None).await.unwrap();
    world.store.set_state("anna", ticket, State::Open, None).await.unwrap();
    let none = world.store.request_issue("anna", ticket).await;
    assert!(matches!(none, Err(Error::Conflict(_))));
    let log = world.store.audit(None, 100).await.unwrap();
    let actions: Vec<&str> = log.iter().rev().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["note.add", "ticket.fixed", "ticket.open"]);
    let page = world.store.audit(Some(log[0].id), 1).await.unwrap();
    assert_eq!(page, [log[1].clone()]);
}

async fn old_things_go(world: &World) {
    let store = &world.store;
    let old = world.submit(&Made::new("1111", &["old"])).await;
    let open = world.submit(&Made::new("2222", &["open"])).await;
    let data = Made::new("3333", &["twice"]).report();
    store.submit(submission(&data)).await.unwrap();
    store.set_state("anna", old, State::Fixed, None).await.unwrap();
    world.later(80 * DAY);
    let swept = store.sweep().await.unwrap();
    assert_eq!((swept.tickets, swept.receipts, swept.programs), (0, 0, 0));
    world.later(20 * DAY);
    assert_eq!(store.sweep().await.unwrap().receipts, 3);
    // The receipt of the parcel is gone, the report itself is still known.
    store.submit(submission(&data)).await.unwrap();
    let (ticket, _) = store.ask("3333").await.unwrap().unwrap();
    assert_eq!(store.ticket(ticket).await.unwrap().row.count, 1);
    world.later(300 * DAY);
    assert_eq!(store.sweep().await.unwrap().tickets, 1);
    assert!(matches!(store.ticket(old).await, Err(Error::NotFound(_))));
    assert!(store.ask("1111").await.unwrap().is_none());
    assert_eq!(store.ticket(open).await.unwrap().row.state, State::Open);
    let retention = Retention { silent_days: 30, audit_days: 30, ..Retention::default() };
    store.change_settings("anna", &Settings { retention, ..Settings::default() }).await.unwrap();
    world.later(31 * DAY);
    let swept = store.sweep().await.unwrap();
    assert_eq!(swept.tickets, 2);
    assert!(swept.audit > 0);
    assert_eq!((swept.programs, store.programs().await.unwrap().len()), (1, 0));
    assert!(store.list(&Filter::default()).await.unwrap().tickets.is_empty());
}

async fn counts_by_day_and_build(world: &World) {
    let ticket = world.submit(&Made::new("1111", &["f"])).await;
    for day in 0..4 {
        for _ in 0..day {
            world.count("1111", Some(SECOND), Some("2.0")).await;
        }
        world.later(DAY);
    }
    let found = world.store.ticket(ticket).await.unwrap();
    let counts: Vec<i64> = found.days.iter().map(|day| day.count).collect();
    assert_eq!(counts, [1, 1, 2, 3]);
    assert_eq!(found.builds.len(), 2);
    let newest = &found.builds[0];
    assert_eq!((newest.build_id.as_deref(), newest.count), (Some(SECOND), 6));
    assert_eq!(newest.version.as_deref(), Some("2.0"));
    assert_eq!(newest.last_day - newest.first_day, 2);
    assert_eq!(found.row.spark[25..], [1, 1, 2, 3, 0]);
    // A build that a maintainer has brought has the version that it was brought with.
    assert_eq!(found.builds[1].version, None);
    let build = NewBuild {
        build_id: FIRST.to_owned(),
        name: "parser".to_owned(),
        version: Some("1.9".to_owned()),
        data: b"a program".to_vec(),
    };
    world.store.add_build("anna", &build).await.unwrap();
    let builds = world.store.ticket(ticket).await.unwrap().builds;
    assert_eq!((builds[1].version.as_deref(), builds[1].uploaded), (Some("1.9"), true));
    assert_eq!(builds[0].version.as_deref(), Some("2.0"));
    assert_eq!((found.row.last_seen.0 - found.row.first_seen.0) / 86_400_000, 3);
}

async fn strangers_builds_have_an_end(world: &World) {
    let ticket = world.submit(&Made::new("1111", &["f"])).await;
    for number in 0..260 {
        world.count("1111", None, Some(&format!("made up {number}"))).await;
    }
    let found = world.store.ticket(ticket).await.unwrap();
    assert_eq!(found.row.count, 261);
    assert_eq!(found.days[0].count, 261);
    assert!(found.builds.len() <= 200);
}

async fn what_is_no_text_is_no_fault_of_the_server(world: &World) {
    let nobody = world.store.log_in("an\0na", "a password").await;
    assert!(matches!(nobody, Ok(None) | Err(Error::Invalid(_))), "{:?}", nobody.err());
    let filter = Filter { program: Some("par\0ser".to_owned()), ..Filter::default() };
    let none = world.store.list(&filter).await.map(|page| page.tickets.len());
    assert!(matches!(none, Ok(0) | Err(Error::Invalid(_))), "{none:?}");
}

async fn who_asks_is_given_a_double_of_their_build(world: &World) {
    let first = Made { leak: 10.0, ..Made::new("1111", &["f", "main"]) };
    let other = Made { leak: 30.0, build: SECOND.to_owned(), ..Made::new("2222", &["f", "main"]) };
    assert_eq!(world.submit(&first).await, world.submit(&other).await);
    for (signature, leak) in [("1111", 10.0), ("2222", 30.0)] {
        let (_, double) = world.store.ask(signature).await.unwrap().unwrap();
        let bits = double.unwrap().leak_bits;
        assert!((bits - leak).abs() < 1e-9, "{signature}: {bits}");
    }
}

async fn issues_are_made_once_and_their_state_comes_back(world: &World) {
    let store = &world.store;
    let ticket = world.submit(&Made::new("1111", &["f"])).await;
    let tracker = TrackerSettings::Redmine {
        url: "https://r.example".to_owned(),
        project: "p".to_owned(),
        key: stunt_trackers::Secret::new("k"),
    };
    let settings = Settings { tracker: Some(tracker), ..Settings::default() };
    store.change_settings("anna", &settings).await.unwrap();
    let link = async || store.link(ticket).await.unwrap().unwrap();
    let state = async || store.ticket(ticket).await.unwrap().row.state;

    // Asked for once, taken once.
    store.request_issue("anna", ticket).await.unwrap();
    assert!(matches!(store.request_issue("anna", ticket).await, Err(Error::Conflict(_))));
    let taken = store.take_link().await.unwrap().unwrap();
    assert_eq!((taken.ticket, taken.state), (ticket, LinkState::Creating));
    assert!(store.take_link().await.unwrap().is_none());

    // Whoever was to make it is gone: it is not made again by itself, but when somebody asks.
    store.give_up_links().await.unwrap();
    assert_eq!(link().await.state, LinkState::Creating);
    world.later(DAY);
    store.give_up_links().await.unwrap();
    assert_eq!(link().await.state, LinkState::Failed);
    assert!(store.take_link().await.unwrap().is_none());
    store.request_issue("ben", ticket).await.unwrap();
    store.take_link().await.unwrap().unwrap();
    store.finish_link(ticket, None, Some("no answer")).await.unwrap();
    assert_eq!(link().await.error.as_deref(), Some("no answer"));
    store.request_issue("ben", ticket).await.unwrap();
    store.take_link().await.unwrap().unwrap();
    let made =
        stunt_trackers::Link { id: "7".to_owned(), url: "https://r.example/issues/7".to_owned() };
    store.finish_link(ticket, Some(&made), None).await.unwrap();
    let open = link().await;
    assert_eq!((open.state, open.issue.as_deref()), (LinkState::Open, Some("7")));
    assert_eq!(open.requested_by, "ben");

    // Its state is asked for when it is stale.
    assert!(store.stale_link(store.now()).await.unwrap().is_none());
    world.later(DAY);
    assert_eq!(store.stale_link(store.now()).await.unwrap().unwrap(), open);
    store.link_checked(&open, Err("no answer".to_owned())).await.unwrap();
    assert_eq!((link().await.state, state().await), (LinkState::Open, State::Open));
    assert_eq!(link().await.error.as_deref(), Some("no answer"));
    store.totals().await.unwrap();

    // Closed there, fixed here; both or neither.
    let pool = tables(&world.place).await;
    sqlx::query("ALTER TABLE audit RENAME TO elsewhere").execute(&pool).await.unwrap();
    assert!(store.link_checked(&open, Ok(LinkState::Closed)).await.is_err());
    sqlx::query("ALTER TABLE elsewhere RENAME TO audit").execute(&pool).await.unwrap();
    pool.close().await;
    assert_eq!((link().await.state, state().await), (LinkState::Open, State::Open));
    store.link_checked(&open, Ok(LinkState::Closed)).await.unwrap();
    let closed = link().await;
    assert_eq!((closed.state, closed.error.as_deref()), (LinkState::Closed, None));
    assert_eq!(state().await, State::Fixed);
    assert_eq!(store.totals().await.unwrap().fixed, 1);

    // Another server says the same, later than a maintainer says something else.
    store.set_state("anna", ticket, State::Open, None).await.unwrap();
    store.link_checked(&open, Ok(LinkState::Closed)).await.unwrap();
    assert_eq!(state().await, State::Open);
    store.set_state("anna", ticket, State::Fixed, None).await.unwrap();
    // Opened again there, and here.
    store.link_checked(&closed, Ok(LinkState::Open)).await.unwrap();
    assert_eq!(state().await, State::Open);
    let log = store.audit(None, 100).await.unwrap();
    let by_tracker: Vec<&str> = log
        .iter()
        .rev()
        .filter(|entry| entry.who == "tracker")
        .map(|entry| entry.action.as_str())
        .collect();
    assert_eq!(by_tracker, ["ticket.fixed", "ticket.open"]);

    // An issue is told that its ticket regressed, once.
    assert!(store.take_news().await.unwrap().is_none());
    store.set_state("anna", ticket, State::Fixed, None).await.unwrap();
    world.later(DAY);
    world.count("1111", Some(SECOND), None).await;
    assert_eq!(state().await, State::Regressed);
    let (told, news) = store.take_news().await.unwrap().unwrap();
    assert_eq!((told.ticket, told.issue.as_deref()), (ticket, Some("7")));
    assert!(news.contains(SECOND), "{news}");
    assert!(store.take_news().await.unwrap().is_none());
    store.news_failed(ticket, "no answer").await.unwrap();
    assert_eq!(link().await.error.as_deref(), Some("no answer"));
    // One that nobody has made an issue of tells nobody.
    let other = world.submit(&Made::new("2222", &["g"])).await;
    store.set_state("anna", other, State::Fixed, None).await.unwrap();
    world.later(DAY);
    world.count("2222", None, Some("3.0")).await;
    assert!(store.take_news().await.unwrap().is_none());
}
