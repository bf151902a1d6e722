//! Kernel canonical correlation.

mod one_view;

pub(crate) use one_view::OneView;

use super::factor::{apply, check_kernel, draw_regularization, left_out, regularization_words};
use super::{Method, Model, Prepared, Rows, check_plots, needs_all_rows, object};
use crate::account::SHOWN_COMPONENTS;
use crate::args::{InputArgs, KccaArgs, Precision};
use crate::exit::Failure;
use crate::figures::{Shown, colored};
use crate::input::Input;
use crate::model::draw_scatter;
use crate::outputs::score_names;
use crate::rows::too_large;
use crate::table::DataAccount;
use crate::values::PlotKind;
use crate::views;
use crate::words::{aligned, counted};
use eigenlift::data::{AnyPoints, AnySamples, Points};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{Fitted, FittedKernelCca, KernelCca};
use eigenlift::progress::Watch;
use eigenlift::real::Real;
use eigenlift_plot::{
    CanonicalGallery, CanonicalPair, CorrelationsPicture, Figure, canonical_gallery, correlations,
};
use serde_json::{Map, Value, json};
use std::ops::Range;
use std::path::Path;

/// The method's name.
const NAME: &str = "kcca";

/// Pictures that it has.
const PLOTS: [PlotKind; 4] =
    [PlotKind::Scatter, PlotKind::Canonical, PlotKind::Correlations, PlotKind::Regularization];

/// Names of scores, view after view: `view1_kcca1`, …
pub(super) fn names(views: usize, components: usize) -> Vec<String> {
    (1..=views).flat_map(|view| score_names(&format!("view{view}_{NAME}"), components)).collect()
}

/// Canonical correlation as the command line asks for it.
pub(crate) struct KccaSettings<'a>(pub(crate) &'a KccaArgs);

impl KccaSettings<'_> {
    fn n_views(&self) -> usize {
        if self.0.others.is_empty() { self.0.views.len() } else { self.0.others.len() + 1 }
    }

    fn settings(&self, data: &DataAccount, watch: &Watch) -> Result<KernelCca, Failure> {
        // Rows stay side by side while each view has a copy.
        let factoring = apply(&self.0.factor, data, 2, watch)?;
        Ok(KernelCca::new(self.0.components)
            .kernels(self.0.kernel.clone())
            .regularization(self.0.regularization.regularization)
            .folds(self.0.regularization.folds)
            .permutations(self.0.permutations)
            .column_names(data.views.iter().map(|view| view.columns.clone()).collect())
            .with(factoring))
    }

    fn check_kernels(&self) -> Result<(), Failure> {
        self.0.kernel.iter().try_for_each(check_kernel)?;
        if self.0.kernel.iter().any(|kernel| kernel.is_precomputed()) {
            return Err(Failure::usage(
                "--kernel precomputed with kcca",
                "views are tables of rows",
                "Name a kernel and give the rows",
            ));
        }
        let (kernels, views) = (self.0.kernel.len(), self.n_views());
        if kernels == 1 || kernels == views {
            return Ok(());
        }
        Err(Failure::usage(
            format!("{kernels} kernels for {views} views"),
            "there must be one for all views or one for each",
            "Give --kernel once, or once for each view in their order",
        ))
    }
}

fn columns<T: Real>(x: Points<'_, T>, range: Range<usize>) -> Matrix<T> {
    match x {
        Points::Dense(x) => x.columns(range).to_matrix(),
        sparse => sparse.to_dense::<T>().view().columns(range).to_matrix(),
    }
}

/// The columns of each view as samples of their own.
fn views_of(data: &DataAccount, samples: &AnySamples) -> Vec<AnySamples> {
    let widths = data.views.iter().map(|view| view.columns.len());
    let starts = widths.clone().scan(0, |from, width| Some(std::mem::replace(from, *from + width)));
    let ranges: Vec<Range<usize>> = starts.zip(widths).map(|(from, width)| from..from + width).collect();
    let part = |range: Range<usize>| -> AnySamples {
        match samples.points() {
            AnyPoints::F32(x) => columns(x, range).into(),
            AnyPoints::F64(x) => columns(x, range).into(),
        }
    };
    ranges.into_iter().map(part).collect()
}

