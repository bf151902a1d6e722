use super::*;
use crate::information::Variable;
use crate::kinds::codes;
use eigenlift::engine::{Cpu, Engine};
use eigenlift::matrix::Matrix;
use eigenlift::progress::CancelToken;
use eigenlift::random::{Purpose, Stream};

pub(super) fn table(columns: &[Vec<f64>]) -> Columns {
    let rows = Matrix::from_fn(columns[0].len(), columns.len(), |i, j| columns[j][i]);
    Columns::of((&rows).into(), &[]).unwrap()
}

pub(super) fn classes(of_rows: impl Iterator<Item = usize>) -> Goal {
    Goal::of(&eigenlift::data::Labels::Classes(of_rows.collect()))
}

pub(super) fn settings() -> FilterSettings {
    let estimator = Estimator { n_neighbors: 3, corrected: false };
    FilterSettings { estimator, kernel: KernelSpec::default(), permutations: 0, seed: 1 }
}

/// Ranks columns that are all of one kind.
fn rank(filter: Filter, x: &Columns, goal: &Goal, kind: Kind, most: usize) -> Result<Ranking> {
    filter.rank((x, &vec![kind; x.n_cols()], goal), most, &settings(), &Watch::default())
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-10 * expected.abs(), "{found:e} {expected:e}");
}

/// The columns of `f_classif`, `f_regression` and `chi2` below.
fn measured() -> (Columns, Vec<usize>, Vec<f64>) {
    let column = |f: &dyn Fn(usize) -> f64| (0..40).map(f).collect::<Vec<f64>>();
    let class = |i: usize| i % 4 % 3;
    let x = table(&[
        column(&|i| (i * 7 % 17) as f64 / 4.0),
        column(&|i| ((i * 5 + i * i) % 23) as f64 / 3.0 - 2.0),
        column(&|i| (i % 4) as f64 * 1.5 + (i * 11 % 13) as f64 / 8.0),
        column(&|_| 3.0),
        column(&|i| 100.0 + (i * 3 % 19) as f64 / 7.0 + class(i) as f64 * 0.7),
    ]);
    let numbers = column(&|i| (i * 13 % 29) as f64 / 5.0 + (i * 7 % 17) as f64 / 8.0);
    (x, (0..40).map(class).collect(), numbers)
}

/// Values of scikit-learn 1.9.1: `f_classif`, `f_regression`, `chi2`; a constant column has 0 and 1 here.
#[test]
fn f_and_chi_squared_are_those_of_scikit_learn() {
    let (x, class, numbers) = measured();
    let check = |filter: Filter, x: &Columns, goal: &Goal, expected: &[(f64, f64)]| {
        let ranking = rank(filter, x, goal, Kind::Continuous, 9).unwrap();
        for (score, (value, p_value)) in ranking.scores.iter().zip(expected) {
            close(score.value, *value);
            close(score.p_value.unwrap(), *p_value);
        }
        assert_eq!(ranking.scores.len(), expected.len());
        ranking.order
    };
    let goal = classes(class.iter().copied());
    let f_classif = [
        (0.14008719596144503, 0.8697412994061339),
        (0.014927826424792194, 0.9851889715120667),
        (1.6317027346259239, 0.20935703527197827),
        (0.0, 1.0),
        (11.539825686965461, 0.00012743095062378807),
    ];
    assert_eq!(check(Filter::FScore, &x, &goal, &f_classif), [4, 2, 0, 1, 3]);
    let f_regression = [
        (4.686147817454557, 0.03675427377168473),
        (2.9447053156527443, 0.0943029031809148),
        (0.10924123339538502, 0.742825122495078),
        (0.0, 1.0),
        (0.045202090889626664, 0.8327692751243191),
    ];
    assert_eq!(check(Filter::FScore, &x, &Goal::Numbers(numbers), &f_regression), [0, 1, 2, 4, 3]);
    let column = |f: &dyn Fn(usize) -> f64| (0..40).map(f).collect::<Vec<f64>>();
    let counts = table(&[
        column(&|i| (i * 7 % 9) as f64),
        column(&|i| (i % 4 * 2 + i % 3) as f64),
        column(&|_| 0.0),
        column(&|i| (i * i % 7) as f64 / 2.0),
    ]);
    let chi2 = [
        (0.5597484276729593, 0.7558788145723302),
        (5.603773584905662, 0.06069543483143473),
        (0.0, 1.0),
        (0.563291139240508, 0.7545410694233954),
    ];
    assert_eq!(check(Filter::ChiSquared, &counts, &goal, &chi2), [1, 3, 0, 2]);
}

