//! Documents: parts of containers go, and each leaf is reduced where it stands.
//!
//! A spreadsheet is XML in deflate in ZIP: flat bytes of it are all needed, while hardly a cell is. So the tree is
//! edited, and what the format computes follows. At last the document is written with its streams stored, if it
//! still fails: what is stored can be looked at byte by byte by whatever comes next.
//!
//! What always holds: the oracle sees rendered bytes, and only what still fails is kept.

use std::collections::BTreeSet;
use std::ops::Range;

use stunt_document::{Content, Document, Limits, Path, Style};

use crate::driver::{Budget, Reduction};
use crate::oracle::{AT_ONCE, Broken, Oracle};
use crate::pass::Pass;
use crate::passes::PlainWords;
use crate::passes::elements::{
    free_texts_not_plain, has_texts, made_plain, numbers_not_plain, words_not_plain,
};

/// What a source is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    /// Bytes, of which nothing more is known.
    Flat,
    /// Text, parts of which are encoded.
    Encoded,
    /// A file that a program opens only as a whole: after the tree, no byte of it is cut, or it would be none.
    File,
}

impl Reduction<'_> {
    /// Reduces the source as a document, if it is more than one leaf. What it is.
    pub(crate) fn as_document(&mut self) -> Result<Text, Broken> {
        if self.is_left_out("documents") {
            return Ok(Text::Flat);
        }
        let mut document = Document::parse(self.bytes().to_vec(), &Limits::default());
        if document.is_flat() {
            return Ok(Text::Flat);
        }
        let at_first = self.bytes().len();
        // What can go in few runs goes first, everywhere: there may be time for few.
        let all: usize = document.leaves().map(|(_, content)| content.len()).sum();
        // Of more than that, parts have to go first: every try would look at all of it.
        if all <= MOST_AT_ONCE && !self.is_left_out(PlainWords(1).family()) {
            self.leaves_plainly(&mut document)?;
            if self.budget.few {
                self.words_everywhere(&mut document)?;
            }
        }
        // Where elements are known by their numbers, only the last can go; but all others may become plain.
        self.within_leaves(&mut document, all / DOMINANT, How::Hastily)?;
        self.within_leaves(&mut document, all / DOMINANT, How::Plainly)?;
        self.without_parts(&mut document)?;
        let before = document.nodes().count();
        self.within_leaves(&mut document, 0, How::Hastily)?;
        self.within_leaves(&mut document, 0, How::Plainly)?;
        self.without_parts(&mut document)?;
        self.within_leaves(&mut document, 0, How::WordsPlainly)?;
        self.within_leaves(&mut document, 0, How::ByElements)?;
        self.within_leaves(&mut document, 0, How::Coarsely)?;
        self.within_leaves(&mut document, 0, How::Finely)?;
        if document.nodes().count() < before {
            self.without_parts(&mut document)?;
        }
        // As it was written until now, it is in hand already.
        for style in [Style::Stored, Style::Blocks] {
            let rendered = document.render_as(style);
            let copied: usize = rendered.spans.iter().map(|span| span.at.len()).sum();
            // What is around the leaves cannot be another one, so a compressed file may be better: in it, rows of
            // zeros are short.
            let longer = rendered.bytes.len() > at_first.max(self.bytes().len());
            if longer || rendered.bytes.len() - copied > self.bytes().len() {
                continue;
            }
            if self.try_sources(vec![rendered.bytes.to_vec()])?.is_some() {
                break;
            }
        }
        Ok(if document.root().kind().is_file() { Text::File } else { Text::Encoded })
    }

    /// Parts go, level by level, in groups, large ones first; then leaves are emptied in the same way.
    fn without_parts(&mut self, document: &mut Document) -> Result<(), Broken> {
        let mut depth = 1;
        loop {
            let deepest = document.nodes().map(|(path, _)| path.depth()).max().unwrap_or(0);
            if depth > deepest || self.is_over() {
                break;
            }
            self.groups(
                document,
                u64::MAX,
                |document| paths(document, |path, _| path.depth() == depth),
                |document, paths| document.without(paths),
            )?;
            depth += 1;
        }
        self.groups(
            document,
            u64::MAX,
            |document| paths(document, |_, content| content.is_some_and(|it| !it.is_empty())),
            |document, paths| {
                let empty = |path: &Path| (path.clone(), Content::from(Vec::new()));
                document.with_leaves(paths.iter().map(empty))
            },
        )
    }

    /// All texts of whole leaves become plain, of all leaves first, then all numbers: of many slides or sheets, few
    /// matter.
    fn leaves_plainly(&mut self, document: &mut Document) -> Result<(), Broken> {
        for texts in [free_texts_not_plain, numbers_not_plain] {
            self.groups(
                document,
                HASTE,
                // Names and times are leaves as well; they have one element, and mostly are needed.
                |document| paths(document, |_, it| it.is_some_and(|it| texts(it).len() > 1)),
                |document, paths| {
                    let edited = |path: &Path| {
                        let content = document.node(path)?.content()?;
                        Some((path.clone(), made_plain(content, texts(content))?.into()))
                    };
                    document.with_leaves(paths.iter().filter_map(edited))
                },
            )?;
        }
        Ok(())
    }

    /// Words and numbers become plain wherever they stand, in all leaves, many of them first: however many slides
    /// there are, they have few words that matter.
    fn words_everywhere(&mut self, document: &mut Document) -> Result<(), Broken> {
        // No names: a name has one element.
        let is_page = |(_, content): &(Path, &Content)| has_texts(content);
        self.groups(
            document,
            HASTE,
            |document| {
                let words = document.leaves().filter(is_page).flat_map(|(_, content)| {
                    let words = words_not_plain(content).into_iter();
                    words.map(|it| content[it].to_vec()).collect::<Vec<_>>()
                });
                Vec::from_iter(words.collect::<BTreeSet<Vec<u8>>>())
            },
            |document, words| {
                let edited = |(path, content): (Path, &Content)| {
                    let mut some = words_not_plain(content);
                    let word = |at: &Range<usize>| &content[at.clone()];
                    some.retain(|at| words.binary_search_by(|it| it[..].cmp(word(at))).is_ok());
                    Some((path, made_plain(content, some)?.into()))
                };
                document.with_leaves(document.leaves().filter(is_page).filter_map(edited))
            },
        )
    }

    /// Tries an edit on groups of nodes, all of them first, then halves, and so on. After an edit that is kept the
    /// nodes are looked for anew. After so many runs in vain in a row, it is given up.
    fn groups<N>(
        &mut self,
        document: &mut Document,
        haste: u64,
        nodes: impl Fn(&Document) -> Vec<N>,
        edit: impl Fn(&Document, &[N]) -> Document,
    ) -> Result<(), Broken> {
        let mut all = nodes(document);
        let (mut size, mut in_vain) = (all.len(), 0);
        while size > 0 && in_vain < haste {
            let (mut at, mut at_once) = (0, AT_FIRST);
            while at < all.len() && in_vain < haste && !self.is_over() {
                let groups = all[at..].chunks(size).take(at_once);
                let mut edited: Vec<Document> = groups.map(|group| edit(document, group)).collect();
                let rendered = edited.iter().map(Document::render).collect();
                let Some(first) = self.try_sources(rendered)? else {
                    at += size * edited.len();
                    in_vain += edited.len() as u64;
                    at_once = (at_once * 2).min(AT_ONCE);
                    continue;
                };
                let before = all.len();
                *document = edited.swap_remove(first);
                all = nodes(document);
                (at_once, in_vain) = (AT_FIRST, 0);
                // An edit after which as many are left has to go on, or it would be tried for ever.
                at += size * (first + usize::from(all.len() >= before));
            }
            size = if size > all.len() { all.len() } else { size / 2 };
        }
        Ok(())
    }

    /// Reduces each leaf of some length in some way, the longest first.
    fn within_leaves(
        &mut self,
        document: &mut Document,
        least: usize,
        how: How,
    ) -> Result<(), Broken> {
        let mut leaves: Vec<(usize, Path)> =
            document.leaves().map(|(path, content)| (content.len(), path)).collect();
        leaves.retain(|(length, _)| *length >= least);
        leaves.sort_by_key(|(length, _)| usize::MAX - length);
        for (_, path) in leaves {
            if self.is_over() {
                break;
            }
            let Some(content) = document.node(&path).and_then(|node| node.content()) else {
                continue;
            };
            let content = content.to_vec();
            let mut within = Within {
                document,
                path: &path,
                input: &self.best,
                source: self.source,
                oracle: &mut *self.oracle,
            };
            let budget = Budget { runs: self.left, ..self.budget };
            let mut leaf = Reduction::new(vec![content.clone()], &mut within, budget);
            match how {
                How::Hastily => {
                    leaf.haste = HASTE;
                    leaf.by_elements()?;
                }
                How::ByElements => leaf.by_elements()?,
                How::Plainly => leaf.coarsely_plainly()?,
                How::WordsPlainly => leaf.words_plainly()?,
                How::Coarsely => leaf.coarsely()?,
                How::Finely => {
                    leaf.finely()?;
                    leaf.plainly()?;
                }
            }
            self.left = leaf.left;
            let reduced = leaf.best.swap_remove(0);
            if reduced != content {
                *document = document.with_leaf(&path, reduced);
                self.best[self.source] = document.render();
            }
        }
        Ok(())
    }

    /// Goes over to the first of these bytes of the source that fail, if any do; which one.
    fn try_sources(&mut self, all: Vec<Vec<u8>>) -> Result<Option<usize>, Broken> {
        let (mut candidates, mut from) = (Vec::new(), Vec::new());
        for (number, bytes) in all.into_iter().enumerate() {
            let mut candidate = self.best.clone();
            candidate[self.source] = bytes;
            if (candidates.len() as u64) < self.left && self.is_new(&candidate) {
                candidates.push(candidate);
                from.push(number);
            }
        }
        self.left -= candidates.len() as u64;
        let results = self.oracle.fails(&candidates)?;
        let Some(first) = results.iter().position(|&fails| fails) else { return Ok(None) };
        for (later, fails) in candidates.iter().zip(&results).skip(first + 1) {
            if *fails {
                self.forget(later);
            }
        }
        self.best = candidates.swap_remove(first);
        Ok(Some(from[first]))
    }
}

