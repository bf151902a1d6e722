//! From bytes to a checked header and arrays.

use super::arrays::{Array, CHUNK, Number, check_numbers};
use super::writer::{LARGEST_TABLE, LENGTH_BYTES, array_line};
use super::{ArrayInfo, COPY_AGAIN, Header, METADATA_KEY, SAVE_AGAIN, hex, shown};
use crate::data::SharedBuffer;
use crate::error::{Error, Result};
use safetensors::tensor::{Metadata, TensorInfo};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// Where bytes come from.
pub(crate) trait Source: Read + Seek {}
impl<S: Read + Seek> Source for S {}

/// A model file whose layout and header were checked, with arrays that are read when asked for; or its parts in memory.
pub(crate) struct ModelReader<'a> {
    header: Header,
    content: Content<'a>,
}

enum Content<'a> {
    File {
        source: Box<dyn Source + 'a>,
        table: Metadata,
        /// Where the arrays begin.
        start: u64,
    },
    Memory(Vec<Array<'a>>),
}

impl<'a> ModelReader<'a> {
    /// Opens a file and hands it to `then`; messages name the file.
    pub(crate) fn open_file<T>(
        path: &Path,
        then: impl FnOnce(&mut ModelReader<'_>) -> Result<T>,
    ) -> Result<T> {
        let io = |source| Error::Io { path: path.to_path_buf(), doing: "reading the model", source };
        let kind = fs::metadata(path).map_err(io)?;
        let named = |e: Error| match e {
            Error::Model { found, required, action } => {
                Error::Model { found: format!("{}: {found}", path.display()), required, action }
            }
            other => other,
        };
        // Asked before opening: to open a pipe is to wait for its other end.
        if !kind.is_file() {
            let what = if kind.is_dir() { "a folder" } else { "a pipe or device" };
            return Err(named(Error::model(
                what,
                "a model is a file",
                "Give the path of a .safetensors file",
            )));
        }
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        Self::new(Box::new(file), length).and_then(|mut reader| then(&mut reader)).map_err(named)
    }

    /// Reads a model file that is in memory.
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Result<Self> {
        Self::new(Box::new(Cursor::new(bytes)), bytes.len() as u64)
    }

    /// Takes a header and arrays that are in memory.
    pub(crate) fn from_parts(mut header: Header, arrays: Vec<Array<'a>>) -> Result<Self> {
        arrays.iter().try_for_each(Array::check)?;
        header.arrays = arrays.iter().map(Array::info).collect();
        Ok(Self { header, content: Content::Memory(arrays) })
    }

    fn new(mut source: Box<dyn Source + 'a>, length: u64) -> Result<Self> {
        let text = read_table(&mut *source, length)?;
        let table = parse_table(&text)?;
        let metadata = table.metadata().as_ref().and_then(|m| m.get(METADATA_KEY));
        let Some(words) = metadata else {
            return Err(Error::model(
                format!("a safetensors file of another program, without the metadata \"{METADATA_KEY}\""),
                "a model file says there which method it holds",
                "Give a file that eigenlift saved",
            ));
        };
        let start = (LENGTH_BYTES + text.len()) as u64;
        check_length(start, table.data_len(), length)?;
        let mut header = Header::from_text(words)?;
        header.arrays = sorted(&table).into_iter().map(|(name, info)| array_info(name, info)).collect();
        Ok(Self { header, content: Content::File { source, table, start } })
    }

    /// What the file says in words.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Refuses arrays whose bytes are not those that were saved. Cost: one pass over the file; none in memory.
    pub(crate) fn verify(&mut self) -> Result<()> {
        let Content::File { source, table, start } = &mut self.content else { return Ok(()) };
        let mut sum = Sha256::new();
        let mut chunk = vec![0; CHUNK * 8];
        for (name, info) in sorted(table) {
            sum.update(array_line(&name, &info.dtype.to_string(), &info.shape));
            let (from, to) = info.data_offsets;
            seek(&mut **source, *start, from)?;
            let mut left = to.saturating_sub(from);
            while left > 0 {
                let piece = &mut chunk[..left.min(CHUNK * 8)];
                source.read_exact(piece).map_err(unreadable)?;
                sum.update(&*piece);
                left -= piece.len();
            }
        }
        if hex(&sum.finalize()) == self.header.sha256 {
            return Ok(());
        }
        Err(Error::model(
            "the arrays do not match their checksum",
            "every byte must be as it was saved, but some were changed or damaged",
            COPY_AGAIN,
        ))
    }

    /// Refuses arrays beside those named.
    pub(crate) fn expect_only(&self, names: &[&str]) -> Result<()> {
        match self.header.arrays.iter().find(|array| !names.contains(&array.name.as_str())) {
            None => Ok(()),
            Some(array) => Err(Error::model(
                format!("an array \"{}\"", shown(&array.name)),
                format!("a {} model has {}", shown(&self.header.method), names.join(", ")),
                SAVE_AGAIN,
            )),
        }
    }

    /// The shape that the file says an array has.
    pub(crate) fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.header.arrays.iter().find(|array| array.name == name).map(|array| array.shape.clone())
    }