#[test]
fn labels_that_explain_a_column_in_full_make_f_the_largest_number() {
    let (x, class, _) = measured();
    let explained: Vec<f64> = class.iter().map(|c| 0.1 + 0.3 * *c as f64).collect();
    let x = table(&[x.column(0).to_vec(), explained.clone(), vec![0.1; 40], explained.clone()]);
    let goal = classes(class.iter().copied());
    for goal in [goal, Goal::Numbers(explained.iter().map(|x| 7.0 - x / 3.0).collect())] {
        let ranking = rank(Filter::FScore, &x, &goal, Kind::Continuous, 3).unwrap();
        assert_eq!(ranking.order, [1, 3, 0]);
        assert_eq!((ranking.scores[1].value, ranking.scores[1].p_value), (f64::MAX, Some(0.0)));
        assert_eq!((ranking.scores[2].value, ranking.scores[2].p_value), (0.0, Some(1.0)));
        assert_eq!((ranking.values.len(), ranking.scores.len()), (3, 4));
    }
}

// An offset of 10⁸ rounds entries by 7·10⁻⁹, a share of 10⁻⁸ of their deviations; F follows with a small multiple of that.
#[test]
fn an_offset_costs_f_no_more_than_the_rounding_of_entries() {
    let (x, class, _) = measured();
    let far: Vec<f64> = x.column(4).iter().map(|x| x + 1e8).collect();
    let goal = classes(class.iter().copied());
    let f = rank(Filter::FScore, &table(&[far]), &goal, Kind::Continuous, 1).unwrap().values[0];
    assert!((f - 11.539825686965461).abs() < 1e-6, "{f}");
}

#[test]
fn what_f_and_chi_squared_cannot_take_is_refused() {
    let (x, class, numbers) = measured();
    let goal = classes(class.iter().copied());
    let said = |filter, x: &Columns, goal: &Goal| {
        rank(filter, x, goal, Kind::Continuous, 9).unwrap_err().to_string()
    };
    let negative = said(Filter::ChiSquared, &x, &goal);
    assert!(negative.starts_with("row 1, column 2 is -2; "), "{negative}");
    let numbers = said(Filter::ChiSquared, &x, &Goal::Numbers(numbers));
    assert!(numbers.starts_with("chi2 with numbers as labels; "), "{numbers}");
    let alone = said(Filter::FScore, &table(&[vec![1.0, 2.0]]), &classes(0..2));
    assert!(alone.starts_with("2 rows and 2 classes; "), "{alone}");
    let two = said(Filter::FScore, &table(&[vec![1.0, 2.0]]), &Goal::Numbers(vec![1.0, 2.0]));
    assert!(two.starts_with("2 rows and a number for each; "), "{two}");
}

/// Bits with some relations between them: x₁ fair, x₂ is 1 for three in ten, y = x₁ xor x₂; then a copy of x₁, a faint copy
/// of y, and noise.
fn planted() -> (Columns, Goal) {
    let n = 2000;
    let mut random = Stream::new(5, Purpose::Synthetic);
    let mut bits = |share: f64| (0..n).map(|_| usize::from(random.uniform() < share)).collect::<Vec<usize>>();
    let (x1, x2, flip) = (bits(0.5), bits(0.3), bits(0.42));
    let y: Vec<usize> = x1.iter().zip(&x2).map(|(a, b)| a ^ b).collect();
    let faint = y.iter().zip(&flip).map(|(y, flip)| y ^ flip).collect();
    let columns = [bits(0.5), x2, bits(0.4), x1.clone(), faint, x1, bits(0.6)];
    let numbers = |c: &Vec<usize>| c.iter().map(|b| *b as f64).collect::<Vec<f64>>();
    (table(&columns.iter().map(numbers).collect::<Vec<_>>()), classes(y.into_iter()))
}

// I(x₁; y) = 0.082 nats, that of the faint copy 0.013, of x₂ and of noise 0 with a plug-in bias of 1/(2n) = 0.00025;
// the pair {x₁, x₂} has ln 2 = 0.69.
#[test]
fn joint_information_finds_a_pair_that_one_by_one_is_worth_nothing() {
    let (x, goal) = planted();
    let first = |filter| rank(filter, &x, &goal, Kind::Discrete, 2).unwrap().order;
    assert_eq!(first(Filter::Information), [3, 5]);
    assert_eq!(first(Filter::MinimalRedundancy), [3, 4]);
    assert_eq!(first(Filter::JointInformation), [3, 1]);
}

