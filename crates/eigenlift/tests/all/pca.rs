//! Principal components and whitening: agreement with others, the theorems, every route, every error.

mod edges;
mod errors;
mod file;
mod golden;
mod help;
mod faint;
mod rows;
mod routes;
mod stream;
mod views;
mod whitening;
mod white_rank;
use crate::model_file::parts;
