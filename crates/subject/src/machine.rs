//! The same runs in the machine.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stunt_machine::linux::fs::{Allow, Config, Stream};
use stunt_machine::linux::{Input, Setup};
use stunt_native::{Command, Stdin, interpreting, runtimes};
use stunt_path::Original;
use stunt_report::{Source, SourceName};

use crate::error::Error;
use crate::subject::{Subject, scratch_name};
use crate::user::user;

impl Subject {
    /// A run in the machine on the original, and its inputs.
    ///
    /// # Errors
    /// This process has no folder, or no user.
    pub fn in_machine(&self) -> Result<(Setup, Vec<Input>), Error> {
        // Below /dev the machine has files of its own, and not the host's.
        let all = self.files.iter().zip(self.original.reveal());
        let hidden = all.filter_map(|(file, bytes)| {
            let path = std::path::absolute(file.as_ref()?).ok()?;
            path.starts_with("/dev").then(|| (path.into_os_string().into_vec(), Arc::from(bytes)))
        });
        Ok((self.setup(&self.on_original(), hidden.collect())?, self.inputs(&self.files)))
    }

    /// A run in the machine on another input of the same shape.
    ///
    /// # Errors
    /// This process has no folder, or no user.
    pub fn in_machine_on(&self, other: &Original) -> Result<(Setup, Vec<Input>), Error> {
        self.in_machine_on_bytes(&other.reveal())
    }

    /// The same, on bytes.
    ///
    /// # Errors
    /// This process has no folder, or no user.
    pub fn in_machine_on_bytes(&self, bytes: &[Vec<u8>]) -> Result<(Setup, Vec<Input>), Error> {
        let files = self.scratch_files();
        Ok((self.setup_on(bytes, &files)?, self.inputs(&files)))
    }

    /// Where the files of a double are, by source.
    pub(crate) fn scratch_files(&self) -> Vec<Option<PathBuf>> {
        let place = |source: &Source| self.scratch.path().join(scratch_name(source));
        self.sources.iter().map(|it| it.name.is_file().then(|| place(it))).collect()
    }

    /// A run in the machine on these bytes: files are put into the machine alone, not on the host.
    fn setup_on(&self, bytes: &[Vec<u8>], files: &[Option<PathBuf>]) -> Result<Setup, Error> {
        let command = self.command(files, Some(bytes));
        let placed = files.iter().zip(bytes).filter_map(|(file, bytes)| {
            let path = file.as_ref()?.as_os_str().as_bytes().to_vec();
            Some((path, Arc::from(bytes.as_slice())))
        });
        self.setup(&command, placed.collect())
    }

    fn inputs(&self, files: &[Option<PathBuf>]) -> Vec<Input> {
        let all = self.sources.iter().zip(files).zip(&self.public);
        let inputs = all.map(|((source, file), public)| {
            let place = match &source.name {
                SourceName::File | SourceName::NumberedFile(_) | SourceName::Member(_) => {
                    let path = file.as_deref().unwrap_or(Path::new(""));
                    stunt_path::Source::File(path.as_os_str().as_bytes().to_vec())
                }
                SourceName::Stdin => stunt_path::Source::StandardInput,
                SourceName::Argument(number) => stunt_path::Source::Argument(*number as usize),
                SourceName::Environment(name) => {
                    stunt_path::Source::Variable(name.clone().into_bytes())
                }
                SourceName::Socket(number) => stunt_path::Source::Connection(*number as usize),
            };
            Input { place, public: public.clone() }
        });
        inputs.collect()
    }

    /// A run in the machine on a double, whose inputs nobody follows.
    ///
    /// # Errors
    /// This process has no folder, or no user.
    pub fn in_machine_on_double(&self, double: &[Vec<u8>]) -> Result<Setup, Error> {
        self.setup_on(double, &self.scratch_files())
    }

    /// What is run natively, in the machine, with these files beside the host's.
    fn setup(
        &self,
        command: &Command,
        mut placed: Vec<(Vec<u8>, Arc<[u8]>)>,
    ) -> Result<Setup, Error> {
        let mut arguments = vec![self.words[0].as_bytes().to_vec()];
        arguments.extend(command.arguments.iter().map(|word| word.as_bytes().to_vec()));
        let mut variables = command.environment.clone();
        interpreting(&runtimes(&self.texts.executed()), &mut variables);
        let environment = (variables.iter())
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        let cwd = match &self.folder {
            Some(folder) => folder.clone(),
            None => {
                std::env::current_dir().map_err(Error::host("there is no current directory"))?
            }
        };
        let beside = self.beside.iter();
        placed.extend(
            beside.map(|(path, bytes)| (path.as_os_str().as_bytes().to_vec(), Arc::clone(bytes))),
        );
        let (kind, stdin) = match &command.stdin {
            Stdin::Bytes(bytes) => (Stream::File, Arc::clone(bytes)),
            Stdin::Empty | Stdin::File(_) => (Stream::Null, Arc::default()),
        };
        Ok(Setup {
            files: Config {
                allow: match &self.confined {
                    Some(confined) => Allow::under(
                        confined.reads.iter().map(PathBuf::as_path).chain([self.scratch.path()]),
                    ),
                    None => Allow::Everything,
                },
                user: user()?,
                cwd: cwd.into_os_string().into_vec(),
                scratch: vec![b"/tmp".to_vec()],
                streams: [kind, Stream::Pipe, Stream::Pipe],
                stdin,
                connections: command.connections.clone(),
                placed,
                seed: 0,
            },
            program: self.program.as_os_str().as_bytes().to_vec(),
            arguments,
            environment: environment.collect(),
            memory: self.limits.memory,
        })
    }
}
