//! Reads NPZ files.

use super::DATA_MEMBER;
use super::member::{Contents, Member};
use crate::cell::{Content, DecimalMark, classify};
use crate::draft::{Draft, Spot};
use crate::error::{Report, Result, TableError, quoted};
use crate::feed::{Feed, Opened, Survey};
use crate::npy::{self, Array};
use crate::read::{Allowance, ReadOptions};
use crate::selection::Selection;
use crate::source::Source;

/// Opens an NPZ file.
pub(crate) fn open(source: Source, options: &ReadOptions, wanted: Option<&str>) -> Result<Opened> {
    let watched = source.watched();
    let Contents { name, file, members, .. } = Contents::open(source)?;
    let data = choose(&members, wanted, &name)?;
    let data_name = format!("{name}:{}", data.name);
    let mut allowance = Allowance::new(options);
    allowance.take(data.unpacked(&data_name)?, &data_name)?;
    let array = data.array(&file, &data_name)?;
    let n_rows = array.n_rows() as u64;
    let mut names = npy::column_names(array.n_columns());
    let target_member = options
        .target
        .as_deref()
        .and_then(|target| members.iter().find(|member| member.name == target && member.index != data.index));
    let column_target = if target_member.is_some() { None } else { options.target.as_deref() };
    let mut selection = Selection::resolve(&name, &names, options.columns.as_deref(), column_target)
        .map_err(|error| if column_target.is_some() { with_members(error, &members) } else { error })?;
    let is_target = |member: &Member| target_member.is_some_and(|target| target.index == member.index);
    let mut beside = Vec::new();
    for member in &members {
        let carried =
            member.header.is_text() && member.header.shape == [n_rows] && member.index != data.index;
        if is_target(member) {
            check_target(member, n_rows, &name)?;
            selection.target = Some(names.len());
        } else if !carried {
            continue;
        }
        let member_name = format!("{name}:{}", member.name);
        allowance.take(member.unpacked(&member_name)?, &member_name)?;
        let array = member.array(&file, &member_name)?;
        beside.push(Beside { position: names.len(), is_text: member.header.is_text(), array });
        names.push(member.name.clone());
    }
    array.number_type()?;
    let mut draft = Draft::new(&data_name, names, &selection);
    let numbers = beside.iter().filter(|column| !column.is_text).map(|column| column.position);
    (0..array.n_columns()).chain(numbers).for_each(|position| draft.declare_numbers(position));
    // Only the last text of a target tells whether all are numbers.
    let survey = if target_member.is_some_and(|member| member.header.is_text()) {
        Survey::Full
    } else {
        Survey::UntilKnown
    };
    let single_precision = array.is_single();
    let feed: Box<dyn Feed> = Box::new(Arrays { data: array, beside });
    Ok(Opened { name, feed, draft, survey, watched, single_precision, number_in_header: false })
}

/// The data and what stands beside them.
struct Arrays {
    data: Array,
    beside: Vec<Beside>,
}

/// An array of one dimension beside the data: text, or numbers as a target.
struct Beside {
    position: usize,
    is_text: bool,
    array: Array,
}

impl Feed for Arrays {
    fn n_rows(&self) -> Option<usize> {
        Some(self.data.n_rows())
    }

    fn read_rows(&mut self, draft: &mut Draft, most_rows: usize) -> Result<usize> {
        let first = draft.next_row();
        let n = self.data.read_rows(draft, most_rows)?;
        for column in &mut self.beside {
            column.read_rows(draft, first, n)?;
        }
        Ok(n)
    }

    fn can_rewind(&self) -> bool {
        true
    }

    fn rewind(&mut self) -> Result<()> {
        self.data.rewind()?;
        self.beside.iter_mut().try_for_each(|column| column.array.rewind())
    }
}

impl Beside {
    fn read_rows(&mut self, draft: &mut Draft, first: usize, n: usize) -> Result<()> {
        let position = self.position;
        if !self.is_text {
            return self.array.each_number(n, &mut |i, cells| draft.put_column(first + i, position, cells));
        }
        self.array.each_text(n, &mut |i, cell| {
            let content = match classify(cell, &mut DecimalMark::Point) {
                Content::Number(_) if !draft.asks_for(position) => Content::Text,
                content => content,
            };
            draft.put(Spot { row: first + i, line: None }, position, content, Some(cell))
        })
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
