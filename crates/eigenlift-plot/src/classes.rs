//! Classes of points and how each is drawn.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::palette::{CLASSES, MORE_CLASSES, OTHER};
use crate::scene::{Marker, Rgba};

/// Classes beyond this many share the look "other".
const LIMIT: usize = 20;

/// The look of one class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Look {
    pub(crate) name: String,
    pub(crate) color: Rgba,
    pub(crate) marker: Marker,
}

/// The classes in the order of the legend, and the class of each point.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Classes {
    pub(crate) looks: Vec<Look>,
    pub(crate) of_point: Vec<usize>,
}

impl Classes {
    /// Groups equal labels; numbers are ordered by value, other labels by alphabet. Of more than 20 classes
    /// the most frequent 20 are kept and the rest becomes "other".
    pub(crate) fn new<S: AsRef<str>>(labels: &[S]) -> Self {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for label in labels {
            *counts.entry(label.as_ref()).or_default() += 1;
        }
        let mut names: Vec<(&str, usize)> = counts.into_iter().collect();
        names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| natural(a.0, b.0)));
        let n_left_out = names.len().saturating_sub(LIMIT);
        names.truncate(LIMIT);
        names.sort_by(|a, b| natural(a.0, b.0));

        let place: HashMap<&str, usize> = names.iter().enumerate().map(|(k, (name, _))| (*name, k)).collect();
        let of_point =
            labels.iter().map(|label| place.get(label.as_ref()).copied().unwrap_or(names.len())).collect();
        let mut looks: Vec<Look> = names.iter().enumerate().map(|(k, (name, _))| look(k, name)).collect();
        if n_left_out > 0 {
            let name = format!("other ({n_left_out})");
            looks.push(Look { name, color: OTHER, marker: Marker::Circle });
        }
        Classes { looks, of_point }
    }

    /// The classes in the order of their names, in colours that all differ up to 20; labels that are not among the
    /// names are "other".
    pub(crate) fn of_names(names: &[String], labels: &[String]) -> Self {
        let place: HashMap<&str, usize> =
            names.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
        let place_of = |label: &String| place.get(label.as_str()).copied().unwrap_or(names.len());
        let of_point: Vec<usize> = labels.iter().map(place_of).collect();
        let mut colors = CLASSES.iter().chain(&MORE_CLASSES);
        let next =
            |(k, name): (usize, &String)| Look { color: *colors.next().unwrap_or(&OTHER), ..look(k, name) };
        let mut looks: Vec<Look> = names.iter().enumerate().map(next).collect();
        if of_point.contains(&names.len()) {
            looks.push(Look { name: "other".to_owned(), color: OTHER, marker: Marker::Circle });
        }
        Classes { looks, of_point }
    }

    /// The same classes as squares of different colours, for pictures without markers.
    pub(crate) fn in_cells(mut self) -> Self {
        let colors = CLASSES.iter().chain(&MORE_CLASSES);
        for (look, color) in self.looks.iter_mut().take(LIMIT).zip(colors) {
            look.color = *color;
        }
        self.looks.iter_mut().for_each(|look| look.marker = Marker::Square);
        self
    }
}

/// Colours first, then shapes.
fn look(k: usize, name: &str) -> Look {
    let color = CLASSES.get(k % CLASSES.len()).copied().unwrap_or(OTHER);
    let marker = match k / CLASSES.len() {
        0 => Marker::Circle,
        1 => Marker::Square,
        _ => Marker::Triangle,
    };
    let name = if name.trim().is_empty() { "(empty)" } else { name };
    Look { name: name.to_owned(), color, marker }
}

/// Numbers by value and before words; words by alphabet, with runs of digits by value ("k 2" before "k 10").
fn natural(a: &str, b: &str) -> Ordering {
    let number = |s: &str| s.trim().parse::<f64>().ok().filter(|v| v.is_finite());
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => by_runs(a, b).then_with(|| a.cmp(b)),
    }
}

fn by_runs(mut a: &str, mut b: &str) -> Ordering {
    while !a.is_empty() && !b.is_empty() {
        let ((x, rest_a), (y, rest_b)) = (first_run(a), first_run(b));
        let is_number = |s: &str| s.starts_with(|c: char| c.is_ascii_digit());
        let order = if is_number(x) && is_number(y) {
            let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            x.cmp(y)
        };
        if order.is_ne() {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
    a.len().cmp(&b.len())
}

/// The leading characters that are all digits or all something else, and the rest.
fn first_run(text: &str) -> (&str, &str) {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_value() {
        let labels = ["10", "9", "b", "9", "a"].map(String::from);
        let classes = Classes::new(&labels);
        let names: Vec<&str> = classes.looks.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["9", "10", "a", "b"]);
        assert_eq!(classes.of_point, [1, 0, 3, 0, 2]);
        assert_eq!(natural("species 2", "species 10"), Ordering::Less);
        assert_eq!(natural("a2b9", "a2b10"), Ordering::Less);
        assert_eq!(natural("a", "a1"), Ordering::Less);
        assert_eq!(natural("x01", "x1"), Ordering::Less);
        assert_eq!(natural("x1", "x1"), Ordering::Equal);
    }

    #[test]
    fn looks_are_distinct_and_rare_classes_are_grouped() {
        let mut labels: Vec<String> = (0..30).map(|k| format!("{k}")).collect();
        labels.extend((10..30).map(|k| format!("{k}")));
        let classes = Classes::new(&labels);
        assert_eq!(classes.looks.len(), 21);
        assert_eq!(classes.looks[20].name, "other (10)");
        assert_eq!(classes.of_point[0], 20);
        assert_eq!(classes.of_point[10], 0);
        for (k, a) in classes.looks.iter().enumerate() {
            assert!(classes.looks[..k].iter().all(|b| (a.color, a.marker) != (b.color, b.marker)));
        }
    }
}
