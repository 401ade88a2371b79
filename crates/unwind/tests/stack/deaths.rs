//! Programs that die in all the ways that programs die. Each test knows who called whom.

use stunt_unwind::stack::{CallStack, End, Kind, Trust};

use crate::native::stack_of;

/// The names of the frames, innermost first; `?` for those without.
fn names(stack: &CallStack) -> Vec<&str> {
    let frames = stack.frames.iter();
    frames
        .map(|frame| match (&frame.symbol, frame.kind) {
            (_, Kind::Signal) => "<signal>",
            (Some(symbol), _) => &symbol.name,
            (None, _) => "?",
        })
        .collect()
}

/// Whether these names are on the stack in this order, next to one another, and what is outermost.
fn assert_stack(stack: &CallStack, inner: &[&str]) {
    let names = names(stack);
    assert!(names.windows(inner.len()).any(|window| window == inner), "{inner:?} in\n{stack}");
    assert_eq!(names.last(), Some(&"_start"), "\n{stack}");
    assert_eq!(stack.end, End::Outermost, "\n{stack}");
    let main = names.iter().position(|&name| name == "main").expect("main");
    // The start code of a C program: at most the C library's two functions.
    assert!(names.len() - main <= 4, "\n{stack}");
}

const NESTED: [&str; 4] = ["gamma_", "beta", "alpha", "main"];

#[test]
fn nested_calls_however_compiled() {
    for (index, flags) in [
        &["-O0"][..],
        &["-O2"],
        &["-O2", "-fomit-frame-pointer"],
        &["-O2", "-fno-omit-frame-pointer"],
        &["-O0", "-static"],
        &["-O2", "-static"],
        &["-O2", "-static-pie"],
        &["-O2", "-no-pie"],
        &["-O2", "-fcf-protection=full"],
        &["-Os"],
    ]
    .iter()
    .enumerate()
    {
        let stack = stack_of("nested.c", &format!("nested{index}"), flags);
        assert_eq!(names(&stack)[..4], NESTED, "{flags:?}\n{stack}");
        assert_stack(&stack, &NESTED);
        assert_eq!(stack.frames[0].trust, Trust::Context);
        assert!(stack.frames[1..].iter().all(|frame| frame.trust == Trust::Cfi), "\n{stack}");
    }
}

#[test]
fn without_tables_the_frame_pointer_leads_on() {
    let none = "-fno-asynchronous-unwind-tables";
    let flags = ["-O1", none, "-fno-unwind-tables", "-fno-omit-frame-pointer"];
    let stack = stack_of("nested.c", "pointer", &flags);
    assert_stack(&stack, &NESTED);
    let trusts: Vec<Trust> = stack.frames[..4].iter().map(|frame| frame.trust).collect();
    assert_eq!(trusts[2..], [Trust::FramePointer; 2], "\n{stack}");
}

#[test]
fn without_tables_and_frame_pointers_the_stack_is_searched() {
    let none = "-fno-asynchronous-unwind-tables";
    let flags = ["-O1", none, "-fno-unwind-tables", "-fomit-frame-pointer"];
    let stack = stack_of("nested.c", "searched", &flags);
    assert_stack(&stack, &NESTED);
    assert!(stack.frames[1..4].iter().all(|frame| frame.trust == Trust::Scan), "\n{stack}");
    assert!(stack.to_string().contains("#1 ?beta+"), "\n{stack}");
}

#[test]
fn tables_for_debuggers_are_used() {
    let none = "-fno-asynchronous-unwind-tables";
    let flags = ["-O2", "-g", none, "-fno-unwind-tables", "-fomit-frame-pointer"];
    let stack = stack_of("nested.c", "debugframe", &flags);
    assert_stack(&stack, &NESTED);
    assert!(stack.frames[1..].iter().all(|frame| frame.trust == Trust::Cfi), "\n{stack}");
}

#[test]
fn a_table_without_a_search_table_is_used() {
    for (index, flags) in [&["-O2", "-static", "-Wl,--no-eh-frame-hdr"][..]].iter().enumerate() {
        let stack = stack_of("nested.c", &format!("nohdr{index}"), flags);
        assert_stack(&stack, &NESTED);
        assert!(stack.frames[1..].iter().all(|frame| frame.trust == Trust::Cfi), "\n{stack}");
    }
}

#[test]
fn a_callback_of_the_c_library() {
    for (index, flags) in [&["-O2"][..], &["-O0", "-static"]].iter().enumerate() {
        let stack = stack_of("callback.c", &format!("{index}"), flags);
        assert_eq!(names(&stack)[0], "compare");
        assert_stack(&stack, &["sort", "main"]);
    }
}

