//! Names: making, removing, linking and renaming.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        numbers as n,
    },
    Answer,
    user::{place, place_or_file},
};

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, e, _] = call.arguments;
    let here = AT_FDCWD;
    let answer = match call.number {
        n::MKDIR => mkdir(call, (here, a), b),
        n::MKDIRAT => mkdir(call, (a as i32, b), c),
        n::RMDIR => rmdir(call, (here, a)),
        n::UNLINK => unlink(call, (here, a)),
        n::UNLINKAT => match c as u32 {
            0 => unlink(call, (a as i32, b)),
            AT_REMOVEDIR => rmdir(call, (a as i32, b)),
            _ => Err(Errno::EINVAL),
        },
        n::RENAME => rename(call, (here, a), (here, b), 0),
        n::RENAMEAT => rename(call, (a as i32, b), (c as i32, d), 0),
        n::RENAMEAT2 => rename(call, (a as i32, b), (c as i32, d), e as u32),
        n::LINK => link(call, (here, a), (here, b), 0),
        n::LINKAT => link(call, (a as i32, b), (c as i32, d), e as u32),
        n::SYMLINK => symlink(call, a, (here, b)),
        n::SYMLINKAT => symlink(call, a, (b as i32, c)),
        n::MKNOD => mknod(call, (here, a), b, c),
        n::MKNODAT => mknod(call, (a as i32, b), c, d),
        _ => return None,
    };
    Some(answer.into())
}

/// A directory's descriptor and the address of a path.
type At = (i32, u64);

fn mkdir(call: &mut Call<'_>, at: At, mode: u64) -> Answer {
    let (base, path) = place(call, at.0, at.1)?;
    call.with_files(|files, caller| files.mkdir(caller, base, &path, mode as u32)).map(|()| 0)
}

fn rmdir(call: &mut Call<'_>, at: At) -> Answer {
    let (base, path) = place(call, at.0, at.1)?;
    call.with_files(|files, caller| files.rmdir(caller, base, &path)).map(|()| 0)
}

fn unlink(call: &mut Call<'_>, at: At) -> Answer {
    let (base, path) = place(call, at.0, at.1)?;
    call.with_files(|files, caller| files.unlink(caller, base, &path)).map(|()| 0)
}

fn rename(call: &mut Call<'_>, old: At, new: At, flags: u32) -> Answer {
    let (from, old) = place(call, old.0, old.1)?;
    let (to, new) = place(call, new.0, new.1)?;
    call.with_files(|files, caller| files.rename(caller, (from, &old), (to, &new), flags))
        .map(|()| 0)
}

fn link(call: &mut Call<'_>, old: At, new: At, flags: u32) -> Answer {
    if flags & !(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL);
    }
    let (from, old) = place_or_file(call, old.0, old.1, flags)?;
    let (to, new) = place(call, new.0, new.1)?;
    let follow = flags & AT_SYMLINK_FOLLOW != 0;
    call.with_files(|files, caller| files.link(caller, (from, &old), (to, &new), follow))
        .map(|()| 0)
}

fn symlink(call: &mut Call<'_>, target: u64, at: At) -> Answer {
    let target = call.path(target)?;
    let (base, path) = place(call, at.0, at.1)?;
    call.with_files(|files, caller| files.symlink(caller, &target, base, &path)).map(|()| 0)
}

fn mknod(call: &mut Call<'_>, at: At, mode: u64, device: u64) -> Answer {
    let (base, path) = place(call, at.0, at.1)?;
    // The number comes as the 32 bits of the old layout, which the new one extends.
    let device = u64::from(device as u32);
    call.with_files(|files, caller| files.mknod(caller, base, &path, mode as u32, device))
        .map(|()| 0)
}
