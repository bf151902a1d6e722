//! `eigenlift explore`: a page on this machine over everything that `fit` can do.

mod answer;
mod bench;
mod tables;

use crate::args::{DATA_SETS, ExploreArgs};
use crate::exit::Failure;
use crate::interrupt::Session;
use crate::outputs;
use crate::words::Words;
use bench::Bench;
use eigenlift_explorer::{Opening, Server, Settings};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tables::Folder;

/// What is shown when nothing is named.
const USUAL: &str = "digits";

/// Serves the page until Ctrl-C.
pub(crate) fn run(args: &ExploreArgs, session: &Session) -> Result<(), Failure> {
    let (folder, start) = beginning(args)?;
    let bench = Bench::new(Folder::new(&folder)?, start, args.most_upload);
    bench.check_start()?;
    let settings = Settings {
        host: args.host,
        port: args.port,
        most_upload: usize::try_from(args.most_upload).unwrap_or(usize::MAX),
    };
    let server = Server::bind(&settings).map_err(|error| {
        Failure::usage(
            format!("{}:{} cannot be listened on ({error})", args.host, args.port),
            "an address of this machine and a free port are required",
            "Choose another --port, or leave it out",
        )
    })?;
    let words = Words::new(args.quiet);
    if !args.host.is_loopback() {
        words.warn(
            "other machines that know the address of the page can use it, and read the tables of the folder",
        );
        words.note("put the name or address of this machine in place of one that is all zeros");
    }
    session.ends_with("the page has ended; nothing was written");
    let url = server.url();
    outputs::print(&url)?;
    words.say("open this address in a browser on this machine; Ctrl-C ends the page");
    if !args.no_open && std::io::stdout().is_terminal() {
        open_browser(&url);
    }
    server
        .run(bench)
        .map_err(|error| Failure::Machine(format!("the page cannot be served any more ({error}).")))
}

/// The folder whose tables can be opened, and what is opened first.
fn beginning(args: &ExploreArgs) -> Result<(PathBuf, Opening), Failure> {
    let here = || args.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    let Some(data) = &args.data else {
        if args.target.is_some() || args.columns.is_some() || args.missing.is_some() {
            return Err(Failure::usage(
                "--target, --columns or --missing without DATA",
                "they are about a table",
                "Name the table first",
            ));
        }
        return Ok((here(), Opening { builtin: Some(USUAL.into()), ..Opening::default() }));
    };
    let opening = Opening {
        target: args.target.clone(),
        columns: args.columns.clone(),
        missing: args.missing.clone(),
        ..Opening::default()
    };
    let named = data.to_str().filter(|name| DATA_SETS.contains(name) && !data.exists());
    if let Some(name) = named {
        return Ok((here(), Opening { builtin: Some(name.into()), ..opening }));
    }
    let parent = data.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = data.file_name().map(|name| name.to_string_lossy().into_owned());
    match &args.folder {
        Some(folder) if !parent.canonicalize().is_ok_and(|p| folder.canonicalize().is_ok_and(|f| p == f)) => {
            Err(Failure::usage(
                format!("{} is not in the folder {}", data.display(), folder.display()),
                "the page opens tables of one folder",
                "Leave --folder out, or name a table in it",
            ))
        }
        folder => {
            let folder = folder.clone().unwrap_or_else(|| parent.to_owned());
            Ok((folder, Opening { file, ..opening }))
        }
    }
}

/// Asks the system to show the page; where it cannot, the address has been printed.
fn open_browser(url: &str) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let silent = Stdio::null;
    let mut command = Command::new(program);
    let _ = command.args(arguments).arg(url).stdin(silent()).stdout(silent()).stderr(silent()).spawn();
}
