//! Points as the page's scripts read them: names as JSON, numbers as little-endian bytes in base 64.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::encode::script_json;
use super::{PointColor, Points, RowTable};
use crate::web::base64;

/// Codes of classes have 16 bits; labels beyond them share the last one.
const MOST_CLASSES: usize = 65_535;

/// The JSON of one points block.
pub(super) fn data(points: &Points) -> String {
    let k = points.axes.len();
    let columns: Vec<Value> = (0..k).map(|j| column(&points.scores, j, k)).collect();
    script_json(&json!({
        "name": points.name,
        "n": points.n_points(),
        "axes": points.axes,
        "columns": columns,
        "color": color(&points.color),
        "equal": points.equal_aspect,
        "rows": points.rows.as_ref().map(rows),
        "image": points.image,
        "row_numbers": row_numbers(&points.row_numbers),
    }))
}

fn column(scores: &[f64], j: usize, k: usize) -> Value {
    floats(&scores.iter().skip(j).step_by(k.max(1)).copied().collect::<Vec<f64>>(), Precision::Single)
}

fn color(color: &PointColor) -> Value {
    match color {
        PointColor::None => json!({"kind": "none"}),
        PointColor::Values { name, values } => {
            json!({"kind": "values", "name": name, "values": floats(values, Precision::Single)})
        }
        PointColor::Classes { name, labels } => {
            let (names, codes) = classes(labels);
            let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
            json!({"kind": "classes", "name": name, "names": names,
                   "codes": {"type": "u16", "bytes": base64(&bytes)}})
        }
    }
}

/// Distinct labels in the order of their first point, and the code of each point.
fn classes(labels: &[String]) -> (Vec<&str>, Vec<u16>) {
    let mut names: Vec<&str> = Vec::new();
    let mut places: HashMap<&str, u16> = HashMap::new();
    let mut codes = Vec::with_capacity(labels.len());
    for label in labels {
        let code = places.get(label.as_str()).copied().unwrap_or_else(|| {
            let code = names.len().min(MOST_CLASSES) as u16;
            if names.len() < MOST_CLASSES {
                names.push(label);
                places.insert(label, code);
            } else if names.len() == MOST_CLASSES {
                names.push("(other labels)");
            }
            code
        });
        codes.push(code);
    }
    (names, codes)
}

fn rows(table: &RowTable) -> Value {
    json!({"names": table.names, "values": floats(&table.values, Precision::AsNeeded)})
}

/// Nothing when rows are counted 1, 2, 3 and so on.
fn row_numbers(numbers: &[u64]) -> Value {
    if numbers.iter().zip(1_u64..).all(|(&number, place)| number == place) {
        return Value::Null;
    }
    let numbers: Vec<f64> = numbers.iter().map(|&number| number as f64).collect();
    floats(&numbers, Precision::AsNeeded)
}

/// How many bytes a number takes.
#[derive(Clone, Copy, PartialEq)]
enum Precision {
    Single,
    /// Single where that changes no value.
    AsNeeded,
}

fn floats(values: &[f64], precision: Precision) -> Value {
    let exact = |v: &f64| v.is_nan() || f64::from(*v as f32) == *v;
    if precision == Precision::Single || values.iter().all(exact) {
        let bytes: Vec<u8> = values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
        return json!({"type": "f32", "bytes": base64(&bytes)});
    }
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    json!({"type": "f64", "bytes": base64(&bytes)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_beyond_sixteen_bits_share_a_code() {
        let labels: Vec<String> = (0..65_540).map(|k| k.to_string()).collect();
        let (names, codes) = classes(&labels);
        assert_eq!((names.len(), names[65_535]), (65_536, "(other labels)"));
        assert_eq!((codes[65_534], codes[65_535], codes[65_539]), (65_534, 65_535, 65_535));
    }

    #[test]
    fn rows_keep_every_digit() {
        assert_eq!(floats(&[0.5, f64::NAN], Precision::AsNeeded)["type"], "f32");
        assert_eq!(floats(&[123_456_789.0], Precision::AsNeeded)["type"], "f64");
        assert_eq!(row_numbers(&[1, 2, 3]), Value::Null);
        assert_eq!(row_numbers(&[1, 2, 4])["type"], "f32");
    }
}
