//! A table that is read a piece at a time.

mod supply;

use supply::Supply;

use crate::args::{InputArgs, MachineArgs};
use crate::exit::Failure;
use crate::room::{check_room, file_of};
use crate::standard::is_standard;
use crate::table::{Carried, DataAccount, column_places, read_options, sparse_table};
use eigenlift::data::{AnyPoints, RowSource};
use eigenlift::engine::{Cpu, Engine};
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::Fitted;
use eigenlift::progress::Watch;
use eigenlift_io::{Format, Missing, TableError, TableStream, Target, is_sparse, spool_standard_input};

/// Share of the memory allowed that samples may take when they are read as a whole.
const SHARE_OF_SAMPLES: f64 = 0.5;
/// Share of the free memory that is used when nothing else is said.
const SHARE_OF_FREE: f64 = 0.8;
/// How much larger a table may be in memory than as text: a digit and a comma become eight bytes.
const TEXT_GROWTH: u64 = 4;
/// Rows of a table read in pieces that a picture shows.
const SHOWN_ROWS: usize = 20_000;
/// Bytes of rows in hand, and the most rows.
const PIECE_BYTES: usize = 32 << 20;
const PIECE_ROWS: usize = 8192;

/// A table that is read a piece at a time, with what is carried beside its numbers.
pub(crate) struct TableRows {
    supply: Supply,
    /// Columns of a row that are taken, in the order of the model.
    places: Option<Vec<usize>>,
    pub(crate) account: DataAccount,
    missing: Missing,
    counted: Option<usize>,
    single: bool,
    /// Whether the last of the columns taken holds weights.
    weighted: bool,
    same: Same,
    /// Whether it was looked whether integers were too large.
    told_large: bool,
}

/// Which columns are the same in every row so far.
#[derive(Default)]
struct Same {
    first: Vec<f64>,
    columns: Vec<bool>,
}

/// Some rows.
pub(crate) struct Piece {
    pub(crate) rows: Matrix<f64>,
    pub(crate) carried: Carried,
}

impl TableRows {
    /// Opens the table that the command line names.
    pub(crate) fn open(args: &InputArgs) -> Result<Self, Failure> {
        if is_sparse(&args.data) {
            let table = sparse_table(args)?;
            let account = DataAccount::of_sparse(&args.data, &table);
            return Ok(Self::new(Supply::Sparse { table, at: 0 }, account, args.missing));
        }
        let stream = TableStream::open(&args.data, &read_options(args))?;
        let mut account = DataAccount {
            path: args.data.clone(),
            rows: stream.n_rows().unwrap_or(0),
            columns: stream.names().len(),
            column_names: stream.names().to_vec(),
            set_aside: stream.text_names().to_vec(),
            target: stream.target_name().map(str::to_owned),
            ..DataAccount::default()
        };
        account.note_header(stream.number_in_header());
        Ok(Self::new(Supply::Stream(Box::new(stream)), account, args.missing))
    }

    fn new(supply: Supply, account: DataAccount, missing: Missing) -> Self {
        Self {
            supply,
            places: None,
            account,
            missing,
            counted: None,
            single: false,
            weighted: false,
            same: Same::default(),
            told_large: false,
        }
    }

    /// Gives rows in single precision from now on.
    pub(crate) fn in_single_precision(mut self, single: bool) -> Self {
        self.single = single;
        self
    }

    /// Puts the column of weights behind the data.
    pub(crate) fn take_weights(&mut self, name: Option<&str>) -> Result<(), Failure> {
        let Some(name) = name else { return Ok(()) };
        let at = self.account.take_weights(name)?;
        let others = (0..self.account.columns + 1).filter(|j| *j != at);
        self.places = Some(others.chain([at]).collect());
        self.weighted = true;
        Ok(())
    }

    /// Leaves the weights out from now on.
    pub(crate) fn drop_weights(&mut self) {
        if std::mem::take(&mut self.weighted) {
            self.places.iter_mut().for_each(|places| places.truncate(self.account.columns));
        }
    }

    /// Columns of a row, weights included.
    fn width(&self) -> usize {
        self.account.columns + usize::from(self.weighted)
    }

