//! The code: how a description is written and read, in one function for both.
//!
//! What is said of a source is a chain of pieces. Each piece is a tag and what the tag needs; which tags are
//! possible, and how many there are of each thing, depends on what was said before and on what is public. What a
//! description describes is a set in the form of [`Drawn`]; the reader builds it while reading.
//!
//! What always holds: reader and writer are the same code over another [`Coder`], so what is written is read. A
//! reader that meets what cannot be (a copy of nothing, a stretch beyond the end) gives an error: code words that
//! mean nothing only make the sum of all smaller.

use crate::coder::{Coder, Decoder, Scale, Undecodable};
use crate::cost::Cost;
use crate::drawn::{Drawn, DrawnSource, Element, Gap, Length};
use crate::find;
use crate::piece::{Case, Class, Order, Piece, Sort};
use crate::public::Public;
use crate::values::Values;
use crate::weights::{self, Tag};

/// A set in words, and what they cost.
#[derive(Clone, Debug)]
pub struct Described {
    /// What is said before the pieces: that there are pieces at all.
    pub begin: Cost,
    /// What is said of each source before its pieces: whether it has gaps, and then how long it is.
    pub heads: Vec<Cost>,
    /// The pieces, source by source, each with its cost.
    pub pieces: Vec<Vec<(Piece, Cost)>>,
    /// The set that the pieces describe: all that was to be described is in it.
    pub set: Drawn,
    /// What all of it costs: how it is described at all, the pieces, and what the set has more than the one that
    /// was to be described.
    pub cost: Cost,
    /// Of this, what the set has more.
    pub more: Cost,
    /// The bits.
    pub advice: Advice,
}

/// Bits that describe a set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Advice {
    /// The bits, the first in the highest place of the first byte.
    pub bytes: Vec<u8>,
    /// How many there are.
    pub count: usize,
}

impl Advice {
    /// The bits as a person would write them down.
    #[must_use]
    pub fn bits(&self) -> String {
        let bit = |at: usize| char::from(b'0' + (self.bytes[at / 8] >> (7 - at % 8) & 1));
        (0..self.count).map(bit).collect()
    }
}

/// Advice longer than this is weighed and not written down.
const MOST_WRITTEN: f64 = 40_000.0;

/// What the reader of a description knows of a source beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    /// Its length, if it is that of the original's.
    length: Option<usize>,
    /// What is public of it, by places. Such a source has no gaps.
    public: Vec<(usize, u8)>,
}

impl Frame {
    fn of(source: &DrawnSource) -> Frame {
        let length = match source.length {
            Length::Known(length) => Some(length),
            Length::Told(_) => None,
        };
        let public =
            source.elements.iter().enumerate().filter_map(|(at, element)| match *element {
                Element::Public(value) => Some((at, value)),
                Element::Byte(_) | Element::Gap(_) => None,
            });
        Frame { length, public: public.collect() }
    }
}

/// Describes a set as cheaply as is found. `None` if there is no way (a byte without values, say).
#[must_use]
pub fn describe(drawn: &Drawn, public: &Public) -> Option<Described> {
    let (parts, mut best) = (weights::PARTS, None::<Described>);
    if let Some(double) = drawn.single()
        && let Some(known) = public.doubles.iter().position(|it| *it == double)
    {
        let mut scale = Scale::default();
        scale.choose(&parts, weights::KNOWN).ok()?;
        scale.uniform(public.doubles.len() as u64, known as u64).ok()?;
        best = Some(finished(&scale, scale.cost(), Priced::default(), drawn.clone(), Cost::ZERO));
    }
    let mut covers: Vec<Drawn> = Vec::new();
    for palette in find::PALETTES {
        let Some((set, more)) = palette.cover(drawn) else { continue };
        // The same set has the same description.
        if covers.contains(&set) {
            continue;
        }
        let pieces = find::pieces(&set, public);
        let mut scale = Scale::default();
        scale.choose(&parts, weights::PIECES).ok()?;
        let begin = scale.cost();
        let Some(priced) = write(&mut scale, &set, &pieces, public) else { continue };
        if best.as_ref().is_none_or(|best| scale.cost() + more < best.cost) {
            best = Some(finished(&scale, begin, priced, set.clone(), more));
        }
        covers.push(set);
    }
    best
}

