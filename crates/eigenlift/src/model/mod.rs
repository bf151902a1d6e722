//! What a fit leaves behind: the projection y(x) = lift(x)ᵀA − c, the plan it came from, and the file that holds both.

mod any;
mod barycentric;
mod budget;
mod file;
mod fitted;
mod job;
mod manifold;
mod names;
mod plan;

pub(crate) use barycentric::barycentric_weights;

pub(crate) use budget::{allowance, block_bytes};
pub(crate) use names::check_column_names;

pub use any::{AnyModel, Stored};
pub(crate) use any::{Reader, reader};
pub use file::{Array, ArrayInfo, FORMAT_VERSION, Header, Numbers, read_header};
pub(crate) use file::{
    Arrays, Declared, Dim, LiftRecord, MapRecord, ModelReader, Out, Rule, SAVE_AGAIN, Table, in_kernel,
    in_samples, kernel_text, shown,
};
pub(crate) use fitted::On;
pub use fitted::{Body, Model};
pub use job::Job;
pub use manifold::{ManifoldLift, NeighborWeights};
pub use plan::{Plan, Planned, Route, Solver};
pub(crate) use plan::{
    forget_machine, human_bytes, human_bytes_enough, machine_lines, machine_lines_at_most, planned,
};

use crate::data::{AnyPoints, AnySamples, CentredRows};
use crate::eigen::column_signs;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::FeatureMap;
use crate::graph::Neighbors;
use crate::kernel::Kernel;
use crate::linalg::{Onto, combine, scale_columns, shift_columns};
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::rows::in_memory;

/// Rows whose lift is held at a time.
const PIECE_ROWS: usize = 4096;

/// How a row is lifted before A is applied.
#[derive(Clone, Debug)]
pub enum Lift {
    /// x ↦ k(x, X) for the samples X, or for landmarks.
    Kernel {
        /// k.
        kernel: Kernel,
        /// X.
        samples: AnySamples,
    },
    /// x ↦ f(x), features written out.
    Features {
        /// The kernel that ⟨f(x), f(y)⟩ gives, exactly or in the mean.
        kernel: Kernel,
        /// f.
        map: FeatureMap,
    },
    /// x ↦ x − c₀, the row itself minus a centre.
    Rows {
        /// c₀.
        center: Vec<f64>,
    },
    /// The row holds k(x, X) already, one number for each of the samples.
    Precomputed {
        /// Number of samples.
        n_samples: usize,
    },
    /// By neighbours or distances.
    Manifold(Box<ManifoldLift>),
}

impl Lift {
    /// Numbers that a row must have.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Kernel { samples, .. } => samples.n_cols(),
            Self::Features { map, .. } => map.n_features(),
            Self::Rows { center } => center.len(),
            Self::Precomputed { n_samples } => *n_samples,
            Self::Manifold(lift) => lift.n_features(),
        }
    }
}

/// The mean of φ over the samples of a fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FeatureMean {
    /// Over the coordinates of the lift; `None` where each of the samples has 1/n.
    pub coefficients: Option<Vec<f64>>,
    /// ‖mean φ‖².
    pub square: f64,
}

/// y(x) = lift(x)ᵀA − c: every method ends in this line, (K9).
#[derive(Clone, Debug)]
pub struct Projection {
    /// How a row is lifted.
    pub lift: Lift,
    /// A, one row for each coordinate of the lift, one column for each component.
    pub coefficients: Matrix<f64>,
    /// c = μᵀA: the centring that was learned from the samples.
    pub offset: Vec<f64>,
}

impl Projection {
    /// What components are to be multiplied by so that the coefficient of largest magnitude is positive.
    pub(crate) fn signs(&self) -> Vec<f64> {
        column_signs(&self.coefficients)
    }

    /// Multiplies components by signs.
    pub(crate) fn turn(&mut self, signs: &[f64]) {
        scale_columns(self.coefficients.view_mut(), signs);
        self.offset.iter_mut().zip(signs).for_each(|(c, sign)| *c *= sign);
    }

