//! Every refusal says what was found, what was required and what to do.

use super::{related, samples};
use eigenlift::data::AnySamples;
use eigenlift::error::{Error, Result};
use eigenlift::factor::Regularization::Value;
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::kernel_cca::{FittedKernelCca, KernelCca};
use eigenlift::progress::{CancelToken, Observer, Watch};
use eigenlift_testkit::problems::noise;
use std::sync::{Arc, Mutex};

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

fn says(found: Result<FittedKernelCca>, part: &str) {
    let message = found.expect_err(part).to_string();
    assert!(message.contains(part), "\"{part}\" is not in \"{message}\"");
    assert!(message.contains("; ") && message.contains(". "), "three parts in \"{message}\"");
}

fn two() -> Vec<AnySamples> {
    samples(&related(30, &[2, 3], 31))
}

#[test]
fn views_that_do_not_fit_together_are_refused() {
    let rows = |n: usize| -> AnySamples { noise(n, 2, 32).into() };
    let settings = KernelCca::new(1).kernel(spec("linear"));
    says(settings.fit(&[]), "0 view(s)");
    says(settings.fit(&[rows(30)]), "1 view(s); canonical correlation is between two or more");
    says(settings.fit(&[rows(30), rows(29)]), "view 1 has 30 rows, view 2 has 29");
    says(settings.fit(&[rows(2), rows(2)]), "2 row(s)");
    says(settings.fit(&[rows(5), rows(5)]), "at least 9 are needed to choose the regularization");
    let constant = Matrix::from_fn(30, 2, |_, j| 1e8 + j as f64);
    for kernel in ["linear", "rbf(gamma=0.1)"] {
        let settings = KernelCca::new(1).kernel(spec(kernel));
        let found = settings.fit(&[rows(30), constant.clone().into()]);
        assert!(matches!(found, Err(Error::NoVariance { .. })), "{kernel}: {found:?}");
        says(found, "view 2: all rows look the same");
    }
    let mut bad = noise(30, 2, 33);
    bad[(4, 1)] = f64::NAN;
    says(settings.fit(&[rows(30), bad.into()]), "view 2: row 5, column 2 is NaN");
}

#[test]
fn settings_out_of_range_are_refused() {
    says(KernelCca::new(0).fit(&two()), "0 components");
    says(KernelCca::new(1).folds(1).fit(&two()), "1 fold(s)");
    says(KernelCca::new(1).folds(0).fit(&two()), "0 fold(s)");
    for kappa in [-1.0, f64::NAN, f64::INFINITY] {
        says(KernelCca::new(1).regularization(Value(kappa)).fit(&two()), "a regularisation of");
    }
    says(KernelCca::new(1).kernels(vec![spec("linear"); 3]).fit(&two()), "3 kernels for 2 views");
    let names = vec![vec!["a".to_string()], vec![]];
    says(
        KernelCca::new(1).column_names(names).fit(&two()),
        "[1, 0] column names for views of [2, 3] columns",
    );
    says(KernelCca::new(1).with(|f| f.memory_limit(1000)).fit(&two()), "allow");
    let model = KernelCca::new(1).kernel(spec("linear")).fit(&two()).unwrap();
    let message = model.transform(2, &noise(3, 2, 1)).unwrap_err().to_string();
    assert!(message.contains("view 3; the model has views 1 to 2"), "{message}");
    let message = model.transform(1, &noise(3, 2, 1)).unwrap_err().to_string();
    assert!(message.contains("view 2: rows of 2 columns; the model was fitted on 3"), "{message}");
}

/// Few rows and a κ that is given: correlations without held-out ones.
#[test]
fn too_few_rows_to_hold_some_out_are_fitted_all_the_same() {
    let views = samples(&related(5, &[2, 2], 34));
    let model = KernelCca::new(1).kernel(spec("linear")).regularization(Value(0.1)).fit(&views).unwrap();
    assert!(model.held_out_correlations().is_empty() && model.held_out_errors().is_empty());
    assert!(model.plan().reasons.iter().any(|reason| reason.contains("too few to hold some out")));
    assert!(model.warnings()[0].starts_with("5 rows are too few to hold some out"), "{:?}", model.warnings());
    let loaded = FittedKernelCca::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(loaded.held_out_correlations().is_empty());
}

/// κ = 0 is refused only where a view takes all directions that centred rows have; where two take more than there are
/// together, so many correlations are 1, and that is said.
#[test]
fn no_regularisation_is_refused_where_it_makes_every_correlation_1() {
    let fit = |widths: &[usize], kernel: &str| {
        let settings = KernelCca::new(3).kernel(spec(kernel)).regularization(Value(0.0));
        settings.fit(&samples(&related(20, widths, 35)))
    };
    says(
        fit(&[2, 3], "rbf(gamma=2)"),
        "take all 19 directions that 20 centred rows have; every correlation would",
    );
    says(fit(&[3, 19], "linear"), "view 2 take all 19");
    let model = fit(&[3, 18], "linear").unwrap();
    assert!(
        model.warnings()[0].starts_with("without regularisation 2 correlations are 1"),
        "{:?}",
        model.warnings()
    );
    assert!(
        model.correlations()[..2].iter().all(|rho| (rho - 1.0).abs() < 1e-8),
        "{:?}",
        model.correlations()
    );
    assert!(model.correlations()[2] < 1.0 - 1e-6);
    assert!(fit(&[3, 4], "linear").unwrap().warnings().is_empty());
}

#[derive(Default)]
struct Stages(Mutex<Vec<String>>);

impl Observer for Stages {
    fn progress(&self, stage: &str, _: u64, _: u64) {
        let mut seen = self.0.lock().unwrap();
        if seen.last().is_none_or(|last| last != stage) {
            seen.push(stage.into());
        }
    }
}

#[test]
fn stages_are_told_and_the_work_can_be_stopped_in_each() {
    let stages = Arc::new(Stages::default());
    let settings = |watch: Watch| {
        KernelCca::new(1).kernel(spec("rbf(gamma=0.1)")).permutations(4).with(|f| f.watch(watch))
    };
    settings(Watch::default().observed_by(stages.clone())).fit(&two()).unwrap();
    let seen = stages.0.lock().unwrap().clone();
    for stage in ["moments of features", "held-out folds", "permutations"] {
        assert!(seen.iter().any(|told| told == stage), "{stage}: {seen:?}");
    }
    struct StopAt(&'static str, CancelToken);
    impl Observer for StopAt {
        fn progress(&self, stage: &str, _: u64, _: u64) {
            if stage == self.0 {
                self.1.cancel();
            }
        }
    }
    for stage in ["moments of features", "held-out folds", "permutations"] {
        let token = CancelToken::default();
        let watch = Watch::default().cancelled_by(token.clone()).observed_by(Arc::new(StopAt(stage, token)));
        assert!(matches!(settings(watch).fit(&two()), Err(Error::Cancelled)), "{stage}");
    }
}