impl Method for KccaSettings<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Kernel CCA"
    }

    fn inputs(&self) -> Vec<&Path> {
        self.0.others.iter().map(|path| path.as_path()).collect()
    }

    fn read(&self, input: &InputArgs) -> Result<Input, Failure> {
        views::check(input, &self.0.others, &self.0.views)?;
        for path in &self.0.others {
            let args = InputArgs { data: path.clone(), target: None, ..input.clone() };
            if let Some(rows) = too_large(&args, &self.0.factor.machine)? {
                return Err(needs_all_rows(NAME, &rows));
            }
        }
        views::read(input, &self.0.others, &self.0.views)
    }

    fn views(&self) -> &[String] {
        &self.0.views
    }

    fn score_prefixes(&self, _: &DataAccount) -> Vec<String> {
        (1..=self.n_views()).map(|view| format!("view{view}_{NAME}")).collect()
    }

    fn precision(&self) -> Precision {
        self.0.factor.precision
    }

    fn most_outputs(&self, _: &DataAccount) -> usize {
        self.0.components
    }

    fn check(&self, data: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure> {
        check_plots(NAME, plots, &PLOTS)?;
        if self.n_views() < 2 {
            return Err(Failure::usage(
                format!("one view of {}", data.path.display()),
                "two views of the same rows or more are required",
                "Give --view COLS for each view",
            ));
        }
        if self.0.factor.low_rank.landmarks.is_some() {
            return Err(Failure::usage(
                "--landmarks with kcca",
                "landmarks of one view do not fit the others",
                "Use --rank for a number of landmarks in each view",
            ));
        }
        self.check_kernels()
    }

    fn prepare<'a>(
        &'a self,
        data: &'a DataAccount,
        rows: &'a Rows,
        watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure> {
        let job = self.settings(data, watch)?.prepare(&views_of(data, &rows.samples))?;
        Prepared::new(job, |model| Ok(Box::new(model)))
    }
}

/// The table of components.
fn components(model: &FittedKernelCca) -> String {
    let (held_out, errors) = (model.held_out_correlations(), model.held_out_errors());
    let mut heading = vec!["component", "regularised", "training"];
    if !held_out.is_empty() {
        heading.push("held out");
    }
    if model.significance().is_some() {
        heading.push("p-value");
    }
    let row = |j: usize| {
        let mut row = vec![
            format!("{NAME}{}", j + 1),
            format!("{:.4}", model.correlations()[j]),
            format!("{:.4}", model.training_correlations()[j]),
        ];
        if let (Some(mean), Some(error)) = (held_out.get(j), errors.get(j)) {
            row.push(format!("{mean:.4} ± {error:.4}"));
        }
        row.extend(model.significance().and_then(|found| found.p_values.get(j)).map(|p| format!("{p:.4}")));
        row
    };
    let rows: Vec<Vec<String>> = (0..model.n_components().min(SHOWN_COMPONENTS)).map(row).collect();
    let more = model.n_components().saturating_sub(SHOWN_COMPONENTS);
    let rest =
        if more > 0 { format!("\n  … and {more} more (all of them with --json)") } else { String::new() };
    aligned(&heading, &rows) + &rest
}

impl Model for FittedKernelCca {
    fn fitted(&self) -> &dyn Fitted {
        self
    }

    fn n_samples(&self) -> usize {
        self.n_samples()
    }

    fn score_names(&self) -> Vec<String> {
        names(self.n_views(), self.n_components())
    }

    fn size(&self) -> String {
        format!("{} of {}", counted(self.n_components(), "component"), counted(self.n_views(), "view"))
    }

    fn plan(&self) -> String {
        self.plan().to_string()
    }

