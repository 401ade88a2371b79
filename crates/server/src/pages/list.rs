//! The list of tickets: search, filters, order, and pages by key.
//!
//! Always: the address has the whole question, so that it can be kept and sent. A question that
//! makes no sense shows everything rather than an error.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::figures::{ago, bits, in_query};
use super::{Answer, Layout, show, spark};
use crate::App;
use crate::auth::Maintainer;
use crate::store::{Cursor, Filter, Sort, StateFilter, TicketRow, Totals};

/// How many tickets a page has.
const PAGE: usize = 50;

/// What the address asks for. Words are read leniently: people edit addresses.
#[derive(Clone, Deserialize, Default)]
#[serde(default)]
pub struct Question {
    search: String,
    state: String,
    program: String,
    sort: String,
    after: String,
}

/// A choice of a menu.
struct Choice {
    word: &'static str,
    label: &'static str,
    chosen: bool,
}

/// A line of the list.
struct Line {
    row: TicketRow,
    spark: String,
    leak: String,
    seen: String,
}

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage {
    layout: Layout,
    search: String,
    states: Vec<Choice>,
    sorts: Vec<Choice>,
    programs: Vec<String>,
    program: String,
    totals: Totals,
    lines: Vec<Line>,
    first: Option<String>,
    next: Option<String>,
    filtered: bool,
}

const STATES: [(StateFilter, &str); 5] = [
    (StateFilter::Unfixed, "Not fixed"),
    (StateFilter::Open, "Open"),
    (StateFilter::Regressed, "Regressed"),
    (StateFilter::Fixed, "Fixed"),
    (StateFilter::All, "All"),
];

const SORTS: [(Sort, &str); 4] = [
    (Sort::LastSeen, "Last seen"),
    (Sort::FirstSeen, "Newest"),
    (Sort::Count, "Most frequent"),
    (Sort::Leak, "Least revealing"),
];

impl Question {
    fn state(&self) -> StateFilter {
        let found = STATES.iter().find(|(state, _)| state.word() == self.state);
        found.map_or_else(StateFilter::default, |(state, _)| *state)
    }

    fn sort(&self) -> Sort {
        let found = SORTS.iter().find(|(sort, _)| sort.word() == self.sort);
        found.map_or_else(Sort::default, |(sort, _)| *sort)
    }

    /// The address of the page that begins after `after`.
    fn address(&self, after: Option<Cursor>) -> String {
        let mut pairs = Vec::new();
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                pairs.push(format!("{name}={}", in_query(value)));
            }
        };
        add("search", &self.search);
        add("state", if self.state() == StateFilter::default() { "" } else { self.state().word() });
        add("program", &self.program);
        add("sort", if self.sort() == Sort::default() { "" } else { self.sort().word() });
        add("after", &after.map(|cursor| cursor.to_string()).unwrap_or_default());
        if pairs.is_empty() { "/".to_owned() } else { format!("/?{}", pairs.join("&")) }
    }
}

/// The page.
pub async fn page(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Query(question): Query<Question>,
) -> Answer {
    let store = app.store();
    let after: Option<Cursor> = question.after.parse().ok();
    let filter = Filter {
        search: question.search.clone(),
        state: question.state(),
        program: Some(question.program.clone()).filter(|program| !program.is_empty()),
        sort: question.sort(),
        after,
        limit: PAGE,
    };
    let page = store.list(&filter).await?;
    let now = store.now();
    let lines = page.tickets.into_iter().map(|row| Line {
        spark: spark::line(&row.spark),
        leak: row.leak_bits.map(bits).unwrap_or_default(),
        seen: ago(now, row.last_seen),
        row,
    });
    let choice = |chosen, word, label| Choice { word, label, chosen };
    show(&ListPage {
        layout: Layout::of(&app, &session, "tickets").await?,
        states: STATES.map(|(it, label)| choice(it == filter.state, it.word(), label)).into(),
        sorts: SORTS.map(|(it, label)| choice(it == filter.sort, it.word(), label)).into(),
        programs: store.programs().await?,
        totals: store.totals().await?,
        lines: lines.collect(),
        first: after.map(|_| question.address(None)),
        next: page.next.map(|cursor| question.address(Some(cursor))),
        filtered: !question.search.is_empty() || filter.program.is_some(),
        search: question.search,
        program: question.program,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_what_is_not_usual() {
        let question = |search: &str, state: &str, sort: &str| Question {
            search: search.to_owned(),
            state: state.to_owned(),
            sort: sort.to_owned(),
            ..Question::default()
        };
        assert_eq!(question("", "unfixed", "last-seen").address(None), "/");
        assert_eq!(
            question("a b", "all", "count").address(None),
            "/?search=a%20b&state=all&sort=count"
        );
        assert_eq!(question("", "nonsense", "\"><script>").address(None), "/");
        let cursor: Cursor = "3ff0000000000000-17".parse().unwrap();
        assert_eq!(question("", "", "").address(Some(cursor)), "/?after=3ff0000000000000-17");
    }
}
