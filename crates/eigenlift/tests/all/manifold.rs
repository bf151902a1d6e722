//! Manifold methods: agreement with others, laws, known answers, graphs in pieces, every error, hostile files.

mod errors;
mod file;
mod golden;
mod help;
mod known;
mod laws;
mod policies;
use crate::model_file::parts;
