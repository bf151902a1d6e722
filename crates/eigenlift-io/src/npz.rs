//! Archives of NumPy arrays.

use std::io::{self, Read, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::cell::{Content, DecimalMark, classify};
use crate::draft::{Draft, Spot};
use crate::error::{Report, Result, TableError, quoted};
use crate::npy::{self, Header};
use crate::read::ReadOptions;
use crate::selection::Selection;
use crate::source::{Seekable, Source};
use crate::table::Table;
use crate::write::Output;

/// The member that holds the data, unless another is named.
const DATA_MEMBER: &str = "X";

/// An array in an archive.
struct Member {
    /// Its name without `.npy`.
    name: String,
    index: usize,
    header: Header,
}

type Archive = ZipArchive<Box<dyn Seekable>>;

/// Reads the table in an NPZ file.
pub(crate) fn read(source: Source, options: &ReadOptions, wanted: Option<&str>) -> Result<Table> {
    let file = source.name.clone();
    let (reader, _) = source.into_seekable()?;
    let mut archive = ZipArchive::new(reader).map_err(|error| broken(&file, &error.to_string()))?;
    let members = members(&mut archive, &file)?;
    let data = choose(&members, wanted, &file)?;
    let data_name = format!("{file}:{}", data.name);
    let (n_rows, _) = data.header.table_shape(&data_name)?;
    let mut names = npy::names(&data.header, &data_name)?;
    let target_member = options
        .target
        .as_deref()
        .and_then(|target| members.iter().find(|member| member.name == target && member.index != data.index));
    let column_target = if target_member.is_some() { None } else { options.target.as_deref() };
    let mut selection = Selection::resolve(&file, &names, options.columns.as_deref(), column_target)
        .map_err(|error| if column_target.is_some() { with_members(error, &members) } else { error })?;
    let is_target = |member: &Member| target_member.is_some_and(|target| target.index == member.index);
    let mut beside = Vec::new();
    for member in &members {
        let carried =
            member.header.is_text() && member.header.shape == [n_rows] && member.index != data.index;
        if is_target(member) {
            check_target(member, n_rows, &file)?;
            selection.target = Some(names.len());
        } else if !carried {
            continue;
        }
        beside.push((names.len(), member));
        names.push(member.name.clone());
    }
    let mut draft = Draft::new(&data_name, names, &selection);
    npy::fill(&mut draft, &mut open(&mut archive, data, &file)?, &data.header, &data_name, false)?;
    for (position, member) in beside {
        let name = format!("{file}:{}", member.name);
        put_beside(&mut draft, position, &mut open(&mut archive, member, &file)?, &member.header, &name)?;
    }
    let mut table = draft.finish(options.missing)?;
    table.single_precision = data.header.element(&data_name)?.is_single();
    Ok(table)
}

/// The arrays of an archive; members that are not arrays are passed over.
fn members(archive: &mut Archive, file: &str) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    let mut first_trouble = None;
    for index in 0..archive.len() {
        let mut entry = match archive.by_index(index) {
            Ok(entry) => entry,
            Err(error) => {
                first_trouble.get_or_insert(broken(file, &format!("member {}: {error}", index + 1)));
                continue;
            }
        };
        let name = entry.name().map(|name| name.into_owned()).unwrap_or_default();
        let Some(name) = name.strip_suffix(".npy") else { continue };
        match Header::read(&mut entry, &format!("{file}:{name}")) {
            Ok(header) => members.push(Member { name: name.to_owned(), index, header }),
            Err(error) => {
                first_trouble.get_or_insert(error);
            }
        }
    }
    match (members.is_empty(), first_trouble) {
        (false, _) => Ok(members),
        (true, Some(error)) => Err(error),
        (true, None) => Err(TableError::Binary(Report::new(
            file,
            "it is a zip archive without a .npy member",
            "an NPZ file must hold at least one NumPy array",
            "Save the table as CSV (also from a spreadsheet), NPY, NPZ or Parquet",
        ))),
    }
}

