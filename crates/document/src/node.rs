//! A node of a document: a leaf, an encoding around one node, or a container of parts.
//!
//! Nodes are shared: a clone costs a counter. A node never changes; what a writer computes once for it
//! (its compressed bytes, its checksum) is kept with it, so an edit elsewhere does not pay for it again.
//! How deep trees are is bounded by the limits of the parse, so walks over them may use the call stack.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::content::Content;
use crate::out::{Out, Style};
use crate::path::Path;

/// What a node is, in the words of formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // The names are those of the formats.
pub enum Kind {
    Leaf,
    /// Parts one after the other, with nothing computed.
    Sequence,
    Zip,
    ZipMember,
    Deflate,
    Zlib,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Tar,
    TarMember,
    Mail,
    Multipart,
    Mailbox,
    Base64,
    QuotedPrintable,
    Hex,
    Percent,
    Ascii85,
    AsciiHex,
    Lzw,
    /// The PNG or TIFF predictor of a PDF stream.
    Predictor,
    Utf16,
    Pdf,
    PdfObject,
    PdfObjectStream,
    Png,
    PngChunk,
    Der,
    DerElement,
    Pem,
    Riff,
    RiffChunk,
    IsoBoxes,
    IsoBox,
    Jpeg,
    JpegSegment,
    Tiff,
    Gif,
    Ogg,
    OggPage,
    Ebml,
    EbmlElement,
    CompoundFile,
    Sqlite,
    SqlitePage,
    SqliteCell,
    SqliteRecord,
}

impl Kind {
    /// Whether it is what files are, with a signature and a structure without which no program opens them; not an
    /// encoding of text, nor text with something encoded in it.
    pub fn is_file(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Zip | Gzip
                | Bzip2
                | Xz
                | Zstd
                | Tar
                | Pdf
                | Png
                | Riff
                | IsoBoxes
                | Jpeg
                | Tiff
                | Gif
                | Ogg
                | Ebml
                | CompoundFile
                | Sqlite
        )
    }
}

/// The three sorts of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Bytes that can be edited.
    Leaf,
    /// One node, written in another way.
    Encoding,
    /// Parts that can be removed.
    Container,
}

/// A node, with all that is inside it.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

struct Inner {
    name: Arc<str>,
    body: Body,
    /// The checksum and the length of what the node renders to, packed.
    sum: OnceLock<Sum>,
}

enum Body {
    Leaf(Content),
    Encoding { codec: Arc<dyn Codec>, inner: Node, encoded: OnceLock<Content> },
    Container { form: Arc<dyn Form>, parts: Vec<Node> },
}

/// What many formats say about some content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    pub crc: u32,
    pub length: u64,
}

impl Sum {
    pub fn of(bytes: &[u8]) -> Sum {
        Sum { crc: crc32fast::hash(bytes), length: bytes.len() as u64 }
    }
}

/// How content is written inside something: the writer of an encoding.
pub(crate) trait Codec: Send + Sync {
    fn kind(&self) -> Kind;
    /// Writes the content. In the styles without compression, stretches of it should stay verbatim.
    fn encode(&self, content: &Out, style: Style, out: &mut Out);
}

/// How parts are put together: the writer of a container.
pub(crate) trait Form: Send + Sync + Any {
    fn kind(&self) -> Kind;
    /// Writes the container. It must cope with any parts: edits can bring in nodes of other kinds.
    fn write(&self, parts: &Parts<'_>, out: &mut Out);
    /// The form when only these of its parts are left. The numbers ascend.
    fn keep(&self, kept: &[usize]) -> Arc<dyn Form>;
}

/// A field that a writer computes, and what the original said in its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// The original was right: what is computed is written.
    Right,
    /// The original said something else, and goes on saying it.
    Was(u64),
}

impl Field {
    pub fn of(stated: u64, right: u64) -> Field {
        if stated == right { Field::Right } else { Field::Was(stated) }
    }

    pub fn or(self, computed: u64) -> u64 {
        match self {
            Field::Right => computed,
            Field::Was(stated) => stated,
        }
    }
}

impl Node {
    fn new(name: &str, body: Body) -> Node {
        Node(Arc::new(Inner { name: name.into(), body, sum: OnceLock::new() }))
    }

    /// A leaf. The name is for people.
    pub fn leaf(name: &str, content: impl Into<Content>) -> Node {
        Node::new(name, Body::Leaf(content.into()))
    }

    pub(crate) fn encoding(
        name: &str,
        codec: Arc<dyn Codec>,
        inner: Node,
        encoded: Option<Content>,
    ) -> Node {
        let encoded = encoded.map(OnceLock::from).unwrap_or_default();
        Node::new(name, Body::Encoding { codec, inner, encoded })
    }

    pub(crate) fn container(name: &str, form: Arc<dyn Form>, parts: Vec<Node>) -> Node {
        Node::new(name, Body::Container { form, parts })
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match &self.0.body {
            Body::Leaf(_) => Kind::Leaf,
            Body::Encoding { codec, .. } => codec.kind(),
            Body::Container { form, .. } => form.kind(),
        }
    }

