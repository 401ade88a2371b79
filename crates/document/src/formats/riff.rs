//! RIFF: chunks of WAV, AVI and WebP, filled up to even lengths.

use super::record::{Coding, Inside, Raw, Record, four_letters, records};
use super::sequence::Sequence;
use crate::content::Content;
use crate::formats::numbers::{le32, size};
use crate::node::{Field, Kind};
use crate::parse::{Budget, Found};

fn chunk(bytes: &Content, at: usize, end: usize) -> Option<Raw> {
    let id = bytes.get_slice(at, 4)?;
    let length = size(le32(bytes, at + 4)?)?;
    let graphic = |b: &u8| (32..127).contains(b);
    if at + 8 > end || !id.iter().all(graphic) {
        return None;
    }
    let list = matches!(&id[..], b"RIFF" | b"LIST");
    let to = (at + 8).checked_add(length)?;
    // The outermost chunk of a file that was cut off says more than there is.
    let stated =
        if to > end && &id[..] == b"RIFF" { Field::Was(length as u64) } else { Field::Right };
    let to = if stated == Field::Right { to } else { end };
    if to > end {
        return None;
    }
    let mut form = Record::little(Kind::RiffChunk, id.clone());
    form.coding = Coding::Little(4);
    form.length = stated;
    let mut from = at + 8;
    if list {
        form.after = bytes.get_slice(from, 4).filter(|_| from + 4 <= to)?;
        form.counted = 4;
        from += 4;
    }
    let odd = !(to - from).is_multiple_of(2);
    let filled = odd && to < end;
    form.pad = (filled || !odd).then(|| bytes.get(to).copied().filter(|_| filled).unwrap_or(0));
    let inside = match (list, &id[..]) {
        (true, _) => Inside::Records(0),
        (_, b"EXIF" | b"XMP " | b"ICCP") => Inside::Unknown(0),
        _ => Inside::Leaf,
    };
    Some(Raw {
        name: four_letters(&id),
        form,
        payload: from..to,
        end: to + usize::from(filled),
        inside,
    })
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    if !content.starts_with(b"RIFF") {
        return None;
    }
    let pieces = records(content, 0..content.len(), chunk, budget.depth(), budget, &mut 0)?;
    Some(Sequence::found(Kind::Riff, pieces))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{document, python, python_reads};

    #[test]
    fn sounds_are_written_as_they_were_and_lengths_follow() {
        let write = "
import wave, io, sys
o = io.BytesIO(); w = wave.open(o, 'wb'); w.setnchannels(1); w.setsampwidth(1); w.setframerate(8000)
w.writeframes(bytes(range(251))); w.close(); sys.stdout.buffer.write(o.getvalue())
";
        let bytes = python(write, &[], b"");
        let doc = document(&bytes);
        assert_eq!(doc.root().kind(), Kind::Riff);
        assert!(doc.render() == bytes);
        let data = doc.leaves().find(|(_, leaf)| leaf.len() > 200).unwrap().0;
        let edited = doc.with_leaf(&data, vec![5; 100]);
        let read = "
import wave, io, sys
w = wave.open(io.BytesIO(sys.stdin.buffer.read())); print(w.getnframes(), len(w.readframes(999)))
";
        assert_eq!(python_reads(read, &edited.render()), "100 100\n");
        assert!(document(&edited.render()).same_tree(&edited));
    }
}