/// The member named, else `X`, else the only one with two dimensions, else the only one.
fn choose<'a>(members: &'a [Member], wanted: Option<&str>, file: &str) -> Result<&'a Member> {
    let listing = listing(members);
    let named = |name: &str| members.iter().find(|member| member.name == name);
    if let Some(wanted) = wanted {
        return named(wanted.strip_suffix(".npy").unwrap_or(wanted)).or_else(|| named(wanted)).ok_or_else(
            || {
                TableError::Selection(Report::new(
                    file,
                    format!("it has no member {}", quoted(wanted)),
                    "the member asked for must be in the file",
                    format!("Choose among {listing}"),
                ))
            },
        );
    }
    let tables: Vec<&Member> =
        members.iter().filter(|member| member.header.shape.len() == 2 && !member.header.is_text()).collect();
    match (named(DATA_MEMBER), tables.as_slice(), members) {
        (Some(member), _, _) | (None, &[member], _) | (None, &[], [member]) => Ok(member),
        _ => Err(TableError::Selection(Report::new(
            file,
            format!("it has {} members and none is called {DATA_MEMBER}: {listing}", members.len()),
            "the member with the data must be known",
            "Name it after a colon, as in FILE.npz:NAME",
        ))),
    }
}

/// At most 20 members with their shapes.
fn listing(members: &[Member]) -> String {
    let shown = |member: &Member| format!("{} {}", quoted(&member.name), member.header.shape_text());
    members.iter().take(20).map(shown).collect::<Vec<_>>().join(", ")
}

/// Adds the members to the advice about a choice that does not fit: a target may be one of them.
fn with_members(error: TableError, members: &[Member]) -> TableError {
    match error {
        TableError::Selection(mut report) => {
            report.advice = format!("{}; a target may also be a member: {}", report.advice, listing(members));
            TableError::Selection(report)
        }
        other => other,
    }
}

fn check_target(member: &Member, n_rows: u64, file: &str) -> Result<()> {
    if member.header.shape == [n_rows] || (member.header.shape == [n_rows, 1] && !member.header.is_text()) {
        return Ok(());
    }
    Err(TableError::Selection(Report::new(
        file,
        format!("the target {} has shape {}", quoted(&member.name), member.header.shape_text()),
        format!("a target must have one dimension and one entry for each of the {n_rows} rows"),
        "Choose another --target",
    )))
}

fn open<'a>(
    archive: &'a mut Archive,
    member: &Member,
    file: &str,
) -> Result<zip::read::ZipFile<'a, Box<dyn Seekable>>> {
    let mut entry = archive.by_index(member.index).map_err(|error| broken(file, &error.to_string()))?;
    Header::read(&mut entry, file)?;
    Ok(entry)
}

/// Puts an array of one dimension beside the data: text, or numbers as a target.
fn put_beside(
    draft: &mut Draft,
    position: usize,
    entry: &mut dyn Read,
    header: &Header,
    name: &str,
) -> Result<()> {
    if header.is_text() {
        for (row, cell) in npy::read_text(entry, header, name)?.iter().enumerate() {
            let content = match classify(cell, &mut DecimalMark::Point) {
                Content::Number(_) if !draft.asks_for(position) => Content::Text,
                content => content,
            };
            draft.put(Spot { row, line: None }, position, content, Some(cell))?;
        }
        return Ok(());
    }
    // The numbers of a target are decoded as a table of their own.
    let names = npy::names(header, name)?;
    let selection = Selection { data: vec![0], explicit: true, target: None };
    let mut column = Draft::new(name, names, &selection);
    npy::fill(&mut column, entry, header, name, false)?;
    for (row, value) in column.into_values().into_iter().enumerate() {
        let content = if value.is_nan() { Content::Missing } else { Content::Number(value) };
        draft.put(Spot { row, line: None }, position, content, None)?;
    }
    Ok(())
}

fn broken(file: &str, found: &str) -> TableError {
    TableError::Binary(Report::new(
        file,
        format!("its archive cannot be read ({found})"),
        "an NPZ file must be a complete zip archive, stored or deflated",
        "Write the file again, for example with numpy.savez",
    ))
}

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
