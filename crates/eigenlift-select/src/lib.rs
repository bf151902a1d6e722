//! Feature selection: filters that score or rank columns, and searches that add and remove columns by how well held-out rows are
//! predicted from them, docs/theory/selection.md.
//!
//! [`Selection`] has the settings, [`MutualInformation`] scores single columns, and [`Search`] takes steps over any [`Judge`].

mod columns;
mod filter;
mod information;
mod kinds;
mod nested;
mod recipe;
mod report;
mod resume;
mod scorers;
mod search;
mod settings;
mod splits;

pub use information::{FeatureScore, MutualInformation};
pub use kinds::{Kind, Kinds};
pub use report::{Nested, SelectionReport, Step, Subset};
pub use resume::{Keep, SelectionProgress};
pub use scorers::{Measure, Scorer};
pub use search::{Direction, Found, Judge, KeepSteps, Search, one_standard_error};
pub use settings::{Count, Selection, SelectionMethod};
pub use splits::{Fold, Split};
