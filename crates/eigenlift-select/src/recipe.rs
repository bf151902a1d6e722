//! The recipe of a selection: an order of features or a search, a score on rows held out for each number of them, a choice.

use super::columns::{Columns, Goal};
use super::filter::FilterSettings;
use super::information::FeatureScore;
use super::kinds::{Kind, Kinds};
use super::report::{SelectionReport, Step, Subset};
use super::resume::Resume;
use super::scorers::{Learner, Measure, Scorer, Task};
use super::search::{Found, Judge, Search, mean_and_spread, one_standard_error};
use super::settings::{Count, SelectionMethod};
use super::splits::{Fold, Split};
use eigenlift::data::AnySamples;
use eigenlift::data::Labels;
use eigenlift::error::{Error, Result};
use eigenlift::progress::Watch;
use eigenlift::stats::mean_and_error;

/// Ratio of the spreads of two columns from which a scorer by distances or penalties sees only the larger.
const UNEQUAL: f64 = 100.0;

/// Rows as a selection sees them.
pub(super) struct Data {
    pub(super) columns: Columns,
    pub(super) goal: Goal,
    /// Empty where the method does not ask.
    pub(super) kinds: Vec<Kind>,
}

impl Data {
    pub(super) fn of(
        x: &AnySamples,
        labels: &Labels,
        (kinds, wanted): (&Kinds, bool),
        names: &[String],
    ) -> Result<Self> {
        let columns = Columns::of(x.points(), names)?;
        let kinds = if wanted { kinds.of(&columns)? } else { Vec::new() };
        Ok(Self { columns, goal: Goal::of(labels), kinds })
    }

    /// Some of the rows; columns stay of the kind they are.
    pub(super) fn of_rows(&self, rows: &[usize]) -> Self {
        Self { columns: self.columns.of_rows(rows), goal: self.goal.of_rows(rows), kinds: self.kinds.clone() }
    }

    fn n_rows(&self) -> usize {
        self.columns.n_rows()
    }
}

/// What is done with rows, and with parts of them.
pub(super) struct Recipe {
    pub(super) method: SelectionMethod,
    pub(super) count: Count,
    /// Features at the end of the path.
    pub(super) to: usize,
    pub(super) scorer: Option<Scorer>,
    pub(super) measure: Measure,
    /// Whether each number of features is judged on rows held out.
    pub(super) with_curve: bool,
    pub(super) standardize: bool,
    pub(super) filter: FilterSettings,
    pub(super) tol: Option<f64>,
    pub(super) patience: Option<usize>,
    pub(super) seed: u64,
    pub(super) watch: Watch,
    pub(super) warnings: Vec<String>,
}

/// What was found on some rows.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) selected: Vec<usize>,
    found: Found,
    scores: Vec<FeatureScore>,
    choice: Option<(usize, usize)>,
    n_folds: usize,
    warnings: Vec<String>,
}

impl Recipe {
    pub(super) fn report(
        &self,
        data: &Data,
        split: &Split,
        nested: Option<usize>,
        resume: &mut Resume<'_>,
    ) -> Result<SelectionReport> {
        // What cannot be nested is refused before the work, not after.
        let around = nested.map(|n_folds| split.around(n_folds)).transpose()?;
        if let Some(around) = &around {
            self.check_nested(data, (split, around))?;
        }
        let outcome = self.outcome(data, split, self.filter.permutations, resume)?;
        let mut warnings = self.warnings.clone();
        warnings.extend(outcome.warnings);
        warnings.extend(self.note_scales(data));
        let nested = match around {
            Some(around) => Some(self.nested(data, (split, &around), &mut warnings)?),
            None => None,
        };
        if self.with_curve
            && !matches!(self.count, Count::Exactly(_))
            && self.method != SelectionMethod::Backward
            && self.to < data.columns.n_cols()
            && outcome.choice.is_some_and(|(_, chosen)| chosen + 1 == self.to)
        {
            warnings.push(format!(
                "The most features that were tried were chosen, {}: more may be better.",
                self.to
            ));
        }
        let Found { steps, subsets, guess, stopped } = outcome.found;
        Ok(SelectionReport {
            method: self.method,
            n_rows: data.n_rows(),
            n_features: data.columns.n_cols(),
            selected: outcome.selected,
            scores: outcome.scores,
            kinds: data.kinds.clone(),
            steps,
            subsets,
            best: outcome.choice.map(|(best, _)| best),
            chosen: outcome.choice.map(|(_, chosen)| chosen),
            scorer: self.scorer,
            measure: self.scorer.map(|_| self.measure),
            n_folds: outcome.n_folds,
            guess,
            nested,
            stopped,
            warnings,
        })
    }

