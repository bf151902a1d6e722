//! What a selection found, in words.

use super::trail::{Trail, measure_label};
use super::{Table, nested, ranking};
use crate::args::AskedSelection;
use crate::report::{named_columns, quoted};
use crate::table::list;
use crate::values::FeatureChoice;
use crate::words::{counted, short};
use eigenlift_select::{Kind, Scorer, SelectionReport, Subset};

/// What was found, and in which table.
pub(super) struct Found<'a> {
    pub(super) table: &'a Table,
    pub(super) report: SelectionReport,
    /// Names of all columns.
    pub(super) names: Vec<String>,
    pub(super) trail: Trail,
    pub(super) sentence: String,
    texts: Vec<String>,
}

impl<'a> Found<'a> {
    pub(super) fn new(asked: &AskedSelection<'_>, table: &'a Table, report: SelectionReport) -> Self {
        let names = named_columns(&table.input.account.column_names, report.n_features);
        let trail = Trail::of(&report, &names);
        let sentence = sentence(asked.common.features, &report, &trail);
        let mut found = Self { table, report, names, trail, sentence, texts: Vec::new() };
        found.texts = found.told(asked.common.features);
        found
    }

    /// Columns kept, the first chosen first.
    pub(super) fn selected(&self) -> &[usize] {
        &self.report.selected
    }

    pub(super) fn names_of(&self, features: &[usize]) -> Vec<&str> {
        features.iter().map(|j| self.names[*j].as_str()).collect()
    }

    pub(super) fn warnings(&self) -> &[String] {
        &self.report.warnings
    }

    /// What is said, a text for each part.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The columns kept, as --columns takes them, in the order of the table; none where a name cannot be written so.
    pub(super) fn columns(&self) -> Option<String> {
        let mut places = self.report.selected.clone();
        places.sort_unstable();
        let names = self.names_of(&places);
        if names.iter().any(|name| name.contains('"')) {
            return None;
        }
        let item = |name: &&str| if name.contains(',') { format!("\"{name}\"") } else { (*name).to_owned() };
        Some(names.iter().map(item).collect::<Vec<_>>().join(","))
    }

    fn told(&self, asked: FeatureChoice) -> Vec<String> {
        let report = &self.report;
        let mut texts = Vec::new();
        texts.extend(self.kinds());
        texts.extend(self.judge());
        texts.push(if report.method.is_filter() {
            ranking::of_filter(self)
        } else {
            ranking::of_search(self)
        });
        texts.extend(report.stopped.as_ref().map(|why| format!("the search ended early: {why}")));
        texts.push(self.sentence.clone());
        texts.extend(self.no_better_than_a_guess());
        texts.extend(report.nested.as_ref().map(|found| nested::told(found, self)));
        let chosen_by_rows = !report.method.is_filter() || !matches!(asked, FeatureChoice::Exactly(_));
        if report.nested.is_none() && self.trail.judged && chosen_by_rows {
            texts.push(
                "the rows held out had a say in the choice, so its score is on the bright side; --nested gives an honest one"
                    .into(),
            );
        }
        texts.extend(self.columns().map(|list| quoted(["--columns".to_owned(), list])));
        texts
    }

    fn no_better_than_a_guess(&self) -> Option<String> {
        let (guess, chosen) = (self.report.guess?, self.report.subsets.get(self.report.chosen?)?);
        (chosen.score <= guess).then(|| {
            format!("that is no better than a guess without features, which scores {}", short(guess))
        })
    }

    /// How columns were looked at.
    fn kinds(&self) -> Option<String> {
        let kinds = &self.report.kinds;
        let names = |kind: Kind| {
            let places: Vec<usize> = (0..kinds.len()).filter(|j| kinds[*j] == kind).collect();
            places.iter().map(|j| self.names[*j].clone()).collect::<Vec<String>>()
        };
        let part = |kind: Kind, word: &str| {
            let names = names(kind);
            (!names.is_empty()).then(|| format!("{} {word} ({})", names.len(), list(&names)))
        };
        let parts: Vec<String> = [part(Kind::Discrete, "discrete"), part(Kind::Continuous, "continuous")]
            .into_iter()
            .flatten()
            .collect();
        (!kinds.is_empty()).then(|| format!("columns: {}", parts.join("; ")))
    }

    /// What judged, and on which rows.
    fn judge(&self) -> Option<String> {
        let report = &self.report;
        let (scorer, measure) = (report.scorer.filter(|_| self.trail.judged)?, report.measure?);
        let how = match scorer {
            Scorer::Knn { n_neighbors } => format!("knn of {}", counted(n_neighbors, "neighbour")),
            Scorer::Lda => "linear discriminants".into(),
            Scorer::Ridge { alpha } => format!("ridge regression, alpha {alpha}"),
            Scorer::Logistic { c } => format!("logistic regression, inverse penalty {c}"),
        };
        let rows = match report.n_folds {
            1 => "a share of the rows held out".into(),
            n => format!("{n} parts of the rows, held out in turn"),
        };
        let guess = report
            .guess
            .map_or(String::new(), |guess| format!("; a guess without features scores {}", short(guess)));
        Some(format!("judged by {how}: {} on {rows}{guess}", measure_label(measure)))
    }
}

/// `0.9733 ± 0.012`.
pub(super) fn with_spread(score: f64, spread: Option<f64>) -> String {
    spread.map_or_else(|| short(score), |spread| format!("{} {}", short(score), error(spread)))
}

/// `± 0.012`, two digits.
pub(super) fn error(spread: f64) -> String {
    if spread == 0.0 {
        return "± 0".into();
    }
    let places = 1 - spread.abs().log10().floor() as i32;
    match usize::try_from(places) {
        Ok(places) if places <= 5 => format!("± {spread:.places$}"),
        _ => format!("± {spread:.1e}"),
    }
}

/// How many were kept, and why.
fn sentence(asked: FeatureChoice, report: &SelectionReport, trail: &Trail) -> String {
    let kept = format!("{} of {}", report.selected.len(), counted(report.n_features, "feature"));
    let set = |at: Option<usize>| at.and_then(|at| report.subsets.get(at));
    let told = |subset: &Subset| format!("{} {}", trail.label, with_spread(subset.score, subset.spread));
    let (Some(best), Some(chosen)) = (set(report.best), set(report.chosen)) else {
        return match asked {
            FeatureChoice::Exactly(_) => format!("{kept}, as asked for; no rows were held out"),
            _ => format!("{kept}; no score could be found on rows held out"),
        };
    };
    let best_told =
        format!("{}, {}", counted(best.features.len(), "feature"), with_spread(best.score, best.spread));
    match asked {
        FeatureChoice::Exactly(k) if chosen.features.len() == k.min(report.n_features) => {
            let best = match report.best == report.chosen {
                true => "the best score".into(),
                false => format!("the best score was that of {best_told}"),
            };
            format!("{kept}, as asked for: {}; {best}", told(chosen))
        }
        FeatureChoice::Exactly(_) => format!(
            "{kept}: {}, the best score of a search that ended before the number asked for",
            told(chosen)
        ),
        _ if report.best == report.chosen && (report.selected.len() == 1 || asked == FeatureChoice::Best) => {
            format!("{kept}: {}, the best score", told(chosen))
        }
        _ if report.best == report.chosen => {
            format!("{kept}: {}, the best score, and no fewer within one standard error of it", told(chosen))
        }
        _ => {
            format!("{kept}: {}, within one standard error of the best score ({best_told})", told(chosen))
        }
    }
}
