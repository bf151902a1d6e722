//! From a draft to a table: the policy for missing cells, and squeezing out what is not data.

use super::{Draft, Role, State};
use crate::cell::is_missing;
use crate::error::{Report, Result, TableError, counted, name_list, quoted};
use crate::table::{Missing, Table, Target, TextColumn};

impl Draft {
    /// Applies the policy for missing cells and squeezes out what is not data.
    pub(crate) fn finish(mut self, missing: Missing) -> Result<Table> {
        let (places, kept) = self.data_columns()?;
        self.check_missing(&kept, missing)?;
        let keep_row = self.rows_to_keep(&places, missing);
        let n_kept = keep_row.as_ref().map_or(self.n_rows, |keep| keep.iter().filter(|&&keep| keep).count());
        if n_kept == 0 {
            return Err(TableError::Missing(Report::new(
                &self.file,
                format!("every one of its {} has a missing cell", counted(self.n_rows, "row")),
                "at least one row must be complete",
                "Use --missing mean, or leave out the columns with missing cells with --columns",
            )));
        }
        self.squeeze(&places, keep_row.as_deref());
        let imputed_cells =
            if missing == Missing::Mean { fill_with_means(&mut self.values, kept.len()) } else { 0 };
        let filter = |cells: Vec<String>| match &keep_row {
            Some(keep) => {
                cells.into_iter().zip(keep).filter_map(|(cell, &keep)| keep.then_some(cell)).collect()
            }
            None => cells,
        };
        let mut table = Table {
            names: kept.iter().filter_map(|&position| self.names.get(position).cloned()).collect(),
            n_rows: n_kept,
            values: self.values,
            dropped_rows: self.n_rows - n_kept,
            imputed_cells,
            ..Table::default()
        };
        for (position, (column, name)) in self.columns.into_iter().zip(self.names).enumerate() {
            match (column.role, column.state) {
                (Role::Target, state) => {
                    let numeric = matches!(state, State::Numbers(_));
                    table.target = Some(Target { name, values: filter(column.cells), numeric });
                }
                (_, State::Text(_)) => {
                    table.text.push(TextColumn { name, position, values: filter(column.cells) });
                }
                _ => {}
            }
        }
        Ok(table)
    }

    /// The columns of numbers, in the order asked for: their places in a row, and their positions in the file.
    fn data_columns(&self) -> Result<(Vec<usize>, Vec<usize>)> {
        if self.n_rows == 0 {
            return Err(TableError::Layout(Report::new(
                &self.file,
                format!("it has {} and no rows of data", counted(self.names.len(), "column")),
                "a table must have at least one row",
                "Check that the file was written completely",
            )));
        }
        let (mut places, mut kept) = (Vec::new(), Vec::new());
        for (place, &position) in self.slots.iter().enumerate() {
            let Some(column) = self.columns.get(position) else { continue };
            if column.n_missing == self.n_rows {
                let name = self.names.get(position).map_or("", String::as_str);
                return Err(TableError::Missing(Report::new(
                    &self.file,
                    format!(
                        "column {} ({}) is missing in every one of the {}",
                        position + 1,
                        quoted(name),
                        counted(self.n_rows, "row")
                    ),
                    "a column of data must hold numbers",
                    "Leave that column out with --columns",
                )));
            }
            if matches!(column.state, State::Numbers(_)) {
                places.push(place);
                kept.push(position);
            }
        }
        if kept.is_empty() {
            let text: Vec<&String> =
                self.slots.iter().filter_map(|&position| self.names.get(position)).collect();
            return Err(TableError::Layout(Report::new(
                &self.file,
                format!("it has no column of numbers, only text in {}", name_list(&text)),
                "at least one column must hold numbers",
                "Check the delimiter and the decimal mark, or choose another file",
            )));
        }
        Ok((places, kept))
    }

    fn check_missing(&self, kept: &[usize], missing: Missing) -> Result<()> {
        let advice = "Use --missing drop to leave out those rows";
        let target = self.columns.iter().enumerate().find(|(_, column)| column.role == Role::Target);
        if let Some((position, column)) = target
            && let Some(first) = column.first_missing
            && missing != Missing::Drop
        {
            return Err(TableError::Missing(Report::new(
                &self.file,
                format!(
                    "the target has {}, the first at {}",
                    counted(column.n_missing, "missing cell"),
                    self.place(first, position)
                ),
                "every row must have a target",
                advice,
            )));
        }
        let gaps = || {
            kept.iter().filter_map(|&p| self.columns.get(p).map(|c| (p, c))).filter(|(_, c)| c.n_missing > 0)
        };
        let first = gaps().filter_map(|(position, column)| Some((column.first_missing?, position))).min();
        if let Some((first, position)) = first
            && missing == Missing::Error
        {
            let n_cells: usize = gaps().map(|(_, column)| column.n_missing).sum();
            let cells = if n_cells == 1 { "1 cell is".to_owned() } else { format!("{n_cells} cells are") };
            return Err(TableError::Missing(Report::new(
                &self.file,
                format!(
                    "{cells} missing in {}, the first at {}",
                    counted(gaps().count(), "column"),
                    self.place(first, position)
                ),
                "every entry must be a number",
                format!("{advice}, or --missing mean to fill in the mean of the column"),
            )));
        }
        Ok(())
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

/// Fills NaN with the mean of its column and counts how many were filled.
///
/// Numerics: a running mean, since the sum of large entries may overflow.
fn fill_with_means(values: &mut [f64], width: usize) -> usize {
    let mut means = vec![0.0_f64; width];
    let mut counts = vec![0_usize; width];
    for row in values.chunks_exact(width.max(1)) {
        for ((&value, mean), count) in row.iter().zip(&mut means).zip(&mut counts) {
            if !value.is_nan() {
                *count += 1;
                let weight = 1.0 / *count as f64;
                *mean += value * weight - *mean * weight;
            }
        }
    }
    let mut n_filled = 0;
    for row in values.chunks_exact_mut(width.max(1)) {
        for (value, &mean) in row.iter_mut().zip(&means) {
            if value.is_nan() {
                *value = mean;
                n_filled += 1;
            }
        }
    }
    n_filled
}