/// Every step from scratch.
fn slow(x: &Columns, goal: &Goal, joint: bool) -> (Vec<usize>, Vec<f64>) {
    let estimator = settings().estimator;
    let coded: Vec<(Vec<u32>, usize)> = (0..x.n_cols()).map(|j| codes(x.column(j))).collect();
    let of = |j: usize| Variable::Discrete(&coded[j].0, coded[j].1);
    let Goal::Classes { of_rows, n_classes } = goal else { panic!("classes") };
    let y = [Variable::Discrete(of_rows, *n_classes)];
    let (mut order, mut values): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
    while order.len() < x.n_cols() {
        let merit = |j: usize| {
            let relevance = estimator.between(&[of(j)], &y).value;
            let pair = |s: &usize| estimator.between(&[of(j), of(*s)], &y).value;
            let shared = |s: &usize| estimator.between(&[of(j)], &[of(*s)]).value;
            match (order.is_empty(), joint) {
                (true, _) => relevance,
                (_, true) => order.iter().map(pair).sum::<f64>() / order.len() as f64,
                (_, false) => relevance - order.iter().map(shared).sum::<f64>() / order.len() as f64,
            }
        };
        let left: Vec<usize> = (0..x.n_cols()).filter(|j| !order.contains(j)).collect();
        let value = left.iter().map(|j| merit(*j)).fold(f64::NEG_INFINITY, f64::max);
        let best = left.into_iter().find(|j| merit(*j) == value).unwrap();
        order.push(best);
        values.push(value);
    }
    (order, values)
}

// Sums of at most seven terms of size below 1, added in the same order.
#[test]
fn sums_that_are_kept_are_those_from_scratch() {
    let (x, goal) = planted();
    for (filter, joint) in [(Filter::MinimalRedundancy, false), (Filter::JointInformation, true)] {
        let (order, values) = slow(&x, &goal, joint);
        let ranking = rank(filter, &x, &goal, Kind::Discrete, 99).unwrap();
        assert_eq!(ranking.order, order);
        assert!(values.iter().any(|v| v.abs() > 0.05));
        for (found, expected) in ranking.values.iter().zip(&values) {
            assert!((found - expected).abs() <= 32.0 * f64::EPSILON, "{found} {expected}");
        }
        let fewer = rank(filter, &x, &goal, Kind::Discrete, 3).unwrap();
        assert_eq!((fewer.order, fewer.scores), (order[..3].to_vec(), ranking.scores));
    }
}

#[test]
fn threads_change_no_bit() {
    let (x, goal) = planted();
    let mixed: Vec<Kind> =
        (0..7).map(|j| if j % 2 == 0 { Kind::Discrete } else { Kind::Continuous }).collect();
    let all = [
        Filter::Information,
        Filter::MinimalRedundancy,
        Filter::JointInformation,
        Filter::FScore,
        Filter::ChiSquared,
        Filter::Hsic,
    ];
    let with = |threads: usize| {
        let mut found = Vec::new();
        let settings = FilterSettings { permutations: 9, ..settings() };
        let one =
            |filter: &Filter| filter.rank((&x, &mixed, &goal), 4, &settings, &Watch::default()).unwrap();
        Cpu::new(threads).unwrap().run(&mut || found = all.iter().map(one).collect::<Vec<Ranking>>());
        found
    };
    let found = with(1);
    assert_eq!(found, with(3));
    let p_values = |r: &Ranking| r.scores.iter().all(|s| s.p_value.is_some());
    assert!(found.iter().all(|r| r.order.len() == 4 && p_values(r)));
}

#[test]
fn equal_scores_go_by_column_number() {
    let score = |value| FeatureScore { value, ..FeatureScore::default() };
    let ranking = Ranking::by_score([0.5, -0.0, 2.0, 0.0, 0.5].map(score).to_vec(), 9);
    assert_eq!(ranking.order, [2, 0, 4, 1, 3]);
}

#[test]
fn a_switch_stops_every_filter() {
    let (x, goal) = planted();
    let cancel = CancelToken::default();
    cancel.cancel();
    let watch = Watch::default().cancelled_by(cancel);
    for filter in [
        Filter::MinimalRedundancy,
        Filter::JointInformation,
        Filter::FScore,
        Filter::ChiSquared,
        Filter::Hsic,
    ] {
        let stopped = filter.rank((&x, &[Kind::Discrete; 7], &goal), 4, &settings(), &watch);
        assert!(matches!(stopped, Err(eigenlift::error::Error::Cancelled)));
    }
}
