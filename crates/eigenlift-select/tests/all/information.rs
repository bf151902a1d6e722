//! Mutual information through its public settings: known answers, scikit-learn's, p-values, threads.

use eigenlift::data::Labels;
use eigenlift::data::{self, AnySamples};
use eigenlift::engine::Cpu;
use eigenlift::matrix::Matrix;
use eigenlift_select::{FeatureScore, Kind, Kinds, MutualInformation};
use eigenlift_testkit::problems::Numbers;
use serde_json::Value;
use std::slice::from_ref;
use std::sync::Arc;

fn continuous() -> MutualInformation {
    MutualInformation::new().kinds(Kinds::All(Kind::Continuous))
}

/// The scores of columns given one by one.
fn scores(settings: &MutualInformation, columns: &[Vec<f64>], labels: &Labels) -> Vec<FeatureScore> {
    settings.of(&table(columns), labels).unwrap()
}

fn table(columns: &[Vec<f64>]) -> AnySamples {
    Matrix::from_fn(columns[0].len(), columns.len(), |i, j| columns[j][i]).into()
}

fn gaussian(n: usize, seed: u64) -> Vec<f64> {
    let mut numbers = Numbers::new(seed);
    (0..n).map(|_| numbers.gaussian()).collect()
}

// −½ ln(1 − ρ²), within three of the standard errors reported.
#[test]
fn gaussian_pairs_have_the_information_of_their_correlation() {
    let (x, noise) = (gaussian(2000, 1), gaussian(2000, 2));
    for rho in [0.0f64, 0.3, 0.6, 0.9, 0.99] {
        let y = x.iter().zip(&noise).map(|(x, e)| rho * x + (1.0 - rho * rho).sqrt() * e).collect();
        let found = scores(&continuous(), from_ref(&x), &Labels::Numbers(y))[0];
        let known = -0.5 * (1.0 - rho * rho).ln();
        assert!((found.value - known).abs() < 3.0 * found.error.unwrap(), "{rho}: {found:?} {known}");
    }
}

// x is 1 with probability p; y is uniform on (0, 2) then, and on (−1, 1) otherwise. H(y) − H(y|x) by hand.
#[test]
fn uniform_mixtures_have_the_information_of_the_formula() {
    for (p, seed) in [(0.3f64, 3), (0.5, 4), (0.7, 5)] {
        let mut numbers = Numbers::new(seed);
        let x: Vec<usize> = (0..2000).map(|_| usize::from(numbers.uniform() < p)).collect();
        let y: Vec<f64> = x.iter().map(|x| *x as f64 + 2.0 * numbers.uniform() - 1.0).collect();
        let known =
            -0.5 * ((1.0 - p) * (0.5 * (1.0 - p)).ln() + p * (0.5 * p).ln() + 0.5f64.ln()) - 2f64.ln();
        let found = scores(&continuous(), from_ref(&y), &Labels::Classes(x.clone()))[0];
        assert!((found.value - known).abs() < 3.0 * found.error.unwrap(), "{p}: {found:?} {known}");
        // The other way round it is the same estimate.
        let column = x.iter().map(|x| *x as f64).collect();
        let turned = scores(&MutualInformation::new(), from_ref(&column), &Labels::Numbers(y))[0];
        assert!((found.value - turned.value).abs() < 1e-13, "{found:?} {turned:?}");
    }
}

#[test]
fn no_column_says_more_than_the_labels_hold() {
    let classes: Vec<usize> = (0..300).map(|i| [0, 0, 0, 1, 1, 2][i % 6]).collect();
    let entropy = 0.5 * 2f64.ln() + 1.0 / 3.0 * 3f64.ln() + 1.0 / 6.0 * 6f64.ln();
    let mut numbers = Numbers::new(7);
    let copy: Vec<f64> = classes.iter().map(|c| *c as f64).collect();
    let apart: Vec<f64> = classes.iter().map(|c| 10.0 * *c as f64 + numbers.uniform()).collect();
    let labels = Labels::Classes(classes);
    for settings in [continuous(), MutualInformation::new()] {
        let found = scores(&settings, &[copy.clone(), apart.clone()], &labels);
        assert!((found[0].value - entropy).abs() < 1e-13, "{found:?} {entropy}");
        assert!(found[1].value <= entropy + 1e-13 && found[1].value > 0.95 * entropy, "{found:?} {entropy}");
    }
    // Numbers that are few: both sides repeat.
    let found = scores(&continuous(), &[copy.clone(), apart], &Labels::Numbers(copy));
    assert!(found.iter().all(|score| score.value <= entropy + 1e-13), "{found:?}");
    assert!((found[0].value - entropy).abs() < 1e-13, "{found:?}");
}

