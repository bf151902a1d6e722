//! The way to the minimum.

use super::loss::{Loss, Point};
use super::metric::Metric;
use eigenlift::error::Result;
use eigenlift::matrix::Matrix;
use eigenlift::progress::Watch;
use std::collections::VecDeque;

/// The square of the last step, in the length that second derivatives give, against the value: coefficients are then known to
/// 1e-7 of that length, so that only rows this near a border between classes could change sides.
const TOLERANCE: f64 = 1e-14;
/// Most steps; the last point is then taken as it is.
const MOST_STEPS: usize = 500;
/// Steps after which second derivatives are found anew.
const RENEWAL: usize = 20;
/// Steps that are remembered.
const MEMORY: usize = 8;
/// Numerics: differences of values below this share of them are rounding.
const ROUNDING: f64 = 1e-13;

/// A step, the change of the gradient over it, and one over their product.
struct Step {
    moved: Vec<f64>,
    turned: Vec<f64>,
    scale: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, what: &[f64]) {
    to.iter_mut().zip(what).for_each(|(t, w)| *t += factor * w);
}

/// Against the gradient, with the metric corrected by the last steps (Nocedal).
fn direction(gradient: &[f64], steps: &VecDeque<Step>, metric: &Metric) -> Vec<f64> {
    let mut left: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut along = vec![0.0; steps.len()];
    for (step, along) in steps.iter().zip(&mut along).rev() {
        *along = step.scale * dot(&step.moved, &left);
        add(&mut left, -*along, &step.turned);
    }
    let mut out = metric.apply(&left);
    for (step, along) in steps.iter().zip(&along) {
        let against = step.scale * dot(&step.turned, &out);
        add(&mut out, along - against, &step.moved);
    }
    out
}

/// The point that far along, halved or less until the value falls as it should.
fn search(loss: &Loss, from: &Point, (direction, outputs): (&[f64], &[f64]), slope: f64) -> Option<Point> {
    let mut length = 1.0;
    for _ in 0..40 {
        let (mut weights, mut there) = (from.weights.clone(), from.outputs.clone());
        add(&mut weights, length, direction);
        add(&mut there, length, outputs);
        let point = loss.point(weights, there);
        if point.value <= from.value + 1e-4 * length * slope + ROUNDING * from.value {
            return Some(point);
        }
        let bend = point.value - from.value - length * slope;
        let best = -0.5 * slope * length * length / bend;
        length = if best.is_finite() { best.clamp(0.1 * length, 0.5 * length) } else { 0.1 * length };
    }
    None
}

/// Goes down from a point. Returns where it ends and the number of steps.
pub(super) fn descend(
    loss: &Loss,
    design: &Matrix<f64>,
    mut point: Point,
    mut metric: Metric,
    watch: &Watch,
) -> Result<(Point, usize)> {
    let mut steps: VecDeque<Step> = VecDeque::new();
    let mut gradient = loss.gradient(design, &point);
    for count in 0..MOST_STEPS {
        watch.check()?;
        if count > 0 && count % RENEWAL == 0 && metric.is_renewable(loss) {
            metric = Metric::of(loss, design, &point);
            steps.clear();
        }
        let direction = direction(&gradient, &steps, &metric);
        let slope = dot(&gradient, &direction);
        if -slope <= TOLERANCE * point.value {
            return Ok((point, count));
        }
        let outputs = loss.outputs(design, &direction);
        let Some(next) = search(loss, &point, (&direction, &outputs), slope) else {
            return Ok((point, count));
        };
        let (mut moved, mut turned) = (next.weights.clone(), loss.gradient(design, &next));
        add(&mut moved, -1.0, &point.weights);
        let fresh = turned.clone();
        add(&mut turned, -1.0, &gradient);
        let product = dot(&moved, &turned);
        if product > 0.0 {
            steps.push_back(Step { moved, turned, scale: 1.0 / product });
            if steps.len() > MEMORY {
                steps.pop_front();
            }
        }
        (point, gradient) = (next, fresh);
    }
    Ok((point, MOST_STEPS))
}