/// What was said of each source, and what it cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Priced {
    heads: Vec<Cost>,
    pieces: Vec<Vec<(Piece, Cost)>>,
}

fn finished(scale: &Scale, begin: Cost, priced: Priced, set: Drawn, more: Cost) -> Described {
    let (bytes, count) = match scale.cost().bits() <= MOST_WRITTEN {
        true => scale.bits(),
        false => (Vec::new(), 0),
    };
    let Priced { heads, pieces } = priced;
    let cost = scale.cost() + more;
    Described { begin, heads, pieces, set, cost, more, advice: Advice { bytes, count } }
}

/// Writes pieces, and says what each cost. `None` if they do not describe the set.
pub(crate) fn write(
    scale: &mut dyn Weighed,
    set: &Drawn,
    pieces: &[Vec<Piece>],
    public: &Public,
) -> Option<Priced> {
    let mut text = Text { public, seen: Vec::new() };
    let mut priced = Priced::default();
    for (source, pieces) in set.sources.iter().zip(pieces) {
        let want = Some((source, &pieces[..]));
        let read = text.source(scale, &Frame::of(source), want, &mut priced).ok()?;
        if read != *source {
            return None;
        }
    }
    Some(priced)
}

/// The set that advice describes, its pieces, and what the advice is worth. `shape` is what the reader knows of each
/// source of the double: its length, and what is public of it; the rest of it is not looked at.
///
/// # Errors
/// The bits are none of this code, or these are not the public words that they were written with.
pub fn decode(advice: &Advice, shape: &Drawn, public: &Public) -> Result<Described, Undecodable> {
    let mut decoder = Decoder::new(&advice.bytes, advice.count);
    let part = decoder.choose(&weights::PARTS, 0)?;
    let (mut set, mut priced, begin) = (Drawn::default(), Priced::default(), decoder.cost());
    match part {
        weights::KNOWN => {
            let known = decoder.uniform(public.doubles.len() as u64, 0)?;
            set = Drawn::only(&public.doubles[known as usize]);
        }
        weights::PIECES => {
            let mut text = Text { public, seen: Vec::new() };
            for source in &shape.sources {
                let frame = Frame::of(source);
                set.sources.push(text.source(&mut decoder, &frame, None, &mut priced)?);
            }
        }
        _ => return Err(Undecodable),
    }
    let (cost, advice, more) = (decoder.cost(), advice.clone(), Cost::ZERO);
    let Priced { heads, pieces } = priced;
    // A known double is its number, and nothing else is said.
    let begin = if pieces.is_empty() { cost } else { begin };
    Ok(Described { begin, heads, pieces, set, cost, more, advice })
}

/// A coder that can say what was spent.
pub(crate) trait Weighed: Coder {
    fn spent(&self) -> Cost;
}

impl Weighed for Scale {
    fn spent(&self) -> Cost {
        self.cost()
    }
}

impl Weighed for Decoder {
    fn spent(&self) -> Cost {
        self.cost()
    }
}

/// What was said until now.
pub(crate) struct Text<'a> {
    pub(crate) public: &'a Public,
    /// All elements of all sources.
    pub(crate) seen: Vec<Element>,
}

/// Where in a source a piece stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// How many bytes are left up to the end, or up to what is public, if that is known.
    pub(crate) left: Option<usize>,
    /// Whether there are gaps.
    pub(crate) gaps: bool,
}

