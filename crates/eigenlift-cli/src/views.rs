//! Several views of the same rows: tables side by side, or columns of one table.

use crate::args::InputArgs;
use crate::exit::Failure;
use crate::input::Input;
use crate::standard::is_standard;
use crate::table::{Carried, DataAccount, ViewAccount, read_options};
use crate::words::{counted, timed};
use eigenlift_io::{TableStream, Target, TextColumn, is_sparse, named_places, read_table_from};
use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// Refuses what cannot be views before anything is read.
pub(crate) fn check(args: &InputArgs, others: &[PathBuf], lists: &[String]) -> Result<(), Failure> {
    if others.is_empty() && lists.len() < 2 {
        let found = if lists.is_empty() { "one table without --view" } else { "one --view" };
        return Err(Failure::usage(
            format!("{found} of {}", args.data.display()),
            "two views of the same rows or more are required",
            "Name another table behind the first, or give --view COLS for each view",
        ));
    }
    if others.is_empty() {
        return refuse_sparse(&args.data);
    }
    let several = counted(others.len() + 1, "table");
    if !lists.is_empty() {
        return Err(Failure::usage(
            format!("--view with {several}"),
            "each table is a view by itself; --view takes the views out of one table",
            "Leave --view out, or name one table",
        ));
    }
    if args.columns.is_some() {
        return Err(Failure::usage(
            format!("--columns with {several}"),
            "the tables have columns of their own",
            "Put them into one table and choose the columns of each view with --view, or leave --columns out",
        ));
    }
    if paths(args, others).filter(|path| is_standard(path)).count() > 1 {
        return Err(Failure::usage(
            "- for two views",
            "standard input can be read once",
            "Give one of them as a file",
        ));
    }
    paths(args, others).try_for_each(refuse_sparse)
}

fn paths<'a>(args: &'a InputArgs, others: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
    std::iter::once(args.data.as_path()).chain(others.iter().map(PathBuf::as_path))
}

fn refuse_sparse(path: &Path) -> Result<(), Failure> {
    if !is_sparse(path) {
        return Ok(());
    }
    Err(Failure::usage(
        format!("{} is sparse", path.display()),
        "views must be dense tables",
        "Save it as a dense array, or reduce its columns with fit kpca or fit pca first",
    ))
}

/// Reads the views: tables one beside the other, or one table whose columns are divided.
pub(crate) fn read(args: &InputArgs, others: &[PathBuf], lists: &[String]) -> Result<Input, Failure> {
    check(args, others, lists)?;
    if others.is_empty() {
        return divided(Input::read(args)?, lists);
    }
    let args = &by_name(args);
    let targets = owners(args, others);
    let elsewhere = |at: usize| targets.iter().enumerate().any(|(i, has)| *has && i != at);
    let read = |(at, path): (usize, &Path)| {
        let target = args.target.clone().filter(|_| targets[at]);
        let own = InputArgs { data: path.to_owned(), target, ..args.clone() };
        match is_standard(path) && args.target.is_some() && elsewhere(at) {
            true => standard(&own, args),
            false => Input::read(&own),
        }
    };
    let tables: Result<Vec<Input>, Failure> = paths(args, others).enumerate().map(read).collect();
    side_by_side(tables?)
}

/// Standard input, which may have the target that another table has, and may not.
fn standard(without: &InputArgs, with: &InputArgs) -> Result<Input, Failure> {
    let mut bytes = Vec::new();
    let (read, seconds) = timed(|| std::io::stdin().lock().read_to_end(&mut bytes));
    read.map_err(|error| {
        Failure::Input(format!(
            "standard input cannot be read ({error}); a table is required. Give it as a file."
        ))
    })?;
    let name = "standard input";
    let table = read_table_from(name, Cursor::new(bytes.clone()), &read_options(with))
        .or_else(|_| read_table_from(name, Cursor::new(bytes), &read_options(without)))?;
    Ok(Input::from_table(&without.data, table, seconds))
}

/// The target by name where it was given by its position, which counts in the first table.
fn by_name(args: &InputArgs) -> InputArgs {
    let position = args.target.as_deref().is_some_and(|target| target.parse::<usize>().is_ok());
    let stream =
        (position && !is_standard(&args.data)).then(|| TableStream::open(&args.data, &read_options(args)));
    let name = stream.and_then(Result::ok).and_then(|stream| stream.target_name().map(str::to_owned));
    InputArgs { target: name.or_else(|| args.target.clone()), ..args.clone() }
}

