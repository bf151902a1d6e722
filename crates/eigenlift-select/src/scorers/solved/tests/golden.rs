//! Agreement with scikit-learn 1.9; `golden/make_scorers.py` made the file.

use crate::columns::{Columns, Goal};
use crate::scorers::{Measure, Scorer, Task};
use crate::splits::Fold;
use eigenlift::data::{digits, iris};
use serde_json::Value;

fn golden() -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/scorers.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn goal_of(case: &Value, columns: &Columns, target: &[String]) -> Goal {
    if let Some(column) = case["goal"].as_u64() {
        return Goal::Numbers(columns.column(column as usize).to_vec());
    }
    let mut names = target.to_vec();
    names.sort();
    names.dedup();
    let mut of_rows: Vec<u32> = target.iter().map(|name| names.binary_search(name).unwrap() as u32).collect();
    if case["goal"] == "classes" {
        return Goal::Classes { of_rows, n_classes: names.len() };
    }
    of_rows.iter_mut().for_each(|class| *class = u32::from(2 * *class as usize >= names.len()));
    Goal::Classes { of_rows, n_classes: 2 }
}

fn score(case: &Value, scorer: Scorer) -> f64 {
    let data = if case["data"] == "iris" { iris() } else { digits() }.unwrap();
    let columns = Columns::of(data.samples.points().into(), &[]).unwrap();
    let goal = goal_of(case, &columns, &data.target);
    let (test, train) = (0..columns.n_rows()).partition(|i| i % 5 == 0);
    let fold = Fold { train, test };
    let task = Task::new((&columns, &goal), &fold, Measure::usual(&goal), false);
    let mut learner = scorer.begin(task).unwrap();
    for column in case["columns"].as_array().unwrap() {
        learner.add(column.as_u64().unwrap() as usize).unwrap();
    }
    learner.score()
}

/// Tolerance: classes are the same, so accuracies are; R² of columns with a condition below 10³ keeps 1e-10.
fn compare(name: &str, count: usize) {
    let cases: Vec<Value> = golden().into_iter().filter(|case| case["scorer"] == name).collect();
    assert_eq!(cases.len(), count);
    for case in &cases {
        let value = case["value"].as_f64().unwrap();
        let scorer = match name {
            "ridge" => Scorer::Ridge { alpha: value },
            "lda" => Scorer::Lda,
            _ => Scorer::Logistic { c: value },
        };
        let (got, expected) = (score(case, scorer), case["score"].as_f64().unwrap());
        assert!((got - expected).abs() < 1e-10, "{case}: {got}");
    }
}

#[test]
fn regression_is_that_of_scikit_learn() {
    compare("ridge", 60);
}

#[test]
fn discriminants_are_those_of_scikit_learn() {
    compare("lda", 22);
}

#[test]
fn logistic_regression_is_that_of_scikit_learn() {
    compare("logistic", 66);
}
