//! The cheapest description of a set, by dynamic programming over the places of a source.
//!
//! First the values of each byte are taken to be a set that is cheap to say ([`Palette`]): a bigger set costs what
//! it has more. Then, from place to place, the cheapest way to say what stands up to there: every piece that says
//! just what stands there is a way from a place to a later one. That is the shortest of all ways over the pieces
//! that are looked at; of long pieces not every length is. Nothing here decides what a piece costs: the code is
//! asked, and writes in the end what was found.

use crate::code::{Place, Text, class_cost, digits, set_cost};
use crate::coder::number_cost;
use crate::cost::Cost;
use crate::drawn::{Drawn, DrawnSource, Element, Length};
use crate::matches::{Earlier, Kind, Known, Match};
use crate::piece::{Class, Order, Piece, Sort};
use crate::public::{Public, WORD};
use crate::values::Values;
use crate::weights::{self, Tag};

/// A set of more elements is described by none.
const MOST_ELEMENTS: usize = 1 << 18;
/// No copy is longer than this,
const LONGEST: usize = 4096;
/// and no text that is spelled.
const SPELLED: usize = 255;
/// Of a stretch of any length, so many lengths are looked at one by one.
const SHORT: usize = 24;

/// How the values of bytes are made simpler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Palette {
    /// They stay as they are.
    Exact,
    /// A class that has them, unless it is dearer than saying them.
    Balanced,
    /// The same, and nearly anything is anything.
    Plain,
}

/// All of them: whichever is cheapest in the end is taken.
pub(crate) const PALETTES: [Palette; 3] = [Palette::Balanced, Palette::Plain, Palette::Exact];

impl Palette {
    /// A set that has the given one in it, and what it has more, in bits. `None` if a byte has no value.
    pub(crate) fn cover(self, drawn: &Drawn) -> Option<(Drawn, Cost)> {
        let (mut set, mut more) = (drawn.clone(), Cost::ZERO);
        if set.sources.iter().map(|it| it.elements.len()).sum::<usize>() > MOST_ELEMENTS {
            return None;
        }
        for source in &mut set.sources {
            let mut stops = false;
            for element in &mut source.elements {
                let stopped = std::mem::take(&mut stops);
                match element {
                    Element::Gap(gap) => stops = gap.stops,
                    Element::Public(_) => {}
                    Element::Byte(values) => {
                        let before = *values;
                        // What a gap stops at says what the gap may have, and must stay.
                        if !stopped {
                            *values = self.simpler(before);
                        }
                        more += Cost::of(u64::from(values.len()), u64::from(before.len()));
                        if before.is_empty() {
                            return None;
                        }
                    }
                }
            }
        }
        Some((set, more))
    }

    fn simpler(self, values: Values) -> Values {
        let known = values.len() == 1 || values.either_case().is_some();
        if known || self == Palette::Exact {
            return values;
        }
        if self == Palette::Plain && values.len() >= 0x70 {
            return Values::ALL;
        }
        if Class::of(values).is_some() {
            return values;
        }
        let classes = Class::ALL.into_iter().filter(|class| values.is_in(class.values()));
        let price = |class: &Class| {
            Cost::of(u64::from(class.values().len()), u64::from(values.len())) + class_cost(*class)
        };
        match classes.min_by_key(price) {
            Some(class) if price(&class) <= set_cost(values) => class.values(),
            _ => values,
        }
    }
}

/// A way to a place: from where, by which piece; public bytes need none.
type Step = (usize, Option<Piece>);

/// The pieces of each source.
pub(crate) fn pieces(set: &Drawn, public: &Public) -> Vec<Vec<Piece>> {
    let all: Vec<Element> = set.sources.iter().flat_map(|it| it.elements.iter().copied()).collect();
    let either_case = all.iter().any(|it| it.values().is_some_and(|it| it.either_case().is_some()));
    let known = Known::new(public, either_case);
    let (mut earlier, mut begin) = (Earlier::default(), 0);
    let mut found = Vec::new();
    for source in &set.sources {
        let mut ways = Ways::new(source, &all, begin, public);
        ways.search(&known, &mut earlier);
        found.push(ways.shortest());
        begin += source.elements.len();
    }
    found
}

/// The ways through a source.
struct Ways<'a> {
    source: &'a DrawnSource,
    /// All elements of all sources, and where those of this one begin.
    all: &'a [Element],
    begin: usize,
    /// What is known of the end.
    ends: bool,
    /// For the first element of all, and for others: what each tag costs.
    tags: [[Cost; 10]; 2],
    lists: Vec<Cost>,
    public: &'a Public,
    costs: Vec<Cost>,
    steps: Vec<Step>,
}

fn parts(weights: &[u32], part: usize) -> Cost {
    Cost::of(weights.iter().map(|&it| u64::from(it)).sum(), u64::from(weights[part]))
}

