//! Members of an archive side by side, so that mutations reach what a checksum guards.
//!
//! A packed archive is `PACKED`, then for each member the length of its name in one byte, the name, the length of its
//! bytes in four, and the bytes. Lengths that reach too far end where the input ends.

use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

const PACKED: &[u8] = b"PACK";

/// Members side by side.
pub(crate) fn packed(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = PACKED.to_vec();
    for (name, bytes) in members {
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(bytes);
    }
    out
}

/// An archive with checksums that hold of members side by side; other bytes as they are.
pub(crate) fn archive(data: &[u8]) -> Vec<u8> {
    let Some(rest) = data.strip_prefix(PACKED) else { return data.to_vec() };
    zipped(&members(rest)).unwrap_or_else(|| data.to_vec())
}

fn members(mut rest: &[u8]) -> Vec<(String, &[u8])> {
    fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
        let (taken, left) = rest.split_at(count.min(rest.len()));
        *rest = left;
        taken
    }
    let mut found = Vec::new();
    while !rest.is_empty() && found.len() < 32 {
        let length = usize::from(take(&mut rest, 1)[0]);
        let name = String::from_utf8_lossy(take(&mut rest, length)).into_owned();
        let size = take(&mut rest, 4).iter().rev().fold(0usize, |size, byte| size << 8 | usize::from(*byte));
        found.push((name, take(&mut rest, size)));
    }
    found
}

fn zipped(members: &[(String, &[u8])]) -> Option<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive.start_file(name.as_str(), SimpleFileOptions::default()).ok()?;
        archive.write_all(bytes).ok()?;
    }
    Some(archive.finish().ok()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back_and_bad_lengths_end_at_the_end() {
        let bytes = packed(&[("a.npy", b"one".to_vec()), ("b", Vec::new())]);
        let found = members(&bytes[PACKED.len()..]);
        assert_eq!(found, [("a.npy".to_string(), &b"one"[..]), ("b".to_string(), &b""[..])]);
        assert_eq!(members(&[200, b'x']), [("x".to_string(), &b""[..])]);
        assert!(archive(&bytes).starts_with(b"PK"));
        assert_eq!(archive(b"other"), b"other");
    }
}
