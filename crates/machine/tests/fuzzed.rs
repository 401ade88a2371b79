//! What fuzzing has found, so that it stays found: inputs of the fuzz targets that went wrong once.

#[path = "fuzzed/both.rs"]
mod both;

/// Registers that hold addresses of data, then code.
fn code(head: u8, bytes: &[u8]) -> Vec<u8> {
    let mut input = vec![head, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    input.extend_from_slice(bytes);
    input
}

#[test]
fn the_time_is_right_in_a_block_that_has_changed_code() {
    // mov [rip-8], al; rdtsc; syscall, in a page that can be written.
    both::agree(&code(2, &[0x88, 0x05, 0xf8, 0xff, 0xff, 0xff, 0x0f, 0x31, 0x0f, 0x05]));
}

#[test]
fn an_ordinary_block_agrees() {
    // add rax, [rbx]; mov [rcx+8], eax; syscall
    both::agree(&code(1, &[0x48, 0x03, 0x03, 0x89, 0x41, 0x08, 0x0f, 0x05]));
}
