//! The list of tickets: filters, search, order, and pages.
//!
//! Always: a page is found by its key, so the last page costs what the first does. A search goes over
//! an index of words, and either its words lead or the order does. Words lead where few tickets have
//! all of them: those are found, then put in order. Where many have, walking in order meets a page of
//! them soon. Never is a million tickets walked over to find that none has all words.

use sqlx::AssertSqlSafe;

use super::submit::NO_DOUBLE;
use super::tickets::{ROW, row};
use super::{Columns, Cursor, Error, Filter, Page, Sort, Store, TicketId, TicketRow};
use crate::grouping;

/// With fewer tickets than this the words lead, with more the order does.
const LEADS: i64 = 30_000;
/// How far is counted which of several common words is the rarest.
const COUNTED: i64 = 300_000;

/// What is walked over, and what is only looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lead {
    /// The tickets that have this word, by its place in the search.
    Word(usize),
    /// All tickets in order.
    Order,
    /// Nothing: no ticket has all words.
    Nothing,
}

/// The words of a search, and where in a query their ranges are bound.
struct Words {
    words: Vec<String>,
    first: usize,
}

impl Words {
    /// The words as they were typed, not their parts: those would be found anyway. Their ranges are
    /// bound from the place `first` on.
    fn of(search: &str, first: usize) -> Words {
        let lower = search.to_lowercase();
        let mut words: Vec<String> = lower
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '-'))
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .map(|word| word.chars().take(64).collect())
            .collect();
        words.truncate(8);
        Words { words, first }
    }

    /// What is bound: words that begin with one are from it, up to before the second.
    fn bound(&self) -> impl Iterator<Item = String> + '_ {
        self.words.iter().flat_map(|word| [word.clone(), format!("{word}\u{10ffff}")])
    }

    /// That a row of the index has the word.
    fn is(&self, row: &str, index: usize) -> String {
        let from = self.first + 2 * index;
        format!("{row}.term >= ${from} AND {row}.term < ${}", from + 1)
    }

    /// That a ticket has the word.
    fn has(&self, ticket: &str, index: usize) -> String {
        let is = self.is("other", index);
        format!("EXISTS (SELECT 1 FROM terms other WHERE other.ticket = {ticket} AND {is})")
    }

    /// The rows of the index that have one word, and whose tickets have all others. They come in the
    /// order of tickets, so what is looked up for one is beside what is looked up for the next.
    fn rows(&self, lead: usize) -> String {
        let others = (0..self.words.len()).filter(|&index| index != lead);
        let mut all = vec![self.is("word", lead)];
        all.extend(others.map(|index| self.has("word.ticket", index)));
        format!("FROM terms word WHERE {}", all.join(" AND "))
    }
}

