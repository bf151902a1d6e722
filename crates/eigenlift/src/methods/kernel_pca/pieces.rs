//! Settings to models, for rows that lie elsewhere.

use super::approximate;
use super::dual::{self, DualProblem};
use super::schedule;
use super::{FittedKernelPca, KernelPca};
use crate::data::AnySamples;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::{Request, Rows};
use crate::gram::Similarity;
use crate::kernel::{Kernel, PairRows};
use crate::matrix::Matrix;
use crate::model::{AnyModel, Plan, Route};
use crate::progress::Watch;
use crate::rows::{KernelPieces, PiecesGram};
use std::sync::Arc;

impl KernelPca {
    /// Fits rows that lie in pieces, such as those on the machines of a cluster. Through features only sums come here, and single
    /// rows that become landmarks; an exact fit goes by passes over pairs of pieces and brings all rows here at its end, because an exact
    /// model holds them.
    ///
    /// With the same seed landmarks are those of [`KernelPca::fit`] on one machine, and results agree up to rounding.
    ///
    /// # Errors
    /// As [`KernelPca::fit_source`], and what the pieces fail with.
    pub fn fit_pieces(&self, pieces: &dyn KernelPieces) -> Result<FittedKernelPca> {
        if let Some((settings, choice)) = self.chosen_of_pieces(pieces)? {
            return settings.fit_pieces(pieces).map(|model| model.with_choice(choice));
        }
        self.fit_pieces_from(pieces, None)
    }

    /// What [`KernelPca::fit_pieces`] would do.
    ///
    /// # Errors
    /// As [`KernelPca::fit_pieces`], as far as they can be known in advance.
    pub fn plan_pieces(&self, pieces: &dyn KernelPieces) -> Result<Plan> {
        if let Some((settings, choice)) = self.chosen_of_pieces(pieces)? {
            return settings.plan_pieces(pieces).map(|plan| choice.onto(plan));
        }
        Ok(self.prepare_pieces(pieces, &*self.features.running_engine()?)?.1)
    }

    /// An exact model from an approximate one, as [`KernelPca::refine`], by passes over rows that lie in pieces.
    ///
    /// # Errors
    /// As [`FittedKernelPca::certify_pieces`] and [`KernelPca::fit_pieces`].
    pub fn refine_pieces(
        &self,
        model: &FittedKernelPca,
        pieces: &dyn KernelPieces,
    ) -> Result<FittedKernelPca> {
        let start = model.vectors_over_pieces(pieces)?;
        let Similarity::Kernel(kernel) = model.similarity() else { return Err(no_gram_matrix()) };
        let settings = self.clone().exact().ready_kernel(kernel);
        settings.column_names(model.column_names.clone()).fit_pieces_from(pieces, Some(&start))
    }

    fn fit_pieces_from(
        &self,
        pieces: &dyn KernelPieces,
        start: Option<&Matrix<f64>>,
    ) -> Result<FittedKernelPca> {
        let engine = self.features.running_engine()?;
        let (kernel, plan) = self.prepare_pieces(pieces, &*engine)?;
        if plan.route != Route::Dual {
            let similarity = Similarity::Kernel(kernel);
            return approximate::fit(self, &mut Rows::Elsewhere(pieces), &similarity, plan, engine);
        }
        let gram = PiecesGram::new(pieces, &kernel, false);
        let draft = PiecesGram::new(pieces, &kernel, true);
        let similarity = Similarity::Kernel(kernel.clone());
        let problem = DualProblem {
            gram: &gram,
            draft: if plan.draft { Some(&draft) } else { None },
            known_valid: dual::known_valid(&similarity),
            start,
            may_switch: self.solver.is_none(),
        };
        let solution = engine.complete(|| dual::solve(&problem, &plan, &self.features.watch))?;
        let rows: AnySamples = pieces.gather(&(0..pieces.n_rows()).collect::<Vec<usize>>())?.into();
        let rows = if plan.precision == "f32" { rows.to_single() } else { rows };
        Ok(FittedKernelPca::of_solution(solution, (similarity, rows), plan, &self.column_names, engine))
    }

    /// The kernel with every number known, and the plan.
    fn prepare_pieces(&self, pieces: &dyn KernelPieces, engine: &dyn Engine) -> Result<(Kernel, Plan)> {
        let (n, d) = (pieces.n_rows(), pieces.n_cols());
        self.check_numbers()?;
        self.check_shape(n, d)?;
        let spec = self.features.spec().filter(|spec| !spec.is_precomputed()).ok_or_else(no_gram_matrix)?;
        let mut sample = None;
        let kernel = if spec.needs_data() {
            let pairs = sample.insert(schedule::pair_sample(
                (n, d),
                self.features.memory_limit,
                self.features.seed,
                engine,
            ));
            let rows = pieces.gather(&pairs.places)?;
            let rows = PairRows::gathered((&rows).into(), pairs);
            Kernel::new(&Kernel::resolve(spec, rows, self.features.seed)?, d)?
        } else {
            Kernel::new(spec, d)?
        };
        let similarity = Similarity::Kernel(kernel.clone());
        let request = self.request(&similarity, (n, d), pieces.precision(), false);
        let mut plan = schedule::plan(&Request { passes: true, ..request }, engine)?;
        sample.iter().for_each(|sample| schedule::count_sample(&mut plan, sample));
        plan.reasons.push(pieces.place());
        Ok((kernel, plan))
    }
}

impl FittedKernelPca {
    /// Bounds for this model from one exact pass over pairs of pieces, as [`FittedKernelPca::certify`].
    ///
    /// Cost: n²(2d + 2k)/2 flops where the rows are; here 3·n·k numbers.
    ///
    /// # Errors
    /// When the rows are not those that the model was fitted on, what the pieces fail with, cancellation.
    pub fn certify_pieces(&self, pieces: &dyn KernelPieces, watch: &Watch) -> Result<FittedKernelPca> {
        let vectors = self.vectors_over_pieces(pieces)?;
        let Similarity::Kernel(kernel) = self.similarity() else { return Err(no_gram_matrix()) };
        self.certify_by(&PiecesGram::new(pieces, &kernel, false), vectors, watch)
    }

    /// Orthonormal vectors over all rows that span their scores.
    fn vectors_over_pieces(&self, pieces: &dyn KernelPieces) -> Result<Matrix<f64>> {
        self.check_shape_of_samples(pieces.n_rows(), pieces.n_cols())?;
        let scores = pieces.project(&AnyModel::from(self.clone()))?;
        let (engine, mut vectors): (Arc<dyn Engine>, _) = (self.engine.clone(), Err(Error::Cancelled));
        let mut scores = Some(scores);
        engine.run(&mut || {
            if let Some(scores) = scores.take() {
                vectors = self.orthonormal(scores);
            }
        });
        vectors
    }
}

fn no_gram_matrix() -> Error {
    Error::setting(
        "a Gram matrix or a kernel given as a function, for rows that lie elsewhere",
        "they are compared by a kernel that can be written down",
        "Write the kernel as text, such as rbf(gamma=0.1) or expr(...)",
    )
}
