//! Arrays of one name in an archive, which its own reader takes for one.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use crate::bytes::Section;

/// What an entry of the list of members begins with.
const SIGNATURE: [u8; 4] = *b"PK\x01\x02";

/// The fixed part of such an entry.
const FIXED_BYTES: usize = 46;

/// The first name without `.npy` that two arrays have in the list of members that begins at `start`.
pub(super) fn repeated_name(file: &mut BufReader<Section>, start: u64) -> io::Result<Option<String>> {
    file.seek(SeekFrom::Start(start))?;
    let mut seen = HashSet::new();
    while let Some(name) = next_name(file)? {
        let array = name.strip_suffix(b".npy").map(|name| String::from_utf8_lossy(name).into_owned());
        if !seen.insert(name)
            && let Some(array) = array
        {
            return Ok(Some(array));
        }
    }
    Ok(None)
}

/// The name in the next entry; none where the list ends.
fn next_name(list: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut fixed = [0; FIXED_BYTES];
    let signature_bytes = SIGNATURE.len();
    list.read_exact(&mut fixed[..signature_bytes])?;
    if !fixed.starts_with(&SIGNATURE) {
        return Ok(None);
    }
    list.read_exact(&mut fixed[signature_bytes..])?;
    let length = |at: usize| u64::from(u16::from_le_bytes([fixed[at], fixed[at + 1]]));
    let (n_name, n_extra, n_comment) = (length(28), length(30), length(32));
    let mut name = Vec::new();
    list.take(n_name).read_to_end(&mut name)?;
    io::copy(&mut list.take(n_extra + n_comment), &mut io::sink())?;
    Ok(Some(name))
}