impl<'a> Ways<'a> {
    fn new(
        source: &'a DrawnSource,
        all: &'a [Element],
        begin: usize,
        public: &'a Public,
    ) -> Ways<'a> {
        let gaps = source.has_gaps();
        let ends = !gaps && matches!(source.length, Length::Known(_));
        let tags = [false, true].map(|seen| {
            let seen = if seen { vec![Element::Byte(Values::ALL)] } else { Vec::new() };
            let place = Place { left: ends.then_some(1), gaps };
            let weights = Text { public, seen }.tags(place);
            std::array::from_fn(|tag| parts(&weights, tag))
        });
        let lists = Text { public, seen: Vec::new() }.lists();
        let lists = (0..lists.len()).map(|list| parts(&lists, list)).collect();
        let places = source.elements.len() + 1;
        let mut costs = vec![Cost::NEVER; places];
        costs[0] = Cost::ZERO;
        let steps = vec![(0, None); places];
        Ways { source, all, begin, ends, tags, lists, public, costs, steps }
    }

    fn tag(&self, at: usize, tag: Tag) -> Cost {
        self.tags[usize::from(self.begin + at > 0)][tag as usize]
    }

    fn offer(&mut self, at: usize, length: usize, cost: Cost, piece: impl FnOnce() -> Piece) {
        let total = self.costs[at] + cost;
        if total < self.costs[at + length] {
            self.costs[at + length] = total;
            self.steps[at + length] = (at, Some(piece()));
        }
    }

    fn search(&mut self, known: &Known<'_>, earlier: &mut Earlier) {
        let elements = &self.source.elements;
        let longest = (*WORD.end()).max(256);
        // How many of the same stand from each place on.
        let mut runs = vec![1; elements.len()];
        for at in (1..elements.len()).rev().filter(|&at| elements[at - 1] == elements[at]) {
            runs[at - 1] = runs[at] + 1;
        }
        let known_bytes = Runs::of(elements, |it| it.value());
        let either_case = Runs::of(elements, |it| match it.values()?.either_case() {
            Some(letter) => Some(letter),
            None => it.value().filter(|value| !value.is_ascii_alphabetic()),
        });
        let sorts = Sort::ALL.map(|sort| Runs::of(elements, |it| letter(sort, it)));
        let mut end = 0;
        for at in 0..elements.len() {
            if elements[at].is_public() {
                if self.costs[at] < self.costs[at + 1] {
                    self.costs[at + 1] = self.costs[at];
                    self.steps[at + 1] = (at, None);
                }
                continue;
            }
            if end <= at {
                let public = elements[at..].iter().position(|it| it.is_public());
                end = public.map_or(elements.len(), |public| at + public);
            }
            let ahead = &elements[at..end];
            self.single(at, elements[at]);
            self.numbers(at, ahead);
            for (sort, runs) in Sort::ALL.into_iter().zip(&sorts) {
                self.spelled(at, sort, runs.from(at, ahead.len().min(SPELLED)));
            }
            self.free(at, elements[at], runs[at], end);
            let near = ahead.len().min(longest);
            let mut matches = known.at(known_bytes.from(at, near), either_case.from(at, near));
            // Within many of the same, what stood before is the same again.
            if at < 2 || elements[at - 2..at] != [elements[at]; 2] {
                let end = self.begin + at + ahead.len().min(LONGEST);
                matches.extend(earlier.at(self.all, self.begin + at, end));
            }
            for it in matches {
                self.matched(at, it);
            }
        }
    }

    /// Pieces of one element.
    fn single(&mut self, at: usize, element: Element) {
        match element {
            Element::Gap(gap) => {
                let cost = self.tag(at, Tag::Gap) + gap_cost(&gap);
                self.offer(at, 1, cost, || Piece::Gap(gap));
            }
            Element::Byte(values) => match values.single() {
                Some(value) => {
                    let all = (0..=255u8).map(|value| u64::from(weights::byte(value))).sum();
                    let cost = Cost::of(all, u64::from(weights::byte(value)));
                    self.offer(at, 1, self.tag(at, Tag::Byte) + cost, || Piece::Byte(value));
                }
                None => {
                    let cost = self.tag(at, Tag::Set) + set_cost(values);
                    self.offer(at, 1, cost, || Piece::Set(values));
                }
            },
            Element::Public(_) => {}
        }
    }

    fn numbers(&mut self, at: usize, ahead: &[Element]) {
        for (which, width) in [2, 4, 8].into_iter().enumerate() {
            let Some(bytes) = ahead.get(..width) else { return };
            let Some(bytes) = bytes.iter().map(|it| it.value()).collect::<Option<Vec<u8>>>() else {
                return;
            };
            for order in [Order::Little, Order::Big] {
                let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
                let value = match order {
                    Order::Little => bytes.iter().rev().fold(0, add),
                    Order::Big => bytes.iter().fold(0, add),
                };
                if value >= 1 << 32 || digits(width, order, value).is_none() {
                    continue;
                }
                let cost = self.tag(at, Tag::Number)
                    + parts(&weights::WIDTHS, which)
                    + Cost::whole(1)
                    + number_cost(value + 1);
                self.offer(at, width, cost, || Piece::Number { width, order, value });
            }
        }
    }

    fn spelled(&mut self, at: usize, sort: Sort, run: &[u8]) {
        let all: u64 = (0..=255u8).map(|value| u64::from(sort.weight(value))).sum();
        let (head, each) =
            (self.tag(at, Tag::Text) + parts(&weights::sorts(), sort as usize), Cost::of(all, 1));
        let mut spelling = Cost::ZERO;
        let mut next = lengths(run.len()).peekable();
        for length in 1..=run.len() {
            spelling += each;
            if next.next_if_eq(&length).is_some() {
                let cost = head + number_cost(length as u64) + spelling;
                let piece = || Piece::Text { sort, bytes: run[..length].to_vec() };
                self.offer(at, length, cost, piece);
            }
        }
    }

    fn free(&mut self, at: usize, element: Element, run: usize, end: usize) {
        let Some(class) = element.values().filter(|it| it.len() > 1).and_then(Class::of) else {
            return;
        };
        let head = self.tag(at, Tag::Free) + class_cost(class);
        let (to_end, some) = match self.ends {
            true => (parts(&weights::TO_THE_END, 0), parts(&weights::TO_THE_END, 1)),
            false => (Cost::NEVER, Cost::ZERO),
        };
        if self.ends && at + run == end {
            self.offer(at, run, head + to_end, || Piece::Free { class, length: None });
        }
        for length in lengths(run) {
            let cost = head + some + number_cost(length as u64);
            self.offer(at, length, cost, || Piece::Free { class, length: Some(length) });
        }
    }

    fn matched(&mut self, at: usize, it: Match) {
        let Match { length: longest, kind } = it;
        match kind {
            Kind::Whole(piece) => {
                let Piece::Word { list, case, .. } = piece else { return };
                let cost = self.tag(at, Tag::Word)
                    + self.lists[list]
                    + Cost::of(self.public.lists[list].len() as u64, 1)
                    + parts(&weights::CASES, case as usize);
                self.offer(at, longest, cost, || piece);
            }
            Kind::Copy { from } => {
                let head = self.tag(at, Tag::Copy) + Cost::of((self.begin + at) as u64, 1);
                for length in lengths(longest) {
                    let cost = head + number_cost(length as u64);
                    self.offer(at, length, cost, || Piece::Copy { from, length });
                }
            }
            Kind::Stretch { document, from } => {
                let documents = &self.public.documents;
                let head = self.tag(at, Tag::Stretch)
                    + Cost::of(documents.len() as u64, 1)
                    + Cost::of(documents[document].len() as u64, 1);
                for length in lengths(longest) {
                    let cost = head + number_cost(length as u64);
                    self.offer(at, length, cost, || Piece::Stretch { document, from, length });
                }
            }
        }
    }

    /// The pieces of the shortest way, from the front.
    fn shortest(mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if !self.ends {
            pieces.push(Piece::End);
        }
        let mut at = self.source.elements.len();
        while at > 0 {
            let (from, piece) = std::mem::take(&mut self.steps[at]);
            pieces.extend(piece);
            // A place that nothing leads to: the code will refuse what is left.
            if from >= at {
                break;
            }
            at = from;
        }
        pieces.reverse();
        pieces
    }
}

