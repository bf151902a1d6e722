//! Rows far from a model: Hotelling's T² within it against the squared prediction error (SPE) outside of it.

mod chart;
mod scale;

pub use chart::monitor_chart;

use crate::classes::Look;
use crate::density::{Density, Key};
use crate::error::{Result, check_length};
use crate::frame::{Frame, FrameSpec, LABEL_SIZE, WIDTH};
use crate::free_place::FreePlaces;
use crate::legend::Legend;
use crate::number::{grouped, short};
use crate::palette::{FAINT_INK, FIRST, INK, SECOND};
use crate::scatter;
use crate::scene::{Anchor, Figure, Marker, Rect, Shape, Stroke};
use crate::spaced::log_ticks;
use scale::Scale;

/// A value above its limit by no more than this share of it is rounding: a limit may be the value of a row.
const ROUNDING: f64 = 1e-9;
const PLOT_HEIGHT: f64 = 320.0;
/// More points than this are drawn as density.
const MOST_MARKERS: usize = 20_000;
/// Names are measured against this width before the frame is known.
const LEAST_PLOT_WIDTH: f64 = 370.0;
/// At most this many rows have their names in the plot.
const MOST_NAMES: usize = 6;
/// At most this many rows have words beside the pointer.
const MOST_WORDS: usize = 400;
/// A name is left out where it would hide more points than this.
const MOST_HIDDEN: usize = 2;
/// Half the side of the square that shows the words of a row.
const REACH: f64 = 5.0;

/// What [`monitor`] and [`monitor_chart`] draw.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MonitorPicture<'a> {
    /// T² of each row: the distance from the centre within the components.
    pub t_squared: &'a [f64],
    /// SPE of each row: the squared distance from the components.
    pub spe: &'a [f64],
    /// Limits of T² and of SPE; one that is not finite is not drawn.
    pub limits: Option<(f64, f64)>,
    /// The name of each row; without names, rows are counted from 1.
    pub labels: Option<&'a [String]>,
    /// Title above the plot; may be empty.
    pub title: &'a str,
}

