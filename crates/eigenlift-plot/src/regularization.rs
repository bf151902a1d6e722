//! How much regularisation: the score over κ.

use crate::axis::Range;
use crate::error::{PlotError, Result, check_length};
use crate::frame::{self, Frame, FrameSpec, LABEL_SIZE, WIDTH};
use crate::log_axis;
use crate::mark;
use crate::number::{count, short};
use crate::palette::{FAINT_INK, FIRST, INK, SECOND};
use crate::scene::{Anchor, Figure, Marker, Polyline, Rect, Shape, Stroke};
use crate::series::{self, LineLook};
use crate::spaced::log_ticks;

const PLOT_HEIGHT: f64 = 250.0;
/// Half the length of the line across the end of an error bar.
const CAP: f64 = 3.5;
const RING: f64 = 7.0;
/// Names are measured against this width before the frame is known.
const LEAST_PLOT_WIDTH: f64 = 380.0;

/// What [`regularization`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RegularizationPicture<'a> {
    /// The values of κ tried, in any order.
    pub kappas: &'a [f64],
    /// The score of each κ on rows held out.
    pub scores: &'a [f64],
    /// The standard error of each score; may be empty.
    pub errors: &'a [f64],
    /// The place of the κ chosen, counted from 0; of no meaning without any.
    pub chosen: usize,
    /// What κ is; empty: "regularisation κ".
    pub x_label: &'a str,
    /// What the score is; empty: "held-out score".
    pub y_label: &'a str,
    /// Title above the plot; may be empty.
    pub title: &'a str,
}

/// Draws the score over κ on a logarithmic axis, with error bars and a ring around the κ chosen.
///
/// Scores that are not finite, and values of κ that are not positive, are left out and counted in a note. In SVG the
/// pointer shows the numbers of each κ.
///
/// ```
/// use eigenlift_plot::{RegularizationPicture, regularization};
///
/// let figure = regularization(&RegularizationPicture {
///     kappas: &[1e-4, 1e-2, 1.0],
///     scores: &[0.4, 0.9, 0.7],
///     errors: &[0.05, 0.02, 0.03],
///     chosen: 1,
///     y_label: "held-out correlation",
///     ..RegularizationPicture::default()
/// })?;
/// assert!(figure.to_svg().contains("chosen: 0.01"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`] when there is not one score, and one error where there are any, for each κ;
/// [`PlotError::NoSuchStep`] when the κ chosen is not among them.
pub fn regularization(input: &RegularizationPicture) -> Result<Figure> {
    check(input)?;
    let tried = tried(input);
    let notes = notes(input, &tried);
    let x = log_axis::range(tried.iter().map(|one| one.log), f64::NEG_INFINITY);
    let mut frame = Frame::new(&FrameSpec {
        title: input.title,
        x_label: if input.x_label.is_empty() { "regularisation κ" } else { input.x_label },
        y_label: score_name(input),
        y_color: INK,
        x,
        y: Range::of(tried.iter().flat_map(|one| [one.score - one.error, one.score + one.error]))
            .padded(0.08),
        x_ticks: Some(log_ticks(&x, LEAST_PLOT_WIDTH)),
        y_ticks: None,
        equal: false,
        plot_height: PLOT_HEIGHT,
        right: 0.0,
        notes: &[],
    });
    let chosen = tried.iter().find(|one| one.place == input.chosen).copied();
    draw_curve(&mut frame, &tried);
    if let Some(chosen) = chosen {
        draw_chosen(&mut frame, &chosen);
    }
    if tried.is_empty() {
        let at = [frame.plot.x + frame.plot.w / 2.0, frame.plot.y + frame.plot.h / 2.0];
        frame.shapes.push(Shape::text("no values", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
    }
    let tooltips = tooltips(&frame, input, &tried);
    frame.shapes.extend(tooltips);
    let mut bottom = draw_key(&mut frame, input, &tried, chosen);
    bottom = frame::notes(&mut frame.shapes, &notes, bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, frame.shapes))
}

fn check(input: &RegularizationPicture) -> Result<()> {
    let n_steps = input.kappas.len();
    check_length("the scores", input.scores.len(), n_steps, "the values of κ")?;
    if !input.errors.is_empty() {
        check_length("the standard errors", input.errors.len(), n_steps, "the values of κ")?;
    }
    if n_steps > 0 && input.chosen >= n_steps {
        let step = input.chosen.saturating_add(1);
        return Err(PlotError::NoSuchStep { what: "the chosen κ", step, n_steps });
    }
    Ok(())
}

/// One κ with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tried {
    /// Where it was given.
    place: usize,
    kappa: f64,
    log: f64,
    score: f64,
    error: f64,
}

