//! Distributions of statistics, the digamma function, means with their standard errors.

mod digamma;
mod distributions;

pub use digamma::Digamma;
pub(crate) use distributions::{chi_squared_above, f_above};
pub use distributions::{chi_squared_tail, f_tail};

/// Mean and its standard error.
pub fn mean_and_error(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (n * (n - 1.0)).max(1.0)).sqrt())
}