impl Text<'_> {
    /// The weights of tags at a place.
    pub(crate) fn tags(&self, place: Place) -> [u32; 10] {
        let words = self.public.lists.iter().any(|list| !list.is_empty());
        let possible = |tag: Tag| match tag {
            Tag::Word => words,
            Tag::Copy => !self.seen.is_empty(),
            Tag::Gap => place.gaps,
            Tag::Stretch => self.public.documents.iter().any(|it| !it.is_empty()),
            // Where the end is known, nobody has to say it.
            Tag::End => place.left.is_none(),
            Tag::Byte | Tag::Text | Tag::Free | Tag::Number | Tag::Set => true,
        };
        std::array::from_fn(|at| weights::TAGS[at] * u32::from(possible(Tag::ALL[at])))
    }

    /// The weights of lists.
    pub(crate) fn lists(&self) -> Vec<u32> {
        let weight = |at: usize| weights::LISTS[at.min(weights::LISTS.len() - 1)];
        let lists = self.public.lists.iter().enumerate();
        lists.map(|(at, list)| if list.is_empty() { 0 } else { weight(at) }).collect()
    }

    /// A source: written if it is given with its pieces, else read.
    fn source(
        &mut self,
        coder: &mut dyn Weighed,
        frame: &Frame,
        want: Option<(&DrawnSource, &[Piece])>,
        priced: &mut Priced,
    ) -> Result<DrawnSource, Undecodable> {
        let (begun, head) = (self.seen.len(), coder.spent());
        let gaps = coder
            .choose(&weights::HAS_GAPS, usize::from(want.is_some_and(|it| it.0.has_gaps())))?;
        let gaps = gaps == 1;
        if gaps && !frame.public.is_empty() {
            return Err(Undecodable);
        }
        let mut length = frame.length;
        if gaps && length.is_none() {
            let told = want.map_or(0, |it| it.0.length.bytes()) as u64;
            length = Some(coder.number(told + 1)? as usize - 1);
        }
        let mut fill = Class::Any;
        if gaps {
            let wanted = want.map_or(Class::Any, |it| it.0.fill);
            fill = Class::ALL[coder.choose(&weights::fills(), wanted as usize)?];
        }
        priced.heads.push(Cost::difference(coder.spent(), head));
        let mut said_here = Vec::new();
        let (mut public, mut wanted) = (frame.public.iter().peekable(), want.map(|it| it.1.iter()));
        loop {
            let at = self.seen.len() - begun;
            if let Some(&(_, value)) = public.next_if(|it| it.0 == at) {
                self.seen.push(Element::Public(value));
                continue;
            }
            let end = public.peek().map_or(length, |it| Some(it.0));
            let left = if gaps { None } else { end.map(|end| end - at) };
            if left == Some(0) {
                break;
            }
            let before = coder.spent();
            let piece = match &mut wanted {
                Some(wanted) => Some(wanted.next().ok_or(Undecodable)?),
                None => None,
            };
            let piece = self.piece(coder, Place { left, gaps }, piece)?;
            let said = self.say(&piece, Place { left, gaps })?;
            said_here.push((piece, Cost::difference(coder.spent(), before)));
            if said == Said::End {
                break;
            }
        }
        priced.pieces.push(said_here);
        let elements = self.seen[begun..].to_vec();
        let length = match (frame.length, length) {
            (Some(known), _) => Length::Known(known),
            (None, Some(told)) => Length::Told(told),
            (None, None) => Length::Told(elements.len()),
        };
        Ok(DrawnSource { length, elements, fill })
    }

    /// Adds what a piece says.
    fn say(&mut self, piece: &Piece, place: Place) -> Result<Said, Undecodable> {
        let left = place.left;
        let elements = match piece {
            Piece::End => return Ok(Said::End),
            Piece::Copy { from, length } => {
                if *length > MOST || left.is_some_and(|left| *length > left) {
                    return Err(Undecodable);
                }
                for at in *from..from + length {
                    let element = *self.seen.get(at).ok_or(Undecodable)?;
                    if matches!(element, Element::Gap(_)) && !place.gaps {
                        return Err(Undecodable);
                    }
                    self.seen.push(element.said());
                }
                return Ok(Said::More);
            }
            Piece::Free { class, length } => {
                let length = length.or(left).ok_or(Undecodable)?;
                if length > MOST {
                    return Err(Undecodable);
                }
                vec![Element::Byte(class.values()); length]
            }
            other => elements(other, self.public).ok_or(Undecodable)?,
        };
        if left.is_some_and(|left| elements.len() > left) {
            return Err(Undecodable);
        }
        self.seen.extend(elements);
        Ok(Said::More)
    }

    /// A piece: written if it is given, else read.
    pub(crate) fn piece(
        &self,
        coder: &mut dyn Weighed,
        place: Place,
        want: Option<&Piece>,
    ) -> Result<Piece, Undecodable> {
        let tag = coder.choose(&self.tags(place), want.map_or(0, |it| tag(it) as usize))?;
        Ok(match Tag::ALL[tag] {
            Tag::Word => {
                let (list, number, case) = match want {
                    Some(Piece::Word { list, number, case }) => (*list, *number, *case),
                    _ => (0, 0, Case::AsIs),
                };
                let list = coder.choose(&self.lists(), list)?;
                let number = coder.uniform(self.public.lists[list].len() as u64, number as u64)?;
                let case = coder.choose(&weights::CASES, usize::from(case == Case::Either))?;
                let case = if case == 1 { Case::Either } else { Case::AsIs };
                Piece::Word { list, number: number as usize, case }
            }
            Tag::Byte => {
                let want = if let Some(Piece::Byte(value)) = want { *value } else { 0 };
                let table: [u32; 256] = std::array::from_fn(|value| weights::byte(value as u8));
                Piece::Byte(coder.choose(&table, usize::from(want))? as u8)
            }
            Tag::Text => {
                let (sort, want): (usize, &[u8]) = match want {
                    Some(Piece::Text { sort, bytes }) => (*sort as usize, bytes),
                    _ => (0, &[]),
                };
                let sort = Sort::ALL[coder.choose(&weights::sorts(), sort)?];
                let table: [u32; 256] = std::array::from_fn(|value| sort.weight(value as u8));
                let length = bounded(coder.number(want.len() as u64)?)?;
                let spell = |at: usize| {
                    let want = want.get(at).copied().unwrap_or(0);
                    Ok(coder.choose(&table, usize::from(want))? as u8)
                };
                let bytes: Result<Vec<u8>, Undecodable> = (0..length).map(spell).collect();
                Piece::Text { sort, bytes: bytes? }
            }
            Tag::Copy => {
                let (from, length) = match want {
                    Some(Piece::Copy { from, length }) => (*from, *length),
                    _ => (0, 0),
                };
                let from = coder.uniform(self.seen.len() as u64, from as u64)? as usize;
                Piece::Copy { from, length: bounded(coder.number(length as u64)?)? }
            }
            Tag::Free => {
                let (class, length) = match want {
                    Some(Piece::Free { class, length }) => (*class, *length),
                    _ => (Class::Any, None),
                };
                let class = Class::ALL[coder.choose(&weights::classes(), class as usize)?];
                let to_the_end = match place.left {
                    Some(_) => {
                        coder.choose(&weights::TO_THE_END, usize::from(length.is_some()))? == 0
                    }
                    None => false,
                };
                let length = match to_the_end {
                    true => None,
                    false => Some(bounded(coder.number(length.unwrap_or(0) as u64)?)?),
                };
                Piece::Free { class, length }
            }
            Tag::Number => {
                let (width, order, value) = match want {
                    Some(Piece::Number { width, order, value }) => (*width, *order, *value),
                    _ => (2, Order::Little, 0),
                };
                let width = 2 << coder.choose(&weights::WIDTHS, width.ilog2() as usize - 1)?;
                let order = match coder.choose(&[1, 1], usize::from(order == Order::Big))? {
                    0 => Order::Little,
                    _ => Order::Big,
                };
                let value = coder.number(value.saturating_add(1))? - 1;
                Piece::Number { width, order, value }
            }
            Tag::Gap => {
                let want = if let Some(Piece::Gap(gap)) = want { Some(*gap) } else { None };
                Piece::Gap(gap(coder, want)?)
            }
            Tag::Set => {
                let want = if let Some(Piece::Set(values)) = want { *values } else { Values::ALL };
                Piece::Set(set(coder, want)?)
            }
            Tag::Stretch => {
                let (document, from, length) = match want {
                    Some(Piece::Stretch { document, from, length }) => (*document, *from, *length),
                    _ => (0, 0, 0),
                };
                let count = self.public.documents.len() as u64;
                let document = coder.uniform(count, document as u64)? as usize;
                let all = self.public.documents[document].len() as u64;
                let from = coder.uniform(all, from as u64)? as usize;
                let length = bounded(coder.number(length as u64)?)?;
                Piece::Stretch { document, from, length }
            }
            Tag::End => Piece::End,
        })
    }
}

