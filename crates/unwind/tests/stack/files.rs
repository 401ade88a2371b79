//! What is read from files: identities, lines, inlined functions, separate debugging information.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stunt_unwind::stack::{CallStack, Kind, ModuleSource, Symbols};

use crate::native::{Stopped, compile, stack_of, symbols};

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status();
    assert!(status.is_ok_and(|status| status.success()), "{program} {arguments:?}");
}

fn line(stack: &CallStack, function: &str) -> Option<(String, u32)> {
    let mut frames = stack.frames.iter();
    let frame = frames.find(|frame| frame.symbol.as_ref().is_some_and(|it| it.name == function))?;
    let location = frame.location.as_ref()?;
    Some((location.file.rsplit('/').next()?.into(), location.line))
}

#[test]
fn inlined_functions_and_lines_are_told() {
    let stack = stack_of("inlined.c", "lines", &["-O2", "-g"]);
    assert_eq!(stack.frames[0].kind, Kind::Inlined, "\n{stack}");
    assert_eq!(stack.frames[0].address, stack.frames[1].address);
    assert_eq!(line(&stack, "inner"), Some(("inlined.c".into(), 3)), "\n{stack}");
    assert_eq!(line(&stack, "outer"), Some(("inlined.c".into(), 6)), "\n{stack}");
    assert_eq!(line(&stack, "main"), Some(("inlined.c".into(), 8)), "\n{stack}");
}

#[test]
fn identity_and_offset_are_those_of_the_file() {
    let identity = "-Wl,--build-id=0x0123456789abcdef0123";
    for (test, kind) in [("pie", "-pie"), ("fixed", "-no-pie"), ("static", "-static")] {
        let program = compile("nested.c", &format!("identity-{test}"), &["-O1", identity, kind]);
        let stack = Stopped::at_death(&program).call_stack(&symbols());
        let module = stack.frames[0].module.as_ref().expect("a module");
        let found = module.build_id.as_ref().map(ToString::to_string);
        assert_eq!(found.as_deref(), Some("0123456789abcdef0123"));
        // The same address as binutils gives for the function.
        let listed = Command::new("nm").arg(&program).output().expect("nm").stdout;
        let listed = String::from_utf8(listed).expect("text");
        let start = listed.lines().find_map(|line| line.strip_suffix(" T gamma_"));
        let start = u64::from_str_radix(start.expect("listed"), 16).expect("a number");
        let symbol = stack.frames[0].symbol.as_ref().expect("a symbol");
        assert_eq!(module.offset, start + symbol.offset);
    }
}

#[test]
fn stripped_files_find_their_debugging_information() {
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    for (test, identity) in [("linked", "-Wl,--build-id=none"), ("identified", "-Wl,--build-id")] {
        let program = text(&compile("inlined.c", test, &["-O2", "-g", identity]));
        let separate = format!("{program}.debug");
        run("objcopy", &["--only-keep-debug", &program, &separate]);
        run("strip", &[&program]);
        let stripped = Stopped::at_death(Path::new(&program)).call_stack(&symbols());
        assert_eq!(line(&stripped, "outer"), None, "\n{stripped}");
        assert_eq!(stripped.frames[0].symbol, None, "\n{stripped}");
        let expected = Some(("inlined.c".into(), 6));
        if test == "linked" {
            run("objcopy", &[&format!("--add-gnu-debuglink={separate}"), &program]);
            let stack = Stopped::at_death(Path::new(&program)).call_stack(&symbols());
            assert_eq!(line(&stack, "outer"), expected, "\n{stack}");
            // A file that has changed since does not belong any more.
            let mut bytes = std::fs::read(&separate).expect("readable");
            bytes.push(0);
            std::fs::write(&separate, bytes).expect("writable");
            let stack = Stopped::at_death(Path::new(&program)).call_stack(&symbols());
            assert_eq!(line(&stack, "outer"), None, "\n{stack}");
        } else {
            // Answers for the folder that only an administrator can write to.
            let symbols = Symbols::new(Box::new(move |path| {
                let wanted = path.starts_with("/usr/lib/debug/.build-id/");
                wanted.then(|| std::fs::read(&separate).ok().map(Into::into)).flatten()
            }));
            let stack = Stopped::at_death(Path::new(&program)).call_stack(&symbols);
            assert_eq!(line(&stack, "outer"), expected, "\n{stack}");
        }
    }
}

#[test]
fn files_are_loaded_when_a_frame_falls_into_them_and_once() {
    let program = compile("nested.c", "lazily", &["-O2"]);
    let stopped = Stopped::at_death(&program);
    let loads: Arc<[AtomicUsize; 3]> = Arc::default();
    let mut modules = stopped.modules();
    for module in &mut modules {
        let ModuleSource::Bytes(bytes) = module.source.clone() else {
            unreachable!("they are here")
        };
        let name = module.name().to_owned();
        let loads = Arc::clone(&loads);
        module.source = ModuleSource::Load(Arc::new(move || {
            let which =
                usize::from(name.starts_with("ld-")) + 2 * usize::from(name.contains("libc"));
            loads[which].fetch_add(1, Ordering::Relaxed);
            Some(Arc::clone(&bytes))
        }));
    }
    let symbols = symbols();
    for _ in 0..3 {
        let stack = symbols.call_stack(&mut &stopped, &modules);
        assert_eq!(stack.frames[0].symbol.as_ref().map(|it| &*it.name), Some("gamma_"));
    }
    let counts: Vec<usize> = loads.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    assert_eq!(counts, [1, 0, 1], "the program, the dynamic linker, the C library");
}

#[test]
fn a_store_can_be_shared() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&symbols());
}

#[test]
fn copies_of_a_file_are_kept_once_and_changed_files_apart() {
    let symbols = symbols();
    let mut counts = Vec::new();
    // One path, three contents: the second has the identity of the first, the third a new one.
    for flags in [
        ["-O1", "-Wl,--build-id=0x01"],
        ["-O0", "-Wl,--build-id=0x01"],
        ["-O0", "-Wl,--build-id=0x02"],
    ] {
        let program = compile("nested.c", "copies", &flags);
        for _ in 0..3 {
            let stack = Stopped::at_death(&program).call_stack(&symbols);
            assert_eq!(stack.frames[2].symbol.as_ref().map(|it| &*it.name), Some("alpha"));
            let module = stack.frames[0].module.as_ref().expect("a module");
            let identity = module.build_id.as_ref().expect("an identity").to_string();
            assert!(flags[1].ends_with(&identity));
            counts.push(symbols.files());
        }
    }
    // With the C library.
    assert_eq!(counts, [2, 2, 2, 3, 3, 3, 4, 4, 4]);
}
