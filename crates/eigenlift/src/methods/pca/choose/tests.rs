use super::*;
use crate::linalg::symmetric_eigenvalues;
use crate::matrix::Matrix;
use crate::moments::Partial;
use crate::random::{Purpose, Stream};

/// Strong components of falling size in noise of variance 1, with column means that are not zero.
pub(super) fn planted(n: usize, d: usize, rank: usize, seed: u64) -> Matrix<f64> {
    let mut stream = Stream::new(seed, Purpose::Synthetic);
    let mut gaussian = |rows, columns| Matrix::from_fn(rows, columns, |_, _| stream.gaussian());
    let (scores, loadings, noise) = (gaussian(n, rank), gaussian(rank, d), gaussian(n, d));
    let signal = |i: usize, j: usize| -> f64 {
        (0..rank).map(|l| 3.0 / (1.0 + 0.2 * l as f64) * scores[(i, l)] * loadings[(l, j)]).sum()
    };
    Matrix::from_fn(n, d, |i, j| j as f64 + signal(i, j) + noise[(i, j)])
}

/// All eigenvalues of the covariance matrix, and its trace.
pub(super) fn spectrum(x: &Matrix<f64>) -> (Vec<f64>, f64) {
    let (n, d) = (x.n_rows(), x.n_cols());
    let partial = Partial::of_rows(x.view(), 0.0);
    let mut values = symmetric_eigenvalues(partial.scatter()).unwrap();
    values.truncate(d.min(n.saturating_sub(1)));
    values.iter_mut().for_each(|v| *v = v.max(0.0) / n as f64);
    (values, partial.trace() / n as f64)
}

fn chosen(x: &Matrix<f64>, options: &ChoiceOptions) -> Choice {
    let (values, total) = spectrum(x);
    let spectrum = Spectrum { values: &values, n_samples: x.n_rows(), n_features: x.n_cols(), total };
    choose(&spectrum, x.into(), options, &Watch::default()).unwrap()
}

fn numbers(choice: &Choice) -> Vec<Option<usize>> {
    choice.rules.iter().map(|rule| rule.n_components).collect()
}

/// Runs `work` with one thread and with two.
pub(super) fn with_one_and_two<T: Send>(work: impl Fn() -> T + Sync) -> (T, T) {
    let run = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work);
    (run(1), run(2))
}

#[test]
fn a_clear_signal_is_found_by_every_rule_that_asks_the_data() {
    let choice = chosen(&planted(500, 40, 5, 1), &ChoiceOptions::default());
    assert_eq!(numbers(&choice)[2..], [Some(5); 5], "{choice:?}");
    assert_eq!((choice.consensus, choice.agreement), (5, 4));
    let names: Vec<&str> = choice.rules.iter().map(|rule| rule.name).collect();
    assert_eq!(names, NAMES);
    assert!(choice.threshold.is_some_and(|t| t > 1.0 && t < 10.0));
}

/// White noise of several shapes: the threshold lies above its largest eigenvalue.
#[test]
fn noise_lies_below_the_threshold() {
    for (seed, (n, d)) in [(200, 20), (100, 100), (40, 300), (1000, 5), (101, 100)].into_iter().enumerate() {
        let x = planted(n, d, 0, 20 + seed as u64);
        let (values, total) = spectrum(&x);
        let found = gavish_donoho(&Spectrum { values: &values, n_samples: n, n_features: d, total });
        assert_eq!(found.map(|found| found.0), Some(0), "{n} × {d}");
    }
}

/// Rows in single precision or without their zeros are the same rows.
#[test]
fn rows_of_any_kind_give_the_same_choice() {
    let x = Matrix::from_fn(90, 12, |i, j| if (i + j) % 3 == 0 { 0.0 } else { ((i * j) % 7) as f64 });
    let narrow = Matrix::from_fn(90, 12, |i, j| x[(i, j)] as f32);
    let entries = |i: usize| (0..12u32).filter(move |j| !(i + *j as usize).is_multiple_of(3));
    let mut offsets = vec![0];
    (0..90).for_each(|i| offsets.push(offsets[i] + entries(i).count()));
    let names: Vec<u32> = (0..90).flat_map(entries).collect();
    let numbers = (0..90).flat_map(|i| entries(i).map(move |j| (i, j as usize))).map(|at| x[at]).collect();
    let sparse = crate::data::Csr::new(offsets, names, numbers, 12).unwrap();
    let (values, total) = spectrum(&x);
    let spectrum = Spectrum { values: &values, n_samples: 90, n_features: 12, total };
    let asked =
        |rows: AnyPoints<'_>| choose(&spectrum, rows, &ChoiceOptions::default(), &Watch::default()).unwrap();
    assert_eq!(asked((&x).into()), asked((&narrow).into()));
    assert_eq!(asked((&x).into()), asked(crate::data::Points::Sparse(sparse.view()).into()));
}

