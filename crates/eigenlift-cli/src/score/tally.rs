//! How many rows are novel, and which columns make them so.

use crate::exit::Failure;
use crate::outputs::title;
use crate::words::{Words, counted, short};
use eigenlift::monitoring::{Contributions, Judgement, Statistic};
use eigenlift_plot::Figure;
use serde_json::{Value, json};
use std::path::Path;

/// Defect from which contributions are not to be trusted, as a share of the statistic.
const LARGE_DEFECT: f64 = 0.01;
/// Columns named in words.
const NAMED: usize = 3;

/// Sums over rows.
pub(super) struct Tally {
    names: Vec<String>,
    statistic: Statistic,
    wanted: bool,
    /// Rows that are usual, far out, far off, and both.
    counts: [usize; 4],
    rows: usize,
    sums: Vec<f64>,
    summed: usize,
    defect: f64,
}

impl Tally {
    pub(super) fn new(names: Vec<String>, statistic: Statistic, wanted: bool) -> Self {
        let sums = vec![0.0; names.len()];
        Self { names, statistic, wanted, counts: [0; 4], rows: 0, sums, summed: 0, defect: 0.0 }
    }

    pub(super) fn wants_contributions(&self) -> bool {
        self.wanted
    }

    pub(super) fn count(&mut self, verdicts: Option<&[Judgement]>) {
        for verdict in verdicts.unwrap_or_default() {
            self.rows += 1;
            self.counts[match verdict {
                Judgement::Usual => 0,
                Judgement::FarOut => 1,
                Judgement::FarOff => 2,
                Judgement::Both => 3,
            }] += 1;
        }
    }

    /// Adds the rows at these places.
    pub(super) fn add(&mut self, found: &Contributions, places: &[usize]) {
        self.defect = self.defect.max(found.defect);
        self.summed += places.len();
        for i in places {
            self.sums.iter_mut().zip(found.values.row(*i)).for_each(|(sum, value)| *sum += value);
        }
    }

    /// Mean contribution of each column.
    fn means(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.summed.max(1) as f64).collect()
    }

    pub(super) fn novel(&self, limited: bool) -> Value {
        let [none, t2, spe, both] = self.counts;
        if limited { json!({"none": none, "t2": t2, "spe": spe, "both": both}) } else { Value::Null }
    }

    pub(super) fn contributions_json(&self) -> Option<Value> {
        let means: serde_json::Map<String, Value> =
            self.names.iter().cloned().zip(self.means().into_iter().map(Value::from)).collect();
        self.wanted.then(|| {
            json!({"statistic": self.statistic, "rows": self.summed, "mean": means, "defect": self.defect})
        })
    }

    pub(super) fn warning(&self) -> Option<String> {
        (self.wanted && self.defect > LARGE_DEFECT).then(|| {
            format!(
                "contributions miss the statistic by up to {:.1} % of it: the gradient changes too fast along the way, take them as rough",
                100.0 * self.defect
            )
        })
    }

    pub(super) fn say(&self, limited: bool, words: Words) {
        let [none, t2, spe, both] = self.counts;
        if limited {
            let novel = self.rows - none;
            words.say(format_args!(
                "novel: {novel} of {} (t2 {t2}, spe {spe}, both {both})",
                counted(self.rows, "row")
            ));
        }
        if self.wanted && self.summed > 0 {
            let means = self.means();
            let mut order: Vec<usize> = (0..means.len()).collect();
            order.sort_by(|a, b| means[*b].total_cmp(&means[*a]));
            let named = order.iter().take(NAMED).map(|j| format!("{} {}", self.names[*j], short(means[*j])));
            let which = if limited { "novel" } else { "all" };
            words.say(format_args!(
                "largest mean contributions to {} of {which} rows: {}",
                self.statistic,
                named.collect::<Vec<_>>().join(", ")
            ));
        }
    }

    /// Mean contributions as bars.
    pub(super) fn draw(&self, limited: bool, path: &Path) -> Result<Figure, Failure> {
        let name = title("Contributions", path);
        let which = if limited { "novel row" } else { "row" };
        let label = match self.summed {
            1 => format!("contribution to {} of 1 {which}", self.statistic),
            n => format!("mean contribution to {} of {}", self.statistic, counted(n, which)),
        };
        Ok(eigenlift_plot::contributions(&self.names, &self.means(), &name, &label)?)
    }
}
