//! What the target of a table is to those who learn it: classes or numbers.

use crate::args::LabelChoice;
use crate::exit::Failure;
use crate::figures::continuous;
use crate::words::counted;
use eigenlift::data::Labels;
use eigenlift_io::Target;
use std::collections::{BTreeMap, BTreeSet};

/// Text is classes; numbers are what is asked for, or what they look like.
pub(crate) fn of(target: &Target, how: LabelChoice) -> Result<Labels, Failure> {
    let numbers = || target.values.iter().map(|text| text.parse().unwrap_or(f64::NAN)).collect();
    match how {
        LabelChoice::Auto => Ok(continuous(target).map_or_else(|| classes(target), Labels::Numbers)),
        LabelChoice::Classes => Ok(classes(target)),
        LabelChoice::Numbers if target.numeric => Ok(Labels::Numbers(numbers())),
        LabelChoice::Numbers => Err(Failure::usage(
            format!("--labels numbers of the target {}, which has text in it", target.name),
            "numbers are required",
            "Use --labels classes, or name another --target",
        )),
    }
}

/// Classes by number, in the order of their names.
fn classes(target: &Target) -> Labels {
    if target.numeric {
        // 1 and 1.0 are one class.
        let values = target.values.iter().map(|text| text.parse::<f64>().map_or(0, |x| (x + 0.0).to_bits()));
        return Labels::Classes(numbered(values.collect()));
    }
    Labels::Classes(numbered(target.values.iter().map(String::as_str).collect()))
}

/// Each value by its place among the different ones.
pub(crate) fn numbered<T: Ord + Copy>(values: Vec<T>) -> Vec<usize> {
    let different: BTreeSet<T> = values.iter().copied().collect();
    let number: BTreeMap<T, usize> =
        different.into_iter().enumerate().map(|(at, value)| (value, at)).collect();
    values.iter().map(|value| number.get(value).copied().unwrap_or(0)).collect()
}

/// How many classes there are; none for numbers.
pub(crate) fn n_classes(labels: &Labels) -> Option<usize> {
    match labels {
        Labels::Classes(classes) => Some(classes.iter().max().map_or(0, |last| last + 1)),
        Labels::Numbers(_) => None,
    }
}

/// `3 classes` or `numbers`.
pub(crate) fn told(labels: &Labels) -> String {
    n_classes(labels).map_or("numbers".into(), |n| counted(n, "class").replace("classs", "classes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(values: &[&str], numeric: bool) -> Target {
        Target { name: "y".into(), values: values.iter().map(|x| (*x).into()).collect(), numeric }
    }

    #[test]
    fn labels_are_what_is_asked_for_or_what_they_look_like() {
        let whole = target(&["2", "1.0", "1", "-0"], true);
        assert_eq!(of(&whole, LabelChoice::Auto).unwrap(), Labels::Classes(vec![2, 1, 1, 0]));
        assert_eq!(of(&whole, LabelChoice::Numbers).unwrap(), Labels::Numbers(vec![2.0, 1.0, 1.0, 0.0]));
        let parts = target(&["0.5", "1"], true);
        assert_eq!(of(&parts, LabelChoice::Auto).unwrap(), Labels::Numbers(vec![0.5, 1.0]));
        assert_eq!(told(&of(&parts, LabelChoice::Classes).unwrap()), "2 classes");
        let text = target(&["b", "a", "b"], false);
        assert_eq!(of(&text, LabelChoice::Auto).unwrap(), Labels::Classes(vec![1, 0, 1]));
        assert!(of(&text, LabelChoice::Numbers).is_err());
    }
}
