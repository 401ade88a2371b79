//! The code as a whole: what is written is read, and lengths fulfil Kraft's inequality, counted over all strings of
//! small alphabets; a code that cannot be decoded is caught by both.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::code::{Weighed, write};
use crate::coder::{Coder, Scale, Undecodable};
use crate::cost::Cost;
use crate::drawn::{Drawn, DrawnSource, Element, Gap, Length};
use crate::find;
use crate::piece::Class;
use crate::public::{List, Public};
use crate::values::Values;
use crate::weights;
use crate::{Advice, decode, describe, dictate};

fn words(words: &[&str]) -> Public {
    let of = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    let libraries = List::new("a library", of(&["xml", "version", "encoding"]));
    Public { lists: vec![List::new("the program", of(words)), libraries], ..Public::default() }
}

/// Random sets of all kinds.
fn random(rng: &mut ChaCha8Rng) -> Drawn {
    let kinds = [
        Values::ALL,
        Class::Digits.values(),
        Values::one(b'x').with(b'X'),
        Values::one(b'"').with(b'{').with(b'7'),
        Values::range(3, 77),
        Values::ALL.complement().with(9).complement(),
        Values::filter(|value| value % 3 == 0),
    ];
    let texts: [&[u8]; 7] = [
        b"Content-Type",
        b"aaaaaaaaaa",
        b"\0\0\0\x2a",
        b"{\"key\": ",
        b"12345",
        b"xml",
        b"\xff\xd8",
    ];
    let source = |rng: &mut ChaCha8Rng| {
        let (gaps, public) = (rng.gen_ratio(1, 3), rng.gen_ratio(1, 4));
        let mut elements: Vec<Element> = Vec::new();
        let mut stopped = false;
        for _ in 0..rng.gen_range(0..9) {
            match rng.gen_range(0..5) {
                0 if gaps => {
                    let ends = rng.gen_ratio(1, 4).then(|| Values::one(b'\n'));
                    let most = rng.gen_ratio(1, 4).then_some(9);
                    let gap = Gap { least: rng.gen_range(0..3), most, ends, stops: rng.r#gen() };
                    elements.push(Element::Gap(gap));
                    stopped = gap.stops;
                    continue;
                }
                1 if public && !gaps => {
                    elements.extend([Element::Public(b'p'), Element::Public(b'q')]);
                }
                2 => {
                    let kind = kinds[rng.gen_range(0..kinds.len())];
                    elements.extend(vec![Element::Byte(kind); rng.gen_range(1..40)]);
                }
                _ => {
                    let text = texts[rng.gen_range(0..texts.len())];
                    elements.extend(text.iter().map(|&it| Element::Byte(Values::one(it))));
                }
            }
            stopped = false;
        }
        if stopped {
            elements.push(Element::Byte(Values::one(b',')));
        }
        let gaps = elements.iter().any(|it| matches!(it, Element::Gap(_)));
        let length = if gaps { 500 } else { elements.len() };
        let is_public = elements.iter().any(|it| it.is_public());
        let length = match rng.r#gen() {
            true if !is_public => Length::Told(length),
            _ => Length::Known(length),
        };
        let fills = [Class::Any, Class::Alphanumeric, Class::Text];
        let fill = if gaps { fills[rng.gen_range(0..fills.len())] } else { Class::Any };
        DrawnSource { length, elements, fill }
    };
    Drawn { sources: (0..rng.gen_range(1..4)).map(|_| source(rng)).collect() }
}

/// What a reader knows: lengths that are told by nobody, and public bytes.
fn shape(drawn: &Drawn) -> Drawn {
    let mut shape = drawn.clone();
    for source in &mut shape.sources {
        for element in &mut source.elements {
            if !element.is_public() {
                *element = Element::Byte(Values::NONE);
            }
        }
    }
    shape
}

