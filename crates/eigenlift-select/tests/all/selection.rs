//! Selections of features against all sets, against features that were planted, and against each other.

use eigenlift::data::Labels;
use eigenlift::data::{self, AnySamples};
use eigenlift::matrix::Matrix;
use eigenlift_select::{Count, Fold, Measure, Scorer, Selection, SelectionMethod, SelectionProgress, Split};

/// A stream of numbers that repeats.
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Of variance 1, nearly normal.
    fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

const D: usize = 8;

/// Columns 1, 4 and 6 decide the class; the others are noise.
fn planted(n: usize, seed: u64) -> (Matrix<f64>, Vec<usize>) {
    let mut draws = Draws(seed);
    let x = Matrix::from_fn(n, D, |_, _| draws.bell());
    let class = |i: usize| {
        let row = x.row(i);
        usize::from(row[1] + row[4] > 0.0) + usize::from(row[6] > 0.5)
    };
    let y = (0..n).map(class).collect();
    (x, y)
}

fn folds(n: usize) -> Vec<Fold> {
    let side = |fold: usize, held: bool| (0..n).filter(|i| ((i * 7 + i / 5) % 3 == fold) == held).collect();
    (0..3).map(|fold| Fold { train: side(fold, false), test: side(fold, true) }).collect()
}

/// The share of right classes by 3 nearest neighbours in some columns, in full and slowly.
fn neighbors(x: &Matrix<f64>, y: &[usize], columns: &[usize], fold: &Fold) -> f64 {
    let right = fold.test.iter().filter(|i| {
        let square = |j: &usize| columns.iter().map(|c| (x[(**i, *c)] - x[(*j, *c)]).powi(2)).sum::<f64>();
        let mut near: Vec<(f64, usize)> = fold.train.iter().map(|j| (square(j), *j)).collect();
        near.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let votes = |class: usize| near[..3].iter().filter(|(_, j)| y[*j] == class).count();
        let guess = (0..3).rev().max_by_key(|class| votes(*class)).unwrap();
        guess == y[**i]
    });
    right.count() as f64 / fold.test.len() as f64
}

/// Mean scores of all sets of columns, by their bits.
fn all_sets(x: &Matrix<f64>, y: &[usize]) -> Vec<f64> {
    let folds = folds(x.n_rows());
    let mean = |set: usize| {
        let columns: Vec<usize> = (0..D).filter(|j| set & (1 << j) != 0).collect();
        folds.iter().map(|fold| neighbors(x, y, &columns, fold)).sum::<f64>() / folds.len() as f64
    };
    (0..1 << D).map(|set| if set == 0 { 0.0 } else { mean(set) }).collect()
}

fn bits(features: &[usize]) -> usize {
    features.iter().map(|j| 1 << j).sum()
}

#[test]
fn searches_see_what_brute_force_sees_on_eight_features() {
    let (x, y) = planted(120, 11);
    let table = all_sets(&x, &y);
    let samples: AnySamples = x.clone().into();
    let labels = Labels::Classes(y);
    let select = |method| {
        Selection::new(method)
            .scorer(Scorer::Knn { n_neighbors: 3 })
            .split(Split::Given(folds(120)))
            .patience(D)
            .select(&samples, &labels)
            .unwrap()
    };
    for method in [SelectionMethod::Forward, SelectionMethod::Backward, SelectionMethod::Floating] {
        let found = select(method);
        let mut set = if method == SelectionMethod::Backward { (1 << D) - 1 } else { 0usize };
        for step in &found.steps {
            let after = |j: &usize| if step.added { set | (1 << j) } else { set & !(1 << j) };
            let candidates = (0..D).filter(|j| (set & (1 << j) == 0) == step.added);
            let best = candidates.map(|j| table[after(&j)]).fold(0.0, f64::max);
            assert_eq!(table[after(&step.feature)], best, "{method}: {step:?}");
            // Sums over folds in another order.
            assert!((step.score.unwrap() - best).abs() < 1e-14);
            set = after(&step.feature);
        }
        for subset in &found.subsets {
            assert!((subset.score - table[bits(&subset.features)]).abs() < 1e-14);
        }
    }
    // Floating steps find the best of all 255 sets of these columns.
    let best = (1..1 << D).max_by(|a, b| table[*a].total_cmp(&table[*b])).unwrap();
    let floating = select(SelectionMethod::Floating);
    let top = &floating.subsets[floating.best.unwrap()];
    assert_eq!(table[bits(&top.features)], table[best]);
    assert!([1, 4, 6].iter().all(|j| top.features.contains(j)));
}

