//! Principal component analysis.

use super::{Method, Model, Prepared, Rows, check_plots, json_of, object};
use crate::account::{SHOWN_COMPONENTS, certified, choice_table, number};
use crate::args::{LinearArgs, PcaArgs, Precision, RuleArgs};
use crate::exit::Failure;
use crate::figures::{self, Shown};
use crate::model::draw_scatter;
use crate::outputs::{self, score_names};
use crate::rows::TableRows;
use crate::table::{DataAccount, samples_bytes};
use crate::values::{ComponentChoice, PlotKind};
use crate::words::{aligned, aligned_with_text, counted};
use eigenlift::eigen::Grounds;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::choose::ChoiceOptions;
use eigenlift::methods::pca::{PcaRoute, Reconstruction};
use eigenlift::methods::{Fitted, FittedPca, Pca};
use eigenlift::progress::Watch;
use eigenlift_io::TextColumn;
use eigenlift_plot::{Figure, Scree, scree};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Columns named for each component, and components for which they are.
const SHOWN_COLUMNS: usize = 3;
const SHOWN_DRIVERS: usize = 10;

/// Principal components as the command line asks for them.
pub(crate) struct PcaSettings<'a>(pub(crate) &'a PcaArgs);

/// What both linear methods set.
pub(super) fn apply(pca: Pca, args: &LinearArgs, data: &DataAccount, samples_bytes: u64) -> Pca {
    let mut pca = pca
        .tolerance(args.tol)
        .seed(args.machine.seed)
        .threads(args.machine.threads.into())
        .column_names(data.column_names.clone());
    if let Some(route) = args.route.0 {
        pca = pca.route(route);
    }
    if let Some(rows) = args.sketch_rows {
        pca = pca.sketch_rows(rows);
    }
    if let Some(limit) = args.machine.memory {
        pca = pca.memory_limit(limit.saturating_sub(samples_bytes).max(1));
    }
    if args.weights.is_some() {
        pca = pca.weights_in_last_column();
    }
    pca
}

/// Refuses a size for a sketch that no route makes.
pub(super) fn check_sketch(args: &LinearArgs) -> Result<(), Failure> {
    match args.sketch_rows {
        Some(rows) if args.route.0 != Some(PcaRoute::Directions) => Err(Failure::usage(
            format!("--sketch-rows {rows} without --route directions"),
            "only that route makes a sketch",
            "Leave one out or add the other",
        )),
        _ => Ok(()),
    }
}

/// What the rules on the number of components go by.
fn choice_options(args: &RuleArgs) -> ChoiceOptions {
    let usual = ChoiceOptions::default();
    ChoiceOptions {
        explained: args.explained.unwrap_or(usual.explained),
        residual: args.residual,
        permutations: args.permutations.unwrap_or(usual.permutations),
        ..usual
    }
}

/// Refuses settings of rules that are not asked.
fn check_rules(args: &RuleArgs) -> Result<(), Failure> {
    let given = [
        ("--explained", args.explained.is_some()),
        ("--residual", args.residual.is_some()),
        ("--permutations", args.permutations.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::usage(
            format!("{flag} with a number of components that was given"),
            "the rules are asked when -k is auto",
            "Use -k auto, or leave it out",
        )),
    }
}

impl PcaSettings<'_> {
    pub(crate) fn settings(&self, data: &DataAccount, samples_bytes: u64, watch: &Watch) -> Pca {
        let pca = match self.0.components {
            ComponentChoice::Exactly(k) => Pca::new(k),
            ComponentChoice::Auto => Pca::auto().choice(choice_options(&self.0.rules)),
        };
        let pca = if self.0.scale { pca.standardize() } else { pca };
        apply(pca, &self.0.linear, data, samples_bytes).watch(watch.clone())
    }

    pub(crate) fn in_memory(&self, data: &DataAccount, watch: &Watch) -> Pca {
        self.settings(data, samples_bytes(data, self.precision()), watch)
    }
}

