//! Reads NPY files.

use super::array::Array;
use super::header::Header;
use crate::draft::Draft;
use crate::error::Result;
use crate::feed::{Feed, Opened, Survey};
use crate::read::ReadOptions;
use crate::selection::Selection;
use crate::source::Source;

/// Opens an NPY file.
pub(crate) fn open(source: Source, options: &ReadOptions) -> Result<Opened> {
    let name = source.name.clone();
    let watched = source.watched();
    let mut bytes = source.into_bytes();
    let header = Header::read(&mut bytes, &name)?;
    let array = Array::new(bytes, header, &name)?;
    let names = column_names(array.n_columns());
    let selection = Selection::resolve(&name, &names, options.columns.as_deref(), options.target.as_deref())?;
    array.number_type()?;
    let mut draft = Draft::new(&name, names, &selection);
    (0..array.n_columns()).for_each(|position| draft.declare_numbers(position));
    let single_precision = array.is_single();
    let feed: Box<dyn Feed> = Box::new(array);
    let survey = Survey::UntilKnown;
    Ok(Opened { name, feed, draft, survey, watched, single_precision, number_in_header: false })
}

/// The names `x1`, `x2`, … of the columns of an array.
pub(crate) fn column_names(n_columns: usize) -> Vec<String> {
    (1..=n_columns).map(|position| format!("x{position}")).collect()
}

impl Feed for Array {
    fn n_rows(&self) -> Option<usize> {
        Some(Array::n_rows(self))
    }

    fn read_rows(&mut self, draft: &mut Draft, most_rows: usize) -> Result<usize> {
        Array::read_rows(self, draft, most_rows)
    }

    fn can_rewind(&self) -> bool {
        Array::can_rewind(self)
    }

    fn rewind(&mut self) -> Result<()> {
        Array::rewind(self)
    }
}
