//! One instruction on the real processor, with all registers set before and read after it.
//!
//! The instruction stands in a page of code, with a jump back behind it and breakpoints all
//! around. A fault of the instruction is caught by a signal handler on a stack of its own, which
//! notes the registers and goes back the same way. One instruction runs at a time: whoever holds
//! the [`Host`] holds a lock.
#![allow(unsafe_code)]

use std::{
    arch::global_asm,
    cell::UnsafeCell,
    ffi::{c_int, c_void},
    mem::offset_of,
    ptr,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    place::{CODE, CONSTANT, CONSTANT_END, DATA, DATA_END, GS, START},
    state::{Event, State},
};

/// What assembly code and the signal handler share with [`Host::run`].
#[repr(C)]
struct Shared {
    state: State,
    entry: u64,
    stack: u64,
}

struct Cell(UnsafeCell<Shared>);

// SAFETY: only the thread that holds `LOCK` touches it, and that thread's signal handler while the
// thread itself is inside of the assembly code.
unsafe impl Sync for Cell {}

static SHARED: Cell = Cell(UnsafeCell::new(Shared {
    state: State { fx: [0; 512], general: [0; 16], flags: 0, rip: 0 },
    entry: 0,
    stack: 0,
}));
static EVENT: Mutex<Event> = Mutex::new(Event::Finished);
static RUNNING: AtomicBool = AtomicBool::new(false);
static LOCK: Mutex<()> = Mutex::new(());

unsafe extern "C" {
    fn stunt_processor_enter();
    fn stunt_processor_leave();
    fn stunt_processor_return();
}

// `enter` keeps what the calling convention asks for, loads all registers and jumps to the code.
// `leave` is where the code comes back to: it saves all registers. `return` restores what `enter`
// kept; the signal handler goes there directly.
global_asm!(
    ".text",
    ".globl stunt_processor_enter",
    "stunt_processor_enter:",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "lea rdi, [rip + {shared}]",
    "mov [rdi + {stack}], rsp",
    "fxrstor64 [rdi + {fx}]",
    "push qword ptr [rdi + {flags}]",
    "popfq",
    "mov rax, [rdi + {general}]",
    "mov rcx, [rdi + {general} + 8]",
    "mov rdx, [rdi + {general} + 16]",
    "mov rbx, [rdi + {general} + 24]",
    "mov rsp, [rdi + {general} + 32]",
    "mov rbp, [rdi + {general} + 40]",
    "mov rsi, [rdi + {general} + 48]",
    "mov r8, [rdi + {general} + 64]",
    "mov r9, [rdi + {general} + 72]",
    "mov r10, [rdi + {general} + 80]",
    "mov r11, [rdi + {general} + 88]",
    "mov r12, [rdi + {general} + 96]",
    "mov r13, [rdi + {general} + 104]",
    "mov r14, [rdi + {general} + 112]",
    "mov r15, [rdi + {general} + 120]",
    "mov rdi, [rdi + {general} + 56]",
    "jmp qword ptr [rip + {shared} + {entry}]",
    ".globl stunt_processor_leave",
    "stunt_processor_leave:",
    "mov [rip + {shared} + {general}], rax",
    "lea rax, [rip + {shared}]",
    "mov [rax + {general} + 8], rcx",
    "mov [rax + {general} + 16], rdx",
    "mov [rax + {general} + 24], rbx",
    "mov [rax + {general} + 32], rsp",
    "mov [rax + {general} + 40], rbp",
    "mov [rax + {general} + 48], rsi",
    "mov [rax + {general} + 56], rdi",
    "mov [rax + {general} + 64], r8",
    "mov [rax + {general} + 72], r9",
    "mov [rax + {general} + 80], r10",
    "mov [rax + {general} + 88], r11",
    "mov [rax + {general} + 96], r12",
    "mov [rax + {general} + 104], r13",
    "mov [rax + {general} + 112], r14",
    "mov [rax + {general} + 120], r15",
    "mov rsp, [rax + {stack}]",
    "pushfq",
    "pop qword ptr [rax + {flags}]",
    "fxsave64 [rax + {fx}]",
    ".globl stunt_processor_return",
    "stunt_processor_return:",
    "push 0x202",
    "popfq",
    "fninit",
    "ldmxcsr [rsp]",
    "fldcw [rsp + 4]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    shared = sym SHARED,
    fx = const offset_of!(Shared, state) + offset_of!(State, fx),
    general = const offset_of!(Shared, state) + offset_of!(State, general),
    flags = const offset_of!(Shared, state) + offset_of!(State, flags),
    entry = const offset_of!(Shared, entry),
    stack = const offset_of!(Shared, stack),
);

/// The order of the general registers in a signal frame, by their encoding.
const FRAME: [c_int; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

const SIGNALS: [c_int; 5] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];

extern "C" fn on_signal(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if !RUNNING.load(Ordering::Relaxed) {
        // Not ours: the same fault again, without a handler.
        // SAFETY: restoring the default action is allowed in a handler.
        unsafe { libc::signal(number, libc::SIG_DFL) };
        return;
    }
    // SAFETY: the kernel passes a valid frame; `RUNNING` means that this thread, which holds the
    // lock, is inside of the assembly code, so nobody else looks at the shared state.
    unsafe {
        let frame = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext;
        let shared = &mut *SHARED.0.get();
        for (register, place) in shared.state.general.iter_mut().zip(FRAME) {
            *register = frame.gregs[place as usize] as u64;
        }
        shared.state.flags = frame.gregs[libc::REG_EFL as usize] as u64;
        shared.state.rip = frame.gregs[libc::REG_RIP as usize] as u64;
        ptr::copy_nonoverlapping(frame.fpregs.cast(), shared.state.fx.as_mut_ptr(), 512);
        let address = (*info).si_addr() as u64;
        *EVENT.try_lock().expect("nobody else looks") =
            Event::Signal { number, code: (*info).si_code, address };
        frame.gregs[libc::REG_RIP as usize] = stunt_processor_return as *const () as i64;
        frame.gregs[libc::REG_RSP as usize] = shared.stack as i64;
        frame.gregs[libc::REG_EFL as usize] = 0x202;
    }
}