impl Method for PcaSettings<'_> {
    fn name(&self) -> &'static str {
        "pca"
    }

    fn title(&self) -> &'static str {
        "PCA"
    }

    fn precision(&self) -> Precision {
        self.0.linear.precision
    }

    fn weights(&self) -> Option<&str> {
        self.0.linear.weights.as_deref()
    }

    fn either_way(&self) -> bool {
        true
    }

    fn most_outputs(&self, data: &DataAccount) -> usize {
        match self.0.components {
            ComponentChoice::Exactly(k) => k.min(data.columns),
            ComponentChoice::Auto => data.columns,
        }
    }

    /// The axes, and a copy for the reconstruction.
    fn model_bytes(&self, data: &DataAccount) -> u64 {
        2 * 8 * (data.columns * self.most_outputs(data)) as u64
    }

    fn check(&self, _: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure> {
        check_sketch(&self.0.linear)?;
        check_plots(self.name(), plots, &[PlotKind::Scatter, PlotKind::Scree, PlotKind::Choice])?;
        let auto = self.0.components == ComponentChoice::Auto;
        if !auto {
            check_rules(&self.0.rules)?;
        }
        if plots.contains(&PlotKind::Choice) && !auto {
            return Err(Failure::usage(
                "--plot choice= with a number of components that was given",
                "the rules are asked when -k is auto",
                "Use -k auto, or eigenlift choose pca",
            ));
        }
        if auto && self.weights().is_some() {
            return Err(Failure::usage(
                "-k auto with --weights",
                "the rules take every row to count once",
                "Give a number of components",
            ));
        }
        Ok(())
    }

    fn prepare<'a>(
        &'a self,
        data: &'a DataAccount,
        rows: &'a Rows,
        watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure> {
        let job = self.in_memory(data, watch).prepare((rows.samples.points(), rows.weights.as_deref()))?;
        Prepared::new(job, |model| Ok(Box::new(Told::of(model))))
    }

    fn prepare_source<'a>(
        &'a self,
        rows: &'a mut TableRows,
        watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure> {
        let job = self.settings(&rows.account, rows.held_bytes(), watch).prepare(rows)?;
        Prepared::new(job, |model| Ok(Box::new(Told::of(model))))
    }
}

/// The mean over rows of what is lost, each counted as often as its weight says.
fn weighted_error(lost: &Reconstruction, weights: Option<&[f64]>) -> f64 {
    match weights {
        None => lost.total,
        Some(weights) => {
            let sum: f64 = lost.per_row.iter().zip(weights).map(|(e, w)| e * w).sum();
            sum / weights.iter().sum::<f64>()
        }
    }
}

/// Principal components, and what was measured beside them.
pub(super) struct Told {
    model: FittedPca,
    /// Mean squared error of the rows put together again, when they were.
    measured: Option<f64>,
}

impl Told {
    pub(super) fn of(model: FittedPca) -> Self {
        Self { model, measured: None }
    }
}

/// The table of components of a linear method.
pub(super) fn component_table(model: &FittedPca, name: &str) -> String {
    let (ratio, variances, left) =
        (model.explained_variance_ratio(), model.variances(), model.residual_errors());
    let certificate = model.certificate();
    let mut cumulative = 0.0;
    let rows: Vec<Vec<String>> = (0..model.n_components().min(SHOWN_COMPONENTS))
        .map(|j| {
            cumulative += ratio[j];
            vec![
                format!("{name}{}", j + 1),
                number(variances[j]),
                number(model.eigenvalues()[j]),
                format!("{:.2} %", 100.0 * ratio[j]),
                format!("{:.2} %", 100.0 * cumulative),
                number(left[j + 1]),
                certificate.residuals.get(j).map(|r| format!("{r:.1e}")).unwrap_or_default(),
            ]
        })
        .collect();
    let more = model.n_components().saturating_sub(SHOWN_COMPONENTS);
    let rest =
        if more > 0 { format!("\n  … and {more} more (all of them with --json)") } else { String::new() };
    aligned(&["component", "λ", "nλ", "explained", "cumulative", "error J left", "residual"], &rows) + &rest
}

