//! Documents as their leaves: what a search may change is inside, and the bytes around it follow.
//!
//! Of a spreadsheet a program sees a ZIP, in which a byte of a cell cannot change alone: a checksum, sizes and
//! offsets change with it. So whoever looks for other inputs is given the leaves, one source for each, and an oracle
//! that renders them. An input that is no document is a leaf by itself.
//!
//! What always holds: the leaves that an input was taken apart into give its bytes back; and other leaves of the same
//! lengths that count as failing give other bytes, and as many of them. Where all of a leaf stands in the document as it is, that is clear;
//! where not (in base64, say), documents count only if the same leaves are read from them again.

use std::ops::Range;

use stunt_document::{Content, Document, Kind, Limits, Path, Style};

use crate::oracle::{Broken, Oracle};

/// More leaves than this are not told apart: such a document is changed as it is.
const MOST: usize = 4096;

/// By what every byte of all leaves is changed, to see what follows from them: one that stays the same by chance does
/// not do so three times.
const OTHERWISE: [u8; 3] = [0x01, 0x02, 0x5a];

/// An input that was taken apart.
pub struct Rendering {
    sources: Vec<Source>,
    /// All leaves, source by source, from the front.
    leaves: Vec<Leaf>,
    /// How long the sources are.
    lengths: Vec<usize>,
}

/// A source of the input.
struct Source {
    document: Option<Tree>,
    /// Its leaves.
    leaves: Range<usize>,
}

/// A source that is a document.
struct Tree {
    document: Document,
    style: Style,
    /// Where its leaves are.
    paths: Vec<Path>,
    /// Where bytes of it are copies of a leaf, in order; which leaf, and from where in it.
    copies: Vec<(Range<usize>, usize, usize)>,
    /// Every byte of every leaf is among them.
    is_plain: bool,
}

/// A leaf of an input.
#[derive(Clone)]
pub struct Leaf {
    /// The source that it belongs to.
    pub source: usize,
    /// It is all of the source, which is no document.
    pub is_whole: bool,
    /// What it is in the input at hand; private.
    pub bytes: Content,
}

/// What a byte of an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A copy of a byte of a leaf.
    Leaf {
        /// Its number.
        leaf: usize,
        /// Where in it.
        at: usize,
    },
    /// Fixed by the format, or computed when the document is written.
    Around,
}

/// What stands at some place of an input that is written without compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A whole leaf, by its number.
    Leaf(usize),
    /// A byte that is the same whatever the leaves are.
    Fixed(u8),
    /// A byte that follows from the leaves: a checksum, a leaf that stands here once more or in another form.
    Computed(u8),
}

impl Rendering {
    /// An input taken apart, where its sources may change and are documents. `None` if none is.
    #[must_use]
    pub fn of(input: &[Vec<u8>], may_change: &[bool]) -> Option<Self> {
        let (mut sources, mut leaves) = (Vec::new(), Vec::new());
        for (number, bytes) in input.iter().enumerate() {
            let first = leaves.len();
            let tree = may_change[number].then(|| Tree::of(bytes, first)).flatten();
            match &tree {
                Some(tree) => leaves.extend(tree.contents().map(|bytes| Leaf {
                    source: number,
                    is_whole: false,
                    bytes,
                })),
                None => leaves.push(Leaf {
                    source: number,
                    is_whole: true,
                    bytes: bytes.clone().into(),
                }),
            }
            sources.push(Source { document: tree, leaves: first..leaves.len() });
        }
        sources.iter().any(|source| source.document.is_some()).then(|| {
            let lengths = input.iter().map(Vec::len).collect();
            Self { sources, leaves, lengths }
        })
    }

    /// The leaves.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// The input that has these leaves.
    #[must_use]
    pub fn render(&self, leaves: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let rendered = |source: &Source| {
            let own = &leaves[source.leaves.clone()];
            match &source.document {
                Some(tree) => tree.with(own).render_as(tree.style).bytes.to_vec(),
                None => own[0].clone(),
            }
        };
        self.sources.iter().map(rendered).collect()
    }