#[test]
fn an_abort() {
    for (index, flags) in [&["-O1"][..], &["-O1", "-static"]].iter().enumerate() {
        let stack = stack_of("aborts.c", &format!("{index}"), flags);
        assert_stack(&stack, &["raise", "abort", "fail", "main"]);
    }
}

#[test]
fn a_failure_in_a_handler_on_another_stack() {
    for (index, flags) in [&["-O2"][..], &["-O0"], &["-O2", "-static"]].iter().enumerate() {
        let stack = stack_of("handler.c", &format!("{index}"), flags);
        assert_stack(&stack, &["fail", "handler", "<signal>", "interrupted", "main"]);
        assert_eq!(stack.frames[3].trust, Trust::Context, "\n{stack}");
        assert!(stack.to_string().contains("<signal handler called>"), "\n{stack}");
    }
}

#[test]
fn a_failure_in_a_handler_of_a_call_through_a_null_pointer() {
    let stack = stack_of("handler.c", "null", &["-O2", "-DNULL_CALL"]);
    assert_stack(&stack, &["fail", "handler", "<signal>", "?", "interrupted", "main"]);
    assert_eq!((stack.frames[3].address, stack.frames[3].trust), (0, Trust::Context));
}

#[test]
fn endless_recursion_is_cut_short() {
    for (index, flags) in [&["-O2"][..], &["-O0"]].iter().enumerate() {
        let stack = stack_of("overflow.c", &format!("{index}"), flags);
        let gap = stack.gap.expect("a gap");
        assert!(gap.count > 50_000 && gap.alike, "{gap:?}");
        assert!(stack.frames.len() < 100);
        assert_stack(&stack, &["deeper", "main"]);
        assert!(stack.to_string().contains("frames like these"), "\n{stack}");
    }
}

#[test]
fn a_call_through_a_null_pointer() {
    for (index, flags) in [&["-O2"][..], &["-O0"], &["-O2", "-static"]].iter().enumerate() {
        let stack = stack_of("null_call.c", &format!("{index}"), flags);
        assert_stack(&stack, &["?", "calls", "main"]);
        assert_eq!((stack.frames[0].address, stack.frames[1].trust), (0, Trust::Scan));
    }
}

#[test]
fn a_call_to_a_wild_address_and_no_word_of_it_in_the_text() {
    for (index, flags) in [&["-O2"][..], &["-O0"]].iter().enumerate() {
        let stack = stack_of("wild_call.c", &format!("{index}"), flags);
        assert_stack(&stack, &["?", "calls", "main"]);
        assert_eq!(stack.frames[0].address, 0x4142_4344_4546);
        let text = format!("{stack}{stack:?}{:?}", stack.frames);
        assert!(!text.contains("4142") && !text.contains("4546"), "{text}");
    }
}

#[test]
fn an_overwritten_return_address() {
    let flags = ["-O0", "-fno-stack-protector"];
    let stack = stack_of("smashed.c", "0", &flags);
    // Who called is gone; who called the caller is not.
    assert_eq!(stack.frames[0].address, 0x4142_4344_4546);
    assert_stack(&stack, &["main"]);
    assert!(!stack.to_string().contains("4142"));
}

#[test]
fn an_exception_that_nobody_catches() {
    for (index, flags) in [&["-O2"][..], &["-O0", "-static"]].iter().enumerate() {
        let stack = stack_of("throws.cpp", &format!("{index}"), flags);
        let thrower = ["__cxa_throw", "deep::Thrower<int>::operator()(int)", "asks(int)", "main"];
        assert_stack(&stack, &thrower);
        assert!(names(&stack).contains(&"abort"), "\n{stack}");
    }
}

#[test]
fn a_panic() {
    for (index, flags) in [&["-O"][..], &["-g"]].iter().enumerate() {
        let flags = [flags, &["--edition", "2021"][..]].concat();
        let stack = stack_of("panics.rs", &format!("{index}"), &flags);
        let names = names(&stack);
        let at = |wanted: &str| names.iter().position(|name| name.contains(wanted));
        let order = [
            at("abort"),
            at("core::panicking::panic_fmt"),
            at("::check"),
            at("::outer"),
            names.iter().position(|&name| name == "main"),
        ];
        assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?}\n{stack}");
        assert_eq!(stack.end, End::Outermost, "\n{stack}");
    }
}

#[test]
fn every_kind_of_rule() {
    for rule in 0..7 {
        let flags = ["-O1", &format!("-DRULE={rule}")];
        let stack = stack_of("rules.c", &format!("{rule}"), &flags);
        assert_stack(&stack, &["odd", "caller", "main"]);
        assert!(stack.frames[1..].iter().all(|frame| frame.trust == Trust::Cfi), "\n{stack}");
    }
}