    /// Scores of new rows.
    ///
    /// Cost: n_new · n · (2d + 2k) flops and the profile; memory a tile for each thread and the result.
    ///
    /// # Errors
    /// When rows have another number of columns than the samples, or entries that the kernel cannot take.
    pub fn project(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        if x.n_cols() != self.lift.n_features() {
            return Err(Error::data(
                format!("rows of {} columns", x.n_cols()),
                format!("the model was fitted on {}", self.lift.n_features()),
                "Give the same columns, in the same order, as in fit",
            ));
        }
        let mut out = Matrix::zeros(x.n_rows(), self.coefficients.n_cols());
        let mut result = Ok(());
        engine.run(&mut || result = self.project_into(engine, x, &mut out, watch));
        result.map(|()| out)
    }

    /// Scores of rows that are known by their neighbours among the samples.
    ///
    /// # Errors
    /// When the lift is not by neighbours, or a row has none.
    pub fn project_neighbors(
        &self,
        engine: &dyn Engine,
        neighbors: &Neighbors,
        watch: &Watch,
    ) -> Result<Matrix<f64>> {
        let Lift::Manifold(lift) = &self.lift else {
            return Err(Error::data("lists of neighbours", "this model projects rows", "Give rows"));
        };
        let mut out = Matrix::zeros(neighbors.n_rows(), self.coefficients.n_cols());
        let mut result = Ok(());
        engine.run(&mut || {
            let into = out.view_mut();
            result = lift
                .neighbors_times((neighbors, None, 0), &self.coefficients, into, watch)
                .and_then(|()| self.subtract_offset(&mut out));
        });
        result.map(|()| out)
    }

    fn project_into(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        out: &mut Matrix<f64>,
        watch: &Watch,
    ) -> Result<()> {
        match &self.lift {
            Lift::Kernel { kernel, samples } => {
                kernel.check_points(x)?;
                let rows = in_memory(x, engine);
                rows.cross(kernel, samples)?.apply(self.coefficients.view(), out.view_mut(), watch)?;
            }
            Lift::Features { kernel, map } => {
                kernel.check_points(x)?;
                self.combine_pieces(x, out, watch, |piece| map.apply(piece))?;
            }
            Lift::Rows { center } => {
                x.check()?;
                let a = self.coefficients.view();
                for (piece, into) in out.view_mut().row_chunks(PIECE_ROWS).into_iter().enumerate() {
                    let from = piece * PIECE_ROWS;
                    watch.step("projecting rows", from, x.n_rows())?;
                    CentredRows::new(x.rows(from..from + into.n_rows()), center).times(a, into);
                }
            }
            Lift::Precomputed { .. } => {
                x.check()?;
                self.combine_pieces(x, out, watch, |piece| Ok(piece.to_dense::<f64>()))?;
            }
            Lift::Manifold(lift) => lift.times(engine, x, &self.coefficients, out, watch)?,
        }
        self.subtract_offset(out)
    }

    /// out ← lift(x)·A, some rows of the lift at a time.
    fn combine_pieces(
        &self,
        x: AnyPoints<'_>,
        out: &mut Matrix<f64>,
        watch: &Watch,
        lift: impl Fn(AnyPoints<'_>) -> Result<Matrix<f64>>,
    ) -> Result<()> {
        for (piece, into) in out.view_mut().row_chunks(PIECE_ROWS).into_iter().enumerate() {
            watch.step("projecting rows", piece * PIECE_ROWS, x.n_rows())?;
            let from = piece * PIECE_ROWS;
            let lifted = lift(x.rows(from..from + into.n_rows()))?;
            combine(into, Onto::Replace, 1.0, lifted.view(), self.coefficients.view());
        }
        Ok(())
    }

    fn subtract_offset(&self, out: &mut Matrix<f64>) -> Result<()> {
        let shift: Vec<f64> = self.offset.iter().map(|c| -c).collect();
        shift_columns(out.view_mut(), &shift);
        match out.as_slice().iter().position(|score| !score.is_finite()) {
            None => Ok(()),
            Some(at) => Err(Error::data(
                format!("row {} has scores that are not finite", at / out.n_cols() + 1),
                "kernel values between new rows and samples must stay within double precision",
                "Look for entries of extreme size in that row",
            )),
        }
    }
}
