//! Principal components and whitening as models: their files, declared, and what any model can do.

use super::choose::Choice;
use super::fitted::PcaBody;
use super::whitening::{Triangular, WhiteningBody, WhiteningMethod};
use super::{FittedPca, FittedWhitening, PcaPlan, PcaRoute};
use crate::data::AnyPoints;
use crate::eigen::{Bounds, Certificate, Grounds, SolveStats};
use crate::engine::{Cpu, Engine};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::model::{
    Arrays, Body, Declared, Dim, Header, Lift, Model, On, Out, Projection, Rule, SAVE_AGAIN, Table,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const D: Dim = Dim::Of("columns");
const K: Dim = Dim::Of("components");
/// Mark of models of standardised columns.
const STANDARDIZED: &str = "standardized";
/// Mark of whitening by Cholesky.
const TRIANGULAR: &str = "triangular";

const ARRAYS: [Declared; 8] = [
    Declared::f64("center", &[D]),
    Declared::f64("scale", &[D])
        .with(STANDARDIZED)
        .rules(&[Rule::Positive("a standard deviation that columns are divided by is above 0")]),
    Declared::f64("coefficients", &[D, K]),
    Declared::f64("spectrum", &[Dim::Of("eigenvalues")])
        .rules(&[Rule::Positive(EIGENVALUES), Rule::Descending(EIGENVALUES)]),
    Declared::f64("residuals", &[Dim::Of("measured")])
        .rules(&[Rule::NonNegative("a residual is not negative")]),
    Declared::f64("intervals", &[K, Dim::Is(2)]).rules(&[Rule::Intervals("the lower bound comes first")]),
    // n, n·tr C, and the bound on rounding.
    Declared::f64("sums", &[Dim::Is(3)]).rules(&[Rule::NonNegative("sums of squares are not negative")]),
    // The upper triangle of Cholesky's whitening.
    Declared::f64("triangle", &[D, D]).with(TRIANGULAR),
];
const EIGENVALUES: &str =
    "eigenvalues must be positive and in descending order, one for each component or more";

/// What the header says of principal components beside the plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Whether the spectrum holds every variance above rounding.
    is_whole: bool,
    /// What is known about all eigenvalues together.
    bounds: Bounds,
    /// Groups of components that are determined only as a subspace.
    ties: Vec<(usize, usize)>,
    /// What the solve took.
    stats: SolveStats,
    /// How the number of components was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<Choice>,
    /// What a whitening adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whitening: Option<WhiteningRecord>,
}

/// What the header says of a whitening.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct WhiteningRecord {
    method: WhiteningMethod,
    ridge: f64,
    all_directions: bool,
}

fn bad<T>(found: impl Into<String>, required: &str) -> Result<T> {
    Err(Error::model(found, required, SAVE_AGAIN))
}

