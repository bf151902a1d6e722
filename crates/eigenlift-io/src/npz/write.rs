//! Writes NPZ files.

use std::io::{self, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::DATA_MEMBER;
use crate::npy;
use crate::write::Output;

/// Writes the numbers as the member `X` and each text column as a member under its own name.
pub(crate) fn write<W: Write + Seek>(sink: W, output: &Output<'_>) -> io::Result<W> {
    let mut archive = ZipWriter::new(sink);
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    if !output.names.is_empty() {
        archive.start_file(format!("{DATA_MEMBER}.npy"), options).map_err(io::Error::from)?;
        let mut buffered = io::BufWriter::new(&mut archive);
        let shape = (output.n_rows, output.names.len());
        npy::write_numbers(&mut buffered, output.values, shape, output.single_precision)?;
        buffered.flush()?;
    }
    for (name, cells) in output.text {
        let mut name = (*name).to_owned();
        if name == DATA_MEMBER {
            name.push('_');
        }
        archive.start_file(format!("{name}.npy"), options).map_err(io::Error::from)?;
        let mut buffered = io::BufWriter::new(&mut archive);
        npy::write_text(&mut buffered, cells)?;
        buffered.flush()?;
    }
    archive.finish().map_err(io::Error::from)
}
