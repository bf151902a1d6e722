//! The bytes of an input, read in order and, where that is possible, again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use flate2::bufread::DeflateDecoder;

/// How much of a compressed part is read at a time.
const PACKED_BUFFER: usize = 1 << 16;

/// No compressed byte stands for more bytes than this.
const LARGEST_RATIO: u64 = 1032;

/// Bytes that are read in order.
pub(crate) enum Bytes {
    /// A part of a file.
    Section(Section),
    /// A part of a file that is compressed.
    Deflated(Box<DeflateDecoder<BufReader<Section>>>),
    /// A pipe or a device, which can be read once: what was already taken from it, and the rest.
    Once(Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>),
}

impl Bytes {
    pub(crate) fn deflated(section: Section) -> Self {
        let packed = BufReader::with_capacity(PACKED_BUFFER, section);
        Self::Deflated(Box::new(DeflateDecoder::new(packed)))
    }

    pub(crate) fn once(head: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        Self::Once(Cursor::new(head).chain(rest))
    }

    /// Whether the bytes can be read again.
    pub(crate) fn can_rewind(&self) -> bool {
        !matches!(self, Self::Once(_))
    }

    /// Whether any place can be reached without reading what is before it.
    pub(crate) fn can_seek(&self) -> bool {
        matches!(self, Self::Section(_))
    }

    /// The most bytes there can be; `None` for a pipe.
    pub(crate) fn most_bytes(&self) -> Option<u64> {
        match self {
            Self::Section(section) => Some(section.n_bytes()),
            Self::Deflated(decoder) => {
                Some(decoder.get_ref().get_ref().n_bytes().saturating_add(1).saturating_mul(LARGEST_RATIO))
            }
            Self::Once(_) => None,
        }
    }

    /// Goes to a place, counted from the first byte.
    pub(crate) fn go_to(&mut self, offset: u64) -> io::Result<()> {
        match self {
            Self::Section(section) => {
                section.go_to(offset);
                Ok(())
            }
            Self::Deflated(decoder) => {
                let mut section = decoder.get_ref().get_ref().clone();
                section.go_to(0);
                **decoder = DeflateDecoder::new(BufReader::with_capacity(PACKED_BUFFER, section));
                let skipped = io::copy(&mut decoder.as_mut().take(offset), &mut io::sink())?;
                if skipped < offset { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
            }
            Self::Once(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Section(section) => section.read(buffer),
            Self::Deflated(decoder) => decoder.read(buffer),
            Self::Once(chain) => chain.read(buffer),
        }
    }
}

/// A part of a file. Several parts of one file can be read side by side.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    file: Arc<File>,
    start: u64,
    at: u64,
    end: u64,
}

impl Section {
    /// The bytes of a file from `start` up to `end`.
    pub(crate) fn new(file: Arc<File>, start: u64, end: u64) -> Self {
        Self { file, start, at: start, end: end.max(start) }
    }

    /// Copies all bytes into a nameless temporary file.
    pub(crate) fn spool(bytes: &mut dyn Read) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        let n_bytes = io::copy(bytes, &mut file)?;
        Ok(Self::new(Arc::new(file), 0, n_bytes))
    }

    pub(crate) fn n_bytes(&self) -> u64 {
        self.end - self.start
    }

    pub(crate) fn go_to(&mut self, offset: u64) {
        self.at = self.start.saturating_add(offset);
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        if wanted == 0 {
            return Ok(0);
        }
        // Why: other sections share the file and its place, so each read finds its own.
        let mut file = self.file.as_ref();
        file.seek(SeekFrom::Start(self.at))?;
        let n = file.read(buffer.get_mut(..wanted).unwrap_or_default())?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Section {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(offset) => {
                self.go_to(offset);
                return Ok(offset);
            }
            SeekFrom::End(by) => (self.n_bytes(), by),
            SeekFrom::Current(by) => (self.at - self.start, by),
        };
        let offset = from.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
        self.go_to(offset);
        Ok(offset)
    }
}

/// Reads until `wanted` bytes are there or the input ends; says how many are at the front of `block`, which grows only as
/// bytes come in.
pub(crate) fn read_block(input: &mut dyn Read, block: &mut Vec<u8>, wanted: usize) -> io::Result<usize> {
    const STEP: usize = 1 << 20;
    let mut have = 0;
    while have < wanted {
        let end = wanted.min(have + STEP);
        if block.len() < end {
            block.resize(end, 0);
        }
        match input.read(block.get_mut(have..end).unwrap_or_default()) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(have)
}

/// Takes the bytes up to the last line end, all of them where there is none.
pub(crate) fn complete_lines(head: &[u8]) -> &[u8] {
    let end = head.iter().rposition(|&byte| byte == b'\n' || byte == b'\r').map_or(head.len(), |at| at + 1);
    head.get(..end).unwrap_or_default()
}

/// An input that is read in small pieces.
pub(crate) fn buffered(bytes: Bytes) -> BufReader<Bytes> {
    BufReader::with_capacity(1 << 18, bytes)
}

/// Goes to a place, and forgets what is buffered.
pub(crate) fn restart(input: &mut BufReader<Bytes>, offset: u64) -> io::Result<()> {
    let n_buffered = input.buffer().len();
    input.consume(n_buffered);
    input.get_mut().go_to(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn sections_of_one_file_do_not_disturb_each_other() {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(b"0123456789").expect("some bytes");
        let file = Arc::new(file);
        let mut front = Section::new(Arc::clone(&file), 0, 4);
        let mut back = Section::new(file, 6, 9);
        let mut two = [0; 2];
        front.read_exact(&mut two).expect("two bytes");
        back.read_exact(&mut two).expect("two bytes");
        assert_eq!(&two, b"67");
        let mut rest = String::new();
        front.read_to_string(&mut rest).expect("the rest");
        assert_eq!(rest, "23");
        back.go_to(0);
        rest.clear();
        back.read_to_string(&mut rest).expect("all of it");
        assert_eq!(rest, "678");
        assert_eq!(front.seek(SeekFrom::End(-1)).expect("inside"), 3);
    }

    #[test]
    fn compressed_bytes_are_read_again() {
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&[b'x'; 1000]).expect("some bytes");
        packed.write_all(b"end").expect("some bytes");
        let packed = packed.finish().expect("packed");
        let mut bytes = Bytes::deflated(Section::spool(&mut packed.as_slice()).expect("a temporary file"));
        for _ in 0..2 {
            bytes.go_to(1000).expect("inside");
            let mut text = String::new();
            bytes.read_to_string(&mut text).expect("text");
            assert_eq!(text, "end");
        }
        assert!(bytes.go_to(2000).is_err());
    }
}