    /// Takes the columns that a model was fitted on, in its order.
    pub(crate) fn match_columns(&mut self, wanted: &[String], n_wanted: usize) -> Result<(), Failure> {
        let account = &mut self.account;
        if let Some(places) = column_places(account, wanted, n_wanted, "the model")? {
            account.take_columns(wanted);
            self.places = Some(places);
        }
        Ok(())
    }

    /// Names of what is carried in front of the scores.
    pub(crate) fn carried_names(&self) -> Vec<String> {
        self.account.set_aside.iter().chain(&self.account.target).cloned().collect()
    }

    /// Rows, where they are known without reading them all.
    pub(crate) fn rows_if_known(&self) -> Option<usize> {
        let sure = self.missing != Missing::Drop;
        self.counted.or(self.supply.n_rows().filter(|_| sure))
    }

    /// About as many bytes as are held besides rows in hand.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.supply.held_bytes()
    }

    /// How often the table was read so far.
    pub(crate) fn readings(&self) -> usize {
        self.supply.readings()
    }

    /// Rows that fit into one piece.
    pub(crate) fn piece_rows(&self) -> usize {
        (PIECE_BYTES / (8 * self.account.columns.max(1))).clamp(16, PIECE_ROWS)
    }

    /// The next rows.
    pub(crate) fn next_piece(&mut self, most_rows: usize) -> Result<Option<Piece>, TableError> {
        let Some(rows) = self.supply.next(most_rows)? else {
            (self.account.dropped_rows, self.account.imputed_cells) = self.supply.treated();
            self.account.constant_columns = self.same.names(&self.account.column_names);
            if !std::mem::replace(&mut self.told_large, true) {
                self.account.note_large_integers(self.supply.large_integers());
            }
            return Ok(None);
        };
        let (values, n_rows) = (rows.values, rows.n_rows);
        let values = match &self.places {
            None => values,
            Some(places) => values
                .chunks_exact(self.supply.width().max(1))
                .flat_map(|row| places.iter().map(|j| row[*j]))
                .collect(),
        };
        let width = self.width();
        self.same.see(&values, width);
        let matrix = Matrix::from_vec(values, n_rows, width);
        // No table leads here: rows were cut by these very numbers.
        let matrix = matrix.unwrap_or_else(|problem| panic!("rows of a table: {problem}"));
        Ok(Some(Piece { rows: matrix, carried: rows.carried }))
    }

    /// The first of every `step` rows from the start of the table, and their labels.
    pub(crate) fn evenly(
        &mut self,
        step: usize,
        watch: &Watch,
    ) -> Result<(Matrix<f64>, Option<Target>), Failure> {
        let (mut values, mut target, mut at) = (Vec::new(), None::<Target>, 0);
        let total = self.rows_if_known().unwrap_or(0);
        RowSource::rewind(self)?;
        while let Some(piece) = self.next_piece(self.piece_rows())? {
            watch.step("drawing rows", at, total)?;
            let picked = || (0..piece.rows.n_rows()).filter(|i| (at + i) % step == 0);
            values.extend(picked().flat_map(|i| piece.rows.row(i)));
            if let Some(label) = &piece.carried.target {
                let all = target.get_or_insert_with(|| Target { values: Vec::new(), ..label.clone() });
                all.numeric &= label.numeric;
                all.values.extend(picked().map(|i| label.values[i].clone()));
            }
            at += piece.rows.n_rows();
        }
        let width = self.width();
        Ok((Matrix::from_vec(values, at.div_ceil(step), width)?, target))
    }

    fn count(&mut self) -> Result<usize, TableError> {
        if let Some(n) = self.rows_if_known() {
            return Ok(n);
        }
        let n = self.supply.count(self.piece_rows())?;
        self.counted = Some(n);
        self.account.rows = n;
        Ok(n)
    }
}

impl Same {
    fn see(&mut self, values: &[f64], width: usize) {
        if self.first.is_empty() {
            self.first = values.get(..width).unwrap_or_default().to_vec();
            self.columns = vec![true; self.first.len()];
        }
        for row in values.chunks_exact(width.max(1)) {
            for ((same, x), x0) in self.columns.iter_mut().zip(row).zip(&self.first) {
                *same &= x == x0;
            }
        }
    }

    fn names(&self, names: &[String]) -> Vec<String> {
        names.iter().zip(&self.columns).filter(|(_, same)| **same).map(|(name, _)| name.clone()).collect()
    }
}

