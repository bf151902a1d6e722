//! `eigenlift completions` and `eigenlift man`: what is made from the parser itself.

use crate::args::Cli;
use crate::exit::Failure;
use crate::outputs::{self, write_bytes};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::path::Path;

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "eigenlift", &mut script);
    write_bytes(Path::new("-"), &script)
}

/// Prints the manual page, or writes one for each command into a folder.
pub(crate) fn man(folder: Option<&Path>) -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = folder.filter(|folder| *folder != Path::new("-")) else {
        return write_bytes(Path::new("-"), &page(&command)?);
    };
    std::fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
    write_pages(folder, &command, "eigenlift")
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| Failure::Machine(format!("the manual page could not be made ({error}).")))?;
    Ok(page)
}

/// `eigenlift-fit-kpca.1` and so on, hidden commands left out.
fn write_pages(folder: &Path, command: &Command, name: &str) -> Result<(), Failure> {
    outputs::write_bytes(&folder.join(format!("{name}.1")), &page(command)?)?;
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
        .try_for_each(|inner| write_pages(folder, inner, &format!("{name}-{}", inner.get_name())))
}
