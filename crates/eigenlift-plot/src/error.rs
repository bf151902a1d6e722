//! What can go wrong while a picture is made.

/// A result with [`PlotError`].
pub type Result<T> = std::result::Result<T, PlotError>;

/// Why a picture was not made. Each message says what was found, what was required and what to do next.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// Two inputs that describe the same points or components differ in length.
    #[error(
        "{what} has {found} entries; {required} are required, one for each of {per}. Pass slices of one length."
    )]
    LengthMismatch {
        /// The input of the wrong length.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        required: usize,
        /// What the entries should match.
        per: &'static str,
    },
    /// An edge of a graph leads to a row that is not among the points.
    #[error(
        "{what} {edge} leads to row {row}; there are {n_points} points, and an edge must join two of them. Pass edges between rows of the points."
    )]
    EdgeRow {
        /// The kind of edge.
        what: &'static str,
        /// Which edge, counted from 1.
        edge: usize,
        /// The row it leads to, counted from 1.
        row: u64,
        /// How many points there are.
        n_points: usize,
    },
    /// A point of a curve is named that is not there.
    #[error(
        "{what} is point {point} of curve {curve}; {n_curves} curves were given, and no such point is among them. Name points by their place in the curves given."
    )]
    NoSuchPoint {
        /// What is named.
        what: &'static str,
        /// Which curve, counted from 1.
        curve: usize,
        /// Which of its points, counted from 1.
        point: usize,
        /// How many curves there are.
        n_curves: usize,
    },
    /// A step of a path is named that is not there.
    #[error(
        "{what} is step {step}; {n_steps} steps were given, and it must be one of them. Count steps from 0 in the order given."
    )]
    NoSuchStep {
        /// What is named.
        what: &'static str,
        /// Which step, counted from 1.
        step: usize,
        /// How many steps there are.
        n_steps: usize,
    },
    /// A node of a grid has a class that is not among the names.
    #[error(
        "a node of the grid has class {class}; {n_classes} class names were given, counted from 0. Pass a name for every class of the grid."
    )]
    NoSuchClass {
        /// The class found.
        class: u32,
        /// How many classes have names.
        n_classes: usize,
    },
    /// The grid of a contour panel has fewer than two lines in one direction, or is too large.
    #[error(
        "the grid is {nx} × {ny}; between 2 and {limit} lines each way are required. Choose nx and ny in that range."
    )]
    GridSize {
        /// Columns of the grid.
        nx: usize,
        /// Rows of the grid.
        ny: usize,
        /// The most lines in one direction.
        limit: usize,
    },
    /// The number of contour panels cannot be drawn.
    #[error(
        "{found} contour panels were given; between 1 and {limit} are required. Choose fewer components per figure."
    )]
    PanelCount {
        /// Panels given.
        found: usize,
        /// The most panels in one figure.
        limit: usize,
    },
    /// The range of an axis is not an increasing pair of finite numbers.
    #[error(
        "{what} is {lo} to {hi}; finite bounds with the first below the second are required. Correct the range."
    )]
    BadRange {
        /// The axis.
        what: &'static str,
        /// Lower bound.
        lo: f64,
        /// Upper bound.
        hi: f64,
    },
    /// A matrix has too many rows for its cells to be seen.
    #[error("the matrix is {p} × {p}; at most {limit} × {limit} can be drawn. Pass fewer features.")]
    MatrixSize {
        /// Rows of the matrix.
        p: usize,
        /// The most rows.
        limit: usize,
    },
    /// The file extension names no format that can be written.
    #[error("cannot draw a {found:?} file; known formats are {}. Choose one of these extensions.", crate::FORMATS.join(", "))]
    UnknownFormat {
        /// The extension asked for.
        found: String,
    },
    /// The image has no pixels or more than can be held.
    #[error(
        "the image would be {width:.0} × {height:.0} pixels; each side must be from 1 to {limit}. Choose another scale."
    )]
    ImageSize {
        /// Width in pixels.
        width: f64,
        /// Height in pixels.
        height: f64,
        /// The most pixels on one side.
        limit: u32,
    },
    /// The PNG encoder failed.
    #[error("the PNG encoder failed ({reason}); nothing was written. Write SVG instead.")]
    Encode {
        /// What the encoder said.
        reason: String,
    },
}

/// Checks that an input has one entry for each of `per`.
pub(crate) fn check_length(
    what: &'static str,
    found: usize,
    required: usize,
    per: &'static str,
) -> Result<()> {
    if found == required { Ok(()) } else { Err(PlotError::LengthMismatch { what, found, required, per }) }
}
