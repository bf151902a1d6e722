//! From a header and arrays to bytes.

use super::{Array, Header, METADATA_KEY, hex};
use crate::error::{Error, Result};
use safetensors::tensor::{Metadata, TensorInfo};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Most bytes of a table that the format allows.
pub(super) const LARGEST_TABLE: usize = 100_000_000;
/// The length of the table comes in this many bytes; tables are padded to a multiple of it.
pub(super) const LENGTH_BYTES: usize = 8;

/// What the checksum covers of an array beside its bytes.
pub(super) fn array_line(name: &str, dtype: &str, shape: &[usize]) -> String {
    format!("{name}\0{dtype}\0{shape:?}\0")
}

/// Hands the bytes of a model file to `take`, piece by piece. The header's checksums are found on the way.
///
/// The same header and arrays give the same bytes. Cost: two passes over the arrays; memory one chunk.
pub(crate) fn write(
    header: &Header,
    arrays: &[Array<'_>],
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    arrays.iter().try_for_each(Array::check)?;
    let header = Header { sha256: checksum(arrays)?, ..header.clone() };
    // Wide types first, then by name, as safetensors asks, so that every array is aligned.
    let mut arrays: Vec<&Array<'_>> = arrays.iter().collect();
    arrays.sort_by(|a, b| b.dtype().cmp(&a.dtype()).then(a.name.cmp(&b.name)));
    let table = table(&header, &arrays)?;
    take(&(table.len() as u64).to_le_bytes())?;
    take(table.as_bytes())?;
    arrays.iter().try_for_each(|array| array.each_chunk(take))
}

fn checksum(arrays: &[Array<'_>]) -> Result<String> {
    let mut sorted: Vec<&Array<'_>> = arrays.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut sum = Sha256::new();
    for array in sorted {
        sum.update(array_line(&array.name, &array.dtype().to_string(), &array.shape));
        array.each_chunk(&mut |bytes| {
            sum.update(bytes);
            Ok(())
        })?;
    }
    Ok(hex(&sum.finalize()))
}

/// The table as JSON, padded with blanks. Why one metadata entry: the order of several would be random.
fn table(header: &Header, arrays: &[&Array<'_>]) -> Result<String> {
    let mut end = 0;
    let entries = arrays.iter().map(|array| {
        let start = end;
        end += array.n_bytes();
        let info =
            TensorInfo { dtype: array.dtype(), shape: array.shape.clone(), data_offsets: (start, end) };
        (array.name.to_string(), info)
    });
    let entries = entries.collect();
    let failed = |e: String| {
        Error::model(format!("the arrays cannot be written ({e})"), "shapes must fit", "Fit the model again")
    };
    let metadata = HashMap::from([(METADATA_KEY.to_string(), header.to_text()?)]);
    let metadata = Metadata::new(Some(metadata), entries).map_err(|e| failed(e.to_string()))?;
    let mut text = serde_json::to_string(&metadata).map_err(|e| failed(e.to_string()))?;
    let padded = text.len().next_multiple_of(LENGTH_BYTES);
    if padded > LARGEST_TABLE {
        return Err(Error::model(
            format!("the header takes {} bytes", text.len()),
            format!("a model file allows {LARGEST_TABLE}"),
            "Shorten the column names",
        ));
    }
    text.extend(std::iter::repeat_n(' ', padded - text.len()));
    Ok(text)
}