#[test]
fn more_columns_than_rows() {
    let choice = chosen(&planted(60, 500, 3, 2), &ChoiceOptions::default());
    assert_eq!(numbers(&choice)[2..], [None, Some(3), Some(3), Some(3), Some(3)], "{choice:?}");
    assert_eq!(choice.rules[2].note, "needs more rows than columns; there are 60 and 500");
    assert_eq!((choice.consensus, choice.agreement), (3, 3));
}

/// Scaling makes the noise of columns unequal, so cross-validation may find more than the signal; units do not matter.
#[test]
fn scaled_columns_have_no_units() {
    let mut x = planted(400, 30, 4, 3);
    let scaled = ChoiceOptions { scaled: true, ..Default::default() };
    let before = chosen(&x, &scaled);
    let factors: Vec<f64> = (0..30).map(|j| 4f64.powi(j % 5 - 2)).collect();
    crate::linalg::scale_columns(x.view_mut(), &factors);
    let after = chosen(&x, &scaled);
    assert_eq!((before.parallel, before.gabriel), (after.parallel.clone(), after.gabriel));
    assert_eq!(after.parallel.map(|found| found.n_components), Some(4));
}

#[test]
fn the_choice_does_not_depend_on_threads_and_survives_json() {
    let x = planted(700, 30, 3, 4);
    let (one, two) = with_one_and_two(|| chosen(&x, &ChoiceOptions::default()));
    assert_eq!(one, two);
    let text = serde_json::to_string(&one).unwrap();
    let back: Choice = serde_json::from_str(&text).unwrap();
    assert_eq!(back, one);
    let wrong = text.replace("\"Minka\"", "\"Mincer\"");
    let message = serde_json::from_str::<Choice>(&wrong).unwrap_err().to_string();
    assert!(message.contains("\"Mincer\""), "{message}");
}

#[test]
fn wide_tables_are_looked_at_in_part() {
    let wide = Matrix::<f64>::zeros(3, 1001);
    assert_eq!((most_rows(wide.n_cols(), 4000), most_rows(wide.n_cols(), 500)), (1000, 500));
    let narrow = Matrix::<f64>::zeros(3, 1000);
    assert_eq!(most_rows(narrow.n_cols(), 4000), 4000);
    let widest = Matrix::<f64>::zeros(1, 1 << 20);
    assert_eq!(most_rows(widest.n_cols(), 4000), 64);
}

#[test]
fn the_consensus_is_the_lower_median_of_what_the_data_say() {
    let of = |a, b, c, d| agreed(&[Some(9), Some(8), a, b, c, d, None]);
    assert_eq!(of(Some(20), Some(5), Some(4), Some(6)), (5, 3));
    assert_eq!(of(None, Some(5), Some(2), Some(9)), (5, 1));
    assert_eq!(of(None, Some(7), None, Some(3)), (3, 1));
    assert_eq!(of(Some(0), Some(0), Some(0), Some(0)), (0, 4));
    assert_eq!(of(None, None, None, None), (9, 0));
    assert_eq!(agreed(&[None; 7]), (1, 0));
    let bounded = |last| agreed(&[Some(9), Some(8), Some(20), Some(6), Some(4), Some(7), Some(last)]).0;
    assert_eq!([0, 3, 6, 9].map(bounded), [0, 3, 6, 6]);
}