    /// The input that has these leaves, written without compression, source by source; at last the leaves that
    /// stand nowhere as they are, or are wanted apart. Whoever has this has the input: formats' writers compute all
    /// else.
    #[must_use]
    pub fn unpacked(&self, leaves: &[Vec<u8>], apart: &[usize]) -> Vec<Vec<Written>> {
        let mut stands = vec![false; leaves.len()];
        let mut all = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            let own = source.leaves.clone();
            match &source.document {
                Some(tree) => all.push(tree.unpacked(leaves, own, apart, &mut stands)),
                None => {
                    stands[own.start] = true;
                    all.push(vec![Written::Leaf(own.start)]);
                }
            }
        }
        let nowhere = (0..leaves.len()).filter(|&leaf| !stands[leaf] && !leaves[leaf].is_empty());
        all.extend(nowhere.map(|leaf| vec![Written::Leaf(leaf)]));
        all
    }

    /// What a byte of the input is.
    #[must_use]
    pub fn place(&self, source: usize, offset: usize) -> Place {
        let Some(Source { document, leaves }) = self.sources.get(source) else {
            return Place::Around;
        };
        let Some(tree) = document else { return Place::Leaf { leaf: leaves.start, at: offset } };
        let behind = tree.copies.partition_point(|(at, ..)| at.end <= offset);
        match tree.copies.get(behind) {
            Some((at, leaf, from)) if at.contains(&offset) => {
                Place::Leaf { leaf: *leaf, at: from + (offset - at.start) }
            }
            _ => Place::Around,
        }
    }

    /// Whether an input has these leaves and no others, as far as that is not clear from how it is written.
    #[must_use]
    pub fn gives_back(&self, leaves: &[Vec<u8>], input: &[Vec<u8>]) -> bool {
        self.sources.iter().zip(input).all(|(source, bytes)| {
            let Some(tree) = source.document.as_ref().filter(|tree| !tree.is_plain) else {
                return true;
            };
            let own = &leaves[source.leaves.clone()];
            Document::parse(bytes.clone(), &Limits::default()).same_tree(&tree.with(own))
        })
    }

    /// An oracle of the leaves.
    pub fn over<'a>(&'a self, oracle: &'a mut dyn Oracle) -> OverLeaves<'a> {
        OverLeaves { rendering: self, oracle }
    }
}

impl Tree {
    /// The document that these bytes are, if there is more to it than one leaf. `first` is the number of its first
    /// leaf.
    fn of(bytes: &[u8], first: usize) -> Option<Self> {
        let document = Document::parse(bytes.to_vec(), &Limits::default());
        let filled = document.leaves().filter(|(_, content)| !content.is_empty());
        let paths: Vec<Path> = filled.map(|(path, _)| path).take(MOST + 1).collect();
        if !needs_rendering(&document) || paths.is_empty() || paths.len() > MOST {
            return None;
        }
        // Stored, if it is written so already: there a byte of a leaf is a byte of the document.
        for style in [Style::Stored, Style::Blocks, Style::Packed] {
            let rendered = document.render_as(style);
            if rendered.bytes[..] != *bytes {
                continue;
            }
            let mut copies = Vec::with_capacity(rendered.spans.len());
            let mut copied: Vec<Vec<Range<usize>>> = vec![Vec::new(); paths.len()];
            for span in rendered.spans {
                let Ok(leaf) = paths.binary_search(&span.leaf) else { continue };
                copied[leaf].push(span.from..span.from + span.at.len());
                copies.push((span.at, first + leaf, span.from));
            }
            let mut tree = Self { document, style, paths, copies, is_plain: false };
            let lengths: Vec<usize> = tree.contents().map(|content| content.len()).collect();
            tree.is_plain = copied.into_iter().zip(lengths).all(|(it, length)| covers(it, length));
            return Some(tree);
        }
        None
    }

