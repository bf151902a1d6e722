//! A page on this machine: choose data, a method and its numbers, move a slider, and see the embedding follow.
//!
//! This crate is the page and the server behind it. It knows nothing of methods or tables: the work is done by a
//! [`Workbench`], which the command line brings. What the page may ask for is in [`Workbench`]; what it is made of is in
//! `web/`, written for this project and held inside the program.
//!
//! The server is for one person on one machine ([`Server`]): it listens on loopback, every address begins with a secret
//! word, the headers `Host` and `Origin` must be its own, uploads are bounded, and nothing is written to disk.

mod problem;
mod ticket;
mod workbench;
mod jobs;
mod assets;
mod body;
mod guard;
mod routes;
mod server;

pub use problem::Problem;
pub use server::{Server, Settings};
pub use ticket::Ticket;
pub use workbench::{Done, Download, FitRequest, Opening, Pane, Workbench};
