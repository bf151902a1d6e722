//! Hollow marks around points, and error bars.

use crate::scene::Polyline;

const RING_CORNERS: u32 = 24;

/// A circle as a closed line.
pub(crate) fn ring([x, y]: [f64; 2], radius: f64) -> Polyline {
    let corner = |k: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(RING_CORNERS)).sin_cos();
        [x + radius * cos, y + radius * sin]
    };
    Polyline { points: (0..RING_CORNERS).map(corner).collect(), closed: true }
}

/// A square with sides of twice the radius as a closed line.
pub(crate) fn square([x, y]: [f64; 2], radius: f64) -> Polyline {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    Polyline { points: corners.map(|[a, b]| [x + a * radius, y + b * radius]).to_vec(), closed: true }
}

/// A line between two ends above each other, with lines across them of twice the length `cap`.
pub(crate) fn error_bar(from: [f64; 2], to: [f64; 2], cap: f64) -> [Polyline; 3] {
    let across = |[x, y]: [f64; 2]| vec![[x - cap, y], [x + cap, y]];
    [vec![from, to], across(from), across(to)].map(|points| Polyline { points, closed: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_around_their_points() {
        for [x, y] in ring([3.0, 4.0], 5.0).points {
            assert!(((x - 3.0).hypot(y - 4.0) - 5.0).abs() < 1e-12, "{x} {y}");
        }
        assert_eq!(square([1.0, 2.0], 1.0).points, [[0.0, 1.0], [2.0, 1.0], [2.0, 3.0], [0.0, 3.0]]);
    }
}
