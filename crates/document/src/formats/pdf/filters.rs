//! What a stream is packed with: the filters of its dictionary, one inside the other.

use super::lexer::{integer, list, value};
use super::object_stream;
use crate::content::Content;
use crate::formats::predictor::{self, Parameters};
use crate::formats::{ascii, lzw, zlib};
use crate::parse::{Budget, Found, Piece};

/// How many filters are undone.
const MOST: usize = 6;

/// A filter by its name, and the dictionary with its parameters.
struct Filter {
    name: Vec<u8>,
    parameters: Vec<u8>,
}

fn filters(dictionary: &[u8]) -> Vec<Filter> {
    let get = |key: &str| value(dictionary, key).map(|range| &dictionary[range]);
    let Some(names) = get("Filter") else { return Vec::new() };
    let parameters = get("DecodeParms").map(list).unwrap_or_default();
    list(names)
        .into_iter()
        .enumerate()
        .map(|(at, name)| Filter {
            name: name.strip_prefix(b"/").unwrap_or(name).to_vec(),
            parameters: parameters.get(at).map(|words| words.to_vec()).unwrap_or_default(),
        })
        .collect()
}

fn undo(filter: &Filter, data: &Content, budget: &mut Budget) -> Option<(Found, Content)> {
    let found = |codec: Found| {
        let Found::Encoding { inner, .. } = &codec else { return None };
        let content = inner.bytes().clone();
        Some((codec, content))
    };
    match &filter.name[..] {
        b"FlateDecode" | b"Fl" => {
            let (codec, content) = zlib::loose(data, budget)?;
            found(Found::encoding(codec, content))
        }
        b"LZWDecode" | b"LZW" => {
            let early = integer(&filter.parameters, "EarlyChange") != Some(0);
            let (codec, content) = lzw::unpack(data, early, budget)?;
            found(Found::encoding(codec, content))
        }
        b"ASCII85Decode" | b"A85" => {
            let (codec, content) = ascii::unpack85(data, budget)?;
            found(Found::encoding(codec, content))
        }
        b"ASCIIHexDecode" | b"AHx" => {
            let (codec, content) = ascii::unpack_hex(data, budget)?;
            found(Found::encoding(codec, content))
        }
        _ => None,
    }
}

fn unpredict(filter: &Filter, data: &Content, budget: &mut Budget) -> Option<(Found, Content)> {
    let get = |key, usual| integer(&filter.parameters, key).unwrap_or(usual);
    let parameters = Parameters {
        predictor: get("Predictor", 1),
        columns: get("Columns", 1),
        colors: get("Colors", 1),
        bits: get("BitsPerComponent", 8),
    };
    if parameters.predictor < 2 {
        return None;
    }
    let (codec, content) = predictor::unpack(data, &parameters, budget)?;
    Some((Found::encoding(codec, content.clone()), content))
}

/// A stream as far as its filters can be undone.
pub(super) struct Undone {
    /// What was undone, outermost first, each with the bytes that it was found in.
    pub layers: Vec<(Content, Found)>,
    /// What is left in the end.
    pub content: Content,
    /// Whether no filter is left.
    pub all: bool,
}

pub(super) fn undo_all(dictionary: &[u8], data: &Content, budget: &mut Budget) -> Undone {
    let mut layers = Vec::new();
    let mut data = data.clone();
    let filters = filters(dictionary);
    let mut undone = 0;
    for filter in filters.iter().take(MOST) {
        let Some((found, content)) = undo(filter, &data, budget) else { break };
        undone += 1;
        layers.push((std::mem::replace(&mut data, content), found));
        if let Some((found, content)) = unpredict(filter, &data, budget) {
            layers.push((std::mem::replace(&mut data, content), found));
        }
    }
    Undone { layers, content: data, all: undone == filters.len() }
}

/// The stream as a piece of its object, and in how many layers it lies if it needs none of them.
pub(super) fn stream(
    dictionary: &[u8],
    data: &Content,
    budget: &mut Budget,
) -> (Piece, Option<usize>) {
    let Undone { layers, content, all } = undo_all(dictionary, data, budget);
    let depth = Some(layers.len()).filter(|&depth| all && depth > 0);
    let mut piece = match object_stream::read(dictionary, &content, budget) {
        Some(found) => Piece::known("objects", content, found),
        None => Piece::new("stream", content),
    };
    for (data, found) in layers.into_iter().rev() {
        let Found::Encoding { codec, .. } = found else { continue };
        let around = Found::Encoding { codec, inner: Box::new(piece) };
        piece = Piece::known("stream", data, around);
    }
    (piece, depth)
}
