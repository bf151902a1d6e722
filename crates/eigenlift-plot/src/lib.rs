//! Pictures of PCA, kernel PCA and Isomap results: a [`scatter`] of scores, a [`scree`] plot of the spectrum and
//! of the error that is left, the [`choice`] of the number of components, what [`whitening`] does,
//! [`contour_panels`] of component functions over the plane, a neighbourhood graph over an embedding
//! ([`graph_picture`]), what the number of neighbours does to it ([`doctor`]), images and points with their
//! pre-images ([`preimages`], [`preimage_scatter`]), the choice of bandwidth and number of components
//! ([`kernel_choice`]), what the bandwidth does to the components ([`sensitivity`]), linear components above those
//! of a kernel ([`contour_rows`]), components as [`curves`] through the data, a Gram matrix and the centred one
//! ([`gram_picture`]), and the path of a selection of features ([`selection_path`]); of kernelised methods, canonical
//! [`correlations`] and scores of two views ([`canonical`], [`canonical_gallery`]), the choice of [`regularization`],
//! [`regions`] of predicted classes, and rows far from a model ([`monitor`], [`monitor_chart`], [`contributions`]).
//!
//! Every kind of picture is a function from plain slices to a [`Figure`], and a figure is written by
//! [`Figure::to_svg`] or [`Figure::to_png`]. Nothing here reads or writes files, prints, or depends on the
//! rest of the project.
//!
//! A [`Report`] is one HTML file with pictures, tables and points to explore; its scripts and style are in
//! [`web`].
//!
//! A figure is meant for a column of 3.4 inches: at that width no letter is smaller than 7 points.
//!
//! ```
//! use eigenlift_plot::{Color, Scatter, scatter};
//!
//! let classes = ["a", "a", "b"].map(String::from);
//! let figure = scatter(&Scatter {
//!     x: &[0.0, 1.0, 2.0],
//!     y: &[0.5, 0.1, f64::NAN],
//!     color: Color::Classes(&classes),
//!     title: "Scores",
//!     x_label: "component 1",
//!     y_label: "component 2",
//!     ..Scatter::default()
//! })?;
//! assert!(figure.to_svg().contains("1 point not finite"));
//! # Ok::<(), eigenlift_plot::PlotError>(())
//! ```

mod error;
mod font;
mod scene;
mod svg;
mod raster;
mod palette;
mod axis;
mod frame;
mod classes;
mod legend;
mod series;
mod cells;
mod density;
mod scatter;
mod graph_picture;
mod scree;
mod log_axis;
mod strip;
mod choice;
mod doctor;
mod heat_map;
mod gram;
mod whitening;
mod marching;
mod simplify;
mod grid_points;
mod contour;
mod curves;
mod spaced;
mod number;
mod mark;
mod path;
mod preimages;
mod preimage_scatter;
mod kernel_choice;
mod sensitivity;
mod correlations;
mod canonical;
mod regularization;
mod free_place;
mod monitor;
mod contributions;
mod regions;
pub mod web;
mod report;

pub use canonical::{CanonicalGallery, CanonicalPair, CanonicalPicture, canonical, canonical_gallery};
pub use choice::{Choice, Rule, choice};
pub use contour::{ContourPanels, Panel, contour_panels, contour_rows};
pub use contributions::contributions;
pub use correlations::{CorrelationsPicture, correlations};
pub use curves::{Curve, Curves, curves};
pub use doctor::{DoctorPicture, doctor};
pub use error::{PlotError, Result};
pub use gram::{GramPicture, gram_picture};
pub use graph_picture::{GraphPicture, graph_picture};
pub use kernel_choice::{ChoiceCurve, KernelChoicePicture, kernel_choice};
pub use monitor::{MonitorPicture, monitor, monitor_chart};
pub use path::{PathPicture, PathStep, selection_path};
pub use preimage_scatter::{PreimageScatter, preimage_scatter};
pub use preimages::{PreimageRow, Preimages, preimages};
pub use regions::{RegionsPicture, regions};
pub use regularization::{RegularizationPicture, regularization};
pub use report::{Block, PointColor, Points, Report, RowTable, Section};
pub use scatter::{Color, Scatter, scatter};
pub use scene::{FORMATS, Figure};
pub use scree::{Scree, scree};
pub use sensitivity::{SensitivityPicture, sensitivity};
pub use whitening::{WhiteningPicture, whitening};