    /// The length of an array with one dimension.
    pub(crate) fn length(&self, name: &str) -> Result<usize> {
        match self.info(name)?.shape[..] {
            [length] => Ok(length),
            ref other => Err(wrong_shape(name, other, "one dimension")),
        }
    }

    /// All numbers of an array, which must have this type and shape and be finite.
    ///
    /// Why nothing large is allocated for a small file: the table's shapes were checked against the places of the
    /// arrays, and those against the length of the file.
    pub(crate) fn numbers<N: Number + std::fmt::Display>(
        &mut self,
        name: &str,
        shape: &[usize],
    ) -> Result<Vec<N>> {
        self.check_info::<N>(name, shape)?;
        let (source, table, start) = match &mut self.content {
            Content::File { source, table, start } => (source, table, *start),
            Content::Memory(arrays) => {
                let found = arrays.iter().find(|array| array.name == name);
                return Ok(found.and_then(|array| N::slice(&array.numbers)).unwrap_or_default().to_vec());
            }
        };
        let (from, to) = table.info(name).map_or((0, 0), |info| info.data_offsets);
        let mut left = to.saturating_sub(from);
        let mut numbers: Vec<N> = Vec::new();
        numbers.try_reserve_exact(left / N::WIDTH).map_err(|_| {
            Error::memory(
                format!("array \"{name}\" takes {left} bytes"),
                "that much memory must be free",
                "Free some",
            )
        })?;
        seek(&mut **source, start, from)?;
        let mut chunk = vec![0; left.min(CHUNK * N::WIDTH)];
        while left > 0 {
            let piece = &mut chunk[..left.min(CHUNK * N::WIDTH)];
            source.read_exact(piece).map_err(unreadable)?;
            numbers.extend(piece.chunks_exact(N::WIDTH).filter_map(N::take));
            left -= piece.len();
        }
        check_numbers(name, shape, &numbers)?;
        Ok(numbers)
    }

    /// As [`ModelReader::numbers`], without a copy, when the array lies in memory that the model may go on using.
    pub(crate) fn shared<N: Number>(
        &self,
        name: &str,
        shape: &[usize],
    ) -> Result<Option<Arc<dyn SharedBuffer<N>>>> {
        self.check_info::<N>(name, shape)?;
        Ok(match &self.content {
            Content::File { .. } => None,
            Content::Memory(arrays) => {
                arrays.iter().find(|array| array.name == name).and_then(|array| N::shared(&array.numbers))
            }
        })
    }

    fn check_info<N: Number>(&self, name: &str, shape: &[usize]) -> Result<()> {
        let info = self.info(name)?;
        if info.dtype != N::DTYPE.to_string() {
            return Err(Error::model(
                format!("array \"{name}\" has the type {}", info.dtype),
                format!("it must be {}", N::DTYPE),
                SAVE_AGAIN,
            ));
        }
        if info.shape != shape {
            return Err(wrong_shape(name, &info.shape, &format!("{shape:?}")));
        }
        Ok(())
    }

    fn info(&self, name: &str) -> Result<&ArrayInfo> {
        self.header.arrays.iter().find(|array| array.name == name).ok_or_else(|| {
            Error::model(
                format!("no array \"{name}\""),
                format!("a {} model needs it", shown(&self.header.method)),
                SAVE_AGAIN,
            )
        })
    }
}

fn wrong_shape(name: &str, found: &[usize], required: &str) -> Error {
    Error::model(
        format!("array \"{name}\" has the shape {found:?}"),
        format!("the header makes it {required}"),
        SAVE_AGAIN,
    )
}

fn seek(source: &mut dyn Source, start: u64, from: usize) -> Result<()> {
    source.seek(SeekFrom::Start(start.saturating_add(from as u64))).map(|_| ()).map_err(unreadable)
}

fn unreadable(e: std::io::Error) -> Error {
    Error::model(
        format!("the file could not be read to its end ({e})"),
        "it must stay as it is while it is read",
        COPY_AGAIN,
    )
}

fn array_info(name: String, info: &TensorInfo) -> ArrayInfo {
    ArrayInfo { name, dtype: info.dtype.to_string(), shape: info.shape.clone() }
}

fn sorted(table: &Metadata) -> Vec<(String, &TensorInfo)> {
    let mut arrays: Vec<_> = table.tensors().into_iter().collect();
    arrays.sort_by(|a, b| a.0.cmp(&b.0));
    arrays
}