impl Body for PcaBody {
    type Plan = PcaPlan;
    type Record = Record;
    const METHODS: &'static [&'static str] = &["pca"];

    fn n_components(model: &FittedPca) -> usize {
        model.projection.coefficients.n_cols()
    }

    fn stats(model: &FittedPca) -> Option<SolveStats> {
        Some(model.stats)
    }

    fn project(model: &FittedPca, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>> {
        model.projection.project(on.0, x, on.1)
    }

    fn invert(model: &FittedPca, scores: &Matrix<f64>, on: On<'_>) -> Result<Matrix<f64>> {
        model.inverse_on(on.0, scores)
    }

    fn record(model: &FittedPca) -> Result<Record> {
        Ok(record_of(model, None))
    }

    fn check(header: &Header, plan: &PcaPlan, record: &Record) -> Result<()> {
        check_counts(header, plan)?;
        check_certificate(header, plan, record)?;
        let notes = record.choice.iter().flat_map(|choice| choice.rules.iter().map(|rule| &rule.note));
        header.check_words(plan.reasons.iter().chain([&plan.engine]).chain(notes))
    }

    fn tables(header: &Header, plan: &PcaPlan, record: &Record) -> Vec<Table> {
        vec![table(header, plan, record)]
    }

    fn give<'a>(model: &'a FittedPca, out: &mut Out<'a>) {
        let Certificate { residuals, intervals, rounding, .. } = &model.certificate;
        out.f64("center", model.mean())
            .matrix("coefficients", &model.projection.coefficients)
            .f64("spectrum", &model.spectrum[..])
            .f64("residuals", &residuals[..])
            .intervals("intervals", intervals)
            .f64("sums", vec![model.weight, model.total, *rounding]);
        if let Some(scale) = &model.body.scale {
            out.f64("scale", &scale[..]);
        }
    }

    fn build(header: &Header, _: &PcaPlan, record: Record, arrays: &mut Arrays) -> Result<Self> {
        let k = header.n_components;
        let (spectrum, sums) = (arrays.f64("spectrum")?, arrays.f64("sums")?);
        if spectrum.len() < k {
            return bad(format!("{} eigenvalues for {k} components", spectrum.len()), EIGENVALUES);
        }
        let [weight, total, rounding] = sums[..] else { return bad("sums that are not three", "they are") };
        if weight <= 0.0 || total <= 0.0 {
            return bad(format!("n, total and rounding are {sums:?}"), "n and the total must be positive");
        }
        let lift = Lift::Rows { center: arrays.f64("center")? };
        Ok(Self {
            projection: Projection {
                lift,
                coefficients: arrays.matrix("coefficients")?,
                offset: vec![0.0; k],
            },
            scale: arrays.optional("scale"),
            spectrum,
            is_whole: record.is_whole,
            weight,
            total,
            certificate: Certificate {
                residuals: arrays.f64("residuals")?,
                intervals: arrays.intervals("intervals")?,
                bounds: record.bounds,
                rounding,
                ties: record.ties,
            },
            stats: record.stats,
            choice: record.choice,
        })
    }
}

fn table(header: &Header, plan: &PcaPlan, record: &Record) -> Table {
    // A sketch has no residuals: no product was made.
    let measured = if record.bounds.grounds == Grounds::Sketch { 0 } else { header.n_components };
    let cholesky = record.whitening.is_some_and(|whitening| whitening.method == WhiteningMethod::Cholesky);
    Table::new("", &ARRAYS, &header.precision)
        .dim("columns", header.n_features)
        .dim("components", header.n_components)
        .dim("measured", measured)
        .mark(STANDARDIZED, plan.standardized)
        .mark(TRIANGULAR, cholesky)
}

fn record_of(model: &FittedPca, whitening: Option<WhiteningRecord>) -> Record {
    Record {
        is_whole: model.is_whole,
        bounds: model.certificate.bounds,
        ties: model.certificate.ties.clone(),
        stats: model.stats,
        choice: model.choice.clone(),
        whitening,
    }
}

/// Refuses counts that no fit gives.
fn check_counts(header: &Header, plan: &PcaPlan) -> Result<()> {
    let (n, d, k) = (header.n_samples, header.n_features, header.n_components);
    if n < 2 || d == 0 || k == 0 || k > d {
        return bad(
            format!("{k} components of {n} rows with {d} columns"),
            "there must be at least 2 rows and 1 component, and no more components than columns",
        );
    }
    if (plan.n_samples, plan.n_features) != (n, d) || plan.precision != header.precision {
        let found = format!("a plan for {} × {} in a model of {n} × {d}", plan.n_samples, plan.n_features);
        return bad(found, "the plan and the model must agree");
    }
    Ok(())
}