    fn contents(&self) -> impl Iterator<Item = Content> + '_ {
        let node = |path| self.document.node(path).and_then(|node| node.content());
        self.paths.iter().filter_map(move |path| node(path).cloned())
    }

    /// The document with some of all leaves, without compression. Leaves that stand in it as they are get marked.
    fn unpacked(
        &self,
        leaves: &[Vec<u8>],
        own: Range<usize>,
        apart: &[usize],
        stands: &mut [bool],
    ) -> Vec<Written> {
        let style = if self.style == Style::Packed { Style::Stored } else { self.style };
        let rendered = self.with(&leaves[own.clone()]).render_as(style);
        let bytes = &rendered.bytes;
        // Of each byte, whether it is another one with other leaves.
        let mut follows = vec![false; bytes.len()];
        for flipped in OTHERWISE {
            let other = |leaf: &Vec<u8>| leaf.iter().map(|byte| byte ^ flipped).collect();
            let others: Vec<Vec<u8>> = leaves[own.clone()].iter().map(other).collect();
            let other = self.with(&others).render_as(style).bytes;
            // Leaves that no writer would write so tell nothing; what is not seen to follow is said as it is.
            if other.len() != bytes.len() {
                continue;
            }
            let differs = bytes.iter().zip(other.iter()).map(|(one, two)| one != two);
            follows.iter_mut().zip(differs).for_each(|(follows, differs)| *follows |= differs);
        }
        let mut written = Vec::with_capacity(bytes.len());
        let (mut spans, mut at) = (rendered.spans.iter().peekable(), 0);
        while at < bytes.len() {
            while spans.next_if(|span| span.at.start < at).is_some() {}
            let here = spans.peek().filter(|span| span.at.start == at);
            let leaf = here.and_then(|span| {
                let leaf = own.start + self.paths.binary_search(&span.leaf).ok()?;
                let whole = span.from == 0 && span.at.len() == leaves[leaf].len();
                (whole && !stands[leaf] && !apart.contains(&leaf)).then_some(leaf)
            });
            if let Some(leaf) = leaf {
                stands[leaf] = true;
                written.push(Written::Leaf(leaf));
                at += leaves[leaf].len();
                continue;
            }
            written.push(match follows[at] {
                true => Written::Computed(bytes[at]),
                false => Written::Fixed(bytes[at]),
            });
            at += 1;
        }
        written
    }

    fn with(&self, leaves: &[Vec<u8>]) -> Document {
        let leaves = leaves.iter().map(|bytes| Content::from(&bytes[..]));
        self.document.with_leaves(self.paths.iter().cloned().zip(leaves))
    }
}

/// Whether a byte of the document can hardly change alone: it is a file with fields that are computed, or a mail with
/// encoded parts. Text with something encoded in it is better looked at as it is, where pieces may also move.
fn needs_rendering(document: &Document) -> bool {
    match document.root().kind() {
        Kind::Mail | Kind::Multipart | Kind::Mailbox => {
            document.nodes().any(|(_, node)| node.kind() == Kind::Base64)
        }
        Kind::Zlib | Kind::Deflate => true,
        kind => kind.is_file(),
    }
}

/// Whether ranges together are all of a length.
fn covers(mut ranges: Vec<Range<usize>>, length: usize) -> bool {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut end = 0;
    for range in ranges {
        if range.start > end {
            return false;
        }
        end = end.max(range.end);
    }
    end >= length
}

/// Asks another oracle about the inputs that leaves give.
pub struct OverLeaves<'a> {
    rendering: &'a Rendering,
    oracle: &'a mut dyn Oracle,
}