fn foreign(found: String) -> Error {
    Error::model(
        found,
        "a model is a safetensors file: 8 bytes for a length, then a table in JSON",
        "Give a file that eigenlift saved; data goes where the command asks for data",
    )
}

fn truncated(found: String) -> Error {
    Error::model(found, "the file is truncated", COPY_AGAIN)
}

/// The table's text, read only when the file is long enough to hold it.
fn read_table(source: &mut dyn Source, length: u64) -> Result<String> {
    if length == 0 {
        return Err(foreign("an empty file".into()));
    }
    let mut first = [0; LENGTH_BYTES + 1];
    if length < first.len() as u64 {
        return Err(foreign(format!("a file of {length} bytes")));
    }
    source.read_exact(&mut first).map_err(unreadable)?;
    let (size, opening) = first.split_at(LENGTH_BYTES);
    let size = u64::take(size).unwrap_or(u64::MAX);
    if opening != b"{" || size > LARGEST_TABLE as u64 {
        return Err(foreign("not a safetensors file".into()));
    }
    let there = length - LENGTH_BYTES as u64;
    if size > there {
        return Err(truncated(format!("the table should take {size} bytes and {there} are there")));
    }
    seek(source, 0, LENGTH_BYTES)?;
    // At most LARGEST_TABLE, so that it fits a usize.
    let mut bytes = vec![0; size as usize];
    source.read_exact(&mut bytes).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| foreign("not a safetensors file: its table is not text".into()))
}

/// The table, with shapes checked against the places of arrays, and places against each other.
fn parse_table(text: &str) -> Result<Metadata> {
    serde_json::from_str(text).map_err(|e| {
        if e.is_data() {
            let required = "types, shapes and places of the arrays must fit each other, without gaps";
            Error::model(format!("the table of arrays cannot be used ({e})"), required, COPY_AGAIN)
        } else {
            foreign(format!("not a safetensors file: its table is not JSON ({e})"))
        }
    })
}

/// Compares the end of the last array with the end of the file.
fn check_length(start: u64, data: usize, length: u64) -> Result<()> {
    let needed = u128::from(start) + data as u128;
    let length = u128::from(length);
    if length < needed {
        return Err(truncated(format!("the file should have {needed} bytes and has {length}")));
    }
    if length > needed {
        return Err(Error::model(
            format!("{} bytes follow the last array", length - needed),
            "the file must end there",
            COPY_AGAIN,
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::super::{Array, Numbers, write};
    use super::*;

    fn file(arrays: &[Array<'_>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&example(), arrays, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        bytes
    }

    #[test]
    fn arrays_of_every_type_and_of_many_chunks_come_back() {
        let long: Vec<f64> = (0..3 * CHUNK + 5).map(|i| (i as f64).sqrt()).collect();
        let arrays = [
            Array::f64("long", &[long.len()], &long),
            Array::new("single", &[1, 2], Numbers::F32(vec![-0.0f32, f32::MIN_POSITIVE].into())),
            Array::new("columns", &[2], Numbers::U32(vec![0, u32::MAX].into())),
            Array::new("offsets", &[1], Numbers::U64(vec![u64::MAX].into())),
            Array::f64("none", &[0, 7], &[]),
        ];
        let bytes = file(&arrays);
        let mut reader = ModelReader::from_bytes(&bytes).unwrap();
        reader.verify().unwrap();
        assert_eq!(reader.numbers::<f64>("long", &[long.len()]).unwrap(), long);
        assert_eq!(reader.numbers::<f32>("single", &[1, 2]).unwrap()[0].to_bits(), (-0.0f32).to_bits());
        assert_eq!(reader.numbers::<u32>("columns", &[2]).unwrap(), [0, u32::MAX]);
        assert_eq!(reader.numbers::<u64>("offsets", &[1]).unwrap(), [u64::MAX]);
        assert!(reader.numbers::<f64>("none", &[0, 7]).unwrap().is_empty());
        assert_eq!(reader.length("long").unwrap(), long.len());
        assert!(reader.expect_only(&["long", "single", "columns", "offsets"]).is_err());
    }

    #[test]
    fn a_file_that_shrinks_while_it_is_read_is_an_error() {
        let numbers = [1.0, 2.0, 3.0];
        let bytes = file(&[Array::f64("a", &[3], &numbers)]);
        let length = bytes.len() as u64;
        let shorter = &bytes[..bytes.len() - 4];
        let mut reader = ModelReader::new(Box::new(Cursor::new(shorter)), length).unwrap();
        assert!(reader.verify().unwrap_err().to_string().contains("could not be read to its end"));
        assert!(reader.numbers::<f64>("a", &[3]).is_err());
    }

    #[test]
    fn ends_near_the_largest_number_do_not_overflow() {
        assert!(check_length(u64::MAX, usize::MAX, 8).unwrap_err().to_string().contains("truncated"));
    }
}
