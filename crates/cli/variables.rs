//! Environment variables that a report brings: which of them a native replay gives to a program.
//!
//! Always: natively none that the user has not named, and never one that makes a program load or run
//! something, or look elsewhere for what it loads or runs. Nobody knows all such variables; so there
//! are the families that loaders, shells, interpreters and tools read, and the words that names of
//! others end with. One too many costs a replay in the machine, where nothing reaches the host; one
//! too few costs the host.

use anyhow::{Result, bail};
use stunt_report::{Report, SourceName, visible};

/// Families, by how their names begin.
const FAMILIES: &[&str] = &[
    "ANT_",
    "BASH",
    "BUNDLE",
    "BUN_",
    "CARGO",
    "CLASSPATH",
    "COMPLUS_",
    "CORECLR_",
    "COR_",
    "DBUS_",
    "DENO_",
    "DOTNET",
    "DYLD_",
    "ELIXIR",
    "EMACS",
    "ERL_",
    "GCC_",
    "GCONV",
    "GDK_",
    "GEM_",
    "GHC",
    "GIO_",
    "GIT_",
    "GLIBC_",
    "GRADLE",
    "GST_",
    "GTK",
    "GUILE",
    "JAVA_",
    "JDK_",
    "JULIA_",
    "KRB5",
    "LD_",
    "LESS",
    "LIBGL",
    "LUA_",
    "MAGICK",
    "MALLOC_",
    "MAVEN",
    "MONO_",
    "NODE_",
    "NPM_",
    "OCAML",
    "OCL_",
    "OPENSSL_",
    "PERL",
    "PHP",
    "PS4",
    "PYTHON",
    "QT_",
    "RESOLV",
    "RES_",
    "RUBY",
    "RUST",
    "R_",
    "SBT_",
    "SSH_",
    "SSL",
    "SUDO_",
    "TCL",
    "TERM",
    "TK_",
    "VIM",
    "VK_",
    "XDG_",
    "YARN_",
    "ZDOT",
    "_JAVA",
];

/// Single ones.
const SINGLE: &[&str] = &[
    "BROWSER",
    "CC",
    "CDPATH",
    "COMSPEC",
    "CPP",
    "CXX",
    "EDITOR",
    "ENV",
    "EXINIT",
    "FCEDIT",
    "FPATH",
    "GETCONF_DIR",
    "GODEBUG",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "LD",
    "LOCALDOMAIN",
    "LOCPATH",
    "MAKEFLAGS",
    "NIS_PATH",
    "NLSPATH",
    "PAGER",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PWD",
    "SHELL",
    "SHELLOPTS",
    "TMPDIR",
    "TZ",
    "TZDIR",
    "VISUAL",
];

/// Last words of the names of others: `APP_PLUGIN_PATH`, `X_PRELOAD`.
const ENDS: &[&str] = &[
    "ARGS",
    "ASKPASS",
    "BROWSER",
    "CLASSPATH",
    "CMD",
    "COMMAND",
    "CONF",
    "CONFIG",
    "DIR",
    "DIRS",
    "DRIVER",
    "DRIVERS",
    "EDITOR",
    "ENGINE",
    "ENGINES",
    "EXEC",
    "FLAGS",
    "HOME",
    "HOOK",
    "HOOKS",
    "INIT",
    "LIB",
    "LIBRARY",
    "LIBS",
    "LOADER",
    "MODULE",
    "MODULES",
    "OPTIONS",
    "OPTS",
    "PAGER",
    "PLUGIN",
    "PLUGINS",
    "PRELOAD",
    "PROFILE",
    "RC",
    "ROOT",
    "SHELL",
    "WRAPPER",
];

/// The same, where they are joined without an underscore.
const JOINED: &[&str] = &["EDITOR", "OPTS", "PAGER", "PATH", "PATHS", "PRELOAD"];

/// Whether a variable can make a program load or run something.
pub fn loads(name: &str) -> bool {
    let odd = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    // A shell takes functions from variables with odd names.
    if name.is_empty() || name.contains(odd) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    let name = name.to_ascii_uppercase();
    let last = name.rsplit('_').next().unwrap_or(&name);
    FAMILIES.iter().any(|family| name.starts_with(family))
        || SINGLE.contains(&name.as_str())
        || ENDS.contains(&last)
        // `PATH`, and whatever somebody called after it; `MANPAGER`.
        || JOINED.iter().any(|end| last.ends_with(end))
}

/// Whether a native run on the doubles of a report may set its variables: each has to be named by
/// the user, and must not be one that [`loads`].
pub fn check(report: &Report, named: &[String]) -> Result<()> {
    let brought = || {
        report.sources.iter().filter_map(|source| match &source.name {
            SourceName::Environment(name) => Some(name),
            _ => None,
        })
    };
    if let Some(name) = named.iter().find(|&name| !brought().any(|it| it == name)) {
        bail!("the report brings no variable {}", visible(name));
    }
    for name in brought() {
        let shown = visible(name);
        if loads(name) {
            bail!(
                "the report sets the variable {shown}, which can make a program load or run \
                 something: natively it is never set. --machine runs it where nothing reaches the host"
            );
        }
        if !named.contains(name) {
            bail!(
                "the report sets the variable {shown}. If the program may have it, say --env \
                 {shown}; --machine runs it where nothing reaches the host"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loads_or_runs_is_known_by_its_name() {
        for name in [
            "LD_PRELOAD",
            "LD_AUDIT",
            "ld_preload",
            "PATH",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "ENV",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PYTHONWARNINGS",
            "PERL5OPT",
            "RUBYOPT",
            "NODE_OPTIONS",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "CLASSPATH",
            "GCONV_PATH",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "IFS",
            "SHELLOPTS",
            "PAGER",
            "MANPAGER",
            "EDITOR",
            "APP_PRELOAD",
            "LUA_INIT",
            "LUA_PATH_5_4",
            "GTK_MODULES",
            "QT_PLUGIN_PATH",
            "OPENSSL_CONF",
            "GLIBC_TUNABLES",
            "TERMINFO",
            "LESSOPEN",
            "XDG_DATA_DIRS",
            "HOME",
            "ASAN_OPTIONS",
            "a b",
            "",
            "1X",
            "RUSTC_WRAPPER",
            "PHPRC",
            "R_PROFILE_USER",
            "VK_LAYER_PATH",
            "LANGUAGE_PATHS",
            "PS4",
        ] {
            assert!(loads(name), "{name:?}");
        }
        for name in
            ["LANG", "LC_ALL", "USER", "QUERY_STRING", "HTTP_COOKIE", "STUNT_TEST_SECRET", "NAME"]
        {
            assert!(!loads(name), "{name}");
        }
    }
}