/// No piece is longer than this.
pub(crate) const MOST: usize = 1 << 24;

fn bounded(length: u64) -> Result<usize, Undecodable> {
    usize::try_from(length).ok().filter(|&it| it <= MOST).ok_or(Undecodable)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    More,
    End,
}

pub(crate) fn tag(piece: &Piece) -> Tag {
    match piece {
        Piece::Word { .. } => Tag::Word,
        Piece::Byte(_) => Tag::Byte,
        Piece::Text { .. } => Tag::Text,
        Piece::Copy { .. } => Tag::Copy,
        Piece::Free { .. } => Tag::Free,
        Piece::Number { .. } => Tag::Number,
        Piece::Gap(_) => Tag::Gap,
        Piece::Set(_) => Tag::Set,
        Piece::Stretch { .. } => Tag::Stretch,
        Piece::End => Tag::End,
    }
}

/// What a piece stands for, if that does not depend on what was said before.
fn elements(piece: &Piece, public: &Public) -> Option<Vec<Element>> {
    let exactly = |bytes: &[u8]| {
        Some(bytes.iter().map(|&value| Element::Byte(Values::one(value))).collect::<Vec<_>>())
    };
    match piece {
        Piece::Word { list, number, case } => {
            let word = public.lists.get(*list)?.word(*number)?;
            Some(word.iter().map(|&value| Element::Byte(spelled(value, *case))).collect())
        }
        Piece::Byte(value) => exactly(&[*value]),
        Piece::Text { sort, bytes } => {
            Some(bytes.iter().map(|&value| Element::Byte(sort.values(value))).collect())
        }
        Piece::Number { width, order, value } => exactly(&digits(*width, *order, *value)?),
        Piece::Gap(gap) => Some(vec![Element::Gap(*gap)]),
        Piece::Set(values) => Some(vec![Element::Byte(*values)]),
        Piece::Stretch { document, from, length } => {
            exactly(public.documents.get(*document)?.get(*from..from.checked_add(*length)?)?)
        }
        Piece::Copy { .. } | Piece::Free { .. } | Piece::End => None,
    }
}

