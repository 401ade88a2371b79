//! Programs that are built for a test, and what can be seen of a run at a place.

// Each test uses the parts that it needs.
#![allow(dead_code)]

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use stunt_debugger::TimeTravel;
use stunt_machine::{
    Machine,
    linux::{
        Setup,
        fs::{Allow, Config, Stream, User},
    },
};

/// What every program reads.
pub const INPUT: &[u8] = b"the input is here";

/// A program, built without a base, so that its symbols are its addresses.
pub struct Program(PathBuf);

impl Program {
    /// Builds a program of this folder.
    pub fn build(name: &str) -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debugger");
        std::fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join(name);
        // Tests run side by side: each builds its own, and the last one stays.
        let own = folder.join(format!("{name}.{}", std::process::id()));
        let flags = ["-g", "-O1", "-no-pie", "-fno-pie", "-pthread", "-fno-omit-frame-pointer"];
        let built = Command::new("gcc").args(flags).arg("-o").args([&own, &from]).status();
        assert!(built.expect("gcc starts").success());
        std::fs::rename(&own, &program).expect("it is put in place");
        Self(program)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its run, at the start.
    pub fn travel(&self) -> TimeTravel {
        TimeTravel::new(self.machine(), 256 << 20)
    }

    /// The machine that it runs in.
    pub fn machine(&self) -> Machine {
        let files = Config {
            allow: Allow::Everything,
            user: User::default(),
            cwd: b"/tmp".to_vec(),
            scratch: vec![b"/tmp".to_vec()],
            streams: [Stream::File, Stream::Pipe, Stream::Pipe],
            stdin: Arc::from(INPUT),
            seed: 5,
            ..Config::default()
        };
        let path = self.0.as_os_str().as_bytes().to_vec();
        let setup = Setup {
            files,
            program: path.clone(),
            arguments: vec![path],
            environment: vec![b"LC_ALL=C".to_vec()],
            memory: 512 << 20,
        };
        Machine::new(setup).expect("the program starts")
    }

    /// The address of one of its symbols.
    pub fn address(&self, symbol: &str) -> u64 {
        let output = Command::new("nm").arg(&self.0).output().expect("nm starts").stdout;
        let text = String::from_utf8(output).expect("it is text");
        let line = text.lines().find(|line| line.split(' ').next_back() == Some(symbol));
        let line = line.unwrap_or_else(|| panic!("there is no {symbol}"));
        u64::from_str_radix(line.split(' ').next().expect("a number"), 16).expect("a number")
    }
}

/// Never has enough.
pub fn patient() -> impl FnMut() -> bool {
    || false
}

/// All that can be seen of the process: threads, registers, memory.
pub fn digest(travel: &mut TimeTravel) -> u64 {
    let mut hash = DefaultHasher::new();
    (travel.position(), travel.thread()).hash(&mut hash);
    for thread in travel.threads() {
        thread.tid.hash(&mut hash);
        let cpu = travel.processor(thread.tid).expect("it is there");
        (0..19).for_each(|slot| cpu.get(slot).hash(&mut hash));
        (cpu.rflags(), cpu.vector_state()).hash(&mut hash);
    }
    let Some(space) = travel.memory() else { return hash.finish() };
    let mut page = [0; 4096];
    for region in space.regions() {
        (region.start, region.end, region.protection.bits()).hash(&mut hash);
        // Room that is set aside for heaps.
        if region.protection.is_empty() {
            continue;
        }
        for at in (region.start..region.end).step_by(4096) {
            // Much is mapped for threads' stacks, and nothing is there.
            let have = space.peek(at, &mut page);
            if page[..have].iter().any(|&byte| byte != 0) {
                (at, &page[..have]).hash(&mut hash);
            }
        }
    }
    hash.finish()
}