/// What is proved about the components, and how they were found.
pub(super) fn certainty(model: &FittedPca) -> String {
    let (certificate, k) = (model.certificate(), model.n_components());
    if let (Grounds::Sketch, Some(slack)) = (certificate.bounds.grounds, certificate.bounds.slack) {
        return sketch_certainty(model, slack);
    }
    let found = match (model.plan().route, model.stats().passes) {
        (PcaRoute::Krylov, passes) => format!(
            " (asked for: {:.0e}), {passes} pass{} over the rows",
            model.plan().tolerance,
            if passes == 1 { "" } else { "es" }
        ),
        _ => String::new(),
    };
    let again = model.plan().planned_route.map_or(String::new(), |planned| {
        let route = model.plan().route;
        format!("{planned} was planned, but wanted components are so faint beside the first that {route} took over\n")
    });
    format!(
        "{again}certificate: worst relative residual {:.1e}{found}; {}",
        certificate.worst_residual(),
        certified(&certificate.bounds, k)
    )
}

/// What a sketch proves, (P13).
fn sketch_certainty(model: &FittedPca, slack: f64) -> String {
    let total = model.total_variance() * model.weight();
    let explained = model.certificate().bounds.explained.map_or(String::new(), |share| {
        format!(
            "; the best {} axes hold {:.2} to {:.2} % of the variance",
            model.n_components(),
            100.0 * share.low,
            100.0 * share.high
        )
    });
    format!(
        "certificate: each nλ lies between the value shown and that plus Δ = {} ({:.2} % of the total), from one reading{explained}",
        number(slack),
        100.0 * slack / total
    )
}

impl Told {
    /// The identity J = Σ_{j>m} λⱼ, measured where rows were at hand.
    fn identity(&self) -> String {
        let model = &self.model;
        let (k, left) = (model.n_components(), model.residual_error());
        let sketched = model.certificate().bounds.grounds == Grounds::Sketch;
        let sum = match model.spectrum().len().saturating_sub(k) {
            _ if !model.is_whole() && sketched => {
                format!("the total minus the eigenvalues of the sketch, {}, is an upper bound", number(left))
            }
            _ if !model.is_whole() => format!("the total minus the eigenvalues kept is {}", number(left)),
            0 => "no eigenvalue is left out".into(),
            1 => format!("the eigenvalue left out is {}", number(left)),
            more => format!("the {more} eigenvalues left out sum to {}", number(left)),
        };
        let of = format!("put together from {}", counted(k, "component"));
        match self.measured {
            Some(measured) => format!(
                "mean squared error of the rows {of}: J = {}; {sum} (they differ by {:.1e} of the total)",
                number(measured),
                (measured - left).abs() / model.total_variance()
            ),
            None => format!("mean squared error of rows {of}: J = {}; {sum}", number(left)),
        }
    }

    /// The columns that drive each component.
    fn drivers(&self) -> String {
        let loadings = self.model.loadings();
        let names = column_names(&self.model);
        let rows: Vec<Vec<String>> = (0..self.model.n_components().min(SHOWN_DRIVERS))
            .map(|j| {
                let mut order: Vec<usize> = (0..names.len()).collect();
                order.sort_by(|a, b| {
                    loadings.contributions[(*b, j)].total_cmp(&loadings.contributions[(*a, j)])
                });
                let top: Vec<String> = order
                    .iter()
                    .take(SHOWN_COLUMNS)
                    .map(|i| {
                        let sign = if loadings.loadings[(*i, j)] < 0.0 { "−" } else { "+" };
                        format!("{sign}{} {:.0} %", names[*i], 100.0 * loadings.contributions[(*i, j)])
                    })
                    .collect();
                vec![format!("pca{}", j + 1), top.join(", ")]
            })
            .collect();
        aligned_with_text(&["component", "driven by (sign, share of the column)"], &rows, &[0, 1])
    }
}

/// Names of the input columns, x1, x2, … when there are none.
fn column_names(model: &FittedPca) -> Vec<String> {
    match model.column_names() {
        [] => (1..=model.n_features()).map(|j| format!("x{j}")).collect(),
        names => names.to_vec(),
    }
}

