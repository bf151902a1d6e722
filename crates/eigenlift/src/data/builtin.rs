//! Data sets that ship with the crate. Sources and licences: `data/README.md` of the crate.

use super::Samples;
use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// A data set with names and labels.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// A short name.
    pub name: &'static str,
    /// The rows.
    pub samples: Samples<f64>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Name of the label, when there is one.
    pub target_name: Option<String>,
    /// A label for each row; empty when there is none.
    pub target: Vec<String>,
}

/// Handwritten digits: 1797 images of 8 × 8 pixels, values 0 to 16, with the digit as label.
///
/// # Errors
/// Never in a crate that is whole.
pub fn digits() -> Result<Dataset> {
    parse("digits", include_str!("../../data/digits.csv"), true)
}

/// Fisher's irises: 150 flowers, four lengths each, with the species as label.
///
/// # Errors
/// Never in a crate that is whole.
pub fn iris() -> Result<Dataset> {
    parse("iris", include_str!("../../data/iris.csv"), true)
}

/// The worked example: four points on a parabola.
///
/// # Errors
/// Never in a crate that is whole.
pub fn worked_example() -> Result<Dataset> {
    parse("worked-example", include_str!("../../data/worked-example.csv"), false)
}

/// Reads the plain files of this crate: a header, numbers, and perhaps a label in the last column.
fn parse(name: &'static str, text: &str, labelled: bool) -> Result<Dataset> {
    let damaged = || {
        Error::data(format!("the built-in set {name} is damaged"), "it ships whole", "Reinstall the crate")
    };
    let mut lines = text.lines();
    let mut columns: Vec<String> = lines.next().ok_or_else(damaged)?.split(',').map(str::to_string).collect();
    let target_name = if labelled { columns.pop() } else { None };
    let (mut numbers, mut target, mut n) = (Vec::new(), Vec::new(), 0);
    for line in lines.filter(|line| !line.is_empty()) {
        let mut cells: Vec<&str> = line.split(',').collect();
        if labelled {
            target.push(cells.pop().ok_or_else(damaged)?.to_string());
        }
        for cell in cells {
            numbers.push(cell.parse::<f64>().map_err(|_| damaged())?);
        }
        n += 1;
    }
    let samples = Matrix::from_vec(numbers, n, columns.len()).map_err(|_| damaged())?.into();
    Ok(Dataset { name, samples, columns, target_name, target })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_sets_have_their_known_sizes_and_sums() {
        let digits = digits().unwrap();
        assert_eq!((digits.samples.n_rows(), digits.samples.n_cols(), digits.target.len()), (1797, 64, 1797));
        let total: f64 = digits.samples.points().to_dense::<f64>().as_slice().iter().sum();
        assert_eq!(total, 561_718.0);
        let iris = iris().unwrap();
        assert_eq!((iris.samples.n_rows(), iris.samples.n_cols()), (150, 4));
        assert_eq!(iris.target[149], "virginica");
        assert_eq!(iris.target_name.as_deref(), Some("species"));
        let worked = worked_example().unwrap();
        assert_eq!(worked.samples.points().to_dense::<f64>().row(3), [-2.0, 4.0]);
        assert!(worked.target.is_empty());
    }
}