#[test]
fn planted_features_are_found_by_every_method() {
    let (x, y) = planted(600, 5);
    let samples: AnySamples = x.into();
    let labels = Labels::Classes(y);
    for method in ["mi", "mrmr", "jmi", "f", "hsic", "forward", "backward", "floating"] {
        let method: SelectionMethod = method.parse().unwrap();
        let found = Selection::new(method).features(Count::Exactly(3)).select(&samples, &labels).unwrap();
        let mut selected = found.selected.clone();
        selected.sort_unstable();
        assert_eq!(selected, [1, 4, 6], "{method}");
        assert_eq!(found.scores.len(), if method.is_filter() { D } else { 0 });
    }
    for scorer in [
        Scorer::Knn { n_neighbors: 5 },
        Scorer::Lda,
        Scorer::Ridge { alpha: 1.0 },
        Scorer::Logistic { c: 1.0 },
    ] {
        for method in [SelectionMethod::Forward, SelectionMethod::Mi] {
            let found = Selection::new(method).scorer(scorer).select(&samples, &labels).unwrap();
            let mut selected = found.selected.clone();
            selected.sort_unstable();
            assert_eq!(selected, [1, 4, 6], "{method} {scorer:?} {:?}", found.subsets);
            assert!(found.subsets[found.chosen.unwrap()].score > found.guess.unwrap() + 0.2);
        }
    }
}

#[test]
fn numbers_are_predicted_too() {
    let mut draws = Draws(9);
    let x = Matrix::from_fn(400, 6, |_, _| draws.bell());
    let y: Vec<f64> = (0..400).map(|i| 2.0 * x[(i, 2)] - x[(i, 5)] + 0.3 * draws.bell()).collect();
    let (samples, labels) = (AnySamples::from(x), Labels::Numbers(y));
    for scorer in [Scorer::Knn { n_neighbors: 5 }, Scorer::Ridge { alpha: 1.0 }] {
        for method in ["mi", "mrmr", "f", "hsic", "forward", "backward"] {
            let selection =
                Selection::new(method.parse().unwrap()).scorer(scorer).features(Count::Exactly(2));
            let found = selection.select(&samples, &labels).unwrap();
            let mut selected = found.selected.clone();
            selected.sort_unstable();
            assert_eq!(selected, [2, 5], "{method} {scorer:?} {:?}", found.subsets);
            assert_eq!(found.measure, Some(Measure::R2));
        }
    }
    let refused = Selection::new(SelectionMethod::Forward).scorer(Scorer::Lda).select(&samples, &labels);
    assert!(refused.unwrap_err().to_string().starts_with("the scorer lda for labels that are numbers"));
}

#[test]
fn noise_selected_on_all_rows_looks_good_and_nested_validation_says_what_it_is() {
    // 40 rows, 200 columns of noise: the best columns predict the folds that they were chosen by.
    let mut draws = Draws(21);
    let x = Matrix::from_fn(40, 200, |_, _| draws.bell());
    let labels = Labels::Classes((0..40).map(|i| i % 2).collect());
    let found = Selection::new(SelectionMethod::Forward)
        .scorer(Scorer::Lda)
        .features(Count::Exactly(5))
        .nested(5)
        .select(&x.clone().into(), &labels)
        .unwrap();
    let seen = found.subsets[found.chosen.unwrap()].score;
    let nested = found.nested.unwrap();
    assert!(seen > 0.85, "{seen}");
    // A coin gives 0.5; the standard error of 40 throws is 0.08, and folds are not independent.
    assert!(nested.score < 0.5 + 3.0 * 0.08, "{}", nested.score);
    assert_eq!(nested.selected.len(), 5);
    assert!((nested.frequency.iter().sum::<f64>() - 5.0).abs() < 1e-12);
    // A filter is ranked anew in each fold, so that its score is honest at a number of features that is given.
    let filter = Selection::new(SelectionMethod::F)
        .scorer(Scorer::Lda)
        .features(Count::Exactly(5))
        .select(&x.into(), &labels)
        .unwrap();
    let score = filter.subsets[filter.chosen.unwrap()].score;
    assert!(score < 0.5 + 3.0 * 0.08, "{score}");
}

#[test]
fn an_interrupted_search_goes_on_to_the_same_end() {
    let iris = data::iris().unwrap();
    let samples: AnySamples = iris.samples.into();
    let labels = Labels::of_words(&iris.target);
    let selection = Selection::new(SelectionMethod::Floating).standardize(true);
    let mut kept: Vec<SelectionProgress> = Vec::new();
    let whole = selection
        .select_resumable(&samples, &labels, None, &mut |progress| {
            kept.push(progress.clone());
            Ok(())
        })
        .unwrap();
    assert_eq!(kept.len(), whole.steps.len());
    for progress in kept {
        let text = serde_json::to_string(&progress).unwrap();
        let earlier: SelectionProgress = serde_json::from_str(&text).unwrap();
        let again =
            selection.select_resumable(&samples, &labels, Some(earlier.clone()), &mut |_| Ok(())).unwrap();
        assert_eq!(again, whole);
        let other = selection.clone().seed(1);
        let refused = other.select_resumable(&samples, &labels, Some(earlier), &mut |_| Ok(()));
        assert!(refused.unwrap_err().to_string().starts_with("a search that was begun on other data"));
    }
}

