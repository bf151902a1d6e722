//! Manifold methods: agreement with others, laws, known answers, graphs in pieces, every error, hostile files.

#[path = "manifold/errors.rs"]
mod errors;
#[path = "manifold/file.rs"]
mod file;
#[path = "manifold/golden.rs"]
mod golden;
#[path = "manifold/help.rs"]
mod help;
#[path = "manifold/known.rs"]
mod known;
#[path = "manifold/laws.rs"]
mod laws;
#[path = "manifold/policies.rs"]
mod policies;
#[path = "model_file/parts.rs"]
mod parts;
