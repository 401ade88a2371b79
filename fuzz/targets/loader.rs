//! Any file as a program: it is refused with an error number, or it runs for a while; then its call
//! stack is told from the tables and symbols in that same file.
//!
//! The machine sees a folder with the file, and the libraries of the host, read-only. Its memory is
//! bounded, and so are its instructions.

#![no_main]

use std::{
    fs,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use libfuzzer_sys::fuzz_target;
use stunt_unwind::stack::Symbols;
use stunt_machine::{
    Machine,
    linux::{
        Limits, Setup,
        fs::{Allow, Config, Stream},
    },
};

const MEMORY: u64 = 32 << 20;
const INSTRUCTIONS: u64 = 20_000;

/// The folder of this process. Not in `/dev`, where a machine has devices of its own.
fn place() -> &'static PathBuf {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        let place = std::env::temp_dir().join(format!("stunt-fuzz-{}", std::process::id()));
        fs::create_dir_all(&place).expect("a folder of its own");
        place
    })
}

fuzz_target!(|data: &[u8]| {
    let program = place().join("program");
    // A fresh file each time: a machine does not expect a program to change under it.
    let _ = fs::remove_file(&program);
    fs::write(&program, data).expect("writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let libraries = ["/lib", "/lib64", "/usr/lib"].map(PathBuf::from);
    let path = program.as_os_str().as_bytes().to_vec();
    let files = Config {
        allow: Allow::under(libraries.iter().chain([place()])),
        cwd: place().as_os_str().as_bytes().to_vec(),
        streams: [Stream::Null, Stream::Pipe, Stream::Pipe],
        ..Config::default()
    };
    let setup = Setup {
        files,
        program: path.clone(),
        arguments: vec![path],
        environment: Vec::new(),
        memory: MEMORY,
    };
    let Ok(mut machine) = Machine::new(setup) else { return };
    let ending = machine.run(Limits { instructions: INSTRUCTIONS });
    let symbols = Symbols::new(Box::new(|path| fs::read(path).ok().map(Arc::from)));
    let stack = machine.call_stack(&symbols);
    let failure = machine.failure(ending, &symbols);
    if failure.is_some() {
        assert!(stack.is_some(), "what failed has a call stack");
    }
});
