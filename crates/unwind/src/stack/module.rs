//! A module: an ELF file as it is mapped into a program.
//!
//! Always holds: an address of the running program is an address of the file plus `bias`. A module
//! does not know who maps it, nor where its bytes come from; they are asked for when the first
//! frame falls into it, and at most once for all walks with the same [`Symbols`](super::Symbols).

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::bytes::Bytes;
use super::image::Image;

/// Gives the bytes of a file when they are needed, or nothing if they cannot be had.
pub type Load = Arc<dyn Fn() -> Option<Arc<[u8]>> + Send + Sync>;

/// Where the bytes of a module come from.
#[derive(Clone)]
pub enum ModuleSource {
    /// They are here.
    Bytes(Arc<[u8]>),
    /// They are in a mapped file.
    File(Bytes),
    /// They can be loaded. The module's path is its identity: two modules of one path are taken to
    /// have the same bytes.
    Load(Load),
}

/// A mapped ELF file.
#[derive(Clone)]
pub struct Module {
    /// The path of the file, as the program sees it.
    pub path: Arc<str>,
    /// Where the bytes come from.
    pub source: ModuleSource,
    /// The difference of mapped addresses and addresses in the file.
    pub bias: u64,
    /// The mapped addresses that can be executed.
    pub executable: Vec<Range<u64>>,
}

/// One mapping of a file, as `/proc/PID/maps` lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The mapped addresses.
    pub addresses: Range<u64>,
    /// Where in the file the mapping begins.
    pub offset: u64,
    /// Whether it can be executed.
    pub executable: bool,
}

impl Module {
    /// The module of a file from its mappings. Nothing if the file is not an ELF file for x86-64,
    /// or if it is not mapped as its program headers say.
    #[must_use]
    pub fn from_mappings(
        path: &str,
        bytes: impl Into<Bytes>,
        mappings: &[Mapping],
    ) -> Option<Self> {
        let bytes = bytes.into();
        let image = Image::parse(&bytes)?;
        // Programs that read their own symbols map themselves once more, but not to be executed.
        let (code, data): (Vec<_>, Vec<_>) = mappings.iter().partition(|it| it.executable);
        let bias = code.iter().chain(&data).find_map(|mapping| {
            image.bias(mapping.addresses.start, mapping.offset, mapping.executable)
        })?;
        let executable = mappings.iter().filter(|mapping| mapping.executable);
        Some(Self {
            path: path.into(),
            source: bytes
                .here()
                .cloned()
                .map_or(ModuleSource::File(bytes.clone()), ModuleSource::Bytes),
            bias,
            executable: executable.map(|mapping| mapping.addresses.clone()).collect(),
        })
    }

    /// The bytes of the file, if they can be had.
    #[must_use]
    pub fn bytes(&self) -> Option<Bytes> {
        match &self.source {
            ModuleSource::Bytes(bytes) => Some(bytes.into()),
            ModuleSource::File(bytes) => Some(bytes.clone()),
            ModuleSource::Load(load) => load().map(Bytes::from),
        }
    }

    /// The last part of the path.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({} at {:#x})", self.path, self.bias)
    }
}