/// Tables that leave little to choose from: answers or reasons, never a panic.
#[test]
fn degenerate_tables_are_answered() {
    let few = Matrix::from_fn(4, 1, |i, _| (i * i) as f64);
    let choice = chosen(&few, &ChoiceOptions::default());
    assert_eq!(numbers(&choice), [Some(1), Some(1), None, None, Some(0), None, None]);
    assert_eq!(choice.consensus, 0);
    assert!(choice.rules[5].note.contains("at least 4 rows and 2 columns"), "{}", choice.rules[5].note);
    let constant = Matrix::from_fn(20, 5, |_, j| 0.1 * j as f64);
    let choice = chosen(&constant, &ChoiceOptions::default());
    assert_eq!((choice.consensus, choice.agreement), (0, 3));
    assert_eq!(choice.gabriel.as_ref().map(|g| g.errors.as_slice()), Some([(0, 0.0, 0.0)].as_slice()));
    let mut part = planted(300, 20, 3, 5);
    (0..300).for_each(|i| part[(i, 7)] = 0.1);
    let choice = chosen(&part, &ChoiceOptions::default());
    assert_eq!(numbers(&choice)[2..], [Some(19), Some(3), Some(3), Some(3), Some(3)], "{choice:?}");
    assert!(choice.rules[2].note.starts_with("19 directions hold all the variance"));
    let choice = chosen(&part, &ChoiceOptions { scaled: true, ..Default::default() });
    assert_eq!(numbers(&choice)[4], Some(3), "{choice:?}");
    let repeated = Matrix::from_fn(40, 6, |i, j| ((i % 2) * (j + 1)) as f64);
    let choice = chosen(&repeated, &ChoiceOptions::default());
    assert_eq!(numbers(&choice), [Some(1), Some(1), None, Some(1), Some(1), Some(1), Some(1)]);
    for (n, d) in [(2, 3), (3, 2), (4, 2), (4, 4), (5, 3), (1, 1), (2, 1)] {
        let x = Matrix::from_fn(n, d, |i, j| ((3 * i + 7 * j + 1) as f64).sin());
        let (values, total) = spectrum(&x);
        let spectrum = Spectrum { values: &values, n_samples: n, n_features: d, total };
        for scaled in [false, true] {
            let options = ChoiceOptions { scaled, ..Default::default() };
            let choice = choose(&spectrum, (&x).into(), &options, &Watch::default()).unwrap();
            assert!(choice.consensus <= d && choice.rules.len() == 7, "{n} × {d}");
            assert!(choice.rules.iter().all(|rule| !rule.note.is_empty()));
        }
    }
}

#[test]
fn notes_say_what_was_found_or_why_not() {
    let x = planted(200, 10, 2, 6);
    let (values, total) = spectrum(&x);
    let part = Spectrum { values: &values[..1], n_samples: 200, n_features: 10, total };
    let options = ChoiceOptions { explained: 0.99, ..Default::default() };
    let choice = choose(&part, (&x).into(), &options, &Watch::default()).unwrap();
    assert_eq!(numbers(&choice)[..4], [None; 4]);
    assert!(choice.rules[0].note.ends_with("and no more are known; 99 % were asked for"));
    assert_eq!(choice.rules[2].note, "needs all 10 eigenvalues; 1 are known");
    assert_eq!(choice.rules[3].note, "needs the median of 10 eigenvalues; only the 1 largest are known");
    assert!(choice.rules[4].note.starts_with("2 eigenvalues lie above"), "{}", choice.rules[4].note);
}

#[test]
fn options_out_of_range_and_rows_of_another_width_are_refused() {
    let x = planted(50, 5, 1, 7);
    let (values, total) = spectrum(&x);
    let of = |n_features| Spectrum { values: &values, n_samples: 50, n_features, total };
    let asked = |spectrum: &Spectrum<'_>, options: ChoiceOptions| {
        choose(spectrum, (&x).into(), &options, &Watch::default()).map(|_| ()).unwrap_err().to_string()
    };
    let standard = ChoiceOptions::default;
    assert!(asked(&of(6), standard()).starts_with("rows of 5 columns"));
    assert!(asked(&of(5), ChoiceOptions { explained: 1.5, ..standard() }).contains("1.5"));
    assert!(asked(&of(5), ChoiceOptions { explained: f64::NAN, ..standard() }).contains("NaN"));
    assert!(asked(&of(5), ChoiceOptions { residual: Some(-1.0), ..standard() }).contains("-1"));
    assert!(asked(&of(5), ChoiceOptions { permutations: 0, ..standard() }).contains("0 permutations"));
}

#[test]
fn cancelling_stops_the_choice() {
    let x = planted(50, 5, 1, 8);
    let (values, total) = spectrum(&x);
    let spectrum = Spectrum { values: &values, n_samples: 50, n_features: 5, total };
    let cancel = crate::progress::CancelToken::default();
    cancel.cancel();
    let watch = Watch::default().cancelled_by(cancel);
    let result = choose(&spectrum, (&x).into(), &ChoiceOptions::default(), &watch);
    assert!(matches!(result, Err(Error::Cancelled)));
}