/// The values of a letter of a word.
pub(crate) fn spelled(value: u8, case: Case) -> Values {
    match case {
        Case::Either if value.is_ascii_alphabetic() => {
            Values::one(value.to_ascii_lowercase()).with(value.to_ascii_uppercase())
        }
        _ => Values::one(value),
    }
}

/// The bytes of a number.
pub(crate) fn digits(width: usize, order: Order, value: u64) -> Option<Vec<u8>> {
    if width < 8 && value >> (8 * width) > 0 {
        return None;
    }
    Some(match order {
        Order::Little => value.to_le_bytes()[..width].to_vec(),
        Order::Big => value.to_be_bytes()[8 - width..].to_vec(),
    })
}

fn gap(coder: &mut dyn Weighed, want: Option<Gap>) -> Result<Gap, Undecodable> {
    let want = want.unwrap_or(Gap { least: 0, most: None, ends: None, stops: false });
    let small = |number: u64| u32::try_from(number - 1).map_err(|_| Undecodable);
    let least = small(coder.number(u64::from(want.least) + 1)?)?;
    let most = match coder.choose(&weights::RARELY, usize::from(want.most.is_some()))? {
        0 => None,
        _ => Some(small(coder.number(u64::from(want.most.unwrap_or(0)) + 1)?)?),
    };
    let ends = match coder.choose(&weights::RARELY, usize::from(want.ends.is_some()))? {
        0 => None,
        _ => Some(set(coder, want.ends.unwrap_or(Values::ALL))?),
    };
    let stops = coder.choose(&[1, 1], usize::from(want.stops))? == 1;
    Ok(Gap { least, most, ends, stops })
}