/// The right to run an instruction on the real processor.
pub struct Host {
    _lock: MutexGuard<'static, ()>,
    stack: Vec<u8>,
    next: u64,
}

impl Host {
    /// Waits for the lock, and maps code and data.
    pub fn new() -> Self {
        let lock = LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let write = libc::PROT_READ | libc::PROT_WRITE;
        map(CODE, CODE + 0x1000, write | libc::PROT_EXEC);
        map(DATA, DATA_END, write);
        map(CONSTANT, CONSTANT_END, write);
        let mut stack = vec![0u8; 128 << 10];
        // SAFETY: the stack lives as long as the host, and Drop takes it back; the handler is a
        // function with the signature that SA_SIGINFO asks for. The gs base is not used by
        // anything else in a process of Linux on x86-64.
        unsafe {
            let alternate = libc::stack_t {
                ss_sp: stack.as_mut_ptr().cast(),
                ss_flags: 0,
                ss_size: stack.len(),
            };
            assert_eq!(libc::sigaltstack(&alternate, ptr::null_mut()), 0);
            for signal in SIGNALS {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_signal as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
                assert_eq!(libc::sigaction(signal, &action, ptr::null_mut()), 0);
            }
            const ARCH_SET_GS: c_int = 0x1001;
            assert_eq!(libc::syscall(libc::SYS_arch_prctl, ARCH_SET_GS, GS), 0);
        }
        Self { _lock: lock, stack, next: START }
    }

    /// Sets the content of the page that can only be read.
    pub fn set_constant(&mut self, bytes: &[u8]) {
        self.protect(libc::PROT_READ | libc::PROT_WRITE);
        copy_to(CONSTANT, &bytes[..0x1000]);
        self.protect(libc::PROT_READ);
    }

    fn protect(&mut self, protection: c_int) {
        // SAFETY: the page was mapped by `new`, and no reference into it exists.
        let done = unsafe { libc::mprotect(CONSTANT as *mut c_void, 0x1000, protection) };
        assert_eq!(done, 0);
    }

    /// Puts an instruction into the page of code, and breakpoints everywhere else.
    pub fn set_code(&mut self, instruction: &[u8]) {
        let mut page = [0xcc; 0x1000];
        let at = (START - CODE) as usize;
        let back = at + instruction.len();
        page[at..back].copy_from_slice(instruction);
        // jmp qword ptr [rip]
        page[back..back + 6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
        let leave = stunt_processor_leave as *const () as u64;
        page[back + 6..back + 14].copy_from_slice(&leave.to_le_bytes());
        copy_to(CODE, &page);
        self.next = START + instruction.len() as u64;
    }

    /// Writes data; what is not mapped is left out.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        assert!(address >= DATA && address + bytes.len() as u64 <= DATA_END);
        copy_to(address, bytes);
    }

    /// All of the data.
    pub fn data(&self) -> &[u8] {
        // SAFETY: mapped by `new`, and changed only through `&mut self`.
        unsafe { std::slice::from_raw_parts(DATA as *const u8, (DATA_END - DATA) as usize) }
    }

    /// Runs the instruction.
    pub fn run(&mut self, state: &mut State) -> Event {
        *EVENT.lock().unwrap() = Event::Finished;
        let shared = SHARED.0.get();
        // SAFETY: this thread holds the lock. The assembly code follows the calling convention,
        // whatever the instruction does to registers; stores of the instruction go to places that
        // the tests choose: the mapped data or nowhere.
        unsafe {
            (*shared).state = *state;
            (*shared).state.flags &= !0x4_0100; // no traps, no checks of alignment
            (*shared).state.rip = self.next;
            (*shared).entry = START;
            RUNNING.store(true, Ordering::SeqCst);
            stunt_processor_enter();
            RUNNING.store(false, Ordering::SeqCst);
            *state = (*shared).state;
        }
        let mut event = *EVENT.lock().unwrap();
        if let Event::Signal { number: libc::SIGTRAP, .. } = event {
            // A jump came to a breakpoint, or the instruction is one.
            state.rip -= 1;
            event = Event::Finished;
        }
        event
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: the stack must not be used after it is freed.
        unsafe {
            let none = libc::stack_t {
                ss_sp: ptr::null_mut(),
                ss_flags: libc::SS_DISABLE,
                ss_size: self.stack.len(),
            };
            libc::sigaltstack(&none, ptr::null_mut());
        }
    }
}

fn copy_to(address: u64, bytes: &[u8]) {
    // SAFETY: callers write to pages that `Host::new` mapped, while no reference to them exists.
    unsafe { ptr::copy(bytes.as_ptr(), address as *mut u8, bytes.len()) };
}

fn map(start: u64, end: u64, protection: c_int) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: position-independent programs have nothing of their own at these addresses; an
    // earlier mapping of these tests is replaced while its owner holds the lock no more.
    let got = unsafe {
        libc::mmap(start as *mut c_void, (end - start) as usize, protection, flags, -1, 0)
    };
    assert_eq!(got as u64, start, "the page is in use: {}", std::io::Error::last_os_error());
}