impl Model for Told {
    fn fitted(&self) -> &dyn Fitted {
        &self.model
    }

    fn n_samples(&self) -> usize {
        self.model.n_samples()
    }

    fn scores(&mut self, rows: &Rows, watch: &Watch) -> Result<Matrix<f64>, Failure> {
        let points = rows.samples.points();
        let scores = self.model.transform_watched(points, watch)?;
        let lost = self.model.reconstruction_from(points, &scores)?;
        self.measured = Some(weighted_error(&lost, rows.weights.as_deref()));
        Ok(scores)
    }

    fn plan(&self) -> String {
        self.model.plan().to_string()
    }

    fn words(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(choice) = self.model.choice() {
            lines.push(choice_table(choice));
        }
        lines.push(component_table(&self.model, "pca"));
        lines.push(self.identity());
        lines.push(self.drivers());
        lines.push(certainty(&self.model));
        lines
    }

    fn found(&self) -> Result<Map<String, Value>, Failure> {
        let model = &self.model;
        let certificate = model.certificate();
        let mut found = object(json!({
            "plan": model.plan(),
            "eigenvalues": model.eigenvalues(),
            "variances": model.variances(),
            "explained_variance_ratio": model.explained_variance_ratio(),
            "total_variance": model.total_variance(),
            "residual_errors": model.residual_errors(),
            "spectrum": model.spectrum(),
            "is_whole": model.is_whole(),
            "weight": model.weight(),
            "bounds": certificate.bounds,
            "residuals": certificate.residuals,
            "intervals": certificate.intervals,
            "ties": certificate.ties.iter().map(|(a, b)| (a + 1, b + 1)).collect::<Vec<_>>(),
            "stats": model.stats(),
            "threads": model.plan().threads,
        }))?;
        if let Some(measured) = self.measured {
            found.insert("measured_residual_error".into(), measured.into());
        }
        if let Some(choice) = model.choice() {
            found.insert("choice".into(), json_of(choice)?);
        }
        Ok(found)
    }

    fn shares(&self) -> Vec<f64> {
        self.model.explained_variance_ratio()
    }

    fn pictures(&self, _: bool) -> Vec<PlotKind> {
        std::iter::once(PlotKind::Scree).chain(self.model.choice().map(|_| PlotKind::Choice)).collect()
    }

    fn draw(&self, kind: PlotKind, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        match (kind, self.model.choice()) {
            (PlotKind::Scree, _) => draw_scree(&self.model, title),
            (PlotKind::Choice, Some(choice)) => figures::draw_rules(&self.model, choice, title),
            _ => draw_scatter(self, shown, title),
        }
    }

    fn write_loadings(&self, path: &Path) -> Result<(), Failure> {
        let (loadings, k) = (self.model.loadings(), self.model.n_components());
        let carried = crate::table::Carried {
            text: vec![TextColumn { name: "column".into(), position: 0, values: column_names(&self.model) }],
            target: None,
        };
        let mut names: Vec<String> = score_names("pca", k);
        names.extend(score_names("pca", k).iter().map(|name| format!("{name}_contribution")));
        let both = Matrix::from_fn(self.model.n_features(), 2 * k, |i, j| {
            if j < k { loadings.loadings[(i, j)] } else { loadings.contributions[(i, j - k)] }
        });
        outputs::write_scores(path, &carried, names, &both)
    }
}

/// The spectrum with the residual error.
pub(super) fn draw_scree(model: &FittedPca, title: &str) -> Result<Figure, Failure> {
    let bounds = model.certificate().intervals.iter();
    let intervals: Vec<(f64, f64)> =
        bounds.map(|bound| (bound.low / model.weight(), bound.high / model.weight())).collect();
    Ok(scree(&Scree {
        eigenvalues: &model.variances(),
        ratio: &model.explained_variance_ratio(),
        intervals: (!intervals.is_empty()).then_some(&intervals),
        residual: &model.residual_errors(),
        title,
    })?)
}
