//! The path of a selection of features: the score after each step.

use crate::axis::Range;
use crate::error::{PlotError, Result, check_length};
use crate::frame::{self, BORDER, Frame, FrameSpec, LABEL_SIZE, WIDTH};
use crate::mark;
use crate::number::{count, short};
use crate::palette::{FAINT_INK, FIRST, INK, SECOND, THIRD};
use crate::scene::{Anchor, Figure, Marker, Polyline, Rect, Shape, Stroke};
use crate::series::{self, LineLook};

mod names;

const PLOT_HEIGHT: f64 = 250.0;
/// Half the length of the line across the end of an error bar.
const CAP: f64 = 3.5;
const RING: f64 = 7.0;

/// One step of a selection.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathStep {
    /// The feature that was added or removed.
    pub name: String,
    /// The score after the step.
    pub score: f64,
    /// The standard error of the score.
    pub spread: Option<f64>,
    /// What the score is compared with, such as the score on the training rows.
    pub baseline: Option<f64>,
}

/// What [`selection_path`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PathPicture<'a> {
    /// The steps in their order.
    pub steps: &'a [PathStep],
    /// The number of features after each step; empty: 1, 2, ….
    pub n_features: &'a [usize],
    /// The step that was chosen, counted from 0.
    pub chosen: Option<usize>,
    /// The step with the best score, counted from 0.
    pub best: Option<usize>,
    /// What the score is.
    pub score_label: &'a str,
    /// What the baseline is; empty: "baseline".
    pub baseline_label: &'a str,
    /// Title above the plot; may be empty.
    pub title: &'a str,
}

