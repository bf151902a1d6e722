use super::*;
use crate::data::digits;
use crate::linalg::symmetric_eigenvalues;
use crate::moments::Partial;
use serde_json::Value;

fn golden() -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/minka.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    file["cases"].as_array().unwrap().clone()
}

/// Rows, columns and the eigenvalues divided by n.
fn spectrum(case: &Value) -> (usize, usize, Vec<f64>) {
    let (n, d) = (case["n"].as_u64().unwrap() as usize, case["d"].as_u64().unwrap() as usize);
    let values = case["values"].as_array().unwrap();
    (n, d, values.iter().map(|v| v.as_f64().unwrap() * (n - 1) as f64 / n as f64).collect())
}

/// `golden/make_minka.py` made the file.
#[test]
fn evidences_and_choices_are_those_of_scikit_learn() {
    let cases = golden();
    assert_eq!(cases.len(), 7);
    for case in &cases {
        let (n, d, values) = spectrum(case);
        let total = values.iter().sum();
        let (m, evidences) =
            minka(&Spectrum { values: &values, n_samples: n, n_features: d, total }).unwrap();
        let name = &case["name"];
        assert_eq!(m as u64, case["chosen"].as_u64().unwrap(), "{name}");
        let expected = case["evidences"].as_array().unwrap();
        assert_eq!(evidences.len(), expected.len());
        for (at, (got, expected)) in evidences.iter().zip(expected).enumerate() {
            match expected.as_f64() {
                Some(e) => assert!((got - e).abs() <= 1e-9 * e.abs(), "{name} {}: {got} {e}", at + 1),
                None => assert_eq!(*got, f64::NEG_INFINITY, "{name} {}", at + 1),
            }
        }
    }
}

/// The evidence moves by −n·d·ln(c) when rows are multiplied by c, for every m alike.
#[test]
fn scale_does_not_change_the_choice() {
    for case in &golden() {
        let (n, d, values) = spectrum(case);
        let chosen = case["chosen"].as_u64().unwrap() as usize;
        for factor in [1e-30, 1e-12, 1e12, 1e30] {
            let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
            let total = scaled.iter().sum();
            let got = minka(&Spectrum { values: &scaled, n_samples: n, n_features: d, total });
            assert_eq!(got.unwrap().0, chosen, "{} times {factor}", case["name"]);
        }
    }
}

/// Eigenvalues of the scatter, where the empty directions of the digits are rounding of another size than in an SVD.
#[test]
fn empty_directions_are_seen_through_rounding() {
    let rows = digits().unwrap().samples.points().to_dense::<f64>();
    let mut values = symmetric_eigenvalues(Partial::of_matrix(rows, 0.0).scatter()).unwrap();
    values.iter_mut().for_each(|v| *v /= 1797.0);
    let total = values.iter().sum();
    let (m, evidences) =
        minka(&Spectrum { values: &values, n_samples: 1797, n_features: 64, total }).unwrap();
    assert_eq!((m, evidences.len(), evidences[61]), (61, 63, f64::NEG_INFINITY));
}

fn of(values: &[f64], n_samples: usize, n_features: usize) -> Spectrum<'_> {
    Spectrum { values, n_samples, n_features, total: values.iter().sum() }
}

#[test]
fn equal_eigenvalues_give_finite_evidences() {
    for values in [[0.25; 4], [0.4, 0.2, 0.2, 0.2], [0.3, 0.3, 0.2, 0.2]] {
        let (_, evidences) = minka(&of(&values, 50, 4)).unwrap();
        assert!(evidences.iter().all(|e| e.is_finite()), "{evidences:?}");
    }
}

#[test]
fn what_has_no_evidence_is_left() {
    let values = [0.5, 0.3, 0.2, 0.1];
    assert!(minka(&of(&values, 5, 4)).is_some());
    assert_eq!(minka(&of(&values[..3], 50, 4)), None);
    assert_eq!(minka(&of(&values[..3], 4, 4)), None);
    assert_eq!(minka(&of(&values[..1], 50, 1)), None);
    assert_eq!(minka(&of(&[0.0; 4], 50, 4)), None);
    assert_eq!(minka(&of(&[1.0, 0.0, 0.0, 0.0], 50, 4)), None);
    assert_eq!(minka(&of(&[], 0, 0)), None);
}

#[test]
fn log_gamma_of_halves_is_that_of_factorials() {
    let table = log_gamma_of_halves(41);
    let factorial: f64 = (1..20).map(|k| f64::from(k).ln()).sum();
    assert!((table[40] - factorial).abs() < 1e-13 * factorial);
    // Γ(5/2) = ¾·√π.
    assert!((table[5] - (0.75 * std::f64::consts::PI.sqrt()).ln()).abs() < 1e-15);
}
