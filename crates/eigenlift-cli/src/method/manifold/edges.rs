//! Tables of edges: from, to and perhaps length, rows counted from 1.

use crate::exit::Failure;
use crate::standard::is_standard;
use crate::table::numbered;
use eigenlift::graph::{Edge, Graph};
use eigenlift_io::{ErrorKind, ReadOptions, Table, TableError, read_table};
use std::path::Path;

/// The graph of a table with the columns from, to and length.
pub(super) fn read_graph(path: &Path, n_rows: usize) -> Result<Graph, Failure> {
    let edges: Vec<Edge> = read(path, "--graph", &["from", "to", "length"], n_rows)?
        .iter()
        .map(|row| Edge { from: row[0] as usize - 1, to: row[1] as usize - 1, length: row[2] })
        .collect();
    Graph::from_edges(n_rows, &edges).map_err(|error| match error {
        eigenlift::error::Error::Data { found, required, action } => {
            Failure::Input(format!("{}: {found}; {required}. {action}.", path.display()))
        }
        other => other.into(),
    })
}

/// Edges of a table with the columns from and to, by their ends counted from 0.
pub(super) fn read_cut(path: &Path, n_rows: usize) -> Result<Vec<(usize, usize)>, Failure> {
    let rows = read(path, "--cut", &["from", "to"], n_rows)?;
    Ok(rows.iter().map(|row| (row[0] as usize - 1, row[1] as usize - 1)).collect())
}

/// Some columns of a table; the others may hold anything.
fn columns_of(path: &Path, columns: String) -> Result<Table, TableError> {
    read_table(path, &ReadOptions { columns: Some(columns), ..ReadOptions::default() })
}

/// The columns named, or the first ones of a table without names; the first two hold rows from 1 to `n_rows`.
fn read(path: &Path, flag: &str, wanted: &[&str], n_rows: usize) -> Result<Vec<Vec<f64>>, Failure> {
    if is_standard(path) {
        return Err(Failure::usage(
            format!("{flag} -"),
            "standard input is read for DATA alone",
            "Write the edges into a file",
        ));
    }
    let table = match columns_of(path, wanted.join(",")) {
        // Columns without names are taken in their order.
        Err(error) if error.kind() == ErrorKind::Usage => columns_of(path, format!("1-{}", wanted.len()))
            .ok()
            .filter(|table| numbered(&table.names))
            .ok_or_else(|| {
                Failure::Input(format!(
                    "{}: other columns than those of edges; a table for {flag} has the columns {}. \
                     Name them so, as doctor isomap --edges does.",
                    path.display(),
                    wanted.join(", ")
                ))
            })?,
        table => table?,
    };
    let rows: Vec<Vec<f64>> = table.values.chunks(wanted.len()).map(<[f64]>::to_vec).collect();
    for (at, row) in rows.iter().enumerate() {
        if let Some(bad) = row[..2].iter().find(|x| !(x.fract() == 0.0 && **x >= 1.0 && **x <= n_rows as f64))
        {
            return Err(Failure::Input(format!(
                "{}: edge {} names row {bad}; rows of DATA are counted from 1 to {n_rows}. \
                 Correct the edge, or give the table it was made for.",
                path.display(),
                at + 1
            )));
        }
    }
    Ok(rows)
}
