//! The arrays in an NPZ archive.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::repeated::repeated_name;
use crate::bytes::{Bytes, Section};
use crate::error::{Report, Result, TableError, quoted};
use crate::npy::{Array, Header};
use crate::source::Source;

/// An array in an archive.
pub(crate) struct Member {
    /// Its name without `.npy`.
    pub(crate) name: String,
    pub(crate) index: usize,
    pub(crate) header: Header,
    /// Its bytes in the file, and whether they are compressed.
    start: u64,
    end: u64,
    deflated: bool,
}

impl Member {
    pub(crate) fn array(&self, file: &Arc<File>, name: &str) -> Result<Array> {
        Array::new(self.bytes(file, name)?, self.header.clone(), name)
    }

    /// The bytes that its data take once they are unpacked.
    pub(crate) fn unpacked(&self, name: &str) -> Result<u64> {
        self.header.data_bytes(name, self.header.element(name)?)
    }

    /// Its bytes, which begin with the header.
    pub(crate) fn bytes(&self, file: &Arc<File>, name: &str) -> Result<Bytes> {
        let n_bytes = file.metadata().map_err(|error| TableError::unreadable(name, error))?.len();
        let section = Section::new(Arc::clone(file), self.start, self.end.min(n_bytes));
        Ok(if self.deflated { Bytes::deflated(section) } else { Bytes::Section(section) })
    }
}

/// An archive and its arrays.
pub(crate) struct Contents {
    /// The name of the archive in messages.
    pub(crate) name: String,
    pub(crate) file: Arc<File>,
    pub(crate) members: Vec<Member>,
    /// What was wrong with the first member that could not be read and was passed over.
    pub(crate) trouble: Option<TableError>,
}

type Archive = ZipArchive<BufReader<Section>>;

impl Contents {
    /// Opens an archive, whose arrays must have different names; members that are not arrays are passed over.
    pub(crate) fn open(source: Source) -> Result<Self> {
        let name = source.name.clone();
        let (file, archive) = open_archive(source)?;
        let mut archive = refuse_repeated(archive, &name)?;
        let (members, trouble) = members(&mut archive, &name);
        match (members.is_empty(), trouble) {
            (false, trouble) => Ok(Self { name, file, members, trouble }),
            (true, Some(error)) => Err(error),
            (true, None) => Err(TableError::Binary(Report::new(
                &name,
                "it is a zip archive without a .npy member",
                "an NPZ file must hold at least one NumPy array",
                "Save the table as CSV (also from a spreadsheet), NPY, NPZ or Parquet",
            ))),
        }
    }
}

/// The names of the arrays of an archive, without `.npy`; no array is looked at.
pub(crate) fn member_names(source: Source) -> Result<Vec<String>> {
    let (_, archive) = open_archive(source)?;
    let names = archive.file_names().flatten();
    Ok(names.filter_map(|name| name.strip_suffix(".npy").map(str::to_owned)).collect())
}

/// Opens an archive; a pipe is copied into a temporary file first, because a zip archive ends with its list of members.
fn open_archive(source: Source) -> Result<(Arc<File>, Archive)> {
    let name = source.name.clone();
    let (file, section) = source.into_section()?;
    let archive = ZipArchive::new(BufReader::new(section)).map_err(|error| match error {
        // A refusal of the operating system is not the fault of the file.
        ZipError::Io(error) if error.raw_os_error().is_some() => TableError::unreadable(&name, error),
        other => broken(&name, &other.to_string()),
    })?;
    Ok((file, archive))
}

/// Refuses an archive in which two arrays have the same name: one of them would be passed over in silence.
fn refuse_repeated(archive: Archive, file: &str) -> Result<Archive> {
    if !archive.has_duplicate_names() {
        return Ok(archive);
    }
    let start = archive.central_directory_start();
    let mut bytes = archive.into_inner();
    match repeated_name(&mut bytes, start) {
        Ok(Some(repeated)) => Err(TableError::Layout(Report::new(
            file,
            format!("it has more than one member {}", quoted(&repeated)),
            "the arrays of an NPZ file must have different names",
            "Write the file again, for example with numpy.savez",
        ))),
        Ok(None) => ZipArchive::new(bytes).map_err(|error| broken(file, &error.to_string())),
        Err(error) => Err(TableError::unreadable(file, error)),
    }
}

/// The arrays of an archive, and what was wrong with the first member that could not be read.
fn members(archive: &mut Archive, file: &str) -> (Vec<Member>, Option<TableError>) {
    let mut members = Vec::new();
    let mut first_trouble = None;
    for index in 0..archive.len() {
        let mut entry = match archive.by_index(index) {
            Ok(entry) => entry,
            Err(error) => {
                first_trouble.get_or_insert(broken(file, &format!("member {}: {error}", index + 1)));
                continue;
            }
        };
        let name = entry.name().map(|name| name.into_owned()).unwrap_or_default();
        let Some(name) = name.strip_suffix(".npy") else { continue };
        match Header::read(&mut entry, &format!("{file}:{name}")) {
            Ok(header) => {
                let start = entry.data_start().unwrap_or_default();
                members.push(Member {
                    name: name.to_owned(),
                    index,
                    header,
                    start,
                    end: start.saturating_add(entry.compressed_size()),
                    deflated: entry.compression() != CompressionMethod::Stored,
                });
            }
            Err(error) => {
                first_trouble.get_or_insert(error);
            }
        }
    }
    (members, first_trouble)
}

fn broken(file: &str, found: &str) -> TableError {
    TableError::Binary(Report::new(
        file,
        format!("its archive cannot be read ({found})"),
        "an NPZ file must be a complete zip archive, stored or deflated",
        "Write the file again, for example with numpy.savez",
    ))
}