/// A leaf with such a part of all content is looked into before anything else.
const DOMINANT: usize = 4;

/// All leaves together are looked at if they have no more bytes than this.
const MOST_AT_ONCE: usize = 1 << 20;

/// Every processor has something to do: a candidate more costs no time, and some programs are slow.
const AT_FIRST: usize = 2;

/// After so many runs in vain there may be something that helps more than smaller groups of elements.
const HASTE: u64 = 48;

/// How a leaf is reduced, from what takes few runs to what takes many.
#[derive(Clone, Copy)]
enum How {
    /// By elements, as long as that helps.
    Hastily,
    ByElements,
    Plainly,
    WordsPlainly,
    Coarsely,
    Finely,
}

/// The nodes of a document for which something holds.
fn paths(document: &Document, wanted: impl Fn(&Path, Option<&Content>) -> bool) -> Vec<Path> {
    let nodes = document.nodes().filter(|(path, node)| wanted(path, node.content()));
    nodes.map(|(path, _)| path).collect()
}

/// The content of a leaf, tried within its document.
struct Within<'a> {
    document: &'a Document,
    path: &'a Path,
    input: &'a [Vec<u8>],
    source: usize,
    oracle: &'a mut dyn Oracle,
}

impl Oracle for Within<'_> {
    fn fails(&mut self, contents: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        let rendered = |content: &Vec<Vec<u8>>| {
            let mut input = self.input.to_vec();
            input[self.source] = self.document.with_leaf(self.path, content[0].clone()).render();
            input
        };
        let inputs: Vec<Vec<Vec<u8>>> = contents.iter().map(rendered).collect();
        self.oracle.fails(&inputs)
    }

    fn width(&self) -> usize {
        self.oracle.width()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use flate2::Compression;
    use flate2::read::GzDecoder;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::driver::reduce;

    #[test]
    fn elements_that_others_count_become_plain_in_few_runs() {
        // A list of texts, of which a program wants the 301st, and as many as there were.
        let list: String = (0..600).map(|n| format!("<t>Anna Qvistgaard {n}</t>")).collect();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(format!("<l>{list}</l>").as_bytes()).expect("it is in memory");
        let input = encoder.finish().expect("it is in memory");
        let unpacked = |input: &[u8]| {
            let mut text = String::new();
            GzDecoder::new(input).read_to_string(&mut text).is_ok().then_some(text)
        };
        let mut oracle = |input: &[Vec<u8>]| {
            let Some(text) = unpacked(&input[0]) else { return false };
            let all: Vec<&str> = text.split("<t>").skip(1).collect();
            all.len() == 600 && all[300].contains("300")
        };
        let budget = Budget { runs: 200, over: &|| false, without: &[], few: true };
        let reduced = reduce(&[input], &[true], &mut oracle, budget).expect("it cannot break");
        let text = unpacked(&reduced.input[0]).expect("it fails");
        assert_eq!(text.matches("Anna").count(), 0);
    }

    /// Pages in an archive, and what they are in one that can be read.
    fn pages(text: impl Fn(usize) -> String) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for page in 0..60 {
            let options = zip::write::SimpleFileOptions::default();
            archive.start_file(format!("page{page}.xml"), options).expect("it is in memory");
            archive.write_all(text(page).as_bytes()).expect("it is in memory");
        }
        archive.finish().expect("it is in memory").into_inner()
    }

    fn read(input: &[u8]) -> Option<Vec<String>> {
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(input)).ok()?;
        let page = |at: usize| {
            let mut text = String::new();
            let page = archive.by_index(at).ok()?.read_to_string(&mut text);
            page.is_ok_and(|_| text.ends_with("</page>")).then_some(text)
        };
        (0..60).map(page).collect()
    }

    #[test]
    fn leaves_that_are_needed_become_plain_together() {
        // Sixty pages, all of which a program wants; of one it wants a number.
        let input = pages(|page| {
            format!("<page><name>Anna Qvistgaard</name><n>{}</n></page>", 7000 + page)
        });
        let mut oracle =
            |input: &[Vec<u8>]| read(&input[0]).is_some_and(|pages| pages[41].contains("<n>7041"));
        let budget = Budget { runs: 60, over: &|| false, without: &[], few: false };
        let reduced = reduce(&[input], &[true], &mut oracle, budget).expect("it cannot break");
        let pages = read(&reduced.input[0]).expect("it fails").concat();
        assert!(pages.matches("Anna").count() <= 1, "{pages}");
    }

    #[test]
    fn words_become_plain_wherever_they_stand() {
        // Of each page, a program wants one word.
        let input = pages(|page| {
            format!(
                "<page kind=\"invoice\"><t>Invoice {page}</t><name>Anna Xhosa {page}</name></page>"
            )
        });
        let mut oracle = |input: &[Vec<u8>]| {
            let wanted = |it: &String| it.contains("\"invoice") && it.contains(">Invoice");
            read(&input[0]).is_some_and(|pages| pages.iter().all(wanted))
        };
        let budget = Budget { runs: 80, over: &|| false, without: &[], few: true };
        let reduced = reduce(&[input], &[true], &mut oracle, budget).expect("it cannot break");
        let pages = read(&reduced.input[0]).expect("it fails").concat();
        assert_eq!((pages.matches("Anna").count(), pages.matches("Xhosa").count()), (0, 0));
    }

    #[test]
    fn what_is_compressed_is_reduced_within_and_stored() {
        let text =
            b"line of a log\nline of a log with a bug in it\nlast line of a log\n".repeat(50);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&text).expect("it is in memory");
        let input = encoder.finish().expect("it is in memory");
        let unpacked = |input: &[u8]| {
            let mut text = Vec::new();
            GzDecoder::new(input).read_to_end(&mut text).is_ok().then_some(text)
        };
        let mut oracle = |input: &[Vec<u8>]| {
            unpacked(&input[0]).is_some_and(|text| text.windows(3).any(|it| it == b"bug"))
        };
        let budget = Budget { runs: 10_000, over: &|| false, without: &[], few: false };
        let reduced = reduce(&[input], &[true], &mut oracle, budget).expect("it cannot break");
        assert_eq!(unpacked(&reduced.input[0]).as_deref(), Some(&b"bug"[..]));
        assert!(reduced.input[0].windows(3).any(|it| it == b"bug"), "it is not stored");
        assert!(reduced.runs < 1000, "{} runs", reduced.runs);
    }
}
