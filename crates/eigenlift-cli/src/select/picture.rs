//! The path of a selection as a picture.

use super::found::Found;
use super::trail::Point;
use crate::exit::Failure;
use eigenlift_plot::{Figure, PathPicture, PathStep, selection_path};

/// Scores over the steps.
pub(super) fn draw(found: &Found<'_>, title: &str) -> Result<Figure, Failure> {
    let trail = &found.trail;
    let step = |point: &Point| PathStep {
        name: point.told(),
        score: point.score,
        spread: point.spread,
        baseline: None,
    };
    let steps: Vec<PathStep> = trail.points.iter().map(step).collect();
    let n_features: Vec<usize> = trail.points.iter().map(|point| point.n_features).collect();
    Ok(selection_path(&PathPicture {
        steps: &steps,
        n_features: &n_features,
        chosen: trail.chosen,
        best: trail.best,
        score_label: &trail.label,
        title,
        ..PathPicture::default()
    })?)
}