impl Oracle for OverLeaves<'_> {
    fn fails(&mut self, candidates: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        let mut inputs = Vec::with_capacity(candidates.len());
        let mut counts = Vec::with_capacity(candidates.len());
        for leaves in candidates {
            let input = self.rendering.render(leaves);
            let lengths = input.iter().map(Vec::len);
            let same = lengths.eq(self.rendering.lengths.iter().copied())
                && self.rendering.gives_back(leaves, &input);
            counts.push(same);
            inputs.extend(same.then_some(input));
        }
        let mut results = self.oracle.fails(&inputs)?.into_iter();
        Ok(counts.into_iter().map(|counts| counts && results.next() == Some(true)).collect())
    }

    fn width(&self) -> usize {
        self.oracle.width()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8], level: Compression) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), level);
        encoder.write_all(text).expect("it is in memory");
        encoder.finish().expect("it is in memory")
    }

    #[test]
    fn bytes_of_leaves_are_found_where_they_stand() {
        let input = [gzip(b"a secret text", Compression::none()), b"plain".to_vec()];
        let rendering = Rendering::of(&input, &[true, true]).expect("one is a document");
        // The time in the header is one, too.
        let [time, text, plain] = rendering.leaves() else { panic!("three leaves") };
        assert_eq!((&text.bytes[..], text.is_whole), (&b"a secret text"[..], false));
        assert!(plain.is_whole);
        let time = time.bytes.to_vec();
        let start = input[0].windows(6).position(|it| it == b"secret").expect("it is stored");
        assert_eq!(rendering.place(0, start), Place::Leaf { leaf: 1, at: 2 });
        assert_eq!(rendering.place(0, 0), Place::Around);
        assert_eq!(rendering.place(1, 3), Place::Leaf { leaf: 2, at: 3 });
        let other = rendering.render(&[time, b"another thing".to_vec(), b"x".to_vec()]);
        assert_eq!(
            (&other[0], &other[1][..]),
            (&gzip(b"another thing", Compression::none()), &b"x"[..])
        );
        // What may not change, and what is no document, is not taken apart.
        assert!(Rendering::of(&input, &[false, true]).is_none());
    }

    #[test]
    fn unpacked_documents_have_their_leaves_once() {
        let text = b"a secret text, a secret text, a secret text";
        let input = [gzip(text, Compression::best()), b"plain".to_vec()];
        let rendering = Rendering::of(&input, &[true, true]).expect("one is a document");
        let own: Vec<Vec<u8>> = rendering.leaves().iter().map(|it| it.bytes.to_vec()).collect();
        let [zipped, plain] = &rendering.unpacked(&own, &[])[..] else { panic!("two sources") };
        assert_eq!(plain, &[Written::Leaf(2)]);
        let secret = zipped.iter().position(|it| *it == Written::Leaf(1)).expect("it is stored");
        assert_eq!(zipped[0], Written::Fixed(0x1f));
        // What is behind it is its checksum, and its length, which stays.
        let [.., c0, c1, c2, c3, length, _, _, _] = zipped[secret..] else { panic!("a trailer") };
        assert!([c0, c1, c2, c3].iter().all(|it| matches!(it, Written::Computed(_))));
        assert_eq!(length, Written::Fixed(text.len() as u8));
        // A leaf that is wanted apart stands at the end.
        let apart = rendering.unpacked(&own, &[1]);
        assert!(!apart[0].contains(&Written::Leaf(1)) && apart[2] == [Written::Leaf(1)]);
    }

    #[test]
    fn leaves_that_cannot_be_read_from_the_document_again_do_not_count() {
        let mail = b"Subject: x\nContent-Transfer-Encoding: base64\n\nYSBzZWNyZXQgdGV4dA==\n";
        let input = [mail.to_vec()];
        let rendering = Rendering::of(&input, &[true]).expect("it is a mail");
        let own: Vec<Vec<u8>> = rendering.leaves().iter().map(|leaf| leaf.bytes.to_vec()).collect();
        let text = own.iter().position(|leaf| leaf == b"a secret text").expect("it is decoded");
        let mut seen = Vec::new();
        let mut all_fail = |input: &[Vec<u8>]| {
            seen.push(input[0].clone());
            true
        };
        let (mut good, mut bad) = (own.clone(), own.clone());
        good[text] = b"a public text".to_vec();
        // A header that says something else, so that what is behind it is no base64.
        let header = own.iter().position(|leaf| leaf.windows(6).any(|it| it == b"base64"));
        let header = header.expect("it is a leaf");
        bad[header] = bad[header].iter().map(|_| b'a').collect();
        let results = rendering.over(&mut all_fail).fails(&[good, bad]).expect("it cannot break");
        assert_eq!(results, [true, false]);
        assert_eq!(seen.len(), 1);
    }
}