    /// Which of the three sorts it is.
    pub fn shape(&self) -> Shape {
        match &self.0.body {
            Body::Leaf(_) => Shape::Leaf,
            Body::Encoding { .. } => Shape::Encoding,
            Body::Container { .. } => Shape::Container,
        }
    }

    /// What people call it: the name of a file, the number of an object. It comes from the document, so it
    /// is as private as the content; after an edit it still says what was there.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The bytes of a leaf.
    pub fn content(&self) -> Option<&Content> {
        match &self.0.body {
            Body::Leaf(content) => Some(content),
            _ => None,
        }
    }

    /// What is directly inside.
    pub fn children(&self) -> &[Node] {
        match &self.0.body {
            Body::Leaf(_) => &[],
            Body::Encoding { inner, .. } => std::slice::from_ref(inner),
            Body::Container { parts, .. } => parts,
        }
    }

    /// Whether the two are one and the same node in memory: then so is all that is inside.
    pub fn is(&self, other: &Node) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The same node with other children.
    pub(crate) fn with_children(&self, children: Vec<Node>) -> Node {
        match &self.0.body {
            Body::Leaf(_) => self.clone(),
            Body::Encoding { codec, .. } => {
                let inner = children.into_iter().next();
                let inner = inner.unwrap_or_else(|| Node::leaf(self.name(), Content::default()));
                Node::encoding(self.name(), codec.clone(), inner, None)
            }
            Body::Container { form, .. } => Node::container(self.name(), form.clone(), children),
        }
    }

    /// The same node with only these of its children.
    pub(crate) fn keeping(&self, kept: &[usize]) -> Node {
        match &self.0.body {
            Body::Leaf(_) => self.clone(),
            Body::Encoding { .. } if kept.is_empty() => self.with_children(Vec::new()),
            Body::Encoding { .. } => self.clone(),
            Body::Container { form, parts } => {
                let left = kept.iter().map(|&at| parts[at].clone()).collect();
                Node::container(self.name(), form.keep(kept), left)
            }
        }
    }

    /// Its form and its parts, if it is a container of that form.
    pub(crate) fn parts_of<F: Form>(&self) -> Option<(&F, &[Node])> {
        let Body::Container { form, parts } = &self.0.body else { return None };
        let form: &dyn Any = form.as_ref();
        Some((form.downcast_ref()?, parts))
    }

    pub(crate) fn write(&self, style: Style, path: Option<&Path>, out: &mut Out) {
        match &self.0.body {
            Body::Leaf(content) => match path {
                Some(path) => out.leaf(content, path),
                None => out.push(content),
            },
            Body::Encoding { codec, inner, encoded } => {
                if style == Style::Packed {
                    if let Some(encoded) = encoded.get() {
                        return out.push(encoded);
                    }
                    let mut fresh = Out::new(false);
                    codec.encode(&self.inner_out(inner, style, path, out), style, &mut fresh);
                    out.push(encoded.get_or_init(|| fresh.into_bytes().into()));
                } else {
                    codec.encode(&self.inner_out(inner, style, path, out), style, out);
                }
            }
            Body::Container { form, parts } => {
                form.write(&Parts { nodes: parts, style, path: path.cloned() }, out);
            }
        }
    }

    fn inner_out(&self, inner: &Node, style: Style, path: Option<&Path>, out: &Out) -> Out {
        let mut content = out.fresh();
        inner.write(style, path.map(|path| path.child(0)).as_ref(), &mut content);
        content
    }

    /// Checksum and length of what it renders to.
    pub(crate) fn sum(&self, style: Style) -> Sum {
        let compute = || {
            if let Some(content) = self.content() {
                return Sum::of(content);
            }
            let mut out = Out::new(false);
            self.write(style, None, &mut out);
            Sum::of(out.bytes())
        };
        match style {
            Style::Packed => *self.0.sum.get_or_init(compute),
            _ => compute(),
        }
    }
}

/// The parts of a container while it is written.
pub(crate) struct Parts<'a> {
    nodes: &'a [Node],
    style: Style,
    path: Option<Path>,
}

impl<'a> Parts<'a> {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn style(&self) -> Style {
        self.style
    }

    pub fn node(&self, at: usize) -> &'a Node {
        &self.nodes[at]
    }

    pub fn write(&self, at: usize, out: &mut Out) {
        self.nodes[at].write(self.style, self.path_of(at).as_ref(), out);
    }

    fn path_of(&self, at: usize) -> Option<Path> {
        self.path.as_ref().map(|path| path.child(at))
    }

    /// The parts of one of the parts.
    pub fn inside(&self, at: usize) -> Parts<'a> {
        Parts { nodes: self.nodes[at].children(), style: self.style, path: self.path_of(at) }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.body {
            Body::Leaf(content) => write!(f, "Leaf({content:?})"),
            _ => {
                write!(f, "{:?}", self.kind())?;
                f.debug_list().entries(self.children()).finish()
            }
        }
    }
}