/// Which tables have the target: all that have a column of that name.
fn owners(args: &InputArgs, others: &[PathBuf]) -> Vec<bool> {
    let named = |path: &Path| {
        !is_standard(path)
            && TableStream::open(path, &read_options(args))
                .is_ok_and(|stream| stream.target_name() == args.target.as_deref())
    };
    let mut has: Vec<bool> = paths(args, others).map(named).collect();
    if !has.contains(&true) {
        // It stands in what cannot be looked at twice; else its absence is told of the first table.
        has[paths(args, others).position(is_standard).unwrap_or(0)] = true;
    }
    has
}

/// Tables about the same rows as one.
fn side_by_side(tables: Vec<Input>) -> Result<Input, Failure> {
    check_rows(&tables)?;
    let names = apart(tables.iter().map(|table| table.account.column_names.clone()).collect());
    let mut joined = Input {
        account: DataAccount::default(),
        values: Vec::new(),
        sparse: None,
        carried: Carried::default(),
        seconds: 0.0,
    };
    let mut warnings = Vec::new();
    let mut columns = Vec::new();
    for (number, (mut table, names)) in tables.into_iter().zip(names).enumerate() {
        let own = std::mem::take(&mut table.account.column_names);
        let renamed: HashMap<String, String> = own.into_iter().zip(names.iter().cloned()).collect();
        add_account(&mut joined.account, &table.account, &renamed);
        joined.account.views.push(ViewAccount { path: table.account.path.clone(), columns: names });
        joined.seconds += table.seconds;
        carry(&mut joined.carried, table.carried, (number, &table.account.path), &mut warnings);
        columns.push((table.values, table.account.columns));
    }
    let account = &mut joined.account;
    account.column_names = account.views.iter().flat_map(|view| view.columns.iter().cloned()).collect();
    account.set_aside = joined.carried.text.iter().map(|column| column.name.clone()).collect();
    account.target = joined.carried.target.as_ref().map(|target| target.name.clone());
    account.warnings.extend(warnings);
    account.entries = account.rows * account.columns;
    joined.values = Vec::with_capacity(account.entries);
    for row in 0..account.rows {
        for (values, width) in &columns {
            joined.values.extend(values.get(row * width..(row + 1) * width).unwrap_or_default());
        }
    }
    Ok(joined)
}

fn check_rows(tables: &[Input]) -> Result<(), Failure> {
    let Some((first, others)) = tables.split_first() else { return Ok(()) };
    if let Some(table) = tables.iter().find(|table| table.account.dropped_rows > 0) {
        return Err(Failure::Input(format!(
            "{}: {} left out because a cell was missing; row i of every view must be about the same thing, and which rows are left out \
             is not known across tables. Use --missing mean, or leave the rows out of all tables beforehand.",
            table.account.path.display(),
            counted(table.account.dropped_rows, "row")
        )));
    }
    match others.iter().find(|table| table.account.rows != first.account.rows) {
        None => Ok(()),
        Some(other) => Err(Failure::Input(format!(
            "{} has {}, {} has {}; views must be about the same rows, in the same order. \
             Leave out the rows that are not in every table.",
            first.account.path.display(),
            counted(first.account.rows, "row"),
            other.account.path.display(),
            counted(other.account.rows, "row")
        ))),
    }
}

/// Adds what was read of a table to what is known of those before.
fn add_account(all: &mut DataAccount, table: &DataAccount, renamed: &HashMap<String, String>) {
    if all.views.is_empty() {
        all.path.clone_from(&table.path);
        all.rows = table.rows;
    }
    all.columns += table.columns;
    all.imputed_cells += table.imputed_cells;
    all.constant_columns
        .extend(table.constant_columns.iter().map(|name| renamed.get(name).unwrap_or(name).clone()));
    all.warnings.extend(table.warnings.iter().map(|warning| format!("{}: {warning}", table.path.display())));
}

/// Takes over columns of text and the target; those of the same name are taken once, and must agree.
fn carry(all: &mut Carried, table: Carried, of: (usize, &Path), warnings: &mut Vec<String>) {
    let (number, path) = of;
    let mut differ = |name: &str, rows: usize| {
        warnings.push(format!(
            "the column {name} of {} differs from that of the views before in {}: the rows may not be in the same order",
            path.display(),
            counted(rows, "row")
        ));
    };
    for column in table.text {
        match all.text.iter().find(|other| other.name == column.name).map(|other| different(other, &column)) {
            None => all.text.push(column),
            Some(0) => {}
            Some(rows) => {
                differ(&column.name, rows);
                let name = format!("{}{}", prefix(number), column.name);
                all.text.push(TextColumn { name, ..column });
            }
        }
    }
    match (&all.target, table.target) {
        (Some(before), Some(Target { name, values, .. })) => {
            let rows = before.values.iter().zip(&values).filter(|(a, b)| a != b).count();
            if rows > 0 {
                differ(&name, rows);
            }
        }
        (None, Some(target)) => all.target = Some(target),
        _ => {}
    }
}

