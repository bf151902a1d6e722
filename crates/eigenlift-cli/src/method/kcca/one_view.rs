//! One view of a model of several, as a model by itself.

use super::NAME;
use crate::exit::Failure;
use eigenlift::data::AnyPoints;
use eigenlift::engine::Engine;
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{AnyModel, Fitted, FittedKernelCca};
use eigenlift::progress::Watch;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// One view of a model of several: rows of its columns become its scores.
pub(crate) struct OneView<'a> {
    model: &'a FittedKernelCca,
    view: usize,
}

impl<'a> OneView<'a> {
    /// The view that `--view` names, counted from 1.
    pub(crate) fn of(any: &'a AnyModel, view: Option<usize>) -> Result<Option<Self>, Failure> {
        let Some(number) = view else { return Ok(None) };
        match any.get::<FittedKernelCca>() {
            Some(model) if number <= model.n_views() => Ok(Some(Self { model, view: number - 1 })),
            Some(model) => Err(Failure::usage(
                format!("--view {number} of a model of {} views", model.n_views()),
                "a view that it has is required, counted from 1",
                "Name one of them",
            )),
            None => Err(Failure::usage(
                format!("--view {number} of a {} model", any.fitted().method()),
                "only kcca models have views",
                "Leave it out",
            )),
        }
    }

    /// The names of its columns in a table: without the number of the view in front where the table has them so.
    pub(crate) fn names_in(&self, table: &[String]) -> Vec<String> {
        let prefix = format!("view{}_", self.view + 1);
        let table: HashSet<&String> = table.iter().collect();
        let own = |name: &String| match name.strip_prefix(&prefix) {
            Some(plain) if !table.contains(name) => plain.to_string(),
            _ => name.clone(),
        };
        self.model.view_names(self.view).iter().map(own).collect()
    }
}

impl Fitted for OneView<'_> {
    fn method(&self) -> &'static str {
        NAME
    }

    fn n_features(&self) -> usize {
        self.model.widths().get(self.view).copied().unwrap_or(0)
    }

    fn n_outputs(&self) -> usize {
        self.model.n_components()
    }

    fn column_names(&self) -> &[String] {
        self.model.view_names(self.view)
    }

    fn warnings(&self) -> &[String] {
        self.model.warnings()
    }

    fn engine(&self) -> &Arc<dyn Engine> {
        Fitted::engine(self.model)
    }

    fn project_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>, Error> {
        self.model.transform_on(engine, self.view, x, watch)
    }

    fn invert_on(
        &self,
        engine: &dyn Engine,
        scores: &Matrix<f64>,
        watch: &Watch,
    ) -> Result<Matrix<f64>, Error> {
        self.model.invert_on(engine, scores, watch)
    }

    fn write(&self, path: &Path) -> Result<(), Error> {
        self.model.write(path)
    }

    fn bytes(&self) -> Result<Vec<u8>, Error> {
        self.model.bytes()
    }
}