/// Draws T² against SPE, with a dashed line for each limit and the rows beyond a limit in another colour; those
/// furthest beyond have their names.
///
/// An axis is logarithmic where its values span more than two decades; rows below such an axis stand at its end. More
/// than 20 000 points are drawn as density. Rows that are not finite are left out. All this is said in notes. In SVG
/// the pointer shows the numbers of the 400 rows furthest out.
///
/// ```
/// use eigenlift_plot::{MonitorPicture, monitor};
///
/// let figure = monitor(&MonitorPicture {
///     t_squared: &[1.0, 2.0, 30.0],
///     spe: &[0.1, 0.3, 0.2],
///     limits: Some((9.2, 0.5)),
///     ..MonitorPicture::default()
/// })?;
/// assert!(figure.to_svg().contains("1 of 3 rows beyond a limit"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when T², SPE and labels differ in length.
pub fn monitor(input: &MonitorPicture) -> Result<Figure> {
    let rows = Rows::new(input)?;
    let [x, y] = [0, 1].map(|which| rows.scale(which));
    let notes = rows.notes(&[x, y], MOST_MARKERS);
    let mut frame = Frame::new(&FrameSpec {
        title: input.title,
        x_label: "T², within the components",
        y_label: "SPE, outside of the components",
        y_color: INK,
        x: x.range,
        y: y.range,
        x_ticks: x.is_log.then(|| log_ticks(&x.range, LEAST_PLOT_WIDTH)),
        y_ticks: y.is_log.then(|| y.ticks(PLOT_HEIGHT)),
        equal: false,
        plot_height: PLOT_HEIGHT,
        right: 0.0,
        notes: &notes,
    });
    let place = |row: &Row| frame.at(x.place(row.values[0]), y.place(row.values[1]));
    let places: Vec<[f64; 2]> = rows.rows.iter().map(place).collect();
    let is_beyond: Vec<bool> = rows.rows.iter().map(Row::is_beyond).collect();
    let marks = marks(&frame.plot, &places, &is_beyond, MOST_MARKERS);
    let plot = frame.plot;
    frame.shapes.push(Shape::Clip { clip: plot, shapes: marks });
    let mut free = FreePlaces::new(plot, &places);
    let upright = rows.limits[0].map(|limit| (frame.at(x.place(limit), 0.0)[0], limit));
    let level = rows.limits[1].map(|limit| (frame.at(0.0, y.place(limit))[1], limit));
    if let Some((x, _)) = upright {
        free.line(Rect { x, w: 0.5, ..plot });
    }
    if let Some((y, limit)) = level {
        frame.shapes.extend(level_limit(&mut free, &plot, y, ("SPE", limit)));
    }
    if let Some((x, limit)) = upright {
        frame.shapes.extend(upright_limit(&mut free, &plot, x, limit));
    }
    let order = rows.furthest_first(Row::extremity);
    frame.shapes.extend(rows.names(&mut free, &order, &places, &is_beyond));
    frame.shapes.extend(rows.words(&order, &places));
    if rows.rows.is_empty() {
        let at = [plot.x + plot.w / 2.0, plot.y + plot.h / 2.0];
        frame.shapes.push(Shape::text("no points", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
    }
    if rows.limits.iter().any(Option::is_some) {
        frame.bottom = Legend::new(&looks()).draw_below(&mut frame.shapes, frame.bottom, WIDTH);
    }
    Ok(Figure::new(WIDTH, frame.bottom + 6.0, input.title, frame.shapes))
}

/// What rows within and beyond the limits look like.
fn looks() -> [Look; 2] {
    [("within", FIRST, Marker::Circle), ("beyond a limit", SECOND, Marker::Triangle)]
        .map(|(name, color, marker)| Look { name: name.to_owned(), color, marker })
}

/// One finite row.
struct Row {
    /// Where it was given.
    place: usize,
    /// T² and SPE.
    values: [f64; 2],
    /// Each value in units of its limit, or of the largest where there is no limit.
    shares: [f64; 2],
    beyond: [bool; 2],
}

impl Row {
    fn is_beyond(&self) -> bool {
        self.beyond.contains(&true)
    }

    fn extremity(&self) -> f64 {
        self.shares[0].max(self.shares[1])
    }
}

/// The finite rows and what they are held against.
struct Rows<'a> {
    rows: Vec<Row>,
    limits: [Option<f64>; 2],
    labels: Option<&'a [String]>,
    n_given: usize,
}

impl<'a> Rows<'a> {
    fn new(input: &MonitorPicture<'a>) -> Result<Self> {
        let n_given = input.t_squared.len();
        check_length("SPE", input.spe.len(), n_given, "the values of T²")?;
        let n_labels = input.labels.map_or(n_given, <[String]>::len);
        check_length("the list of labels", n_labels, n_given, "the rows")?;
        let limits = input.limits.map_or([None; 2], |(t, spe)| [t, spe].map(Some));
        let limits = limits.map(|limit| limit.filter(|limit| limit.is_finite()));
        let units = [(input.t_squared, limits[0]), (input.spe, limits[1])].map(|(values, limit)| {
            let largest = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
            limit.filter(|limit| *limit > 0.0).unwrap_or(largest).max(f64::MIN_POSITIVE)
        });
        let row = |(place, (t, spe)): (usize, (&f64, &f64))| {
            let values = [*t, *spe];
            let beyond =
                [0, 1].map(|k: usize| limits[k].is_some_and(|limit| values[k] > limit * (1.0 + ROUNDING)));
            let shares = [0, 1].map(|k: usize| values[k] / units[k]);
            values.iter().all(|v| v.is_finite()).then_some(Row { place, values, shares, beyond })
        };
        let rows = input.t_squared.iter().zip(input.spe).enumerate().filter_map(row).collect();
        Ok(Rows { rows, limits, labels: input.labels, n_given })
    }

    /// The axis of T² (0) or SPE (1).
    fn scale(&self, which: usize) -> Scale {
        let values: Vec<f64> = self.rows.iter().filter_map(|row| row.values.get(which).copied()).collect();
        Scale::new(&values, self.limits.get(which).copied().flatten())
    }

    fn name(&self, row: &Row) -> String {
        let label =
            self.labels.and_then(|labels| labels.get(row.place)).filter(|label| !label.trim().is_empty());
        label.map_or_else(|| format!("row {}", row.place + 1), String::clone)
    }

    /// The places of the rows furthest out, as many as have words.
    fn furthest_first(&self, key: impl Fn(&Row) -> f64) -> Vec<usize> {
        let mut order: Vec<(f64, usize)> = self.rows.iter().map(&key).zip(0..).collect();
        let by_key = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if order.len() > MOST_WORDS {
            order.select_nth_unstable_by(MOST_WORDS, by_key);
            order.truncate(MOST_WORDS);
        }
        order.sort_by(by_key);
        order.into_iter().map(|(_, k)| k).collect()
    }

    /// The names of the first rows in this order that are beyond a limit.
    fn names(
        &self,
        free: &mut FreePlaces,
        order: &[usize],
        places: &[[f64; 2]],
        is_beyond: &[bool],
    ) -> Vec<Shape> {
        let named = order.iter().filter(|k| is_beyond.get(**k) == Some(&true)).take(MOST_NAMES);
        let named: Vec<(&Row, [f64; 2])> =
            named.filter_map(|k| Some((self.rows.get(*k)?, *places.get(*k)?))).collect();
        for (_, [x, y]) in &named {
            free.take(Rect { x: x - 3.0, y: y - 3.0, w: 6.0, h: 6.0 });
        }
        let texts =
            named.iter().map(|(row, place)| free.text_beside(&self.name(row), SECOND, MOST_HIDDEN, *place));
        texts.collect::<Vec<_>>().concat()
    }

    /// Words beside the pointer, the furthest row on top.
    fn words(&self, order: &[usize], places: &[[f64; 2]]) -> Vec<Shape> {
        let tooltip = |k: &usize| {
            let (row, [x, y]) = (self.rows.get(*k)?, *places.get(*k)?);
            let lines = [
                self.name(row),
                format!("T² {}", short(row.values[0])),
                format!("SPE {}", short(row.values[1])),
            ];
            let side = 2.0 * REACH;
            Some(Shape::tooltip(&lines, Rect { x: x - REACH, y: y - REACH, w: side, h: side }))
        };
        order.iter().rev().filter_map(tooltip).collect()
    }

    fn notes(&self, scales: &[Scale; 2], most_markers: usize) -> Vec<String> {
        let mut notes = Vec::new();
        let count = |is: &dyn Fn(&Row) -> bool| self.rows.iter().filter(|row| is(row)).count();
        let rows = |n: usize| if n == 1 { "1 row".to_owned() } else { format!("{} rows", grouped(n)) };
        if self.limits.iter().any(Option::is_some) && !self.rows.is_empty() {
            let n_beyond = grouped(count(&Row::is_beyond));
            notes.push(format!("{n_beyond} of {} beyond a limit", rows(self.rows.len())));
        }
        let n_left_out = self.n_given - self.rows.len();
        if n_left_out > 0 {
            notes.push(format!("{} not finite, left out", rows(n_left_out)));
        }
        let n_below = count(&|row| scales.iter().zip(row.values).any(|(scale, value)| scale.is_below(value)));
        if n_below > 0 {
            notes.push(format!("{} below an axis, drawn at its end", rows(n_below)));
        }
        if self.rows.len() > most_markers {
            notes.push(format!("{}, drawn as density", rows(self.rows.len())));
        }
        notes
    }
}

/// The points, those beyond a limit on top; of more than `most`, cells.
fn marks(plot: &Rect, places: &[[f64; 2]], is_beyond: &[bool], most: usize) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (look, beyond) in looks().into_iter().zip([false, true]) {
        let chosen = places.iter().zip(is_beyond).filter(|(_, is)| **is == beyond);
        let chosen: Vec<[f64; 2]> = chosen.map(|(place, _)| *place).collect();
        if places.len() > most && (chosen.len() > most / 4 || !beyond) {
            let key = Key::Classes { of_point: &vec![0; chosen.len()], looks: &[look] };
            shapes.extend(Density::new(plot, &chosen).shapes(&key));
        } else {
            shapes.extend(scatter::markers(&chosen, &vec![(look.color, look.marker); chosen.len()]));
        }
    }
    shapes
}