fn different(one: &TextColumn, other: &TextColumn) -> usize {
    one.values.iter().zip(&other.values).filter(|(a, b)| a != b).count()
}

fn prefix(view: usize) -> String {
    format!("view{}_", view + 1)
}

/// Names that occur once; those of several views get the number of the view in front.
fn apart(mut views: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut times: HashMap<String, usize> = HashMap::new();
    views.iter().flatten().for_each(|name| *times.entry(name.clone()).or_default() += 1);
    for (number, names) in views.iter_mut().enumerate() {
        for name in names.iter_mut().filter(|name| times.get(*name).is_some_and(|times| *times > 1)) {
            *name = format!("{}{name}", prefix(number));
        }
    }
    views
}

/// The columns of each list as a view, one view after the other; columns of no view are left out.
pub(crate) fn divided(mut table: Input, lists: &[String]) -> Result<Input, Failure> {
    let account = &mut table.account;
    let (width, file) = (account.columns, account.path.display().to_string());
    let names = match account.column_names.len() == width {
        true => account.column_names.clone(),
        false => (1..=width).map(|j| format!("x{j}")).collect(),
    };
    let mut owner: Vec<Option<usize>> = vec![None; width];
    let mut places = Vec::new();
    for (number, list) in lists.iter().enumerate() {
        let chosen = named_places(&file, "--view", &names, list)?;
        for place in &chosen {
            if let Some(other) = owner[*place].replace(number) {
                return Err(Failure::usage(
                    format!(
                        "{file}: --view {list} names {}, which is in view {} too",
                        names[*place],
                        other + 1
                    ),
                    "a column in two views correlates with itself",
                    "Leave it out of one of them",
                ));
            }
        }
        let columns = chosen.iter().map(|place| names[*place].clone()).collect();
        account.views.push(ViewAccount { path: account.path.clone(), columns });
        places.extend(chosen);
    }
    account.ignored = (0..width).filter(|j| owner[*j].is_none()).map(|j| names[j].clone()).collect();
    let ignored: HashSet<&String> = account.ignored.iter().collect();
    account.constant_columns.retain(|name| !ignored.contains(name));
    account.column_names = places.iter().map(|place| names[*place].clone()).collect();
    account.columns = places.len();
    account.entries = account.rows * places.len();
    if !places.iter().copied().eq(0..width) {
        let rows = table.values.chunks_exact(width.max(1));
        table.values = rows.flat_map(|row| places.iter().map(|place| row[*place])).collect();
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_string()).collect()
    }

    #[test]
    fn names_of_two_views_are_told_apart() {
        let views = apart(vec![texts(&["a", "b"]), texts(&["b", "c"])]);
        assert_eq!(views, [texts(&["a", "view1_b"]), texts(&["view2_b", "c"])]);
    }

    #[test]
    fn columns_of_a_table_are_divided_in_the_order_asked_for() {
        let account = DataAccount {
            rows: 2,
            columns: 4,
            column_names: texts(&["a", "b", "c", "d"]),
            ..DataAccount::default()
        };
        let table = || Input {
            account: account.clone(),
            values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
            sparse: None,
            carried: Carried::default(),
            seconds: 0.0,
        };
        let done = divided(table(), &texts(&["d,2", "1"])).unwrap();
        assert_eq!(done.values, [4.0, 2.0, 1.0, 8.0, 6.0, 5.0]);
        assert_eq!(done.account.column_names, ["d", "b", "a"]);
        assert_eq!(done.account.ignored, ["c"]);
        let widths: Vec<usize> = done.account.views.iter().map(|view| view.columns.len()).collect();
        assert_eq!(widths, [2, 1]);
        let twice = divided(table(), &texts(&["a-c", "b"])).unwrap_err().to_string();
        assert!(twice.contains("--view b names b, which is in view 1 too"), "{twice}");
        let unknown = divided(table(), &texts(&["a", "z"])).unwrap_err().to_string();
        assert!(unknown.contains("--view names \"z\", which is not a column"), "{unknown}");
    }
}