/// Refuses what the record says of the eigenvalues and cannot be.
fn check_certificate(header: &Header, plan: &PcaPlan, record: &Record) -> Result<()> {
    let (d, k) = (header.n_features, header.n_components);
    if let Some((first, last)) =
        record.ties.iter().find(|(first, last)| *first >= k || last <= first || *last > d)
    {
        return bad(
            format!("components {first} to {last} named as tied (counted from 0)"),
            "they must exist",
        );
    }
    let sketched = record.bounds.grounds == Grounds::Sketch;
    if sketched != (plan.route == PcaRoute::Directions)
        || sketched && !record.bounds.slack.is_some_and(|slack| slack >= 0.0 && slack.is_finite())
    {
        return bad(
            format!("the {} route with a bound Δ of {:?}", plan.route, record.bounds.slack),
            "a sketch, and nothing else, has such a bound, and it is not negative",
        );
    }
    if record.bounds.n_certified > k {
        return bad(
            format!("{} of {k} components certified", record.bounds.n_certified),
            "no more than there are",
        );
    }
    Ok(())
}

impl Body for WhiteningBody {
    type Plan = PcaPlan;
    type Record = Record;
    const METHODS: &'static [&'static str] = &["whiten"];

    fn n_components(model: &FittedWhitening) -> usize {
        PcaBody::n_components(&model.pca)
    }

    fn n_outputs(model: &FittedWhitening) -> usize {
        model.body.n_outputs()
    }

    fn stats(model: &FittedWhitening) -> Option<SolveStats> {
        PcaBody::stats(&model.pca)
    }

    fn move_to(&mut self, engine: &Arc<dyn Engine>) {
        self.pca.engine = Arc::clone(engine);
    }

    fn project(model: &FittedWhitening, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>> {
        model.transform_on(on.0, x, on.1)
    }

    fn invert(model: &FittedWhitening, scores: &Matrix<f64>, on: On<'_>) -> Result<Matrix<f64>> {
        model.inverse_on(on.0, scores)
    }

    fn record(model: &FittedWhitening) -> Result<Record> {
        let WhiteningBody { method, ridge, all_directions, .. } = model.body;
        Ok(record_of(&model.pca, Some(WhiteningRecord { method, ridge, all_directions })))
    }

    fn check(header: &Header, plan: &PcaPlan, record: &Record) -> Result<()> {
        let Some(WhiteningRecord { ridge, .. }) = record.whitening else {
            return bad("a whitening that does not say which", "the header names the method and the ridge");
        };
        if !(ridge.is_finite() && ridge >= 0.0) {
            return bad(format!("ridge {ridge}"), "it must be 0 or a positive number");
        }
        PcaBody::check(header, plan, record)
    }

    fn tables(header: &Header, plan: &PcaPlan, record: &Record) -> Vec<Table> {
        vec![table(header, plan, record)]
    }

    fn give<'a>(model: &'a FittedWhitening, out: &mut Out<'a>) {
        PcaBody::give(&model.body.pca, out);
        if let Some(both) = &model.body.triangular {
            out.matrix("triangle", &both.back);
        }
    }

    fn build(header: &Header, plan: &PcaPlan, record: Record, arrays: &mut Arrays) -> Result<Self> {
        let Some(WhiteningRecord { method, ridge, all_directions }) = record.whitening else {
            return bad("a whitening that does not say which", "the header names the method and the ridge");
        };
        let triangular = if method == WhiteningMethod::Cholesky {
            let back = arrays.matrix("triangle")?;
            let below = |i: usize| back.row(i)[..i].iter().any(|x| *x != 0.0);
            if (0..back.n_rows()).any(|i| back[(i, i)] <= 0.0 || below(i)) {
                return bad("a triangle that is none", "it is upper, with a positive diagonal");
            }
            Some(Triangular::from_inverse(back))
        } else {
            None
        };
        let pca = Model {
            plan: plan.clone(),
            warnings: header.warnings.clone(),
            column_names: header.column_names.clone(),
            engine: Arc::new(Cpu::at_first_use()),
            body: PcaBody::build(header, plan, record, arrays)?,
        };
        Ok(Self::assemble(pca, method, ridge, (triangular, all_directions)))
    }
}
