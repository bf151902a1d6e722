//! How many neighbours: what the graph and the embedding become over the number of neighbours.

mod panels;

use crate::axis::{Range, Ticks};
use crate::error::{Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE, WIDTH};
use crate::palette::INK;
use crate::scene::{Anchor, Figure, Rect, Shape, Stroke};
use panels::{Bars, Values, draw_suspects};

/// What [`doctor`] draws: an entry of each slice for each number of neighbours tried.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DoctorPicture<'a> {
    /// The numbers of neighbours k, in any order.
    pub neighbors: &'a [usize],
    /// The share of the variance of distances that the embedding does not explain.
    pub residual_variance: &'a [Option<f64>],
    /// The number of connected components of the graph.
    pub components: &'a [usize],
    /// The mean distance along the graph.
    pub mean_geodesic: &'a [Option<f64>],
    /// The number of suspected short circuits; the row is left out where none was counted.
    pub suspects: &'a [Option<usize>],
    /// The number of neighbours to take, a line through all panels; 0 for none.
    pub recommended: usize,
    /// Title above the panels; may be empty.
    pub title: &'a str,
}

/// Draws how many neighbours to take: the residual variance, the mean distance along the graph, the suspected
/// short circuits and the number of connected components, all over the number of neighbours k.
///
/// The numbers tried stand at equal distances. Where the mean distance falls by more than a tenth from one k
/// to the next, the line is bold and dashed: short circuits do that. A missing value, or one that is not
/// finite, is a gap.
///
/// ```
/// use eigenlift_plot::{DoctorPicture, doctor};
///
/// let figure = doctor(&DoctorPicture {
///     neighbors: &[5, 10, 20],
///     residual_variance: &[None, Some(0.02), Some(0.31)],
///     components: &[3, 1, 1],
///     mean_geodesic: &[None, Some(31.0), Some(17.0)],
///     suspects: &[None, Some(0), Some(4)],
///     recommended: 10,
///     ..DoctorPicture::default()
/// })?;
/// assert!(figure.to_svg().contains("recommended k = 10"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when a slice does not have one entry for
/// each number of neighbours.
pub fn doctor(input: &DoctorPicture<'_>) -> Result<Figure> {
    let per = "the numbers of neighbours";
    let n = input.neighbors.len();
    check_length("the residual variance", input.residual_variance.len(), n, per)?;
    check_length("the connected components", input.components.len(), n, per)?;
    check_length("the mean distance", input.mean_geodesic.len(), n, per)?;
    check_length("the suspects", input.suspects.len(), n, per)?;

    let trials = trials(input);
    let residual = Values::new("residual variance", trials.iter().map(|t| t.residual), true);
    let distance = Values::new("mean distance along the graph", trials.iter().map(|t| t.distance), false);
    let bars = Bars::new(trials.iter().map(|t| t.components).collect());
    let tick_labels = residual.ticks.labels().chain(distance.ticks.labels()).chain(bars.ticks.labels());
    let left = BORDER + font::widest(tick_labels, TICK_SIZE) + TICK + 4.0;
    let x = Axis::new(&trials, input.recommended, left);

    let mut shapes = Vec::new();
    let mut top = frame::title(&mut shapes, input.title, WIDTH) - 4.0;
    if let Some(place) = x.recommended {
        top = draw_recommended(&mut shapes, place, input.recommended, top);
    }
    let line_top = top;
    let mut panels = Vec::new();
    top = residual.draw(&mut panels, &x, top);
    top = distance.draw(&mut panels, &x, top);
    if trials.iter().any(|t| t.suspects.is_some()) {
        top = draw_suspects(&mut panels, &trials, &x, top);
    }
    let plot = bars.draw(&mut panels, &x, top);
    if let Some(place) = x.recommended {
        let stroke = Stroke::solid(INK, 1.2);
        shapes.push(Shape::line([place, line_top], [place, plot.bottom()], stroke));
    }
    shapes.extend(panels);
    frame::x_axis(&mut shapes, &plot, (&x.range, &x.ticks), (2.0, WIDTH - 2.0));
    let mut bottom = plot.bottom() + TICK + LINE + LABEL_SIZE + 4.0;
    let at = [plot.x + plot.w / 2.0, bottom - 4.0];
    shapes.push(Shape::text("number of neighbours k", at, LABEL_SIZE, Anchor::Middle, INK));
    bottom = frame::notes(&mut shapes, &notes(input), bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, shapes))
}

