//! Whitening.

use super::pca::{apply, certainty, check_sketch, component_table, draw_scree};
use super::{Method, Model, Prepared, Rows, check_plots, object};
use crate::account::number;
use crate::args::{Precision, WhitenArgs};
use crate::exit::Failure;
use crate::figures::Shown;
use crate::model::draw_scatter;
use crate::rows::TableRows;
use crate::table::{DataAccount, samples_bytes};
use crate::values::PlotKind;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{Fitted, FittedWhitening, Whitening, WhiteningMethod};
use eigenlift::progress::Watch;
use eigenlift_plot::{Figure, WhiteningPicture, whitening};
use serde_json::{Map, Value, json};

/// Columns that the heat maps show.
const SHOWN_COLUMNS: usize = 32;

/// Whitening as the command line asks for it.
pub(crate) struct WhitenSettings<'a>(pub(crate) &'a WhitenArgs);

impl WhitenSettings<'_> {
    fn settings(&self, data: &DataAccount, samples_bytes: u64, watch: &Watch) -> Whitening {
        let whitening = Whitening::new(self.0.method).ridge(self.0.ridge);
        let whitening = match self.0.components {
            Some(k) => whitening.components(k),
            None => whitening,
        };
        whitening.with(|pca| apply(pca, &self.0.linear, data, samples_bytes).watch(watch.clone()))
    }

    fn in_memory(&self, data: &DataAccount, watch: &Watch) -> Whitening {
        self.settings(data, samples_bytes(data, self.precision()), watch)
    }
}

impl Method for WhitenSettings<'_> {
    fn name(&self) -> &'static str {
        "whiten"
    }

    fn title(&self) -> &'static str {
        match self.0.method {
            WhiteningMethod::Pca => "PCA whitening",
            WhiteningMethod::Zca => "ZCA whitening",
            WhiteningMethod::Cholesky => "Cholesky whitening",
            WhiteningMethod::PcaCor => "PCA-cor whitening",
            WhiteningMethod::ZcaCor => "ZCA-cor whitening",
        }
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
        data.columns
    }

    /// The axes as found and stretched, and what is made of them: a square matrix, a triangle with its inverse, or axes turned back.
    fn model_bytes(&self, data: &DataAccount) -> u64 {
        let (d, r) = (data.columns, self.0.components.map_or(data.columns, |r| r.min(data.columns)));
        let made = match self.0.method {
            WhiteningMethod::Cholesky => 3 * d * d,
            WhiteningMethod::Zca | WhiteningMethod::ZcaCor if 2 * r > d => d * d,
            _ => 2 * d * r,
        };
        8 * (2 * d * r + made) as u64
    }

    fn check(&self, _: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure> {
        check_sketch(&self.0.linear)?;
        check_plots(self.name(), plots, &[PlotKind::Scatter, PlotKind::Scree, PlotKind::Whitening])
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

/// A whitening.
pub(super) struct Told {
    model: FittedWhitening,
}

impl Told {
    pub(super) fn of(model: FittedWhitening) -> Self {
        Self { model }
    }

    fn draw_whitening(&self, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        let (z, model) = (shown.scores, &self.model);
        let x = model.inverse_transform(z)?;
        let mean = model.pca().mean();
        // Two columns that vary: the first heavy ones on the leading axis.
        let u = model.pca().components();
        let d = x.n_cols();
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|a, b| u[(0, *b)].abs().total_cmp(&u[(0, *a)].abs()));
        let (a, b) = (order[0], order.get(1).copied().unwrap_or(order[0]));
        let per_column = z.n_cols() == d;
        let (p, q) = if per_column { (a, b) } else { (0, 1.min(z.n_cols() - 1)) };
        let names = model.column_names();
        let column = |j: usize| names.get(j).cloned().unwrap_or_else(|| format!("x{}", j + 1));
        let labels = [column(a), column(b), format!("whiten{}", p + 1), format!("whiten{}", q + 1)];
        let centred = |j: usize| x.column(j).iter().map(|v| v - mean[j]).collect::<Vec<f64>>();
        let size = d.min(z.n_cols()).min(SHOWN_COLUMNS);
        Ok(whitening(&WhiteningPicture {
            before: (&centred(a), &centred(b)),
            after: (&z.column(p), &z.column(q)),
            names: labels.each_ref().map(String::as_str),
            covariance_before: &covariance(&x, size),
            covariance_after: &covariance(z, size),
            p: size,
            title,
        })?)
    }
}

/// Covariance (1/n) of the first columns, row after row.
fn covariance(x: &Matrix<f64>, p: usize) -> Vec<f64> {
    let n = x.n_rows().max(1) as f64;
    let mean: Vec<f64> = (0..p).map(|j| x.column(j).iter().sum::<f64>() / n).collect();
    let mut sums = vec![0.0; p * p];
    for i in 0..x.n_rows() {
        let row = x.row(i);
        for a in 0..p {
            for b in 0..p {
                sums[a * p + b] += (row[a] - mean[a]) * (row[b] - mean[b]) / n;
            }
        }
    }
    sums
}

impl Model for Told {
    fn fitted(&self) -> &dyn Fitted {
        &self.model
    }

    fn n_samples(&self) -> usize {
        self.model.pca().n_samples()
    }

    fn plan(&self) -> String {
        self.model.plan().to_string()
    }

    fn words(&self) -> Vec<String> {
        let model = &self.model;
        let of = if model.pca().scale().is_some() { "standardised data" } else { "centred data" };
        vec![
            component_table(model.pca(), "axis"),
            format!("whitening by {}: {}", model.method(), model.statement()),
            format!("mean squared distance to the {of}: {}", number(model.distance())),
            certainty(model.pca()),
        ]
    }

    fn found(&self) -> Result<Map<String, Value>, Failure> {
        let (model, pca) = (&self.model, self.model.pca());
        object(json!({
            "plan": model.plan(),
            "method": model.method(),
            "ridge": model.ridge(),
            "rank": model.rank(),
            "statement": model.statement(),
            "distance": model.distance(),
            "variances": pca.variances(),
            "total_variance": pca.total_variance(),
            "weight": pca.weight(),
            "residuals": pca.certificate().residuals,
            "stats": pca.stats(),
            "threads": model.plan().threads,
        }))
    }

    fn shares(&self) -> Vec<f64> {
        Vec::new()
    }

    fn pictures(&self, _: bool) -> Vec<PlotKind> {
        vec![PlotKind::Whitening, PlotKind::Scree]
    }

    fn draw(&self, kind: PlotKind, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        match kind {
            PlotKind::Scree => draw_scree(self.model.pca(), title),
            PlotKind::Whitening => self.draw_whitening(shown, title),
            _ => draw_scatter(self, shown, title),
        }
    }
}