    fn words(&self) -> Vec<String> {
        let pairs = if self.n_views() > 2 { ", means over pairs of views" } else { "" };
        let mut lines = vec![components(self)];
        let folds = self.plan().folds;
        lines.push(match self.held_out_correlations() {
            [] => format!("correlations between the scores of the views{pairs}; no rows were held out"),
            _ => format!(
                "correlations between the scores of the views{pairs}; those of rows held out in {} are what new rows may be \
                 expected to have{}",
                counted(folds, "fold"),
                if self.curve().is_some() { ", a little less since κ was chosen by them" } else { "" }
            ),
        });
        lines.push(regularization_words(self.regularization(), self.curve(), folds));
        if let Some(found) = self.significance() {
            lines.push(format!(
                "significance: of {} permutations of {}, 95 % have a largest regularised correlation of at most {:.4}; the \
                 first of the rows as they are is {:.4}{}",
                found.permutations,
                counted(found.rows, "row"),
                found.null_95,
                found.correlations.first().copied().unwrap_or_default(),
                match self.curve() {
                    Some(_) => ", all at 1 % of the variance, since a κ chosen by the rows as they are would favour them",
                    None => "",
                }
            ));
        }
        let views = self.plan().views.iter().zip(self.left_out()).enumerate();
        lines.extend(views.filter_map(|(number, (plan, share))| {
            left_out(plan, *share).map(|told| format!("view {}: {told}", number + 1))
        }));
        lines
    }

    fn found(&self) -> Result<Map<String, Value>, Failure> {
        object(json!({
            "plan": self.plan(),
            "kernels": self.plan().views.iter().map(|view| &view.kernel).collect::<Vec<_>>(),
            "n_views": self.n_views(),
            "n_components": self.n_components(),
            "widths": self.widths(),
            "correlations": self.correlations(),
            "training_correlations": self.training_correlations(),
            "held_out_correlations": self.held_out_correlations(),
            "held_out_errors": self.held_out_errors(),
            "regularization": self.regularization(),
            "curve": self.curve(),
            "significance": self.significance(),
            "ranks": self.ranks(),
            "left_out": self.left_out(),
            "threads": self.plan().views.first().map(|view| view.threads),
        }))
    }

    fn shares(&self) -> Vec<f64> {
        Vec::new()
    }

    fn pictures(&self, _: bool) -> Vec<PlotKind> {
        let tried = self.curve().map(|_| PlotKind::Regularization);
        [PlotKind::Correlations, PlotKind::Canonical].into_iter().chain(tried).collect()
    }

    fn draw(&self, kind: PlotKind, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        match (kind, self.curve()) {
            (PlotKind::Correlations, _) => {
                let held_out = (self.held_out_correlations(), self.held_out_errors());
                // Permutations are compared with regularised correlations at a κ of their own.
                let tested = self.significance();
                let null = tested.map(|found| found.null_95);
                let training = self.training_correlations();
                let held_out = (!held_out.0.is_empty()).then_some(held_out);
                let tested = tested.map(|found| found.correlations.as_slice());
                Ok(correlations(&CorrelationsPicture { training, held_out, null, tested, title })?)
            }
            (PlotKind::Canonical, _) => draw_canonical(self, shown, title),
            (PlotKind::Regularization, Some(curve)) => {
                let summed = if self.n_components() > 1 { "held-out ρ, summed" } else { "held-out ρ" };
                draw_regularization(curve, summed, title)
            }
            (PlotKind::Regularization, None) => Err(nothing_chosen()),
            _ => draw_scatter(self, shown, title),
        }
    }
}

/// There is no curve where κ was given.
pub(super) fn nothing_chosen() -> Failure {
    Failure::usage(
        "--plot regularization= where nothing is chosen",
        "the curve is that of --regularization auto",
        "Leave the number out, or the picture",
    )
}

/// Scores of the first view against those of the second.
fn draw_canonical(model: &FittedKernelCca, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
    let k = model.n_components();
    let columns: Vec<(Vec<f64>, Vec<f64>)> =
        (0..k).map(|j| (shown.scores.column(j), shown.scores.column(k + j))).collect();
    let pairs: Vec<CanonicalPair<'_>> = columns
        .iter()
        .map(|(first, second)| CanonicalPair { first, second, correlation: correlation(first, second) })
        .collect();
    colored(shown.target, |color| {
        Ok(canonical_gallery(&CanonicalGallery { pairs: &pairs, views: ["", ""], color, title })?)
    })
}

/// The plain correlation of two columns.
fn correlation(first: &[f64], second: &[f64]) -> f64 {
    let n = first.len().max(1) as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (a, b) = (mean(first), mean(second));
    let product = |x: &[f64], y: &[f64], (a, b): (f64, f64)| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - a) * (y - b)).sum()
    };
    let scale = (product(first, first, (a, a)) * product(second, second, (b, b))).sqrt();
    if scale > 0.0 { product(first, second, (a, b)) / scale } else { 0.0 }
}