/// The values of a byte, in the shortest of five ways.
fn set(coder: &mut dyn Weighed, want: Values) -> Result<Values, Undecodable> {
    let how = coder.choose(&weights::SETS, best_way(want))?;
    Ok(match how {
        0 => {
            let class = Class::of(want).unwrap_or(Class::Any);
            Class::ALL[coder.choose(&weights::classes(), class as usize)?].values()
        }
        1 => {
            let (first, last) = ends(want);
            let first = coder.uniform(256, u64::from(first))? as u8;
            Values::range(first, coder.uniform(256, u64::from(last))? as u8)
        }
        2 => listed(coder, want)?,
        3 => listed(coder, want.complement())?.complement(),
        _ => {
            let mut values = Values::NONE;
            for value in 0..=255u8 {
                if coder.choose(&[1, 1], usize::from(want.contains(value)))? == 1 {
                    values = values.with(value);
                }
            }
            values
        }
    })
}

fn ends(values: Values) -> (u8, u8) {
    (values.iter().next().unwrap_or(0), values.iter().last().unwrap_or(255))
}

fn listed(coder: &mut dyn Weighed, want: Values) -> Result<Values, Undecodable> {
    let count = coder.number(u64::from(want.len()))?;
    if count > 256 {
        return Err(Undecodable);
    }
    let (mut values, mut wanted) = (Values::NONE, want.iter());
    for _ in 0..count {
        values = values.with(coder.uniform(256, u64::from(wanted.next().unwrap_or(0)))? as u8);
    }
    Ok(values)
}

/// The way to say a set that costs least.
fn best_way(values: Values) -> usize {
    let costs = ways(values);
    (0..costs.len()).min_by_key(|&way| costs[way]).unwrap_or(4)
}

fn ways(values: Values) -> [Cost; 5] {
    let all = weights::SETS.iter().map(|&it| u64::from(it)).sum();
    let way = |at: usize| Cost::of(all, u64::from(weights::SETS[at]));
    let (first, last) = ends(values);
    let list = |count: u32| match count {
        0 => Cost::NEVER,
        _ => crate::coder::number_cost(u64::from(count)) + Cost::whole(8 * u64::from(count)),
    };
    [
        Class::of(values).map_or(Cost::NEVER, |class| way(0) + class_cost(class)),
        match values == Values::range(first, last) && !values.is_empty() {
            true => way(1) + Cost::whole(16),
            false => Cost::NEVER,
        },
        way(2) + list(values.len()),
        way(3) + list(256 - values.len()),
        way(4) + Cost::whole(256),
    ]
}

/// What it costs to say a set of values.
pub(crate) fn set_cost(values: Values) -> Cost {
    ways(values).into_iter().min().unwrap_or(Cost::NEVER)
}

/// What it costs to say a class.
pub(crate) fn class_cost(class: Class) -> Cost {
    let classes = weights::classes();
    Cost::of(classes.iter().map(|&it| u64::from(it)).sum(), u64::from(classes[class as usize]))
}
