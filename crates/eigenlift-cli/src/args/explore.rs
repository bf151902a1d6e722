//! The words of `eigenlift explore`.

use super::NO_HEADING;
use crate::values;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::net::IpAddr;
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub(crate) struct ExploreArgs {
    /// Table to begin with, or the name of a built-in data set; digits when not given
    #[arg(help_heading = NO_HEADING)]
    pub(crate) data: Option<PathBuf>,
    /// Label column of DATA
    #[arg(long, value_name = "COL")]
    pub(crate) target: Option<String>,
    /// Columns of DATA that are data, by name, position from 1 or range
    #[arg(long, value_name = "LIST")]
    pub(crate) columns: Option<String>,
    /// What to do about missing cells of DATA: refuse, leave the row out, or fill in the mean
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(["error", "drop", "mean"]))]
    pub(crate) missing: Option<String>,
    /// Folder whose tables can be opened; that of DATA, or this one, when not given
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Address to listen on; any other than loopback lets other machines in that know the secret word
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// Port; 0 for any that is free
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) port: u16,
    /// Largest table that can be uploaded; a packed one (NPZ, Parquet) counts by what it unpacks to
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = values::memory)]
    pub(crate) most_upload: u64,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Say nothing on standard error but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}