#[test]
fn what_is_described_is_decoded() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut public = words(&["Content-Type", "key", "KEY", "type", "on", "xx"]);
    public.documents = vec![b"{\"key\": 12345, \"other\": [1, 2, 3]}".to_vec()];
    for _ in 0..150 {
        let drawn = random(&mut rng);
        let described = describe(&drawn, &public).expect("every byte has values");
        let read = decode(&described.advice, &shape(&drawn), &public).expect("it is of this code");
        assert_eq!(read.set, described.set);
        assert_eq!(read.pieces, described.pieces);
        // The figure is that of the bits, with what the set has more.
        assert_eq!(read.cost + described.more, described.cost);
        assert!(described.advice.count as f64 <= read.cost.bits() + 2.0);
        let said: Cost = dictate(&described, &public).iter().map(|it| it.cost).sum();
        assert_eq!(said, described.cost);
        // All that was to be described is in the set, each byte by itself.
        for (mine, theirs) in drawn.sources.iter().zip(&described.set.sources) {
            assert_eq!(mine.length, theirs.length);
            for (mine, theirs) in mine.elements.iter().zip(&theirs.elements) {
                match (*mine, *theirs) {
                    (Element::Byte(mine), Element::Byte(theirs)) => assert!(mine.is_in(theirs)),
                    (mine, theirs) => assert_eq!(mine, theirs),
                }
            }
        }
    }
}

#[test]
fn attack_random_bits_never_break_the_reader() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let public = words(&["on", "off"]);
    let mut read = 0;
    for _ in 0..3000 {
        let bytes: Vec<u8> = (0..rng.gen_range(1..40)).map(|_| rng.r#gen()).collect();
        let advice = Advice { count: 8 * bytes.len(), bytes };
        let source = |length| DrawnSource { length, elements: Vec::new(), fill: Class::Any };
        let shape = Drawn { sources: vec![source(Length::Known(9)), source(Length::Told(0))] };
        if let Ok(described) = decode(&advice, &shape, &public) {
            read += 1;
            // It is what so many bits can say, and a set of as many sources.
            assert!(described.cost.bits() <= 8.0 * 40.0 + 3.0);
            assert!(described.set.sources.len() == 2 || described.pieces.is_empty());
        }
    }
    assert!(read > 20, "{read}");
}

/// All strings over an alphabet, up to a length.
fn strings(alphabet: &[u8], longest: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..longest {
        last = last
            .iter()
            .flat_map(|text| alphabet.iter().map(move |&byte| [text.as_slice(), &[byte]].concat()))
            .collect();
        all.extend(last.iter().cloned());
    }
    all
}

fn kraft(all: impl Iterator<Item = Cost>) -> f64 {
    all.map(|cost| (-cost.bits()).exp2()).sum()
}

#[test]
fn lengths_of_all_short_strings_fulfil_kraft() {
    let every: Vec<u8> = (0..=255).collect();
    let two = |first: u8, second: u8| [first, second].iter().map(|&it| char::from(it)).collect();
    let pairs: Vec<String> =
        (b'a'..=b'z').flat_map(|a| (b'a'..=b'z').map(move |b| two(a, b))).collect();
    let dense: Vec<&str> = pairs.iter().map(String::as_str).collect();
    for (alphabet, longest, public) in [
        (&every[..], 1, words(&[])),
        (b"ab0,", 5, words(&["ab", "ba", "a0"])),
        (b"abcdefghijklmnopqrstuvwxyz", 2, words(&dense)),
    ] {
        let cost = |text: Vec<u8>| describe(&Drawn::only(&[text]), &public).unwrap().cost;
        let sum = kraft(strings(alphabet, longest).into_iter().map(cost));
        // Papers' strings have half of all, and known doubles a sixteenth.
        assert!(sum <= 7.0 / 16.0 && sum > 0.001, "{sum}");
    }
    // Where the length is known, no string pays for it.
    let cost = |byte: u8| {
        let elements = vec![Element::Byte(Values::one(byte))];
        let source = DrawnSource { length: Length::Known(1), elements, fill: Class::Any };
        describe(&Drawn { sources: vec![source] }, &words(&[])).unwrap().cost
    };
    let sum = kraft((0..=255).map(cost));
    assert!(sum <= 7.0 / 16.0 && sum > 0.05, "{sum}");
}