/// What is known of one number of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Trial {
    k: usize,
    residual: Option<f64>,
    distance: Option<f64>,
    components: Option<usize>,
    suspects: Option<usize>,
}

/// The trials by number of neighbours, with a place for the recommended number where it was not tried.
fn trials(input: &DoctorPicture) -> Vec<Trial> {
    let finite =
        |values: &[Option<f64>], i: usize| values.get(i).copied().flatten().filter(|v| v.is_finite());
    let trial = |(i, k): (usize, &usize)| Trial {
        k: *k,
        residual: finite(input.residual_variance, i),
        distance: finite(input.mean_geodesic, i),
        components: input.components.get(i).copied(),
        suspects: input.suspects.get(i).copied().flatten(),
    };
    let mut trials: Vec<Trial> = input.neighbors.iter().enumerate().map(trial).collect();
    if input.recommended > 0 && !input.neighbors.contains(&input.recommended) {
        trials.push(Trial { k: input.recommended, ..Trial::default() });
    }
    trials.sort_by_key(|trial| trial.k);
    trials
}

fn notes(input: &DoctorPicture) -> Vec<String> {
    let values = input.residual_variance.iter().chain(input.mean_geodesic).flatten();
    match values.filter(|v| !v.is_finite()).count() {
        0 => Vec::new(),
        1 => vec!["1 value not finite, left out".to_owned()],
        n => vec![format!("{n} values not finite, left out")],
    }
}

/// The horizontal axis that all panels share: places 0, 1, 2, …, one for each trial.
struct Axis {
    range: Range,
    ticks: Ticks,
    left: f64,
    width: f64,
    n: usize,
    /// Where the line of the recommended number stands.
    recommended: Option<f64>,
}

impl Axis {
    fn new(trials: &[Trial], recommended: usize, left: f64) -> Self {
        let n = trials.len();
        let width = (WIDTH - left - BORDER - 6.0).max(60.0);
        let range = Range { lo: -0.5, hi: n.max(1) as f64 - 0.5 };
        let labels: Vec<String> = trials.iter().map(|trial| trial.k.to_string()).collect();
        let room = font::widest(labels.iter().map(String::as_str), TICK_SIZE) + 0.5 * TICK_SIZE;
        let step = (room * n as f64 / width).ceil().max(1.0) as usize;
        let (values, labels) =
            labels.into_iter().enumerate().step_by(step).map(|(i, label)| (i as f64, label)).unzip();
        let ticks = Ticks { values, labels, ..Ticks::default() };
        let axis = Axis { range, ticks, left, width, n, recommended: None };
        let place = trials.iter().position(|trial| trial.k == recommended && recommended > 0);
        Axis { recommended: place.map(|i| axis.x(i)), ..axis }
    }

    /// The figure coordinate of a place.
    fn x(&self, i: usize) -> f64 {
        self.left + self.width * self.range.place(i as f64)
    }

    /// The width that each place has for itself.
    fn per_place(&self) -> f64 {
        self.width / self.n.max(1) as f64
    }

    fn plot(&self, top: f64, height: f64) -> Rect {
        Rect { x: self.left, y: top, w: self.width, h: height }
    }
}

/// Draws the label of the line of the recommended number and returns where the line begins.
fn draw_recommended(shapes: &mut Vec<Shape>, x: f64, k: usize, top: f64) -> f64 {
    let text = format!("recommended k = {k}");
    let half = font::width(&text, TICK_SIZE) / 2.0;
    let at = [x.min(WIDTH - BORDER - half).max(BORDER + half), top + TICK_SIZE];
    shapes.push(Shape::text(&text, at, TICK_SIZE, Anchor::Middle, INK));
    top + TICK_SIZE + 5.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_sorted_and_hold_the_recommended_number() {
        let input = DoctorPicture {
            neighbors: &[20, 5],
            residual_variance: &[Some(0.5), Some(f64::NAN)],
            components: &[1, 2],
            mean_geodesic: &[None, Some(3.0)],
            suspects: &[Some(7), None],
            recommended: 9,
            title: "",
        };
        let first = Trial { k: 5, distance: Some(3.0), components: Some(2), ..Trial::default() };
        let last =
            Trial { k: 20, residual: Some(0.5), components: Some(1), suspects: Some(7), ..Trial::default() };
        assert_eq!(trials(&input), [first, Trial { k: 9, ..Trial::default() }, last]);
        assert_eq!(trials(&DoctorPicture { recommended: 0, ..input }), [first, last]);
        assert_eq!(notes(&input), ["1 value not finite, left out"]);
    }
}