fn limit_stroke() -> Stroke {
    Stroke { dashed: true, ..Stroke::solid(INK, 1.3) }
}

/// The limit of T² as an upright line, and its name at one end.
fn upright_limit(free: &mut FreePlaces, plot: &Rect, x: f64, limit: f64) -> Vec<Shape> {
    let mut shapes = vec![Shape::line([x, plot.y], [x, plot.bottom()], limit_stroke())];
    let (top, bottom) = (plot.y + 3.0, plot.bottom() - 3.0);
    shapes.extend(free.text(&format!("T² limit {}", short(limit)), INK, usize::MAX, |w, h| {
        vec![[x + 3.0, top], [x - 3.0 - w, top], [x + 3.0, bottom - h], [x - 3.0 - w, bottom - h]]
    }));
    shapes
}

/// A limit as a level line, and its name at one end.
fn level_limit(free: &mut FreePlaces, plot: &Rect, y: f64, (name, limit): (&str, f64)) -> Vec<Shape> {
    free.line(Rect { y, h: 0.5, ..*plot });
    let mut shapes = vec![Shape::line([plot.x, y], [plot.right(), y], limit_stroke())];
    let (left, right) = (plot.x + 3.0, plot.right() - 3.0);
    shapes.extend(free.text(&format!("{name} limit {}", short(limit)), INK, usize::MAX, |w, h| {
        let (above, below) = (y - 2.0 - h, y + 2.0);
        let middle = plot.x + (plot.w - w) / 2.0;
        [right - w, left, middle].iter().flat_map(|x| [[*x, above], [*x, below]]).collect()
    }));
    shapes
}