impl Store {
    /// A page of the list.
    pub async fn list(&self, filter: &Filter) -> Result<Page, Error> {
        let limit = match filter.limit {
            0 => 50,
            more => more.min(200),
        };
        let mut wheres: Vec<String> = filter.state.sql().map(str::to_owned).into_iter().collect();
        let mut texts: Vec<String> = Vec::new();
        if let Some(program) = &filter.program {
            texts.push(program.clone());
            wheres.push(format!("t.program = ${}", texts.len()));
        }
        let column = filter.sort.column();
        let (order, beyond) = if filter.sort == Sort::Leak { ("ASC", ">") } else { ("DESC", "<") };
        let mut from = "tickets t".to_owned();
        // A sign before a column keeps SQLite from walking over its index.
        let mut sign = "";
        let search = filter.search.trim();
        // Digits alone may be a signature.
        let named = search.starts_with(['T', 't']).then(|| search.parse::<TicketId>().ok());
        if let Some(id) = named.flatten() {
            wheres.push(format!("t.id = {}", id.0));
        } else if !grouping::terms(&[search]).is_empty() {
            let words = Words::of(search, texts.len() + 1);
            match self.lead(search).await? {
                Lead::Word(lead) => {
                    let rows = words.rows(lead);
                    // SQLite joins this way round.
                    from = format!("(SELECT DISTINCT word.ticket {rows}) f CROSS JOIN tickets t");
                    wheres.push("t.id = f.ticket".to_owned());
                    sign = "+";
                }
                Lead::Nothing => return Ok(Page { tickets: Vec::new(), next: None }),
                Lead::Order => {
                    wheres.extend((0..words.words.len()).map(|index| words.has("t.id", index)));
                }
            }
            texts.extend(words.bound());
        }
        if let Some(Cursor { value, id }) = filter.after {
            let value = match filter.sort {
                Sort::Leak => format!("{value:?}"),
                _ => format!("{}", value as i64),
            };
            wheres.push(format!("(t.{column}, t.id) {beyond} ({value}, {id})"));
        }
        let wheres = if wheres.is_empty() { "1 = 1".to_owned() } else { wheres.join(" AND ") };
        let sql = format!(
            "SELECT {ROW} FROM {from} WHERE {wheres} \
             ORDER BY {sign}t.{column} {order}, {sign}t.id {order} LIMIT {}",
            limit + 1
        );
        // Every value of the user is bound; what is written into the text is ours.
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for text in texts {
            query = query.bind(text);
        }
        let rows = query.fetch_all(self.reading()).await?;
        let more = rows.len() > limit;
        let mut tickets: Vec<TicketRow> =
            rows.iter().take(limit).map(row).collect::<Result<_, _>>()?;
        let key = |ticket: &TicketRow| match filter.sort {
            Sort::LastSeen => ticket.last_seen.0 as f64,
            Sort::FirstSeen => ticket.first_seen.0 as f64,
            Sort::Count => ticket.count as f64,
            Sort::Leak => ticket.leak_bits.unwrap_or(NO_DOUBLE),
        };
        let next = tickets.last().filter(|_| more);
        let next = next.map(|last| Cursor { value: key(last), id: last.id.0 });
        self.fill_sparks(&mut tickets).await?;
        Ok(Page { tickets, next })
    }

    /// Whether words should lead, and which.
    async fn lead(&self, search: &str) -> Result<Lead, Error> {
        let words = Words::of(search, 1);
        let (rarest, found) = self.rarest(&words, LEADS).await?;
        match found {
            0 => return Ok(Lead::Nothing),
            1..LEADS => return Ok(Lead::Word(rarest)),
            _ if words.words.len() < 2 => return Ok(Lead::Order),
            _ => {}
        }
        // All of them are common; how many tickets have them together is another question.
        let (rarest, _) = self.rarest(&words, COUNTED).await?;
        let rows = words.rows(rarest);
        let together = self.count_up_to(&rows, words.bound(), LEADS).await?;
        Ok(match together {
            0 => Lead::Nothing,
            1..LEADS => Lead::Word(rarest),
            _ => Lead::Order,
        })
    }

    /// The rarest word, and how many rows of the index have it, counted up to a limit.
    async fn rarest(&self, words: &Words, limit: i64) -> Result<(usize, i64), Error> {
        let mut best = (0, limit);
        for (index, word) in words.words.iter().enumerate() {
            let one = Words { words: vec![word.clone()], first: 1 };
            let found = self.count_up_to(&one.rows(0), one.bound(), limit).await?;
            if found < best.1 {
                best = (index, found);
            }
        }
        Ok(best)
    }

    async fn count_up_to(
        &self,
        rows: &str,
        bound: impl Iterator<Item = String>,
        limit: i64,
    ) -> Result<i64, Error> {
        let sql = format!("SELECT COUNT(*) AS n FROM (SELECT 1 AS one {rows} LIMIT {limit}) few");
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for text in bound {
            query = query.bind(text);
        }
        query.fetch_one(self.reading()).await?.number("n")
    }
}