    /// Selects among the features of these rows.
    pub(super) fn outcome(
        &self,
        data: &Data,
        split: &Split,
        permutations: usize,
        resume: &mut Resume<'_>,
    ) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let folds = match self.with_curve {
            true => split.folds(&data.goal, self.seed, &mut outcome.warnings)?,
            false => Vec::new(),
        };
        self.check_folds(&folds)?;
        outcome.n_folds = folds.len();
        match self.method.filter() {
            Some(_) => self.filtered(data, &folds, permutations, &mut outcome)?,
            None => self.searched(data, &folds, resume, &mut outcome)?,
        }
        self.choose(&mut outcome);
        Ok(outcome)
    }

    /// R² compares rows with each other.
    pub(super) fn check_folds(&self, folds: &[Fold]) -> Result<()> {
        if self.measure != Measure::R2 || folds.iter().all(|fold| fold.test.len() > 1) {
            return Ok(());
        }
        Err(Error::setting(
            "R² of a single row held out",
            "it compares errors with the spread of the rows held out, which takes at least 2",
            "Use fewer folds, or the measure neg_mean_squared_error",
        ))
    }

    /// The order that a filter gives; where it is judged, each fold has an order of its own, from its training rows.
    fn filtered(
        &self,
        data: &Data,
        folds: &[Fold],
        permutations: usize,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let Some(filter) = self.method.filter() else { return Ok(()) };
        let settings = FilterSettings { permutations, ..self.filter.clone() };
        let given = (&data.columns, data.kinds.as_slice(), &data.goal);
        let ranking = filter.rank(given, self.to, &settings, &self.watch)?;
        let mut curves = Vec::with_capacity(folds.len());
        let mut guesses = Vec::with_capacity(folds.len());
        for (at, fold) in folds.iter().enumerate() {
            self.watch.step("folds", at, folds.len())?;
            let part = data.of_rows(&fold.train);
            let plain = FilterSettings { permutations: 0, ..self.filter.clone() };
            let given = (&part.columns, part.kinds.as_slice(), &part.goal);
            let order = filter.rank(given, self.to, &plain, &self.watch.silent())?.order;
            let mut learner = self.learner(data, fold)?;
            guesses.push(learner.score());
            curves.push(self.curve(&mut *learner, &order)?);
        }
        if !guesses.is_empty() {
            outcome.found.guess = Some(mean_and_error(&guesses).0);
        }
        for (at, feature) in ranking.order.iter().enumerate() {
            let fold_scores: Vec<f64> = curves.iter().filter_map(|curve| curve.get(at).copied()).collect();
            let judged = (!fold_scores.is_empty()).then(|| mean_and_spread(&fold_scores));
            if let Some((score, spread)) = judged {
                let features = ranking.order[..=at].to_vec();
                let fold_scores = fold_scores.clone();
                outcome.found.subsets.push(Subset { features, score, spread, fold_scores });
            }
            outcome.found.steps.push(Step {
                feature: *feature,
                added: true,
                n_features: at + 1,
                value: ranking.values.get(at).copied(),
                score: judged.map(|(score, _)| score),
                spread: judged.and_then(|(_, spread)| spread),
                fold_scores,
            });
        }
        outcome.scores = ranking.scores;
        outcome.selected = ranking.order;
        Ok(())
    }

    /// The score after each of these features.
    fn curve(&self, learner: &mut dyn Learner, order: &[usize]) -> Result<Vec<f64>> {
        let mut curve = Vec::with_capacity(order.len());
        for feature in order {
            self.watch.check()?;
            learner.add(*feature)?;
            curve.push(learner.score());
        }
        Ok(curve)
    }

    fn searched(
        &self,
        data: &Data,
        folds: &[Fold],
        resume: &mut Resume<'_>,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let learners: Result<Vec<_>> = folds.iter().map(|fold| self.learner(data, fold)).collect();
        let mut judge =
            Learners { of_folds: learners?, n_features: data.columns.n_cols(), watch: self.watch.silent() };
        let search = Search::new(self.method.direction(), self.to)
            .tol(self.tol)
            .patience(self.patience)
            .idle((0..data.columns.n_cols()).filter(|j| data.columns.is_constant(*j)).collect())
            .watch(self.watch.clone());
        let earlier = resume.take_earlier();
        outcome.found = search.run(&mut judge, earlier, &mut |steps| resume.tell(steps))?;
        Ok(())
    }

    pub(super) fn learner<'a>(&self, data: &'a Data, fold: &'a Fold) -> Result<Box<dyn Learner + 'a>> {
        let scorer = self.scorer.unwrap_or(Scorer::Knn { n_neighbors: 5 });
        scorer.begin(Task::new((&data.columns, &data.goal), fold, self.measure, self.standardize))
    }

    /// How many features are kept, and which. A search that ended early keeps what it ended with.
    fn choose(&self, outcome: &mut Outcome) {
        let subsets = &outcome.found.subsets;
        let choice = one_standard_error(subsets).map(|(best, chosen)| match self.count {
            Count::Auto => (best, chosen),
            Count::Best => (best, best),
            Count::Exactly(_) => {
                let sized = subsets.iter().position(|subset| subset.features.len() == self.to);
                let last = if self.method == SelectionMethod::Backward { 0 } else { subsets.len() - 1 };
                (best, sized.unwrap_or(last))
            }
        });
        if let Some((_, chosen)) = choice {
            outcome.selected = subsets[chosen].features.clone();
        }
        outcome.choice = choice;
    }

    fn note_scales(&self, data: &Data) -> Option<String> {
        let sensitive =
            matches!(self.scorer?, Scorer::Knn { .. } | Scorer::Ridge { .. } | Scorer::Logistic { .. });
        if !sensitive || self.standardize {
            return None;
        }
        let spread = |j: usize| {
            let column = data.columns.column(j);
            let n = column.len().max(1) as f64;
            let mean = column.iter().sum::<f64>() / n;
            (column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt()
        };
        let spreads: Vec<f64> = (0..data.columns.n_cols()).map(spread).filter(|s| *s > 0.0).collect();
        let (least, most) = spreads.iter().fold((f64::INFINITY, 0.0f64), |(a, b), s| (a.min(*s), b.max(*s)));
        (most > UNEQUAL * least).then(|| {
            format!(
                "The standard deviations of the columns differ by a factor of {:.0}, and the scorer sees mostly the widest; \
                 standardize them unless they have the same unit.",
                (most / least).min(1e9)
            )
        })
    }
}

