//! The functions of a module by name: where a running program has them.
//!
//! Both tables of a file are read, the one for dynamic linking and the full one, so that stripped
//! libraries and static programs work alike. Functions come sorted by name and address, each once.
//! What a function does is of no concern here.

use std::fmt;
use std::ops::Range;

use object::elf::{self, FileHeader64};
use object::endian::LittleEndian as Little;
use object::read::elf::{FileHeader, Sym};

use super::module::Module;

/// What the address of a function is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionKind {
    /// Calls go there.
    Function,
    /// The dynamic linker calls it, and it answers where calls are to go.
    Ifunc,
    /// It is a variable, and no function at all.
    Variable,
}

/// A function of a running program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    /// The name for linkers, without a version.
    pub name: String,
    /// Its first instruction, with the module's bias.
    pub address: u64,
    /// What is there.
    pub kind: FunctionKind,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x} ({:?})", self.name, self.address, self.kind)
    }
}

/// The functions of a module, and its variables, whose names are `wanted`.
pub fn functions(module: &Module, wanted: impl Fn(&str) -> bool) -> Vec<Function> {
    with_sizes(module, wanted).into_iter().map(|(function, _)| function).collect()
}

/// The code of the functions whose names are `wanted`, as far as the tables tell sizes.
pub fn ranges(module: &Module, wanted: impl Fn(&str) -> bool) -> Vec<Range<u64>> {
    let sized = with_sizes(module, wanted).into_iter();
    let sized = sized.filter(|(it, _)| it.kind != FunctionKind::Variable);
    sized.map(|(it, size)| it.address..it.address.saturating_add(size)).collect()
}

fn with_sizes(module: &Module, wanted: impl Fn(&str) -> bool) -> Vec<(Function, u64)> {
    let Some(bytes) = module.bytes() else { return Vec::new() };
    let mut found = Vec::new();
    for kind in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
        collect(&bytes, kind, module.bias, &wanted, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn collect(
    data: &[u8],
    table: elf::SectionType,
    bias: u64,
    wanted: &impl Fn(&str) -> bool,
    found: &mut Vec<(Function, u64)>,
) -> Option<()> {
    let header = FileHeader64::<Little>::parse(data).ok()?;
    let sections = header.sections(Little, data).ok()?;
    let symbols = sections.symbols(Little, data, table).ok()?;
    for symbol in symbols.iter().filter(|symbol| !symbol.is_undefined(Little)) {
        let kind = match symbol.st_type() {
            elf::STT_FUNC => FunctionKind::Function,
            elf::STT_GNU_IFUNC => FunctionKind::Ifunc,
            elf::STT_OBJECT => FunctionKind::Variable,
            _ => continue,
        };
        let Ok(name) = symbol.name(Little, symbols.strings()) else { continue };
        // The full table of a library has versions in its names: `memcpy@@GLIBC_2.14`.
        let end = name.iter().position(|&byte| byte == b'@').unwrap_or(name.len());
        let Ok(name) = std::str::from_utf8(&name[..end]) else { continue };
        if !name.is_empty() && wanted(name) {
            let address = bias.wrapping_add(symbol.st_value(Little));
            let function = Function { name: name.into(), address, kind };
            found.push((function, symbol.st_size(Little)));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::Arc;

    use super::super::module::ModuleSource;
    use super::*;

    fn module(bytes: Vec<u8>, bias: u64) -> Module {
        let source = ModuleSource::Bytes(Arc::from(bytes));
        Module { path: "/lib/some".into(), source, bias, executable: Vec::new() }
    }

    #[test]
    fn functions_are_where_binutils_finds_them() {
        let path = "/lib/x86_64-linux-gnu/libc.so.6";
        let module = module(std::fs::read(path).expect("the C library"), 0x1000);
        let listed = Command::new("nm").args(["-D", path]).output().expect("nm").stdout;
        let listed = String::from_utf8(listed).expect("text");
        let all = functions(&module, |_| true);
        let mut compared = 0;
        for line in listed.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let &[address, kind @ ("T" | "W" | "i"), name] = &words[..] else { continue };
            let name = name.split('@').next().expect("a name");
            let address = u64::from_str_radix(address, 16).expect("a number") + 0x1000;
            let kind = if kind == "i" { FunctionKind::Ifunc } else { FunctionKind::Function };
            let function = Function { name: name.into(), address, kind };
            assert!(all.binary_search(&function).is_ok(), "{function:?}");
            compared += 1;
        }
        assert!(compared > 1000, "{compared}");
        let abort = functions(&module, |name| name == "abort");
        assert_eq!(abort.len(), 1);
        let code = ranges(&module, |name| name == "abort");
        assert!(code[0].start == abort[0].address && code[0].end > code[0].start);
    }

    #[test]
    fn what_is_no_file_has_no_functions() {
        let mut broken = std::fs::read("/lib/x86_64-linux-gnu/libc.so.6").expect("the C library");
        broken.truncate(5000);
        for bytes in [vec![], b"\x7fELF".to_vec(), vec![0xff; 4096], broken] {
            assert!(functions(&module(bytes, 0), |_| true).is_empty());
        }
    }
}
