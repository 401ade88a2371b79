//! Directories: their entries, and the current one.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        numbers as n,
    },
    Answer,
    user::{CHUNK, place, place_or_file, writable},
};

/// Bytes of an entry before its name, and where its type is, in `getdents64`.
const HEAD: usize = 19;

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, ..] = call.arguments;
    let answer = match call.number {
        n::GETDENTS64 => entries(call, a as i32, b, c as u32, false),
        n::GETDENTS => entries(call, a as i32, b, c as u32, true),
        n::GETCWD => current(call, a, b),
        n::CHDIR => {
            let node = place(call, AT_FDCWD, a).and_then(|(base, path)| {
                call.with_files(|files, caller| files.find_directory(caller, base, &path))
            });
            node.map(|node| {
                call.process().cwd = node;
                0
            })
        }
        n::FCHDIR => call.file(a as i32).and_then(|file| {
            let node = call.kernel.files.node_of(file)?;
            let node = call.with_files(|files, caller| files.enter(caller, node))?;
            call.process().cwd = node;
            Ok(0)
        }),
        n::UMASK => {
            let process = call.process();
            Ok(u64::from(std::mem::replace(&mut process.umask, a as u32 & 0o777)))
        }
        n::READLINK => link(call, (AT_FDCWD, a), b, c as i32),
        n::READLINKAT => link(call, (a as i32, b), c, d as i32),
        n::CHROOT | n::PIVOT_ROOT | n::MOUNT | n::UMOUNT2 => Err(Errno::EPERM),
        _ => return None,
    };
    Some(answer.into())
}

fn entries(call: &mut Call<'_>, fd: i32, to: u64, room: u32, old: bool) -> Answer {
    let file = call.file(fd)?;
    let room = (room as usize).min(CHUNK);
    if writable(call, &[(to, room.min(1))]) < room.min(1) {
        return Err(Errno::EFAULT);
    }
    let mut bytes = call.with_files(|files, caller| files.entries(caller, file, room))?;
    if old {
        to_old_layout(&mut bytes);
    }
    call.put(to, &bytes)?;
    Ok(bytes.len() as u64)
}

/// `getdents` has the type at the very end of an entry, and the same sizes.
fn to_old_layout(bytes: &mut [u8]) {
    let mut rest = bytes;
    while rest.len() > HEAD {
        let size = usize::from(u16::from_le_bytes([rest[16], rest[17]]));
        let (entry, behind) = rest.split_at_mut(size);
        let kind = entry[HEAD - 1];
        entry.copy_within(HEAD.., HEAD - 1);
        entry[size - 1] = kind;
        rest = behind;
    }
}

fn current(call: &mut Call<'_>, to: u64, room: u64) -> Answer {
    let cwd = call.process().cwd;
    let mut path = call.kernel.files.cwd_path(cwd)?;
    path.push(0);
    if path.len() as u64 > room {
        return Err(Errno::ERANGE);
    }
    call.put(to, &path)?;
    Ok(path.len() as u64)
}

fn link(call: &mut Call<'_>, (dirfd, path): (i32, u64), to: u64, room: i32) -> Answer {
    if room <= 0 {
        return Err(Errno::EINVAL);
    }
    // An empty path asks for the link that the descriptor stands for.
    let flags = if dirfd == AT_FDCWD { 0 } else { AT_EMPTY_PATH };
    let (base, path) = place_or_file(call, dirfd, path, flags)?;
    let text = call.with_files(|files, caller| files.read_link(caller, base, &path))?;
    let count = text.len().min(room as usize);
    call.put(to, &text[..count])?;
    Ok(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_entries_end_in_their_type() {
        let mut bytes = vec![0; 24];
        bytes[16] = 24;
        bytes[18] = DT_DIR;
        bytes[19..21].copy_from_slice(b"ab");
        let again = bytes.clone();
        bytes.extend(again);
        to_old_layout(&mut bytes);
        for entry in bytes.chunks(24) {
            assert_eq!(&entry[16..22], &[24, 0, b'a', b'b', 0, 0]);
            assert_eq!(entry[23], DT_DIR);
        }
    }
}
