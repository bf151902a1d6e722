//! A fit that is planned but not run yet.

use super::{Body, Model};
use crate::error::Result;
use std::fmt;

/// A fit that is prepared: its plan, and the work itself. What preparing found (the kernel's parameters, checks of the rows, the
/// algorithm) is used by the run and not found again.
pub struct Job<'a, B: Body> {
    plan: B::Plan,
    run: Box<dyn FnOnce(B::Plan) -> Result<Model<B>> + 'a>,
}

impl<'a, B: Body> Job<'a, B> {
    /// A plan, and what fits the model with it.
    pub(crate) fn new(plan: B::Plan, run: impl FnOnce(B::Plan) -> Result<Model<B>> + 'a) -> Self {
        Self { plan, run: Box::new(run) }
    }

    /// What [`Job::run`] will do, and why.
    pub fn plan(&self) -> &B::Plan {
        &self.plan
    }

    /// Fits the model.
    ///
    /// # Errors
    /// Those of the method's `fit`.
    pub fn run(self) -> Result<Model<B>> {
        (self.run)(self.plan)
    }
}

impl<B: Body> fmt::Debug for Job<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("plan", &self.plan).finish_non_exhaustive()
    }
}
