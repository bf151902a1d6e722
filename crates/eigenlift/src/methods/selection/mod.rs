//! Selection of features: filters that score or rank columns, and searches that add and take out columns by what is learned from
//! them, docs/theory/selection.md.

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
