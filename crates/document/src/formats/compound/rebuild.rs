//! A compound file laid out anew: every stream in one run of sectors.

use super::{Compound, END, ENTRY, FREE, HEADER, LISTED, Stream};
use crate::formats::numbers::le;
use crate::out::Out;

/// What the table says of its own sectors, and of those that list them.
const TABLE: u32 = 0xffff_fffd;
const LIST: u32 = 0xffff_fffc;

/// Sectors that are being written, with the table that says what follows what.
struct Sectors {
    size: usize,
    body: Out,
    table: Vec<u32>,
}

impl Sectors {
    /// Writes something in as many sectors as it needs; where it begins.
    fn run(&mut self, content: &Out) -> u32 {
        if content.len() == 0 {
            return END;
        }
        let first = self.table.len() as u32;
        let count = content.len().div_ceil(self.size) as u32;
        self.body.append(content);
        self.body.push(&vec![0; count as usize * self.size - content.len()]);
        self.table.extend((1..count).map(|next| first + next));
        self.table.push(END);
        first
    }
}

fn words(numbers: &[u32], out: &Out) -> Out {
    let mut written = out.fresh();
    numbers.iter().for_each(|number| written.push(&number.to_le_bytes()));
    written
}

impl Compound {
    pub(super) fn rebuild(&self, directory: &Out, contents: &[Out], out: &mut Out) {
        let mut sectors = Sectors { size: self.sector, body: out.fresh(), table: Vec::new() };
        let (mut small, mut small_table) = (out.fresh(), Vec::new());
        let mut streams: Vec<Stream> = Vec::new();
        for (stream, content) in self.streams.iter().zip(contents).skip(1) {
            let start = if content.len() == 0 {
                END
            } else if content.len() < self.cutoff {
                let first = small_table.len() as u32;
                let count = content.len().div_ceil(self.mini) as u32;
                small.append(content);
                small.push(&vec![0; count as usize * self.mini - content.len()]);
                small_table.extend((1..count).map(|next| first + next));
                small_table.push(END);
                first
            } else {
                sectors.run(content)
            };
            streams.push(Stream { start, length: content.len(), ..stream.clone() });
        }
        let root =
            Stream { start: sectors.run(&small), length: small.len(), ..self.streams[0].clone() };
        streams.insert(0, root);
        while !small_table.len().is_multiple_of(self.sector / 4) {
            small_table.push(FREE);
        }
        let small_count = small_table.len() * 4 / self.sector;
        let small_start = sectors.run(&words(&small_table, out));

        let mut told = out.fresh();
        self.tell(directory, &streams, &mut told);
        // A directory that is gone has its root at least: readers begin there.
        if told.len() == 0 {
            told.push(&[0; ENTRY]);
        }
        let directory_count = told.len().div_ceil(self.sector);
        let directory_start = sectors.run(&told);

        let (table_count, list_count) = self.counts(sectors.table.len());
        let first = sectors.table.len() as u32;
        let table_sectors: Vec<u32> = (first..first + table_count as u32).collect();
        let list_first = first + table_count as u32;
        sectors.table.extend(vec![TABLE; table_count]);
        sectors.table.extend(vec![LIST; list_count]);
        let mut table = sectors.table;
        table.resize(table_count * self.sector / 4, FREE);

        self.header(
            &[
                (40, if self.sector == HEADER { 0 } else { directory_count as u32 }),
                (44, table_count as u32),
                (48, directory_start),
                (60, small_start),
                (64, small_count as u32),
                (68, if list_count > 0 { list_first } else { END }),
                (72, list_count as u32),
            ],
            &table_sectors,
            out,
        );
        out.append(&sectors.body);
        out.append(&words(&table, out));
        let per_list = self.sector / 4 - 1;
        for (at, listed) in table_sectors.get(LISTED..).unwrap_or(&[]).chunks(per_list).enumerate()
        {
            let mut list = listed.to_vec();
            list.resize(per_list, FREE);
            let last = at + 1 == list_count;
            list.push(if last { END } else { list_first + at as u32 + 1 });
            out.append(&words(&list, out));
        }
    }

    /// How many sectors the table needs, and the list of those that the header has no room for: they are in
    /// the table, too.
    fn counts(&self, used: usize) -> (usize, usize) {
        let per_table = self.sector / 4;
        let (mut tables, mut lists) = (0, 0);
        loop {
            let needed = (used + tables + lists).div_ceil(per_table);
            let listed = needed.saturating_sub(LISTED).div_ceil(per_table - 1);
            if (needed, listed) == (tables, lists) {
                return (tables, lists);
            }
            (tables, lists) = (needed, listed);
        }
    }

    /// The header of the original with other numbers, filled up to a sector.
    fn header(&self, numbers: &[(usize, u32)], table_sectors: &[u32], out: &mut Out) {
        let mut header = self.fixed[..HEADER].to_vec();
        for &(at, number) in numbers {
            header[at..at + 4].copy_from_slice(&le::<4>(number.into()));
        }
        for at in 0..LISTED {
            let number = table_sectors.get(at).copied().unwrap_or(FREE);
            header[76 + 4 * at..80 + 4 * at].copy_from_slice(&number.to_le_bytes());
        }
        out.push(&header);
        out.push(&vec![0; self.sector - HEADER]);
    }
}