#[test]
fn constants_say_nothing() {
    let columns = [vec![2.5; 40], gaussian(40, 1)];
    let classes = Labels::Classes((0..40).map(|i| i % 2).collect());
    assert_eq!(scores(&continuous(), &columns, &classes)[0].value, 0.0);
    assert_eq!(scores(&continuous(), &columns, &Labels::Numbers(gaussian(40, 2)))[0].value, 0.0);
    for constant in [Labels::Classes(vec![3; 40]), Labels::Numbers(vec![0.5; 40])] {
        assert!(scores(&continuous().permutations(9), &columns, &constant).iter().all(|s| s.value == 0.0));
    }
    let one = scores(&continuous(), &[vec![1.0]], &Labels::Numbers(vec![1.0]));
    assert_eq!(one[0].value, 0.0);
}

// Under independence the share of p-values up to 0.1 is 0.1, with a standard error of √(0.09/300) = 0.017; three are allowed.
#[test]
fn p_values_are_uniform_where_nothing_is_to_be_found() {
    let columns: Vec<Vec<f64>> = (0..300).map(|j| gaussian(60, 100 + j)).collect();
    let classes = Labels::Classes((0..60).map(|i| i % 3).collect());
    for labels in [classes, Labels::Numbers(gaussian(60, 9))] {
        let found = scores(&continuous().permutations(99).seed(1), &columns, &labels);
        let small = found.iter().filter(|score| score.p_value.unwrap() <= 0.1).count() as f64 / 300.0;
        assert!((small - 0.1).abs() < 0.052, "{small}");
        // Together none of them stands out.
        let least = found.iter().map(|score| score.family_p_value.unwrap()).fold(1.0, f64::min);
        assert!(least > 0.02, "{least}");
        assert!(found.iter().all(|score| score.family_p_value >= score.p_value));
    }
}

#[test]
fn p_values_are_least_where_everything_depends() {
    let y = gaussian(200, 1);
    let columns = [y.iter().zip(gaussian(200, 2)).map(|(y, e)| y + 0.3 * e).collect(), gaussian(200, 3)];
    let classes = Labels::Classes(y.iter().map(|y| usize::from(*y > 0.0)).collect());
    for labels in [Labels::Numbers(y), classes] {
        let found = scores(&continuous().permutations(49), &columns, &labels);
        assert_eq!((found[0].p_value, found[0].family_p_value), (Some(0.02), Some(0.02)));
        assert!(found[1].p_value > Some(0.02));
    }
}

#[test]
fn threads_and_seeds() {
    let mut columns: Vec<Vec<f64>> = (0..20).map(|j| gaussian(150, j)).collect();
    columns[3].iter_mut().for_each(|x| *x = x.round());
    let run = |threads: usize, seed: u64, labels: &Labels| {
        let engine = Arc::new(Cpu::new(threads).unwrap());
        let settings = MutualInformation::new().permutations(30).seed(seed).engine(engine);
        scores(&settings, &columns, labels)
    };
    for labels in [Labels::Classes((0..150).map(|i| i % 4).collect()), Labels::Numbers(gaussian(150, 77))] {
        assert_eq!(run(1, 5, &labels), run(3, 5, &labels));
        assert_ne!(run(1, 5, &labels), run(1, 6, &labels));
    }
}

