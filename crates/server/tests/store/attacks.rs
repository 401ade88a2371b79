//! Attacks on what a server keeps: by strangers who claim, rewrite and make noise, and by people who no longer
//! belong to it.

use super::*;

pub async fn attack_evict_the_double_by_claims(world: &World) {
    let store = &world.store;
    bring_build(store).await;
    let made = Made::new("1111", &["f"]);
    let ticket = world.submit(&Made { leak: 30.0, ..made.clone() }).await;
    let honest = kept(store, ticket).await[0].digest.clone();
    let first = async || {
        assert!(store.report_file(&honest).await.unwrap().is_some());
        let handed_out = store.ask("1111").await.unwrap().unwrap().1.unwrap().digest.to_string();
        (kept(store, ticket).await[0].digest.clone(), handed_out)
    };
    // Nobody has tried anything: who came first stays first.
    for _ in 0..8 {
        world.submit(&Made { leak: 0.0, ..made.clone() }).await;
    }
    assert_eq!(first().await, (honest.clone(), honest.clone()));
    assert_eq!(kept(store, ticket).await.len(), 4, "as the settings say, and one to try");
    assert_eq!(store.ticket(ticket).await.unwrap().row.leak_bits, Some(30.0));
    // Those that say 0 bits are tried first; one of them fails in truth, and is counted.
    let lie = replayed(store, ticket, &fails(Figure::Counted(90.0))).await;
    assert_ne!(lie, honest);
    let nothing = ReplayResult { outcome: Outcome::NoFailure, ..ReplayResult::untried("said") };
    for _ in 0..2 {
        assert_ne!(replayed(store, ticket, &nothing).await, honest);
    }
    assert_eq!(replayed(store, ticket, &fails(Figure::Counted(30.0))).await, honest);
    assert_eq!(first().await, (honest.clone(), honest.clone()));
    // Confirmed, but not counted: it does not come before what was.
    world.submit(&Made { leak: 0.0, ..made.clone() }).await;
    let uncounted = fails(Figure::Uncounted("too long".to_owned()));
    assert_ne!(replayed(store, ticket, &uncounted).await, honest);
    assert_eq!(first().await, (honest.clone(), honest.clone()));
    // A count that is none is no count.
    world.submit(&Made { leak: 0.0, ..made.clone() }).await;
    replayed(store, ticket, &fails(Figure::Counted(f64::NAN))).await;
    assert_eq!(first().await, (honest.clone(), honest.clone()));
    // One that was confirmed and does reveal less comes first.
    world.submit(&Made { leak: 29.0, ..made.clone() }).await;
    let better = replayed(store, ticket, &fails(Figure::Counted(29.0))).await;
    assert_eq!(first().await, (better.clone(), better));
}

pub async fn attack_rewrite_a_tickets_words_and_frames(world: &World) {
    let store = &world.store;
    bring_build(store).await;
    let genuine = Made::new("1111", &["field", "line", "main"]);
    let ticket = world.submit(&genuine).await;
    let described = async || {
        let found = store.ticket(ticket).await.unwrap();
        (found.words, found.frames, found.row.title)
    };
    let found = async |search: &str| {
        let filter = Filter { search: search.to_owned(), ..Filter::default() };
        store.list(&filter).await.unwrap().tickets.len()
    };
    let before = described().await;
    let forge = |signature: &str, functions: &[&str]| {
        let functions = functions.iter().map(ToString::to_string).collect();
        let made = Made { signature: signature.to_owned(), functions, ..genuine.clone() };
        let mut submission = submission(&made.report());
        submission.report.failure.words = "SIGSEGV in call_attacker_example (free.c:1)".to_owned();
        submission
    };
    // The known signature with another stack; and a new signature that is grouped by its functions.
    let known = forge("1111", &["call_attacker_example", "main"]);
    assert_eq!(store.submit(known).await.unwrap().ticket, ticket);
    let grouped = forge("2222", &["field", "line", "main", "call_attacker_example"]);
    assert_eq!(store.submit(grouped).await.unwrap().ticket, ticket);
    assert_eq!(described().await, before);
    assert_eq!((found("attacker").await, found("field").await, found("2222").await), (0, 1, 1));
    // A replay here says what is true, and that stays, too.
    let frame = |symbol: &str| ReplayFrame {
        module: "parser".to_owned(),
        symbol: Some(symbol.to_owned()),
        location: Some("parser.c:77".to_owned()),
        offset: "0x11d6".to_owned(),
    };
    let seen = ReplayResult {
        failure: Some("SIGSEGV in field (parser.c:77)".to_owned()),
        frames: ["field", "line", "main", "_start"].map(frame).to_vec(),
        ..fails(Figure::Counted(32.0))
    };
    replayed(store, ticket, &seen).await;
    let confirmed = store.ticket(ticket).await.unwrap();
    assert!(confirmed.described_here);
    assert_eq!(confirmed.words, "SIGSEGV in field (parser.c:77)");
    assert_eq!((confirmed.frames.len(), confirmed.frames[0].offset), (4, 0x11d6));
    let before = described().await;
    let known = forge("1111", &["call_attacker_example", "main"]);
    store.submit(known).await.unwrap();
    assert_eq!(described().await, before);
    // Another failure under a stack that was made up: its replay shows where it belongs.
    let mut elsewhere = forge("3333", &["field", "line", "main"]);
    elsewhere.report.leak.bits = 0.0;
    let digest = elsewhere.digest.to_string();
    assert_eq!(store.submit(elsewhere).await.unwrap().ticket, ticket);
    let other = ReplayResult {
        failure: Some("SIGSEGV in other (parser.c:9)".to_owned()),
        frames: ["other", "main"].map(frame).to_vec(),
        ..fails(Figure::Counted(0.0))
    };
    store.request_replay("anna", ticket, FIRST, Some(&digest)).await.unwrap();
    let job = store.take_job("w", DAY).await.unwrap().unwrap();
    assert_eq!(job.double, digest);
    store.finish_job(job.replay, Some("w"), &other).await.unwrap();
    let doubles = store.ticket(ticket).await.unwrap().doubles;
    let forged = doubles.iter().find(|double| double.digest == digest).unwrap();
    assert_eq!((forged.confirmed, forged.measured_bits), (Some(false), None));
    assert_ne!(doubles[0].digest, digest);
    assert_eq!(described().await, before);
}