fn failed(error: TableError) -> Error {
    Error::Source(Box::new(error))
}

impl RowSource for TableRows {
    fn n_cols(&self) -> usize {
        self.width()
    }

    fn n_rows(&mut self) -> Result<usize, Error> {
        self.count().map_err(failed)
    }

    fn precision(&self) -> &'static str {
        if self.single { "f32" } else { "f64" }
    }

    fn most_rows(&self) -> usize {
        self.piece_rows()
    }

    fn rewind(&mut self) -> Result<(), Error> {
        self.supply.rewind().map_err(failed)
    }

    fn next_rows(
        &mut self,
        most_rows: usize,
        visit: &mut dyn FnMut(AnyPoints<'_>) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let most_rows = most_rows.min(self.piece_rows());
        let Some(piece) = self.next_piece(most_rows).map_err(failed)? else { return Ok(false) };
        if self.single {
            let rows = AnyPoints::from(&piece.rows).to_dense::<f32>();
            visit((&rows).into())?;
        } else {
            visit((&piece.rows).into())?;
        }
        Ok(true)
    }
}

/// The table as rows to be read in pieces, when it is too large to be read as a whole.
pub(crate) fn too_large(args: &InputArgs, machine: &MachineArgs) -> Result<Option<TableRows>, Failure> {
    // Sparse rows are read as a whole: the file holds nothing but what is kept.
    if is_sparse(&args.data) {
        check_room(args, machine.memory)?;
        return Ok(None);
    }
    let file = file_of(&args.data);
    let size = match std::fs::metadata(&file) {
        // Whatever comes that way may be larger than the memory allowed: on disk its size is known, and it can be read again.
        _ if is_standard(&args.data) && machine.memory.is_some() => spool_standard_input()?,
        Ok(facts) if facts.is_file() && !is_standard(&args.data) => facts.len(),
        _ => return Ok(None),
    };
    let allowed = match machine.memory {
        Some(memory) => memory,
        None => match Cpu::new(1)?.memory_available() {
            Some(free) => (free as f64 * SHARE_OF_FREE) as u64,
            None => return Ok(None),
        },
    };
    let most = (allowed as f64 * SHARE_OF_SAMPLES) as u64;
    // Other formats say in their header how many numbers they hold.
    let text = args
        .format
        .or_else(|| Format::from_extension(&file))
        .is_none_or(|format| matches!(format, Format::Csv | Format::Tsv));
    if text && size.saturating_mul(TEXT_GROWTH) <= most {
        return Ok(None);
    }
    let rows = TableRows::open(args)?;
    let bytes = rows.account.rows as u64 * rows.account.columns as u64 * 8;
    Ok((bytes > most).then_some(rows))
}

/// Of so many rows, one in how many is shown.
pub(crate) fn shown_step(n: usize) -> usize {
    n.div_ceil(SHOWN_ROWS).max(1)
}

/// Scores and labels of some rows, evenly from the whole table.
pub(crate) fn sample_scores(
    model: &dyn Fitted,
    n: usize,
    rows: &mut TableRows,
    watch: &Watch,
) -> Result<(Matrix<f64>, Option<Target>), Failure> {
    let step = shown_step(n);
    let (mut chosen, mut target, mut at) = (Vec::new(), None::<Target>, 0);
    RowSource::rewind(rows)?;
    while let Some(piece) = rows.next_piece(rows.piece_rows())? {
        watch.step("rows for the picture", at, n)?;
        let picked: Vec<usize> = (0..piece.rows.n_rows()).filter(|i| (at + i) % step == 0).collect();
        at += piece.rows.n_rows();
        let some = Matrix::from_fn(picked.len(), piece.rows.n_cols(), |i, j| piece.rows[(picked[i], j)]);
        chosen.extend(model.project((&some).into(), &watch.silent())?.into_vec());
        if let Some(label) = piece.carried.target {
            let all = target.get_or_insert_with(|| Target { values: Vec::new(), ..label.clone() });
            all.numeric &= label.numeric;
            all.values.extend(picked.iter().map(|i| label.values[*i].clone()));
        }
    }
    let k = model.n_outputs();
    Ok((Matrix::from_vec(chosen.clone(), chosen.len() / k.max(1), k)?, target))
}
