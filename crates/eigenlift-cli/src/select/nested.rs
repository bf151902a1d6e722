//! The honest score of a selection, in words.

use super::found::{Found, with_spread};
use super::trail::measure_label;
use crate::table::list;
use eigenlift_select::Nested;

/// The score, and what was chosen how often.
pub(super) fn told(nested: &Nested, found: &Found<'_>) -> String {
    let n_parts = nested.selected.len();
    let label = found.report.measure.map_or("score", measure_label);
    let mut lines = vec![format!(
        "nested validation: {label} {} on {n_parts} parts of the rows that had no say in the selection: this is the honest score",
        with_spread(nested.score, nested.spread)
    )];
    let mut times = vec![0; nested.frequency.len()];
    nested.selected.iter().flatten().for_each(|j| times[*j] += 1);
    for count in (1..=n_parts).rev() {
        let places = (0..nested.frequency.len()).filter(|j| times[*j] == count);
        let names: Vec<String> = places.map(|j| found.names[j].clone()).collect();
        if !names.is_empty() {
            lines.push(format!("  chosen in {count} of {n_parts}: {}", list(&names)));
        }
    }
    lines.join("\n")
}
