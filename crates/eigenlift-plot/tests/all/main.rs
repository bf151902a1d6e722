//! Every test of pictures in one binary: it is linked once. `cargo test -p eigenlift-plot --test all NAME` runs one module.

mod canonical;
mod choice;
mod contour;
mod curves;
mod doctor;
mod gram;
mod graph_picture;
mod kernel_choice;
mod monitor;
mod path;
mod preimages;
mod regions;
mod report;
mod scatter;
mod scree;
mod sensitivity;
mod support;
mod whitening;