/// Draws the score over the number of features, with error bars, the band of one standard error around the best
/// score, marks at the best and the chosen step, and the names of the features below.
///
/// Names that would touch are left out; in SVG the pointer shows each step in words. Scores that are not finite are
/// left out.
///
/// ```
/// use eigenlift_plot::{PathPicture, PathStep, selection_path};
///
/// let step = |name: &str, score| PathStep { name: name.into(), score, spread: Some(0.02), baseline: None };
/// let steps = [step("petal width", 0.91), step("petal length", 0.96), step("sepal width", 0.95)];
/// let picture = PathPicture {
///     steps: &steps, chosen: Some(1), best: Some(1), score_label: "accuracy", ..PathPicture::default()
/// };
/// assert!(selection_path(&picture)?.to_svg().contains("petal width"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`] when there is not one number of features for each step; [`PlotError::NoSuchStep`]
/// when the chosen or the best step is not among the steps.
pub fn selection_path(input: &PathPicture) -> Result<Figure> {
    check(input)?;
    let n = input.steps.len();
    let notes = notes(input);
    let mut frame = Frame::new(&FrameSpec {
        title: input.title,
        x_label: "",
        y_label: input.score_label,
        y_color: INK,
        x: Range { lo: 0.5, hi: n.max(1) as f64 + 0.5 },
        y: score_range(input),
        x_ticks: Some(names::ticks(input)),
        y_ticks: None,
        equal: false,
        plot_height: PLOT_HEIGHT,
        right: 0.0,
        notes: &[],
    });
    let mut looks = draw_band(&mut frame, input);
    looks.extend(draw_lines(&mut frame, input));
    looks.extend(draw_marks(&mut frame, input));
    if n == 0 {
        let at = [frame.plot.x + frame.plot.w / 2.0, frame.plot.y + frame.plot.h / 2.0];
        frame.shapes.push(Shape::text("no steps", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
    }
    let tooltips: Vec<Shape> = (0..n).map(|k| Shape::tooltip(&words(input, k), column(&frame, k))).collect();
    frame.shapes.extend(tooltips);
    let mut bottom = names::draw(&mut frame, input);
    let looks: Vec<LineLook> =
        looks.iter().map(|(name, stroke, marker)| LineLook::new(name, *stroke, *marker)).collect();
    bottom = series::draw_key(&mut frame.shapes, &looks, bottom + 4.0, WIDTH);
    bottom = frame::notes(&mut frame.shapes, &notes, bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + BORDER, input.title, frame.shapes))
}

/// Name, line and marker of an entry of the key.
type Entry = (String, Stroke, Option<Marker>);

fn check(input: &PathPicture) -> Result<()> {
    let n_steps = input.steps.len();
    if !input.n_features.is_empty() {
        check_length("the numbers of features", input.n_features.len(), n_steps, "the steps")?;
    }
    for (what, step) in [("the chosen step", input.chosen), ("the best step", input.best)] {
        if let Some(step) = step.filter(|step| *step >= n_steps) {
            return Err(PlotError::NoSuchStep { what, step: step + 1, n_steps });
        }
    }
    Ok(())
}

/// The number of features after step k, counted from 0.
fn n_features(input: &PathPicture, k: usize) -> usize {
    input.n_features.get(k).copied().unwrap_or(k + 1)
}

/// A spread that can be drawn.
fn spread(step: &PathStep) -> Option<f64> {
    step.spread.filter(|spread| spread.is_finite() && *spread >= 0.0)
}

fn score_range(input: &PathPicture) -> Range {
    let ends = |step: &PathStep| {
        let spread = spread(step).unwrap_or(0.0);
        [Some(step.score - spread), Some(step.score + spread), step.baseline]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    Range::of(input.steps.iter().flat_map(ends)).padded(0.07)
}

/// The part of the plot that belongs to step k, counted from 0.
fn column(frame: &Frame, k: usize) -> Rect {
    let [left, right] = [0.5, 1.5].map(|half| frame.at(k as f64 + half, 0.0)[0]);
    Rect { x: left, w: right - left, ..frame.plot }
}

/// Draws one standard error around the best score.
fn draw_band(frame: &mut Frame, input: &PathPicture) -> Vec<Entry> {
    let best = input.best.and_then(|k| input.steps.get(k)).filter(|step| step.score.is_finite());
    let Some((best, spread)) = best.and_then(|best| Some((best, spread(best)?))) else { return Vec::new() };
    let [top, bottom] = [spread, -spread].map(|side| frame.at(0.0, best.score + side)[1]);
    let rect = Rect { y: top, h: bottom - top, ..frame.plot };
    let fill = THIRD.with_alpha(0.13);
    frame.shapes.push(Shape::Rect { rect, fill: Some(fill), stroke: None });
    vec![("within one standard error of the best".to_owned(), Stroke::solid(fill, 9.0), None)]
}

/// Draws the scores with their error bars, and what they are compared with.
fn draw_lines(frame: &mut Frame, input: &PathPicture) -> Vec<Entry> {
    let place = |k: usize, value: f64| value.is_finite().then(|| frame.at((k + 1) as f64, value));
    let steps = || input.steps.iter().enumerate();
    let scores: Vec<_> = steps().map(|(k, step)| place(k, step.score)).collect();
    let baselines: Vec<_> = steps().map(|(k, step)| place(k, step.baseline?)).collect();
    let bar = |(k, step): (usize, &PathStep)| {
        let spread = spread(step)?;
        Some(mark::error_bar(place(k, step.score + spread)?, place(k, step.score - spread)?, CAP))
    };
    let bars: Vec<Polyline> = steps().filter_map(bar).flatten().collect();
    let dashed = Stroke { dashed: true, ..Stroke::solid(FAINT_INK, 1.4) };
    let baseline = if input.baseline_label.is_empty() { "baseline" } else { input.baseline_label };
    let score = if input.score_label.is_empty() { "score" } else { input.score_label };
    let mut entries = vec![(score.to_owned(), Stroke::solid(FIRST, 1.8), Some(Marker::Circle), scores)];
    if baselines.iter().any(Option::is_some) {
        entries.push((baseline.to_owned(), dashed, Some(Marker::Square), baselines));
    }
    if !bars.is_empty() {
        let stroke = Some(Stroke::solid(FIRST, 1.1));
        frame.shapes.push(Shape::Path { lines: bars, fill: None, stroke });
    }
    for (name, stroke, marker, points) in &entries {
        let look = LineLook::new(name, *stroke, *marker).for_places(input.steps.len());
        frame.shapes.extend(look.shapes(points));
    }
    if input.steps.is_empty() {
        return Vec::new();
    }
    entries.into_iter().map(|(name, stroke, marker, _)| (name, stroke, marker)).collect()
}

/// Marks the best and the chosen step.
fn draw_marks(frame: &mut Frame, input: &PathPicture) -> Vec<Entry> {
    let at = |k: usize| {
        let score = input.steps.get(k)?.score;
        score.is_finite().then(|| frame.at((k + 1) as f64, score))
    };
    let (best, chosen) = (input.best.and_then(at), input.chosen.and_then(at));
    let features = |k: Option<usize>| k.map_or_else(String::new, |k| count(n_features(input, k), "feature"));
    let mut entries = Vec::new();
    if let Some(center) = best {
        let square = mark::square(center, RING - 1.5);
        let stroke = Stroke::solid(THIRD, 1.6);
        frame.shapes.push(Shape::Path { lines: vec![square], fill: None, stroke: Some(stroke) });
        entries.push((format!("best: {}", features(input.best)), stroke, Some(Marker::Square)));
    }
    if let Some(center) = chosen {
        let plot = frame.plot;
        let stroke = Stroke { dashed: true, ..Stroke::solid(SECOND, 1.6) };
        frame.shapes.push(Shape::line([center[0], center[1] + RING], [center[0], plot.bottom()], stroke));
        let ring = mark::ring(center, RING);
        let solid = Stroke::solid(SECOND, 2.0);
        frame.shapes.push(Shape::Path { lines: vec![ring], fill: None, stroke: Some(solid) });
        entries.push((format!("chosen: {}", features(input.chosen)), stroke, Some(Marker::Circle)));
    }
    entries
}

/// What is known of step k, counted from 0: one line each.
fn words(input: &PathPicture, k: usize) -> Vec<String> {
    let Some(step) = input.steps.get(k) else { return Vec::new() };
    let mut lines = vec![count(n_features(input, k), "feature"), step.name.clone()];
    let score = if input.score_label.is_empty() { "score" } else { input.score_label };
    let spread = spread(step).map_or_else(String::new, |spread| format!(" ± {}", short(spread)));
    lines.push(format!("{score} {}{spread}", short(step.score)));
    let baseline = if input.baseline_label.is_empty() { "baseline" } else { input.baseline_label };
    lines.extend(step.baseline.map(|value| format!("{baseline} {}", short(value))));
    let marks = [(input.best, "best"), (input.chosen, "chosen")];
    lines.extend(marks.iter().filter(|(at, _)| *at == Some(k)).map(|(_, word)| (*word).to_owned()));
    lines
}

fn notes(input: &PathPicture) -> Vec<String> {
    let n_bad = input.steps.iter().filter(|step| !step.score.is_finite()).count();
    (n_bad > 0).then(|| format!("{} not finite, left out", count(n_bad, "score"))).into_iter().collect()
}