pub async fn attack_token_of_a_disabled_person(world: &World) {
    let store = &world.store;
    for name in ["anna", "mallory"] {
        store.add_user("setup", name, "correct horse", Role::Admin).await.unwrap();
    }
    let own = store.add_token("mallory", "ci", Role::Maintainer).await.unwrap().1;
    // Made by one of their tokens, and by one of those again: still theirs.
    let by = "token ci";
    let made = store.add_token_for(by, Some("mallory"), "spare", Role::Admin).await.unwrap().1;
    let of_server = store.add_token("command line", "backup", Role::Admin).await.unwrap().1;
    let of_anna = store.add_token("anna", "ci", Role::Admin).await.unwrap().1;
    let (_, cookie) = store.log_in("mallory", "correct horse").await.unwrap().unwrap();
    let works = async |secret: &str| store.token(secret).await.unwrap().is_some();
    assert!(works(&own).await && works(&made).await);
    // As a maintainer they have no admin's token.
    store.set_role("anna", "mallory", Some(Role::Maintainer)).await.unwrap();
    assert!(works(&own).await && !works(&made).await);
    store.set_role("anna", "mallory", None).await.unwrap();
    assert!(!works(&own).await && !works(&made).await);
    assert!(store.session(&cookie).await.unwrap().is_none());
    assert!(store.log_in("mallory", "correct horse").await.unwrap().is_none());
    assert!(works(&of_server).await && works(&of_anna).await);
    // None is made just then, either.
    let late = store.add_token_for(by, Some("mallory"), "late", Role::Admin).await;
    assert!(matches!(late, Err(Error::Conflict(_))));
    // Coming back brings none of them back.
    store.set_role("anna", "mallory", Some(Role::Admin)).await.unwrap();
    assert!(!works(&own).await && !works(&made).await);
    let log = store.audit(None, 100).await.unwrap();
    let ended = log.iter().filter(|entry| entry.action == "token.revoke");
    assert!(ended.clone().all(|entry| entry.who == "anna" && entry.detail == "mallory"));
    assert_eq!(ended.count(), 2);
}

pub async fn attack_drown_the_audit_log(world: &World) {
    let store = &world.store;
    store.add_user("setup", "anna", "correct horse", Role::Admin).await.unwrap();
    let ticket = world.submit(&Made::new("1111", &["f"])).await;
    store.add_note("anna", ticket, "what a person did").await.unwrap();
    let before = store.audit(None, 1000).await.unwrap();
    // Names that do not exist, the name of somebody who does, and doubles without end.
    for number in 0..30 {
        assert!(store.log_in(&format!("name{number}"), "battery").await.unwrap().is_none());
    }
    for _ in 0..3 {
        assert!(store.log_in("anna", "battery").await.unwrap().is_none());
    }
    for number in 0..200 {
        store.handed_out(TicketId(number)).await.unwrap();
    }
    store.handed_out(TicketId(7)).await.unwrap();
    assert_eq!(store.audit(None, 1000).await.unwrap(), before, "not one line more");
    let noise = store.noise(1000).await.unwrap();
    let of = |action: &str, target: &str| {
        let mut found = noise.iter().filter(|it| (&*it.action, &*it.target) == (action, target));
        found.next().map_or(0, |it| it.count)
    };
    assert_eq!((of("login.refused", ""), of("login.refused", "anna")), (30, 3));
    assert_eq!((of("double.download", "T-7"), of("double.download", "")), (2, 150));
    assert_eq!(noise.len(), 2 + 50 + 1);
    assert_eq!(noise.iter().map(|it| it.count).sum::<i64>(), 33 + 201);
    // What they did goes after some months; what people did stays for as long as was said.
    world.later(100 * DAY);
    let swept = store.sweep().await.unwrap();
    assert_eq!((swept.noise, swept.audit), (53, 0));
    assert_eq!(store.audit(None, 1000).await.unwrap(), before);
}