#[test]
fn a_correction_takes_away_what_chance_adds() {
    let mut numbers = Numbers::new(8);
    let mut draw = || (0..500).map(|_| (6.0 * numbers.uniform()).floor()).collect::<Vec<f64>>();
    let (x, y) = (draw(), Labels::Classes(draw().iter().map(|v| *v as usize).collect()));
    let plain = scores(&MutualInformation::new(), from_ref(&x), &y)[0].value;
    let corrected = scores(&MutualInformation::new().corrected(true), from_ref(&x), &y)[0].value;
    // All 36 cells of the table occur: (6 − 1)(6 − 1)/(2·500).
    assert!((corrected - (plain - 0.025).max(0.0)).abs() < 1e-13, "{plain} {corrected}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let x = table(&[vec![1.0, 2.0, f64::NAN]]);
    let y = Labels::Numbers(vec![1.0, 2.0, 3.0]);
    let settings = MutualInformation::new().column_names(vec!["width".into()]);
    assert!(settings.of(&x, &y).unwrap_err().to_string().contains("width (1)"));
    let x = table(&[vec![1.0, 2.0, 3.0]]);
    let message = |settings: MutualInformation, y: Labels| settings.of(&x, &y).unwrap_err().to_string();
    assert!(message(MutualInformation::new().neighbors(0), y.clone()).contains("0 neighbours"));
    assert!(message(continuous(), Labels::Classes(vec![0, 1])).contains("2 labels for 3 rows"));
    assert!(message(continuous(), Labels::Numbers(vec![0.0, f64::NAN, 1.0])).contains("row 2"));
    assert!(message(MutualInformation::new().kinds(Kinds::Given(vec![])), y).contains("kinds of 0 columns"));
}

/// The table of `golden/make_information.py`.
fn golden_table(n: usize, seed: u64) -> (AnySamples, Vec<f64>, Vec<usize>) {
    let mut numbers = Numbers::new(seed);
    let (mut rows, mut y, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let mut draw = || numbers.uniform();
        let z = draw() + draw() + draw() - 1.5;
        let row = [
            z + 0.5 * draw(),
            draw(),
            z * z + 0.1 * draw(),
            z * draw(),
            (2.0 * z + 2.0 * draw()).floor().clamp(-2.0, 3.0),
        ];
        rows.extend(row);
        y.push(z + 0.2 * draw());
        classes.push(if z < -0.4 { 0 } else { usize::from(z >= 0.3) + 1 });
    }
    (Matrix::from_vec(rows, n, 5).unwrap().into(), y, classes)
}

/// Iris as the same file has it, with ties broken.
fn golden_iris(seed: u64) -> (Matrix<f64>, Vec<usize>) {
    let iris = data::iris().unwrap();
    let samples: AnySamples = iris.samples.into();
    let mut x: Matrix<f64> = samples.points().to_dense();
    let mut numbers = Numbers::new(seed);
    x.as_mut_slice().iter_mut().for_each(|value| *value += 0.01 * numbers.uniform());
    let mut names = iris.target.clone();
    names.sort_unstable();
    names.dedup();
    let class = |name: &String| names.binary_search(name).unwrap();
    (x, iris.target.iter().map(class).collect())
}

// Counts are the same on both sides, so that values differ by the rounding of sums: some hundred terms of size 6, below 1e-12.
// scikit-learn adds noise of 1e-10 standard deviations, which decides nothing here.
#[test]
fn agrees_with_scikit_learn() {
    let file: Value = serde_json::from_str(include_str!("../golden/information.json")).unwrap();
    let (x, numbers, classes) = golden_table(400, 1);
    let (iris, species) = golden_iris(2);
    let lengths: AnySamples = Matrix::from_fn(150, 3, |i, j| iris[(i, j)]).into();
    let widths = Labels::Numbers(iris.column(3));
    let (iris, species) = (AnySamples::from(iris), Labels::Classes(species));
    let (numbers, classes) = (Labels::Numbers(numbers), Labels::Classes(classes));
    let mut n_seen = 0;
    for case in file["cases"].as_array().unwrap() {
        let (x, labels) = match (case["data"].as_str().unwrap(), case["labels"].as_str().unwrap()) {
            ("table", "classes") => (&x, &classes),
            ("table", _) => (&x, &numbers),
            (_, "classes") => (&iris, &species),
            _ => (&lengths, &widths),
        };
        let k = case["neighbors"].as_u64().unwrap() as usize;
        let found = MutualInformation::new().neighbors(k).of(x, labels).unwrap();
        for (j, value) in case["values"].as_array().unwrap().iter().enumerate() {
            let (value, found) = (value.as_f64().unwrap(), found[j].value);
            assert!((value - found).abs() < 1e-11, "{case}: column {j}: {found}");
            n_seen += 1;
        }
    }
    assert_eq!(n_seen, 34);
}

/// To so many decimals.
fn rounded(x: &[f64], decimals: i32) -> Vec<f64> {
    let unit = 10f64.powi(decimals);
    x.iter().map(|x| (x * unit).round() / unit).collect()
}

// Independent columns have none, rounded or not. The standard error reported is that of an estimate, near 0.02 here.
#[test]
fn rounding_makes_no_information() {
    let (x, y) = (gaussian(1000, 31), gaussian(1000, 32));
    let classes: Vec<usize> = gaussian(1000, 33).iter().map(|z| usize::from(*z > 0.0)).collect();
    for decimals in [0, 1, 2, 12] {
        let (x, y) = (rounded(&x, decimals), rounded(&y, decimals));
        for labels in [Labels::Numbers(y), Labels::Classes(classes.clone())] {
            let found = scores(&continuous(), from_ref(&x), &labels)[0];
            assert!(found.value < 0.06, "{decimals}: {found:?}");
        }
    }
}

// Half of what is lost by rounding ρ = 0.6 to 0.1 is far below the error of 1000 rows.
#[test]
fn rounding_takes_little_information_away() {
    let (x, noise) = (gaussian(1000, 34), gaussian(1000, 35));
    let y: Vec<f64> = x.iter().zip(&noise).map(|(x, e)| 0.6 * x + 0.8 * e).collect();
    let plain = scores(&continuous(), from_ref(&x), &Labels::Numbers(y.clone()))[0];
    for decimals in [1, 2, 3] {
        let labels = Labels::Numbers(rounded(&y, decimals));
        let found = scores(&continuous(), &[rounded(&x, decimals)], &labels)[0];
        assert!((found.value - plain.value).abs() < 3.0 * plain.error.unwrap(), "{found:?} {plain:?}");
    }
}

// Irises are measured to a tenth. scikit-learn 1.9.1 breaks ties by noise: mean and standard deviation over 200 seeds of
// mutual_info_classif(X, y) and of mutual_info_regression(X[:, :3], X[:, 3]).
#[test]
fn ties_count_as_they_do_on_average() {
    let iris = data::iris().unwrap();
    let samples: AnySamples = iris.samples.into();
    let x: Matrix<f64> = samples.points().to_dense();
    let found = continuous().of(&samples, &Labels::of_words(&iris.target)).unwrap();
    let known = [(0.4929, 0.0190), (0.2538, 0.0316), (0.9890, 0.0061), (0.9872, 0.0077)];
    for (found, (mean, deviation)) in found.iter().zip(known) {
        assert!((found.value - mean).abs() < 2.0 * deviation, "{found:?} {mean}");
    }
    let columns: Vec<Vec<f64>> = (0..3).map(|j| x.column(j)).collect();
    let found = scores(&continuous(), &columns, &Labels::Numbers(x.column(3)));
    for (found, (mean, deviation)) in found.iter().zip([(0.6076, 0.0207), (0.4102, 0.0254), (1.1952, 0.0245)])
    {
        assert!((found.value - mean).abs() < 2.0 * deviation, "{found:?} {mean}");
    }
}

// Miller and Madow's correction adds to a column that copies the label; no estimate passes the entropy, (S6).
#[test]
fn the_correction_stays_below_the_entropy() {
    let classes: Vec<usize> = (0..60).map(|i| i % 5).collect();
    let copy: Vec<f64> = classes.iter().map(|class| *class as f64).collect();
    let settings = MutualInformation::new().corrected(true);
    let found = scores(&settings, from_ref(&copy), &Labels::Classes(classes))[0];
    assert!((found.value - 5f64.ln()).abs() < 1e-14, "{found:?}");
}