/// A mutant: it does not say which one of several it means.
struct Mumbles(Scale);

impl Coder for Mumbles {
    fn choose(&mut self, weights: &[u32], want: usize) -> Result<usize, Undecodable> {
        self.0.choose(weights, want)
    }

    fn uniform(&mut self, _: u64, want: u64) -> Result<u64, Undecodable> {
        Ok(want)
    }
}

impl Weighed for Mumbles {
    fn spent(&self) -> Cost {
        self.0.cost()
    }
}

#[test]
fn attack_a_code_that_cannot_be_decoded_is_caught() {
    let all = strings(b"abcdefghijkl", 3);
    let texts: Vec<String> = all.iter().map(|it| String::from_utf8(it.clone()).unwrap()).collect();
    let public = words(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let mut wrong = 0;
    let mut costs = Vec::new();
    for text in all {
        let drawn = Drawn::only(&[text]);
        let mut mutant = Mumbles(Scale::default());
        mutant.choose(&weights::PARTS, weights::PIECES).unwrap();
        write(&mut mutant, &drawn, &find::pieces(&drawn, &public), &public).unwrap();
        costs.push(mutant.spent());
        let (bytes, count) = mutant.0.bits();
        let read = decode(&Advice { bytes, count }, &drawn, &public);
        wrong += u32::from(!read.is_ok_and(|read| read.set == drawn));
    }
    assert!(kraft(costs.into_iter()) > 1.0);
    assert!(wrong > 100, "{wrong}");
}

#[test]
fn a_word_of_the_program_is_cheap_and_the_same_again_is_cheaper() {
    let public = words(&["Content-Disposition", "GET", "POST", "HTTP/1.1"]);
    let mut elements: Vec<Element> =
        b"Content-Disposition:".iter().map(|&it| Element::Byte(Values::one(it))).collect();
    elements.extend([Element::Byte(Values::ALL); 14]);
    elements.push(Element::Byte(Values::one(b'\n')));
    let twice = elements.repeat(2);
    let cost = |elements: Vec<Element>, public: &Public| {
        let source =
            DrawnSource { length: Length::Known(elements.len()), elements, fill: Class::Any };
        let drawn = Drawn { sources: vec![source] };
        describe(&drawn, public).unwrap().cost.bits()
    };
    let (one, two) = (cost(elements.clone(), &public), cost(twice, &public));
    let plain = cost(elements, &Public::default());
    assert!(one < 45.0, "{one}");
    assert!(two < one + 22.0, "{two}");
    assert!(plain > one + 50.0, "{plain}");
}

#[test]
fn a_known_double_costs_its_number() {
    let double = vec![b"anything at all".to_vec()];
    let public = Public { doubles: vec![double.clone(); 2], ..Public::default() };
    let described = describe(&Drawn::only(&double), &public).unwrap();
    assert_eq!(described.cost, Cost::whole(5));
    assert_eq!(decode(&described.advice, &Drawn::default(), &public).unwrap().set.sources.len(), 1);
}

#[test]
fn people_read_it() {
    let public = words(&["Content-Disposition", "filename"]);
    let text =
        |text: &str| text.bytes().map(|it| Element::Byte(Values::one(it))).collect::<Vec<_>>();
    let elements =
        [text("Content-Disposition:"), vec![Element::Byte(Values::ALL); 14], text("\n")].concat();
    let source = DrawnSource { length: Length::Known(35), elements, fill: Class::Any };
    let described = describe(&Drawn { sources: vec![source] }, &public).unwrap();
    let said: Vec<String> = dictate(&described, &public).into_iter().map(|it| it.words).collect();
    let expected =
        ["the word `Content-Disposition` of the program", "`:`", "14 free bytes", "a line end"];
    assert_eq!(said[2..], expected);
}

#[test]
fn nothing_to_be_drawn_has_no_description() {
    let source = DrawnSource {
        length: Length::Known(1),
        elements: vec![Element::Byte(Values::NONE)],
        fill: Class::Any,
    };
    assert!(describe(&Drawn { sources: vec![source] }, &Public::default()).is_none());
}