#[test]
fn bad_input_is_refused_in_words() {
    let iris = data::iris().unwrap();
    let labels = Labels::of_words(&iris.target);
    let mut holes = AnySamples::from(iris.samples.clone()).points().to_dense::<f64>();
    for (i, j) in [(3, 1), (5, 1), (9, 3)] {
        holes.view_mut().row_mut(i)[j] = f64::NAN;
    }
    let select = |x: &AnySamples, selection: Selection| selection.select(x, &labels).unwrap_err().to_string();
    let mi = || Selection::new(SelectionMethod::Mi);
    let names = ["a", "b", "c", "d"].map(String::from).to_vec();
    let found = select(&holes.into(), mi().column_names(names));
    assert!(found.starts_with("3 entries are missing or infinite: b (2), d (1);"), "{found}");
    let samples: AnySamples = iris.samples.into();
    assert!(select(&samples, mi().features(Count::Exactly(0))).starts_with("0 features"));
    assert!(select(&samples, mi().neighbors(0)).starts_with("0 neighbours"));
    assert!(
        select(&samples, mi().measure(Measure::R2)).starts_with("the measure r2 for labels that are classes")
    );
    assert!(select(&samples, mi().split(Split::Folds(1))).starts_with("1 folds"));
    assert!(
        select(&samples, mi().split(Split::Given(folds(150))).nested(3))
            .starts_with("nested validation with folds")
    );
    let all = mi().features(Count::Exactly(9)).select(&samples, &labels).unwrap();
    assert_eq!(all.selected.len(), 4);
    assert_eq!(all.warnings, ["9 features were asked for; there are 4, and all of them are kept."]);
}

#[test]
fn threads_do_not_change_a_bit() {
    let (x, y) = planted(200, 3);
    let (samples, labels) = (AnySamples::from(x), Labels::Classes(y));
    for method in ["mi", "mrmr", "jmi", "hsic", "forward", "backward"] {
        for scorer in [Scorer::Knn { n_neighbors: 5 }, Scorer::Lda, Scorer::Logistic { c: 1.0 }] {
            let select = |threads: usize| {
                let engine = std::sync::Arc::new(eigenlift::engine::Cpu::new(threads).unwrap());
                let selection = Selection::new(method.parse().unwrap()).scorer(scorer).permutations(5);
                selection.engine(engine).select(&samples, &labels).unwrap()
            };
            assert_eq!(select(1), select(3), "{method} {scorer:?}");
        }
    }
}

#[test]
fn the_order_of_the_table_does_not_decide_between_equal_rows() {
    // One column of two values that tells three classes out of four, sorted by class: many rows are equally near.
    let mut draws = Draws(41);
    let classes: Vec<usize> = (0..400).map(|i| i / 200).collect();
    let x = Matrix::from_fn(400, 3, |i, j| match j {
        0 => ((draws.uniform() < 0.75) == (classes[i] == 1)) as u8 as f64,
        _ => (draws.uniform() < 0.5) as u8 as f64,
    });
    let found =
        Selection::new(SelectionMethod::Forward).select(&x.into(), &Labels::Classes(classes)).unwrap();
    assert_eq!(found.selected[0], 0);
    // The share that the column tells, 0.75 by its making, less what 5 of many equal rows guess wrong.
    assert!(found.steps[0].score.unwrap() > 0.6, "{:?}", found.steps[0]);
}

#[test]
fn a_single_row_held_out_has_no_r2() {
    let mut draws = Draws(43);
    let x = Matrix::from_fn(20, 2, |_, _| draws.bell());
    let labels = Labels::Numbers((0..20).map(f64::from).collect());
    let one_by_one = Selection::new(SelectionMethod::Forward).split(Split::Folds(20));
    let refused = one_by_one.clone().select(&x.clone().into(), &labels).unwrap_err().to_string();
    assert!(refused.starts_with("R² of a single row held out"), "{refused}");
    let errors = one_by_one.measure(Measure::NegMeanSquaredError).select(&x.into(), &labels).unwrap();
    assert_eq!(errors.n_folds, 20);
}

#[test]
fn groups_too_few_for_nesting_are_refused_before_the_work() {
    let (x, y) = planted(60, 3);
    let groups: Vec<usize> = (0..60).map(|i| i % 2).collect();
    let selection =
        Selection::new(SelectionMethod::Forward).split(Split::Grouped { groups, n_folds: 2 }).nested(2);
    let mut steps = 0;
    let refused = selection.select_resumable(&x.into(), &Labels::Classes(y), None, &mut |_| {
        steps += 1;
        Ok(())
    });
    assert!(refused.unwrap_err().to_string().starts_with("1 group(s) to be held out in folds"));
    assert_eq!(steps, 0);
}
