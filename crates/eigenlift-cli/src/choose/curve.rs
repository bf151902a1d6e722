//! The errors of all points: as a table, in words and as a picture.

use crate::exit::Failure;
use crate::figures::criterion_value;
use crate::outputs;
use crate::table::Carried;
use crate::words::{aligned_with_text, short};
use eigenlift::matrix::Matrix;
use eigenlift::tuning::kernel_choice::{GridPoint, KernelChoice};
use eigenlift_io::TextColumn;
use std::path::Path;

/// Points in the table of words; all of them are in the table on file and in the JSON form.
const SHOWN: usize = 10;

/// The best points, the chosen one among them, and the sentence.
pub(super) fn text(choice: &KernelChoice) -> String {
    let mut order: Vec<usize> = (0..choice.points.len()).collect();
    order.sort_by(|a, b| choice.points[*a].error.total_cmp(&choice.points[*b].error));
    let mut shown: Vec<usize> = order.iter().copied().take(SHOWN).collect();
    if !shown.contains(&choice.chosen) {
        shown.push(choice.chosen);
    }
    let row = |at: &usize| {
        let point = &choice.points[*at];
        let mark = match (*at == choice.chosen, choice.near.contains(at)) {
            (true, _) => "chosen",
            (_, true) => "as good within one standard error",
            _ => "",
        };
        vec![
            point.kernel.clone(),
            point.n_components.to_string(),
            short(criterion_value(choice, point.error)),
            if point.spread == 0.0 { "± 0".into() } else { format!("± {:.1e}", point.spread) },
            mark.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = shown.iter().map(row).collect();
    let heading = ["kernel", "components", choice.criterion, "standard error", ""];
    let more = choice.points.len().saturating_sub(shown.len());
    let rest = if more > 0 {
        format!("\n  … and {more} more (all of them with --out FILE)")
    } else {
        String::new()
    };
    format!("{}{rest}\n{}", aligned_with_text(&heading, &rows, &[0, 4]), choice.sentence)
}

/// Writes all points.
pub(super) fn write(path: &Path, choice: &KernelChoice) -> Result<(), Failure> {
    let kernels = choice.points.iter().map(|point| point.kernel.clone()).collect();
    let text = vec![TextColumn { name: "kernel".into(), position: 0, values: kernels }];
    let names = ["bandwidth", "components", "error", "spread"].map(String::from).to_vec();
    let values = Matrix::from_fn(choice.points.len(), names.len(), |i, j| {
        let point: &GridPoint = &choice.points[i];
        match j {
            0 => point.bandwidth.unwrap_or(f64::NAN),
            1 => point.n_components as f64,
            2 => point.error,
            _ => point.spread,
        }
    });
    outputs::write_scores(path, &Carried { text, target: None }, names, &values)
}
