//! How far a choice can be trusted: other bandwidths, other rows, unrelated columns.

use super::kpca::Chosen;
use crate::args::StudyArgs;
use crate::exit::Failure;
use crate::words::{aligned, short};
use eigenlift::progress::Watch;
use eigenlift::tuning::kernel_study::{
    KernelParallel, KernelParallelReport, Sensitivity, SensitivityReport, Stability, StabilityReport,
};
use eigenlift_plot::{Figure, SensitivityPicture, sensitivity};
use serde::Serialize;

/// Components in the tables; all of them are in the JSON form.
const SHOWN: usize = 12;

/// What was asked beside the choice; its keys stay.
#[derive(Debug, Default, Serialize)]
pub(super) struct Studies {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sensitivity: Option<SensitivityReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability: Option<StabilityReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel: Option<KernelParallelReport>,
}

impl Studies {
    /// Runs those that are asked for, with the kernel and the components chosen.
    pub(super) fn run(
        args: &StudyArgs,
        drawn: bool,
        chosen: &Chosen<'_>,
        watch: &Watch,
    ) -> Result<Self, Failure> {
        let Chosen { samples, machine, .. } = chosen;
        let (k, kernel) = (chosen.choice.n_components(), chosen.choice.kernel_spec()?);
        let mut studies = Self::default();
        macro_rules! set {
            ($study:expr) => {{
                let study = $study.kernel(kernel.clone()).seed(machine.seed).threads(machine.threads.into());
                match chosen.rows {
                    Some(rows) => study.max_rows(rows).watch(watch.clone()),
                    None => study.watch(watch.clone()),
                }
            }};
        }
        if (args.sensitivity || drawn) && chosen.choice.point().is_some_and(|point| point.bandwidth.is_some())
        {
            studies.sensitivity = Some(set!(Sensitivity::new(k)).study(samples)?);
        }
        if args.stability {
            studies.stability = Some(set!(Stability::new(k)).study(samples)?);
        }
        if args.parallel {
            studies.parallel = Some(set!(KernelParallel::new()).run(samples)?);
        }
        Ok(studies)
    }

    /// What a person should know before relying on them.
    pub(super) fn warnings(&self) -> Vec<String> {
        let each = [
            self.sensitivity.as_ref().map(|report| ("sensitivity", &report.warnings)),
            self.stability.as_ref().map(|report| ("stability", &report.warnings)),
            self.parallel.as_ref().map(|report| ("parallel analysis", &report.warnings)),
        ];
        let told = |(name, warnings): (&'static str, &Vec<String>)| {
            warnings.iter().map(move |text| format!("{name}: {text}")).collect::<Vec<_>>()
        };
        each.into_iter().flatten().flat_map(told).collect()
    }

    /// What they found, in words.
    pub(super) fn text(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(report) = &self.sensitivity {
            lines.push(format!("sensitivity: {}\n{}", report.sentence, sensitivity_table(report)));
        }
        if let Some(report) = &self.stability {
            lines.push(format!("stability: {}\n{}", report.sentence, stability_table(report)));
        }
        if let Some(report) = &self.parallel {
            lines.push(format!("parallel analysis: {}\n{}", report.sentence, parallel_table(report)));
        }
        lines
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn sensitivity_table(report: &SensitivityReport) -> String {
    let rows: Vec<Vec<String>> = report
        .points
        .iter()
        .map(|point| {
            vec![
                short(point.bandwidth),
                format!("{:.3}", point.ratio_to_median),
                percent(point.shares.iter().sum()),
                format!("{:.1}", point.effective_rank),
                format!("{:.1}°", point.angle_to_reference),
            ]
        })
        .collect();
    let heading = [&*report.parameter, "of the median", "variance held", "effective rank", "angle"];
    aligned(&heading, &rows)
}

fn stability_table(report: &StabilityReport) -> String {
    let rows: Vec<Vec<String>> = report
        .levels
        .iter()
        .take(SHOWN)
        .map(|level| {
            vec![
                level.n_components.to_string(),
                format!("{:.1}°", level.mean_angle),
                format!("{:.1}°", level.high_angle),
                short(level.variance),
                format!("± {:.1e}", level.standard_error),
            ]
        })
        .collect();
    let heading = ["first", "mean angle", "9 of 10 within", "λ of the last", "standard error"];
    aligned(&heading, &rows) + &rest(report.levels.len())
}

fn parallel_table(report: &KernelParallelReport) -> String {
    let rows: Vec<Vec<String>> = report
        .eigenvalues
        .iter()
        .zip(&report.null)
        .take(SHOWN)
        .enumerate()
        .map(|(j, (value, null))| vec![(j + 1).to_string(), short(*value), short(*null)])
        .collect();
    aligned(&["component", "nλ", "unrelated columns"], &rows) + &rest(report.eigenvalues.len())
}

fn rest(n: usize) -> String {
    match n.checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("\n  … and {more} more (all of them with --json)"),
        _ => String::new(),
    }
}

/// A picture of what the bandwidth does.
pub(super) fn sensitivity_figure(report: &SensitivityReport, title: &str) -> Result<Figure, Failure> {
    let points = &report.points;
    let of = |value: &dyn Fn(usize) -> f64| (0..points.len()).map(value).collect::<Vec<f64>>();
    let shares: Vec<Vec<f64>> = points.iter().map(|point| point.shares.clone()).collect();
    Ok(sensitivity(&SensitivityPicture {
        bandwidths: &of(&|i| points[i].bandwidth),
        shares: &shares,
        effective_rank: &of(&|i| points[i].effective_rank),
        angle_to_reference: &of(&|i| points[i].angle_to_reference),
        reference: report.reference,
        plateau: report.plateau,
        title,
    })?)
}