/// What an element spells in an alphabet.
fn letter(sort: Sort, element: &Element) -> Option<u8> {
    match sort {
        Sort::EitherCase => element.values()?.either_case(),
        _ => element.value().filter(|&value| sort.weight(value) > 0),
    }
}

/// What elements spell, and how far that goes from each on.
struct Runs {
    letters: Vec<u8>,
    left: Vec<u32>,
}

impl Runs {
    fn of(elements: &[Element], letter: impl Fn(&Element) -> Option<u8>) -> Runs {
        let (mut letters, mut left) = (vec![0; elements.len()], vec![0; elements.len() + 1]);
        for (at, element) in elements.iter().enumerate().rev() {
            if let Some(value) = letter(element) {
                (letters[at], left[at]) = (value, left[at + 1] + 1);
            }
        }
        Runs { letters, left }
    }

    /// What is spelled from a place on, at most so many.
    fn from(&self, at: usize, most: usize) -> &[u8] {
        &self.letters[at..at + most.min(self.left[at] as usize)]
    }
}

fn gap_cost(gap: &crate::drawn::Gap) -> Cost {
    let rarely = |is: bool| parts(&weights::RARELY, usize::from(is));
    number_cost(u64::from(gap.least) + 1)
        + rarely(gap.most.is_some())
        + gap.most.map_or(Cost::ZERO, |most| number_cost(u64::from(most) + 1))
        + rarely(gap.ends.is_some())
        + gap.ends.map_or(Cost::ZERO, set_cost)
        + Cost::whole(1)
}

/// The lengths that are looked at, in order: short ones, those after which a number takes more digits, the longest.
fn lengths(longest: usize) -> impl Iterator<Item = usize> {
    let powers = (5..usize::BITS - 1).map(|digits| (1usize << digits) - 1);
    (1..=longest.min(SHORT))
        .chain(powers.take_while(move |&it| it < longest))
        .chain((longest > SHORT).then_some(longest))
}
