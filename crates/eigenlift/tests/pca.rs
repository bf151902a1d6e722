//! Principal components and whitening: agreement with others, the theorems, every route, every error.

#[path = "pca/edges.rs"]
mod edges;
#[path = "pca/errors.rs"]
mod errors;
#[path = "pca/file.rs"]
mod file;
#[path = "pca/golden.rs"]
mod golden;
#[path = "pca/help.rs"]
mod help;
#[path = "pca/faint.rs"]
mod faint;
#[path = "pca/rows.rs"]
mod rows;
#[path = "pca/routes.rs"]
mod routes;
#[path = "pca/stream.rs"]
mod stream;
#[path = "pca/views.rs"]
mod views;
#[path = "pca/whitening.rs"]
mod whitening;
#[path = "pca/white_rank.rs"]
mod white_rank;
#[path = "model_file/parts.rs"]
mod parts;
