//! From a draft to a table: which columns are data, and what is wrong with the table as a whole.

use super::{Draft, Means, Role, State};
use crate::error::{Report, Result, TableError, counted, name_list, quoted};
use crate::table::{Missing, Table};

/// Columns whose missing cells are counted in a message; more are counted together.
const SHOWN_COLUMNS: usize = 20;

/// Which columns of a file are numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Their places in the rows of a draft, in the order asked for.
    pub(super) places: Vec<usize>,
    /// Their positions in the file.
    pub(super) kept: Vec<usize>,
}

impl Draft {
    /// Applies the policy for missing cells and squeezes out what is not data.
    pub(crate) fn finish(mut self, missing: Missing) -> Result<Table> {
        self.check_rows()?;
        let layout = self.layout()?;
        self.check_missing(&layout, missing)?;
        let means = (missing == Missing::Mean).then(|| {
            let mut means = Means::new(self.slots.len());
            means.add(&self.values);
            means
        });
        let table = self.take_chunk(&layout, missing, means.as_ref());
        if table.n_rows == 0 { Err(self.nothing_complete()) } else { Ok(table) }
    }

    /// Refuses a table without rows, and columns that are missing altogether.
    pub(crate) fn check_rows(&self) -> Result<()> {
        let n_rows = self.next_row();
        if n_rows == 0 {
            return Err(TableError::no_rows(&self.file, self.names.len()));
        }
        let all_missing =
            |&&position: &&usize| self.columns.get(position).is_some_and(|column| column.n_missing == n_rows);
        let Some(&position) = self.slots.iter().find(all_missing) else { return Ok(()) };
        let name = self.names.get(position).map_or("", String::as_str);
        Err(TableError::Missing(Report::new(
            &self.file,
            format!(
                "column {} ({}) is missing in every one of the {}",
                position + 1,
                quoted(name),
                counted(n_rows, "row")
            ),
            "a column of data must hold numbers",
            "Leave that column out with --columns",
        )))
    }

    /// The columns of numbers, in the order asked for.
    pub(crate) fn layout(&self) -> Result<Layout> {
        let (mut places, mut kept) = (Vec::new(), Vec::new());
        for (place, &position) in self.slots.iter().enumerate() {
            let state = self.columns.get(position).map(|column| column.state);
            if matches!(state, Some(State::Numbers(_))) {
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
        Ok(Layout { places, kept })
    }

    /// The error for a table in which every row has a gap.
    pub(crate) fn nothing_complete(&self) -> TableError {
        TableError::Missing(Report::new(
            &self.file,
            format!("every one of its {} has a missing cell", counted(self.next_row(), "row")),
            "at least one row must be complete",
            "Use --missing mean, or leave out the columns with missing cells with --columns",
        ))
    }

    /// Refuses missing cells that the policy does not allow.
    pub(crate) fn check_missing(&self, layout: &Layout, missing: Missing) -> Result<()> {
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
            layout
                .kept
                .iter()
                .filter_map(|&p| self.columns.get(p).map(|c| (p, c)))
                .filter(|(_, c)| c.n_missing > 0)
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
                    "{cells} missing in {}, the first at {}{}",
                    counted(gaps().count(), "column"),
                    self.place(first, position),
                    self.missing_by_column(&gaps().map(|(position, _)| position).collect::<Vec<_>>())
                ),
                "every entry must be a number",
                format!("{advice}, or --missing mean to fill in the mean of the column"),
            )));
        }
        Ok(())
    }

    /// How many cells are missing in each of these columns, where there are several.
    fn missing_by_column(&self, positions: &[usize]) -> String {
        if positions.len() < 2 {
            return String::new();
        }
        let told = |&position: &usize| {
            let count = self.columns.get(position).map_or(0, |column| column.n_missing);
            format!("{count} in {}", quoted(self.names.get(position).map_or("", String::as_str)))
        };
        let mut shown: Vec<String> = positions.iter().take(SHOWN_COLUMNS).map(told).collect();
        if positions.len() > SHOWN_COLUMNS {
            shown.push(format!("and {} more", counted(positions.len() - SHOWN_COLUMNS, "column")));
        }
        format!(" ({})", shown.join(", "))
    }
}