/// What can be drawn, by κ.
fn tried(input: &RegularizationPicture) -> Vec<Tried> {
    let one = |(place, (kappa, score)): (usize, (&f64, &f64))| {
        let error = input.errors.get(place).copied().filter(|error| error.is_finite() && *error > 0.0);
        let (kappa, log) = (*kappa, log_axis::log10(*kappa)?);
        let score = Some(*score).filter(|score| score.is_finite())?;
        Some(Tried { place, kappa, log, score, error: error.unwrap_or(0.0) })
    };
    let mut tried: Vec<Tried> = input.kappas.iter().zip(input.scores).enumerate().filter_map(one).collect();
    tried.sort_by(|a, b| a.log.total_cmp(&b.log));
    tried
}

fn score_name<'a>(input: &RegularizationPicture<'a>) -> &'a str {
    if input.y_label.is_empty() { "held-out score" } else { input.y_label }
}

fn curve_look(name: &str) -> LineLook<'_> {
    LineLook::new(name, Stroke::solid(FIRST, 1.8), Some(Marker::Circle))
}

fn chosen_stroke() -> Stroke {
    Stroke { dashed: true, ..Stroke::solid(SECOND, 1.6) }
}

fn draw_curve(frame: &mut Frame, tried: &[Tried]) {
    let bars: Vec<Polyline> = tried
        .iter()
        .filter(|one| one.error > 0.0)
        .flat_map(|one| {
            let end = |side: f64| frame.at(one.log, one.score + side * one.error);
            mark::error_bar(end(1.0), end(-1.0), CAP)
        })
        .collect();
    if !bars.is_empty() {
        frame.shapes.push(Shape::Path { lines: bars, fill: None, stroke: Some(Stroke::solid(FIRST, 1.1)) });
    }
    let points: Vec<_> = tried.iter().map(|one| Some(frame.at(one.log, one.score))).collect();
    if !points.is_empty() {
        frame.shapes.extend(curve_look("").for_places(points.len()).shapes(&points));
    }
}

fn draw_chosen(frame: &mut Frame, chosen: &Tried) {
    let [x, y] = frame.at(chosen.log, chosen.score);
    let low = (y + RING).min(frame.plot.bottom());
    frame.shapes.push(Shape::line([x, low], [x, frame.plot.bottom()], chosen_stroke()));
    let stroke = Some(Stroke::solid(SECOND, 2.0));
    frame.shapes.push(Shape::Path { lines: vec![mark::ring([x, y], RING)], fill: None, stroke });
}

/// Words over the part of the plot that is nearest to each κ.
fn tooltips(frame: &Frame, input: &RegularizationPicture, tried: &[Tried]) -> Vec<Shape> {
    let places: Vec<f64> = tried.iter().map(|one| frame.at(one.log, 0.0)[0]).collect();
    let half_ways = places.iter().zip(places.iter().skip(1)).map(|(a, b)| (a + b) / 2.0);
    let edges: Vec<f64> = [frame.plot.x].into_iter().chain(half_ways).chain([frame.plot.right()]).collect();
    let areas = edges.iter().zip(edges.iter().skip(1)).map(|(from, to)| Rect {
        x: *from,
        w: to - from,
        ..frame.plot
    });
    let words = |one: &Tried| {
        let error = if one.error > 0.0 { format!(" ± {}", short(one.error)) } else { String::new() };
        let mut lines = vec![format!("κ = {}", short(one.kappa))];
        lines.push(format!("{} {}{error}", score_name(input), short(one.score)));
        lines.extend((one.place == input.chosen).then(|| "chosen".to_owned()));
        lines
    };
    tried.iter().zip(areas).map(|(one, area)| Shape::tooltip(&words(one), area)).collect()
}

/// Draws the names of what is drawn and returns where they end.
fn draw_key(frame: &mut Frame, input: &RegularizationPicture, tried: &[Tried], chosen: Option<Tried>) -> f64 {
    let has_errors = tried.iter().any(|one| one.error > 0.0);
    let name = format!("{}{}", score_name(input), if has_errors { " ± s.e." } else { "" });
    let name = crate::font::truncated(&name, frame::TICK_SIZE, WIDTH / 2.0);
    let chosen_name = chosen.map(|one| format!("chosen: {}", short(one.kappa)));
    let mut looks = Vec::new();
    if !tried.is_empty() {
        looks.push(curve_look(&name));
    }
    if let Some(name) = &chosen_name {
        looks.push(LineLook::new(name, chosen_stroke(), Some(Marker::Circle)));
    }
    series::draw_key(&mut frame.shapes, &looks, frame.bottom + 4.0, WIDTH)
}

fn notes(input: &RegularizationPicture, tried: &[Tried]) -> Vec<String> {
    let n_left_out = input.kappas.len() - tried.len();
    let text = || format!("{} without a finite score or a positive κ, left out", count(n_left_out, "value"));
    (n_left_out > 0).then(text).into_iter().collect()
}