/// The learners of all folds as one judge.
struct Learners<'a> {
    of_folds: Vec<Box<dyn Learner + 'a>>,
    n_features: usize,
    watch: Watch,
}

/// From folds of features to features of folds.
fn turned(of_folds: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    (0..n).map(|at| of_folds.iter().map(|scores| scores[at]).collect()).collect()
}

impl Judge for Learners<'_> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn present(&mut self) -> Result<Vec<f64>> {
        Ok(self.of_folds.iter().map(|learner| learner.score()).collect())
    }

    fn with(&mut self, features: &[usize]) -> Result<Vec<Vec<f64>>> {
        let scores: Result<Vec<Vec<f64>>> =
            self.of_folds.iter().map(|learner| learner.scores_with(features, &self.watch)).collect();
        Ok(turned(&scores?, features.len()))
    }

    fn without(&mut self, features: &[usize]) -> Result<Vec<Vec<f64>>> {
        let scores: Result<Vec<Vec<f64>>> =
            self.of_folds.iter().map(|learner| learner.scores_without(features, &self.watch)).collect();
        Ok(turned(&scores?, features.len()))
    }

    fn add(&mut self, feature: usize) -> Result<()> {
        self.of_folds.iter_mut().try_for_each(|learner| learner.add(feature))
    }

    fn remove(&mut self, feature: usize) -> Result<()> {
        self.of_folds.iter_mut().try_for_each(|learner| learner.remove(feature))
    }
}
