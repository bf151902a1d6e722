//! A table becomes samples, and what is carried beside them.

use crate::args::{InputArgs, Precision};
use crate::exit::Failure;
use crate::room::check_room;
use crate::table::{Carried, DataAccount, column_places, read_options, sparse_table};
use crate::words::timed;
use eigenlift::data::{AnySamples, Csr};
use eigenlift::matrix::Matrix;
use eigenlift_io::{SparseTable, Table, is_sparse, read_table};
use std::path::Path;

/// A table that was read.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) account: DataAccount,
    pub(crate) values: Vec<f64>,
    pub(crate) sparse: Option<SparseTable>,
    pub(crate) carried: Carried,
    pub(crate) seconds: f64,
}

/// Rows that belong together.
#[derive(Clone, Debug)]
pub(crate) enum Groups {
    Text(Vec<String>),
    /// A column that stood in this place among the data.
    Numbers {
        name: String,
        at: usize,
        values: Vec<f64>,
    },
}

impl Input {
    /// Reads the table that the command line names.
    pub(crate) fn read(args: &InputArgs) -> Result<Self, Failure> {
        check_room(args, None)?;
        if is_sparse(&args.data) {
            return Self::read_sparse(args);
        }
        let (table, seconds) = timed(|| read_table(&args.data, &read_options(args)));
        Ok(Self::from_table(&args.data, table?, seconds))
    }

    fn read_sparse(args: &InputArgs) -> Result<Self, Failure> {
        let (table, seconds) = timed(|| sparse_table(args));
        let table = table?;
        let account = DataAccount::of_sparse(&args.data, &table);
        Ok(Self { account, values: Vec::new(), sparse: Some(table), carried: Carried::default(), seconds })
    }

    /// Takes the column of weights out of the data.
    pub(crate) fn take_weights(&mut self, name: Option<&str>) -> Result<Option<Vec<f64>>, Failure> {
        let Some(name) = name else { return Ok(None) };
        let at = self.account.take_weights(name)?;
        Ok(Some(self.take_values(at)))
    }

    /// Takes the column of groups out of the data; one of text stays among those that are carried.
    pub(crate) fn take_groups(&mut self, name: &str) -> Result<Groups, Failure> {
        self.account.groups = Some(name.to_owned());
        if let Some(column) = self.carried.text.iter().find(|column| column.name == name) {
            return Ok(Groups::Text(column.values.clone()));
        }
        let at = self.account.take_column(name, ("--groups", "groups"))?;
        Ok(Groups::Numbers { name: name.to_owned(), at, values: self.take_values(at) })
    }

    /// Takes the numbers out that stood in this place of every row.
    fn take_values(&mut self, at: usize) -> Vec<f64> {
        let width = self.account.columns + 1;
        let taken = self.values.iter().skip(at).step_by(width).copied().collect();
        let kept = self.values.iter().enumerate().filter(|(i, _)| i % width != at);
        self.values = kept.map(|(_, x)| *x).collect();
        self.account.entries = self.values.len();
        taken
    }

    /// A table that was read in `seconds`.
    pub(crate) fn from_table(path: &Path, table: Table, seconds: f64) -> Self {
        let constant = constant_columns(&table);
        let header_has_number = table.number_in_header;
        let mut account = DataAccount {
            path: path.to_owned(),
            rows: table.n_rows,
            columns: table.names.len(),
            entries: table.values.len(),
            column_names: table.names,
            set_aside: table.text.iter().map(|column| column.name.clone()).collect(),
            target: table.target.as_ref().map(|target| target.name.clone()),
            weights: None,
            groups: None,
            dropped_rows: table.dropped_rows,
            imputed_cells: table.imputed_cells,
            ignored: Vec::new(),
            constant_columns: constant,
            views: Vec::new(),
            readings: None,
            warnings: Vec::new(),
        };
        account.note_header(header_has_number);
        account.note_large_integers(table.large_integers);
        Self {
            account,
            values: table.values,
            sparse: None,
            carried: Carried { text: table.text, target: table.target },
            seconds,
        }
    }

    /// Takes the columns that a model was fitted on, in its order.
    pub(crate) fn match_columns(&mut self, wanted: &[String], n_wanted: usize) -> Result<(), Failure> {
        let named = if self.sparse.is_some() { &[] } else { wanted };
        let Some(places) = column_places(&self.account, named, n_wanted, "the model")? else {
            return Ok(());
        };
        let width = self.account.columns;
        if places.iter().copied().ne(0..width) {
            let row = |i: usize| places.iter().map(move |j| i * width + j);
            self.values = (0..self.account.rows).flat_map(row).map(|at| self.values[at]).collect();
        }
        self.account.take_columns(wanted);
        Ok(())
    }

    /// The numbers as samples; they are moved, not copied, in double precision.
    pub(crate) fn take_samples(&mut self, precision: Precision) -> Result<AnySamples, Failure> {
        let (n, d) = (self.account.rows, self.account.columns);
        if let Some(table) = self.sparse.take() {
            let SparseTable { offsets, columns, values, .. } = table;
            return Ok(match precision {
                Precision::F64 => AnySamples::F64(Csr::new(offsets, columns, values, d)?.into()),
                Precision::F32 => {
                    let values = values.into_iter().map(|x| x as f32).collect();
                    AnySamples::F32(Csr::new(offsets, columns, values, d)?.into())
                }
            });
        }
        let values = std::mem::take(&mut self.values);
        Ok(match precision {
            Precision::F64 => Matrix::from_vec(values, n, d)?.into(),
            Precision::F32 => Matrix::from_vec(values.into_iter().map(|x| x as f32).collect(), n, d)?.into(),
        })
    }
}

fn constant_columns(table: &Table) -> Vec<String> {
    let width = table.names.len().max(1);
    let first = table.values.get(..width).unwrap_or_default();
    let mut constant = vec![true; first.len()];
    for row in table.values.chunks_exact(width) {
        for ((same, x), x0) in constant.iter_mut().zip(row).zip(first) {
            *same &= x == x0;
        }
    }
    table.names.iter().zip(constant).filter(|(_, same)| *same).map(|(name, _)| name.clone()).collect()
}
