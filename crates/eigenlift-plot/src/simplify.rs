//! Lines with fewer points that look the same.

/// Longer lines are done in pieces of this many points.
const PIECE: usize = 1000;

/// The points of a line without those that lie closer than `tolerance` to the line through the others (Douglas and
/// Peucker 1973); the ends stay.
///
/// Cost: n log n for n points; at worst n times the length of a piece.
pub(crate) fn simplified(points: &[[f64; 2]], tolerance: f64) -> Vec<[f64; 2]> {
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    let mut kept = vec![false; points.len()];
    // A line of one point has no pieces but keeps its point.
    let pieces = (0..last.max(1)).step_by(PIECE).map(|from| (from, (from + PIECE).min(last)));
    let mut open: Vec<(usize, usize)> = pieces.collect();
    while let Some((from, to)) = open.pop() {
        [from, to].into_iter().for_each(|end| {
            if let Some(kept) = kept.get_mut(end) {
                *kept = true;
            }
        });
        if let Some((far, distance)) = farthest(points, from, to)
            && distance > tolerance
        {
            open.extend([(from, far), (far, to)]);
        }
    }
    points.iter().zip(kept).filter(|(_, kept)| *kept).map(|(point, _)| *point).collect()
}

/// The point between two others that is farthest from the stretch between them, and its distance.
fn farthest(points: &[[f64; 2]], from: usize, to: usize) -> Option<(usize, f64)> {
    let (a, b) = (*points.get(from)?, *points.get(to)?);
    let between = points.iter().enumerate().take(to).skip(from + 1);
    let distances = between.map(|(k, point)| (k, distance(*point, a, b)));
    distances.max_by(|x, y| x.1.total_cmp(&y.1))
}

/// The distance of a point from the stretch between two others.
fn distance([x, y]: [f64; 2], [ax, ay]: [f64; 2], [bx, by]: [f64; 2]) -> f64 {
    let (dx, dy) = (bx - ax, by - ay);
    let squared = dx * dx + dy * dy;
    let along = if squared > 0.0 { ((x - ax) * dx + (y - ay) * dy) / squared } else { 0.0 };
    let t = along.clamp(0.0, 1.0);
    (x - ax - t * dx).hypot(y - ay - t * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_stretches_keep_their_ends() {
        let line: Vec<[f64; 2]> = (0..50).map(|k| [f64::from(k), 2.0 * f64::from(k)]).collect();
        assert_eq!(simplified(&line, 0.01), [line[0], line[49]]);
        let long: Vec<[f64; 2]> = (0..=2500).map(|k| [f64::from(k), 0.0]).collect();
        assert_eq!(simplified(&long, 0.01), [[0.0, 0.0], [1000.0, 0.0], [2000.0, 0.0], [2500.0, 0.0]]);
        let corner = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [2.0, 2.0]];
        assert_eq!(simplified(&corner, 0.01), [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]);
        assert_eq!(simplified(&[], 0.1), Vec::<[f64; 2]>::new());
        assert_eq!(simplified(&[[1.0, 1.0]], 0.1), [[1.0, 1.0]]);
    }

    #[test]
    fn a_circle_stays_within_the_tolerance() {
        let at = |k: u32| (f64::from(k) / 1000.0 * std::f64::consts::TAU).sin_cos();
        let circle: Vec<[f64; 2]> = (0..=1000).map(at).map(|(sin, cos)| [50.0 * cos, 50.0 * sin]).collect();
        let kept = simplified(&circle, 0.1);
        assert!((20..120).contains(&kept.len()), "{}", kept.len());
        let nearest = |point: &[f64; 2]| {
            kept.windows(2).map(|pair| distance(*point, pair[0], pair[1])).fold(f64::INFINITY, f64::min)
        };
        assert!(circle.iter().all(|point| nearest(point) <= 0.1));
    }
}
