//! What `/proc` tells about processes.

use std::fmt::Write;

use super::{
    Pid, Tid,
    fs::{FileId, ProcLink, ProcText, Processes as Told},
    kernel::Processes,
    process::Process,
};
use crate::memory::{AddressSpace, Backing, Protection};

impl Told for Processes {
    fn pids(&self) -> Vec<Pid> {
        self.0.keys().copied().collect()
    }

    fn threads(&self, pid: Pid) -> Vec<Tid> {
        let process = self.0.get(&pid);
        process.map_or_else(Vec::new, |process| process.threads.iter().map(|t| t.tid).collect())
    }

    fn text(&self, pid: Pid, text: ProcText) -> Option<Vec<u8>> {
        let process = self.0.get(&pid)?;
        let name = comm(process);
        Some(match text.name() {
            "cmdline" => process.program.arguments.to_vec(),
            "environ" => process.program.environment.to_vec(),
            "auxv" => process.program.auxiliary.to_vec(),
            "comm" => format!("{name}\n").into_bytes(),
            "maps" => maps(process).into_bytes(),
            "statm" => {
                let pages = size(process) / 4096;
                format!("{pages} {pages} 0 0 0 {pages} 0\n").into_bytes()
            }
            "stat" => stat(process, &name).into_bytes(),
            "status" => status(process, &name).into_bytes(),
            _ => Vec::new(),
        })
    }

    fn link(&self, pid: Pid, link: ProcLink) -> Option<Vec<u8>> {
        let process = self.0.get(&pid)?;
        match link.name() {
            "exe" => Some(process.program.path.to_vec()),
            _ => None,
        }
    }

    fn descriptors(&self, pid: Pid) -> Vec<(u32, FileId)> {
        let process = self.0.get(&pid);
        process.map_or_else(Vec::new, |process| {
            process.descriptors.iter().map(|(fd, descriptor)| (fd, descriptor.file)).collect()
        })
    }
}

fn comm(process: &Process) -> String {
    let name = process.threads.first().map_or([0; 16], |thread| thread.name);
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(16);
    String::from_utf8_lossy(&name[..end]).into_owned()
}

fn size(process: &Process) -> u64 {
    let regions = process.space.iter().flat_map(AddressSpace::regions);
    regions.map(|region| region.end - region.start).sum()
}

fn maps(process: &Process) -> String {
    let mut text = String::new();
    for region in process.space.iter().flat_map(AddressSpace::regions) {
        let has = |bit, letter| if region.protection.contains(bit) { letter } else { '-' };
        let (offset, inode) = match &region.backing {
            Backing::Anonymous => (0, 0),
            Backing::File { source, offset } => (*offset, source.identity()),
        };
        let mut line = format!(
            "{:08x}-{:08x} {}{}{}{} {:08x} {} {} ",
            region.start,
            region.end,
            has(Protection::READ, 'r'),
            has(Protection::WRITE, 'w'),
            has(Protection::EXECUTE, 'x'),
            if region.shared { 's' } else { 'p' },
            offset,
            if inode == 0 { "00:00" } else { "08:01" },
            inode
        );
        if !region.name.is_empty() {
            while line.len() < 73 {
                line.push(' ');
            }
            line.push_str(&region.name);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn stat(process: &Process, name: &str) -> String {
    let mut text = format!(
        "{} ({name}) R {} {} {} 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 {} 0 100 {} {}",
        process.pid,
        process.parent,
        process.group,
        process.session,
        process.threads.len(),
        size(process),
        size(process) / 4096
    );
    // Limits and addresses; field 28 is the start of the stack.
    let _ = write!(text, " 18446744073709551615 1 1 {} 0 0", process.program.stack);
    text.push_str(&" 0".repeat(22));
    text.push('\n');
    text
}

fn status(process: &Process, name: &str) -> String {
    let kib = size(process) / 1024;
    format!(
        "Name:\t{name}\nUmask:\t{:04o}\nState:\tR (running)\nTgid:\t{pid}\nNgid:\t0\nPid:\t{pid}\n\
         PPid:\t{}\nTracerPid:\t0\nFDSize:\t64\nVmPeak:\t{kib:8} kB\nVmSize:\t{kib:8} kB\n\
         VmRSS:\t{kib:8} kB\nThreads:\t{}\nSigQ:\t0/31000\nCpus_allowed:\t1\nCpus_allowed_list:\t0\n",
        process.umask,
        process.parent,
        process.threads.len(),
        pid = process.pid,
    )
}
