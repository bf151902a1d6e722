//! Kernels of the distance with one parameter, and their values from distances that are known.

use crate::data::AnySamples;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelSpec, Param, ParamRole, Parameter, Workspace, of_distance};
use crate::matrix::Matrix;
use crate::progress::Watch;
use rayon::prelude::*;

/// Rows of distances that one thread computes at a time.
const PIECE: usize = 16;

/// A kernel of ‖x − y‖ alone, whose parameter is to be varied.
pub(super) struct Family {
    spec: KernelSpec,
    parameter: &'static Parameter,
    /// The parameter as it was given.
    pub(super) given: Param,
}

impl Family {
    pub(super) fn of(spec: &KernelSpec) -> Result<Self> {
        let known = spec.named().is_some_and(|kernel| kernel.entry().is_of_distance());
        let Some((parameter, given)) = spec.bandwidth().filter(|_| known) else {
            return Err(Error::kernel(
                format!("the kernel {spec}"),
                "a study of the bandwidth needs a kernel of the distance with one parameter",
                format!("Choose {}", of_distance("or")),
            ));
        };
        Ok(Self { spec: spec.clone(), parameter, given })
    }

    /// The kernel with another parameter.
    pub(super) fn with(&self, param: Param) -> KernelSpec {
        self.spec.clone().with_bandwidth(param)
    }

    /// The number that a parameter stands for on these samples.
    pub(super) fn resolved(&self, param: Param, samples: &AnySamples, seed: u64) -> Result<f64> {
        let spec = Kernel::resolve(&self.with(param), samples.points().into(), seed)?;
        match Self::of(&spec)?.given {
            Param::Value(value) => Ok(value),
            Param::Median | Param::OverDimension | Param::Auto => Ok(f64::NAN),
        }
    }

    /// Whether the parameter scales squared distances.
    pub(super) fn is_squared(&self) -> bool {
        matches!(self.parameter.role, Some(ParamRole::SquaredDistanceRate | ParamRole::SquaredDistance))
    }

    pub(super) fn name(&self) -> &'static str {
        self.parameter.name
    }
}

/// ‖xᵢ − xⱼ‖ for all pairs of rows, from differences.
///
/// Cost: 3·n²d/2 flops; memory n² numbers and a dense copy of the rows.
pub(super) fn distances(rows: &AnySamples, watch: &Watch) -> Result<Matrix<f64>> {
    let x: Matrix<f64> = rows.points().to_dense();
    let n = x.n_rows();
    let mut out = Matrix::zeros(n, n);
    let pieces: Vec<_> = out.view_mut().row_chunks(PIECE).into_iter().enumerate().collect();
    watch.step("distances", 0, n)?;
    pieces.into_par_iter().try_for_each(|(piece, mut part)| {
        watch.check()?;
        for at in 0..part.n_rows() {
            let i = piece * PIECE + at;
            let row = x.row(i);
            part.row_mut(at)[..i].iter_mut().enumerate().for_each(|(j, r)| *r = distance(row, x.row(j)));
        }
        Ok(())
    })?;
    for i in 0..n {
        for j in 0..i {
            out[(j, i)] = out[(i, j)];
        }
    }
    if let Some(at) = out.as_slice().iter().position(|r| !r.is_finite()) {
        return Err(Error::data(
            format!(
                "rows {} and {} of those looked at, whose squared distance overflows",
                at / n + 1,
                at % n + 1
            ),
            "squared distances must stay below 1e308",
            "Scale the data down",
        ));
    }
    Ok(out)
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    const LANES: usize = 8;
    // Why eight sums: they form a vector, and none waits for another.
    let mut sums = [0.0; LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
    for (x, y) in xs.zip(ys) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (a, b))| *sum += (a - b) * (a - b));
    }
    (rest + sums.iter().sum::<f64>()).sqrt()
}

/// k for all pairs of rows whose distances are given.
pub(super) fn of_distances(kernel: &Kernel, distances: &Matrix<f64>, watch: &Watch) -> Result<Matrix<f64>> {
    let n = distances.n_rows();
    let mut gram = Matrix::zeros(n, n);
    let pieces: Vec<_> = gram.as_mut_slice().chunks_mut(PIECE * n).enumerate().collect();
    pieces.into_par_iter().try_for_each(|(piece, part)| {
        watch.check()?;
        let mut work = Workspace::default();
        let mut rows = part.chunks_mut(n).enumerate();
        rows.try_for_each(|(at, out)| kernel.of_distances(distances.row(piece * PIECE + at), out, &mut work))
    })?;
    Ok(gram)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kernel of the distance, against the kernel itself on the rows.
    #[test]
    fn kernel_values_from_distances_are_those_of_the_rows() {
        let x = Matrix::from_fn(40, 11, |i, j| ((i * 11 + j) as f64 * 0.37).sin() + f64::from(i == 7) * 30.0);
        let distances = distances(&x.clone().into(), &Watch::default()).unwrap();
        for text in [
            "rbf(gamma=0.3)",
            "rbf(sigma=2)",
            "3*rbf(c=5)",
            "exponential(gamma=0.4)",
            "matern(nu=1.5,length=2)",
            "matern(nu=2.5,length=2)",
            "rational_quadratic(alpha=2,length=1.5)",
        ] {
            let spec: KernelSpec = text.parse().unwrap();
            let expected = Kernel::new(&spec, 11).unwrap().matrix((&x).into(), (&x).into());
            let got = of_distances(&Kernel::new(&spec, 1).unwrap(), &distances, &Watch::default()).unwrap();
            // The kernel's own allowance is 16 roundings of a value of size 3 at most, for each way.
            let worst = got.as_slice().iter().zip(expected.as_slice()).map(|(a, b)| (a - b).abs());
            assert!(worst.fold(0.0, f64::max) < 100.0 * f64::EPSILON, "{text}");
            let (forth, back) = (got.as_slice(), Matrix::from_fn(40, 40, |i, j| got[(j, i)]));
            assert_eq!(forth, back.as_slice(), "{text}");
        }
    }
}
