//! Rows that leave a draft: as a table, or forgotten.

use super::{Column, Draft, Layout, Means, Purpose, Role, Spot, State};
use crate::cell::is_missing;
use crate::table::{Missing, Table, Target, TextColumn};

impl Draft {
    /// Takes the rows that are held out as a table, complete rows only with [`Missing::Drop`].
    pub(crate) fn take_chunk(&mut self, layout: &Layout, missing: Missing, means: Option<&Means>) -> Table {
        let keep_row = self.rows_to_keep(&layout.places, missing);
        let n_kept = keep_row.as_ref().map_or(self.n_rows, |keep| keep.iter().filter(|&&keep| keep).count());
        let filter = |cells: Vec<String>| match &keep_row {
            Some(keep) => {
                cells.into_iter().zip(keep).filter_map(|(cell, &keep)| keep.then_some(cell)).collect()
            }
            None => cells,
        };
        let mut table = Table {
            names: self.data_names(layout),
            n_rows: n_kept,
            dropped_rows: self.n_rows - n_kept,
            ..Table::default()
        };
        for (position, (column, name)) in self.columns.iter_mut().zip(&self.names).enumerate() {
            let name = name.clone();
            let cells = std::mem::take(&mut column.cells);
            if column.role == Role::Target {
                let numeric = matches!(column.state, State::Numbers(_));
                table.target = Some(Target { name, values: filter(cells), numeric });
            } else if matches!(column.state, State::Text(_)) {
                table.text.push(TextColumn { name, position, values: filter(cells) });
            }
        }
        self.squeeze(&layout.places, keep_row.as_deref());
        table.values = std::mem::take(&mut self.values);
        if let Some(means) = means {
            table.imputed_cells = means.fill(&mut table.values, &layout.places);
        }
        self.forget_rows();
        table
    }

    /// Takes memory for rows to come, where none are held.
    pub(crate) fn recycle(&mut self, mut values: Vec<f64>) {
        if self.n_rows == 0 && values.capacity() > self.values.capacity() {
            values.clear();
            self.values = values;
        }
    }

    /// Lets go of the rows that are held.
    pub(crate) fn forget_rows(&mut self) {
        self.values.clear();
        self.columns.iter_mut().for_each(|column| column.cells.clear());
        self.first_row += self.n_rows;
        self.n_rows = 0;
    }

    /// Keeps no text from here on: only what the columns hold is to be learnt.
    pub(crate) fn begin_survey(&mut self) {
        self.purpose = Purpose::Survey;
    }

    /// Number of places in a row.
    pub(crate) fn width(&self) -> usize {
        self.slots.len()
    }

    /// Adds the rows that are held to means.
    pub(crate) fn add_to(&self, means: &mut Means) {
        means.add(&self.values);
    }

    /// Whether some column that matters may still turn out to be text or numbers.
    pub(crate) fn has_unknown_columns(&self) -> bool {
        self.columns.iter().any(|column| column.state == State::Unknown)
    }

    /// Takes the columns for what they were until now, and begins with the first row; `early` when not all rows were
    /// looked at.
    ///
    /// A column of missing cells alone is then taken for numbers when it is data, and left out otherwise.
    pub(crate) fn begin_chunks(&mut self, early: bool) {
        let start = Spot { row: 0, line: None };
        for column in self.columns.iter_mut().filter(|column| column.state == State::Unknown) {
            column.state = match column.role {
                Role::Data { .. } => State::Numbers(start),
                Role::Target => State::Text(start),
                Role::Aside => State::Ignored,
            };
        }
        self.purpose = Purpose::Chunks { early };
        self.restart();
    }

    /// Begins with the first row again; what is known of the columns stays.
    pub(crate) fn restart(&mut self) {
        self.forget_rows();
        self.first_row = 0;
        for column in &mut self.columns {
            column.n_missing = 0;
            column.first_missing = None;
        }
    }

    /// Names of the columns of numbers.
    pub(crate) fn data_names(&self, layout: &Layout) -> Vec<String> {
        layout.kept.iter().filter_map(|&position| self.names.get(position).cloned()).collect()
    }

    /// Names of the columns of text that are carried.
    pub(crate) fn text_names(&self) -> Vec<String> {
        let carried = |column: &Column| column.role != Role::Target && matches!(column.state, State::Text(_));
        self.columns.iter().zip(&self.names).filter(|(c, _)| carried(c)).map(|(_, n)| n.clone()).collect()
    }

    /// Name of the target.
    pub(crate) fn target_name(&self) -> Option<String> {
        let position = self.columns.iter().position(|column| column.role == Role::Target)?;
        self.names.get(position).cloned()
    }

    /// Which rows are complete; `None` when all stay.
    fn rows_to_keep(&self, places: &[usize], missing: Missing) -> Option<Vec<bool>> {
        if missing != Missing::Drop || self.columns.iter().all(|column| column.n_missing == 0) {
            return None;
        }
        let target = self.columns.iter().find(|column| column.role == Role::Target);
        let rows = self.values.chunks_exact(self.slots.len().max(1));
        let complete =
            |row: &[f64]| places.iter().all(|&place| row.get(place).is_some_and(|value| !value.is_nan()));
        let has_target =
            |row: usize| target.and_then(|t| t.cells.get(row)).is_none_or(|cell| !is_missing(cell.as_str()));
        Some(rows.enumerate().map(|(i, row)| complete(row) && has_target(i)).collect())
    }

    /// Moves the kept cells to the front, in place.
    fn squeeze(&mut self, places: &[usize], keep_row: Option<&[bool]>) {
        let width = self.slots.len();
        let unchanged = places.len() == width && places.iter().enumerate().all(|(i, &place)| i == place);
        if unchanged && keep_row.is_none() {
            self.values.shrink_to_fit();
            return;
        }
        let mut row_cells = vec![0.0; width];
        let mut end = 0;
        for row in 0..self.n_rows {
            if keep_row.is_some_and(|keep| keep.get(row) == Some(&false)) {
                continue;
            }
            let Some(source) = self.values.get(row * width..(row + 1) * width) else { break };
            row_cells.copy_from_slice(source);
            for &place in places {
                if let (Some(to), Some(&from)) = (self.values.get_mut(end), row_cells.get(place)) {
                    *to = from;
                }
                end += 1;
            }
        }
        self.values.truncate(end);
        self.values.shrink_to_fit();
    }
}
