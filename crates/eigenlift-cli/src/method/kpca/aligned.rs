//! A refit whose signs and rotations are matched to an earlier model.

use super::super::Model;
use crate::exit::Failure;
use crate::figures::Shown;
use crate::method::json_of;
use crate::rows::TableRows;
use crate::saved;
use crate::table::{DataAccount, list, numbered};
use crate::values::PlotKind;
use crate::words::counted;
use eigenlift::data::AnyPoints;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{AlignOptions, Alignment, Fitted, FittedKernelPca};
use eigenlift::progress::Watch;
use eigenlift_plot::Figure;
use serde_json::{Map, Value};
use std::path::Path;

/// Rows that both models give scores to, evenly from the table.
const COMMON_ROWS: usize = 1000;
/// Components whose agreement is shown; all of them are in the JSON form.
const SHOWN_AGREEMENT: usize = 10;

/// The model that a refit is matched to.
pub(crate) struct Earlier<'a> {
    pub(super) path: &'a Path,
    model: FittedKernelPca,
}

impl<'a> Earlier<'a> {
    /// Loads it.
    pub(crate) fn load(path: &'a Path) -> Result<Self, Failure> {
        Ok(Self { path, model: saved::load_kernel_pca(path)? })
    }

    /// Refuses a table that the earlier model could not give scores to.
    pub(super) fn check(&self, data: &DataAccount) -> Result<(), Failure> {
        let (names, width) = (self.model.column_names(), Fitted::n_features(&self.model));
        let named = !numbered(names) && !numbered(&data.column_names);
        if width == data.columns && (!named || names == data.column_names.as_slice()) {
            return Ok(());
        }
        let told =
            |names: &[String]| if names.is_empty() { String::new() } else { format!(" ({})", list(names)) };
        Err(Failure::Input(format!(
            "--like {}: a model of {}{}, and the table has {}{}; both models must give scores to the same rows. \
             Choose the same columns in the same order with --columns, or leave --like out.",
            self.path.display(),
            counted(width, "column"),
            told(names),
            data.columns,
            told(&data.column_names)
        )))
    }

    /// The model matched to this one over rows in memory.
    pub(super) fn align(
        &self,
        model: FittedKernelPca,
        rows: AnyPoints<'_>,
        watch: &Watch,
    ) -> Result<Aligned, Failure> {
        let step = rows.n_rows().div_ceil(COMMON_ROWS).max(1);
        let mut common = Matrix::zeros(rows.n_rows().div_ceil(step), rows.n_cols());
        for i in 0..common.n_rows() {
            rows.copy_row(i * step, common.view_mut().row_mut(i));
        }
        self.align_over(model, &common, watch)
    }

    /// The model matched to this one over rows of a table, which is read once more.
    pub(super) fn align_source(
        &self,
        model: FittedKernelPca,
        rows: &mut TableRows,
        watch: &Watch,
    ) -> Result<Aligned, Failure> {
        let step = model.n_samples().div_ceil(COMMON_ROWS).max(1);
        let common = rows.evenly(step, watch)?.0;
        self.align_over(model, &common, watch)
    }

    fn align_over(
        &self,
        model: FittedKernelPca,
        common: &Matrix<f64>,
        watch: &Watch,
    ) -> Result<Aligned, Failure> {
        let options = AlignOptions { watch: watch.clone(), ..AlignOptions::default() };
        let (model, how) = model.aligned_with(&self.model, common, &options)?;
        Ok(Aligned { model, how, earlier: self.path.display().to_string() })
    }
}

/// A model matched to an earlier one.
pub(super) struct Aligned {
    model: FittedKernelPca,
    how: Alignment,
    earlier: String,
}

impl Aligned {
    fn sentence(&self) -> String {
        let shown = self.how.agreement.iter().take(SHOWN_AGREEMENT).map(|cosine| format!("{cosine:.3}"));
        let more = if self.how.agreement.len() > SHOWN_AGREEMENT { ", …" } else { "" };
        format!(
            "matched to {}: {}\n  agreement of the components: {}{more}",
            self.earlier,
            self.how.sentence,
            shown.collect::<Vec<_>>().join(", ")
        )
    }
}

impl Model for Aligned {
    fn fitted(&self) -> &dyn Fitted {
        &self.model
    }

    fn n_samples(&self) -> usize {
        self.model.n_samples()
    }

    fn scores(&mut self, rows: &super::Rows, watch: &Watch) -> Result<Matrix<f64>, Failure> {
        Model::scores(&mut self.model, rows, watch)
    }

    fn warnings(&self) -> Vec<String> {
        let mut all = Model::warnings(&self.model);
        all.extend(self.how.warnings.iter().filter(|text| !self.model.warnings().contains(text)).cloned());
        all
    }

    fn plan(&self) -> String {
        Model::plan(&self.model)
    }

    fn words(&self) -> Vec<String> {
        let mut lines = Model::words(&self.model);
        lines.push(self.sentence());
        lines
    }

    fn found(&self) -> Result<Map<String, Value>, Failure> {
        let mut found = Model::found(&self.model)?;
        let mut how = json_of(&self.how)?;
        // Components are counted from 1 wherever they are told.
        how["groups"] = self.how.groups.iter().map(|(first, last)| [first + 1, last + 1]).collect();
        found.insert("like".into(), self.earlier.clone().into());
        found.insert("alignment".into(), how);
        Ok(found)
    }

    fn shares(&self) -> Vec<f64> {
        Model::shares(&self.model)
    }

    fn pictures(&self, has_rows: bool) -> Vec<PlotKind> {
        self.model.pictures(has_rows)
    }

    fn kernel_pca(&self) -> Option<&FittedKernelPca> {
        Some(&self.model)
    }

    fn draw(&self, kind: PlotKind, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        Model::draw(&self.model, kind, shown, title)
    }
}
