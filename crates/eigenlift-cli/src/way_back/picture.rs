//! Rows before and after the way back, as images or over two columns.

use crate::exit::Failure;
use crate::values::ImageSize;
use eigenlift::matrix::Matrix;
use eigenlift_plot::{
    Color, Figure, PreimageRow, PreimageScatter, Preimages, Scatter, preimage_scatter, preimages, scatter,
};

/// Images drawn.
const IMAGES: usize = 12;
/// Of more points than this every second is forgotten.
const MOST_POINTS: usize = 8192;

/// What a picture shows of the rows that have gone by.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    image: Option<ImageSize>,
    /// Rows as given, when there are any: whole as images, two columns as points.
    before: Vec<Vec<f64>>,
    after: Vec<Vec<f64>>,
    untrusted: Vec<bool>,
    /// Distances in feature space, where they are known.
    distances: Vec<f64>,
    seen: usize,
    /// One row in so many is kept.
    step: usize,
}

impl Gathered {
    pub(crate) fn new(image: Option<ImageSize>) -> Self {
        Self { image, step: 1, ..Self::default() }
    }

    /// Keeps some of these rows.
    pub(crate) fn add(
        &mut self,
        before: Option<&Matrix<f64>>,
        after: &Matrix<f64>,
        known: Option<(&[f64], &[bool])>,
    ) {
        for i in 0..after.n_rows() {
            let kept = match self.image {
                Some(_) => self.seen < IMAGES,
                None => self.seen.is_multiple_of(self.step),
            };
            self.seen += 1;
            if !kept {
                continue;
            }
            let width = if self.image.is_some() { after.n_cols() } else { 2 };
            self.before.extend(before.map(|rows| rows.row(i)[..width].to_vec()));
            self.after.push(after.row(i)[..width].to_vec());
            if let Some((distances, trusted)) = known {
                self.distances.push(distances[i]);
                self.untrusted.push(!trusted[i]);
            }
            if self.image.is_none() && self.after.len() > MOST_POINTS {
                self.thin();
            }
        }
    }

    /// Forgets every second row.
    fn thin(&mut self) {
        fn halve<T>(values: &mut Vec<T>) {
            let mut keep = false;
            values.retain(|_| {
                keep = !keep;
                keep
            });
        }
        halve(&mut self.before);
        halve(&mut self.after);
        halve(&mut self.untrusted);
        halve(&mut self.distances);
        self.step *= 2;
    }

    /// The picture; `names` are those of the columns.
    pub(crate) fn draw(&self, names: &[String], title: &str) -> Result<Figure, Failure> {
        match self.image {
            Some(size) => self.images(size, title),
            None if self.before.is_empty() => self.points(names, title),
            None => self.arrows(names, title),
        }
    }

    fn images(&self, size: ImageSize, title: &str) -> Result<Figure, Failure> {
        let before: Vec<&[f64]> = self.before.iter().map(Vec::as_slice).collect();
        let after: Vec<&[f64]> = self.after.iter().map(Vec::as_slice).collect();
        let mut rows = Vec::new();
        if !before.is_empty() {
            rows.push(PreimageRow { label: "given", images: &before });
        }
        let label = if before.is_empty() { "from scores" } else { "denoised" };
        rows.push(PreimageRow { label, images: &after });
        let captions: Vec<String> = self.distances.iter().map(|distance| format!("{distance:.2}")).collect();
        Ok(preimages(&Preimages {
            rows: &rows,
            height: size.height,
            width: size.width,
            captions: &captions,
            untrusted: &self.untrusted,
            range: None,
            title,
        })?)
    }

    fn arrows(&self, names: &[String], title: &str) -> Result<Figure, Failure> {
        let (before, after) = (columns(&self.before), columns(&self.after));
        Ok(preimage_scatter(&PreimageScatter {
            before: (&before.0, &before.1),
            after: (&after.0, &after.1),
            names: labels(names),
            untrusted: &self.untrusted,
            title,
        })?)
    }

    /// Rows from scores have nothing to come from.
    fn points(&self, names: &[String], title: &str) -> Result<Figure, Failure> {
        let (x, y) = columns(&self.after);
        let word = |untrusted: &bool| if *untrusted { "not to be trusted" } else { "trusted" };
        let classes: Vec<String> = self.untrusted.iter().map(|flag| word(flag).to_string()).collect();
        let color = if self.untrusted.contains(&true) { Color::Classes(&classes) } else { Color::None };
        let (x_label, y_label) = labels(names);
        Ok(scatter(&Scatter { x: &x, y: &y, color, title, x_label, y_label, ..Scatter::default() })?)
    }
}

fn columns(rows: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    rows.iter().map(|row| (row[0], row[1])).unzip()
}

fn labels(names: &[String]) -> (&str, &str) {
    let name = |at: usize| names.get(at).map_or("", String::as_str);
    (name(0), name(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_points_are_thinned_evenly() {
        let mut shown = Gathered::new(None);
        for piece in 0..5 {
            let rows = Matrix::from_fn(4000, 3, |i, j| (4000 * piece + i) as f64 + 0.25 * j as f64);
            shown.add(Some(&rows), &rows, Some((&[0.5; 4000], &[true; 4000])));
        }
        assert_eq!(shown.step, 4);
        let expected: Vec<Vec<f64>> =
            (0..20_000).step_by(4).map(|i| vec![i as f64, i as f64 + 0.25]).collect();
        assert_eq!(shown.after, expected);
        assert_eq!((shown.before.len(), shown.untrusted.len(), shown.distances.len()), (5000, 5000, 5000));
    }

    #[test]
    fn the_first_images_are_kept() {
        let mut shown = Gathered::new(Some(ImageSize { height: 1, width: 3 }));
        let rows = Matrix::from_fn(9, 3, |i, j| (i + j) as f64);
        shown.add(None, &rows, None);
        shown.add(None, &rows, None);
        assert_eq!((shown.before.len(), shown.after.len()), (0, IMAGES));
        assert_eq!(shown.after[11], [2.0, 3.0, 4.0]);
    }
}
