//! Tables in and out of eigenlift: CSV, TSV, NPY, NPZ and Parquet.
//!
//! [`read_table`] turns a file (or standard input, `-`) into a [`Table`]: numbers row by row, columns of text set
//! aside, the target column kept out of the data. [`write_table`] writes scores and the text carried in front of them.
//! Tables of any size are read and written some rows at a time, in memory for those rows, with [`TableStream`] and
//! [`TableWriter`]. [`read_sparse`] gives the rows of a sparse matrix that SciPy has saved. An output appears under
//! its name only when it is complete ([`AtomicFile`]).
//!
//! Every error says what was found and where, what was required, and what to do next; [`TableError::kind`] tells a
//! program how to end.
//!
//! ```
//! use eigenlift_io::{ReadOptions, read_table};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("flowers.csv");
//! std::fs::write(&path, "width,height,name\n1.5,2,iris\n0.5,4,rose\n")?;
//! let table = read_table(&path, &ReadOptions::default())?;
//! assert_eq!(table.names, ["width", "height"]);
//! assert_eq!(table.values, [1.5, 2.0, 0.5, 4.0]);
//! assert_eq!(table.text[0].values, ["iris", "rose"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod format;
mod table;
mod cell;
mod selection;
mod draft;
mod bytes;
mod watched;
mod source;
mod feed;
mod csv;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod read;
mod stream;
mod sparse;
mod atomic;
mod terminal;
mod outlet;
mod output;
mod sheet;
mod writer;
mod write;
mod identity;

pub use atomic::{AtomicFile, check_writable};
pub use eigenlift_atomic::remove_unfinished;
pub use error::{ErrorKind, Report, Result, TableError};
pub use format::Format;
pub use identity::same_file;
pub use output::Output;
pub use read::{ReadOptions, read_table, read_table_from};
pub use selection::named_places;
pub use source::spool_standard_input;
pub use sparse::{SparseTable, is_sparse, read_sparse, sparse_bytes};
pub use stream::TableStream;
pub use table::{Missing, Table, Target, TextColumn};
pub use terminal::{printable, printable_line};
pub use write::{csv_bytes, write_table};
pub use writer::{TableWriter, WriteOptions};
