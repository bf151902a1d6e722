//! Forward, backward and floating steps.

use super::report::{Step, Subset};
use eigenlift::error::Result;
use eigenlift::progress::Watch;
use eigenlift::stats::mean_and_error;

/// Scores that differ by less than this share of themselves are the same.
const ROUNDING: f64 = 1e-12;

/// Judges sets of features on rows held out, starting from no features.
pub trait Judge {
    /// Features there are.
    fn n_features(&self) -> usize;

    /// The score of the present features on each fold.
    ///
    /// # Errors
    /// The judge's own.
    fn present(&mut self) -> Result<Vec<f64>>;

    /// The scores on each fold with each of these features added.
    ///
    /// # Errors
    /// The judge's own.
    fn with(&mut self, features: &[usize]) -> Result<Vec<Vec<f64>>>;

    /// The scores on each fold with each of these present features taken out.
    ///
    /// # Errors
    /// The judge's own.
    fn without(&mut self, features: &[usize]) -> Result<Vec<Vec<f64>>>;

    /// Adds a feature.
    ///
    /// # Errors
    /// The judge's own.
    fn add(&mut self, feature: usize) -> Result<()>;

    /// Takes a present feature out.
    ///
    /// # Errors
    /// The judge's own.
    fn remove(&mut self, feature: usize) -> Result<()>;
}

/// Which way a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From none, one more at each step.
    Forward,
    /// From all, one less at each step.
    Backward,
    /// Forward; after each step features are taken out for as long as that gives a better set of that size.
    Floating,
}

/// A step was taken: the steps so far.
pub type KeepSteps<'a> = dyn FnMut(&[Step]) -> Result<()> + Send + 'a;

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The steps in their order.
    pub steps: Vec<Step>,
    /// The best set found of each size, by size.
    pub subsets: Vec<Subset>,
    /// The score without any feature, where the judge has one.
    pub guess: Option<f64>,
    /// Why it ended before the number of features asked for.
    pub stopped: Option<String>,
}

/// A search for the best features, one step at a time, (S23), (S24).
#[derive(Clone, Debug)]
pub struct Search {
    direction: Direction,
    to: usize,
    tol: Option<f64>,
    patience: Option<usize>,
    idle: Vec<usize>,
    watch: Watch,
}

impl Search {
    /// Steps until `to` features are present.
    pub fn new(direction: Direction, to: usize) -> Self {
        Self { direction, to, tol: None, patience: None, idle: Vec::new(), watch: Watch::default() }
    }

    /// A step that changes the score by less than this is not taken and ends the search. The first step is always taken.
    pub fn tol(mut self, tol: Option<f64>) -> Self {
        self.tol = tol;
        self
    }

    /// Ends after so many steps in a row without a new best score; backward, after so many in a row that score more than one
    /// standard error below the best.
    pub fn patience(mut self, patience: Option<usize>) -> Self {
        self.patience = patience;
        self
    }

    /// Features that tell nothing, such as constant columns: added when no others are left, taken out before all others.
    pub fn idle(mut self, features: Vec<usize>) -> Self {
        self.idle = features;
        self
    }

    /// Reports to and obeys `watch`.
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Takes the steps, after those that an earlier search took; `keep` is told of each.
    ///
    /// Cost: forward to k of d features, d + (d − 1) + … + (d − k + 1) sets are judged; backward those from d down.
    ///
    /// # Errors
    /// Those of the judge and of `keep`; [`Error::Cancelled`](eigenlift::error::Error::Cancelled) when the watch says so.
    pub fn run(&self, judge: &mut dyn Judge, earlier: Vec<Step>, keep: &mut KeepSteps<'_>) -> Result<Found> {
        let mut walk = Walk::start(self, judge)?;
        earlier.into_iter().try_for_each(|step| walk.take(step))?;
        loop {
            while let Some(step) = walk.helpful_removal()? {
                walk.take(step)?;
                keep(&walk.found.steps)?;
            }
            let Some(wanted) = walk.next_wanted() else { break };
            self.watch.step("features", walk.progress(), walk.total())?;
            let step = match wanted {
                Move::Add => walk.best_addition()?,
                Move::Remove => walk.best_removal()?,
            };
            let Some(step) = step.filter(|step| !walk.too_little(step)) else { break };
            walk.take(step)?;
            keep(&walk.found.steps)?;
        }
        Ok(walk.found)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Move {
    Add,
    Remove,
}

/// A search under way.
struct Walk<'a> {
    search: &'a Search,
    judge: &'a mut dyn Judge,
    present: Vec<usize>,
    found: Found,
    /// Steps in a row that did not help.
    idle: usize,
    start: usize,
}

impl<'a> Walk<'a> {
    fn start(search: &'a Search, judge: &'a mut dyn Judge) -> Result<Self> {
        let none = judge.present()?;
        let guess = (!none.is_empty()).then(|| mean_and_error(&none).0);
        let found = Found { guess, ..Found::default() };
        let mut walk = Self { search, judge, present: Vec::new(), found, idle: 0, start: 0 };
        if search.direction == Direction::Backward {
            for feature in 0..walk.judge.n_features() {
                walk.judge.add(feature)?;
                walk.present.push(feature);
            }
            walk.start = walk.present.len();
            let scores = walk.judge.present()?;
            walk.remember(&scores);
        }
        Ok(walk)
    }

    fn total(&self) -> usize {
        self.start.abs_diff(self.search.to)
    }

    fn progress(&self) -> usize {
        self.start.abs_diff(self.present.len()).min(self.total())
    }

    /// Which way the next step goes, if there is one.
    fn next_wanted(&mut self) -> Option<Move> {
        let wanted = match self.search.direction {
            Direction::Backward => (self.present.len() > self.search.to.max(1)).then_some(Move::Remove)?,
            _ => (self.present.len() < self.search.to.min(self.judge.n_features())).then_some(Move::Add)?,
        };
        if let Some(patience) = self.search.patience.filter(|patience| self.idle >= *patience) {
            self.found.stopped = Some(match wanted {
                Move::Add => format!("{patience} steps in a row without a better score"),
                Move::Remove => {
                    format!("{patience} steps in a row more than one standard error below the best score")
                }
            });
            return None;
        }
        Some(wanted)
    }

    fn best_addition(&mut self) -> Result<Option<Step>> {
        let left = || (0..self.judge.n_features()).filter(|j| !self.present.contains(j));
        let mut candidates: Vec<usize> = left().filter(|j| !self.search.idle.contains(j)).collect();
        if candidates.is_empty() {
            candidates = left().collect();
        }
        let scores = self.judge.with(&candidates)?;
        Ok(self.best_of(&candidates, &scores, true))
    }

    fn best_removal(&mut self) -> Result<Option<Step>> {
        let idle = |j: &usize| self.search.idle.contains(j);
        let mut candidates: Vec<usize> = self.present.iter().copied().filter(idle).collect();
        if candidates.is_empty() {
            candidates = self.present.clone();
        }
        let scores = self.judge.without(&candidates)?;
        Ok(self.best_of(&candidates, &scores, false))
    }

    /// In a floating search, a feature whose removal gives a better set than any of that size before.
    fn helpful_removal(&mut self) -> Result<Option<Step>> {
        if self.search.direction != Direction::Floating || self.present.len() < 3 {
            return Ok(None);
        }
        self.search.watch.check()?;
        let step = self.best_removal()?;
        let size = self.present.len() - 1;
        let before = self.found.subsets.iter().find(|subset| subset.features.len() == size);
        let before = before.map_or(f64::NEG_INFINITY, |subset| subset.score);
        Ok(step.filter(|step| step.score.is_some_and(|score| score > before)))
    }

    /// The best candidate; of equals the first.
    fn best_of(&self, candidates: &[usize], scores: &[Vec<f64>], added: bool) -> Option<Step> {
        let mut best: Option<Step> = None;
        for (feature, fold_scores) in candidates.iter().zip(scores) {
            let (score, spread) = mean_and_spread(fold_scores);
            if best.as_ref().is_none_or(|best| best.score.is_none_or(|b| score > b || b.is_nan())) {
                best = Some(Step {
                    feature: *feature,
                    added,
                    n_features: if added { self.present.len() + 1 } else { self.present.len() - 1 },
                    value: None,
                    score: Some(score),
                    spread,
                    fold_scores: fold_scores.clone(),
                });
            }
        }
        best
    }

    /// Whether the step changes too little to be taken.
    fn too_little(&mut self, step: &Step) -> bool {
        let (Some(tol), Some(last)) = (self.search.tol, self.found.steps.last()) else { return false };
        let gain = step.score.unwrap_or(f64::NAN) - last.score.unwrap_or(f64::NAN);
        let little = gain < tol;
        if little {
            self.found.stopped =
                Some(format!("the next step would change the score by {gain:.3e}, less than {tol:e}"));
        }
        little
    }

    fn take(&mut self, step: Step) -> Result<()> {
        self.apply(&step)?;
        let best = self.found.subsets.iter().map(|subset| (subset.score, subset.spread)).fold(None, better);
        self.count_idle(step.score.unwrap_or(f64::NAN), best);
        self.remember(&step.fold_scores);
        self.found.steps.push(step);
        Ok(())
    }

    fn apply(&mut self, step: &Step) -> Result<()> {
        if step.added {
            self.judge.add(step.feature)?;
            self.present.push(step.feature);
        } else {
            self.judge.remove(step.feature)?;
            self.present.retain(|j| *j != step.feature);
        }
        Ok(())
    }

    fn count_idle(&mut self, score: f64, best: Option<(f64, Option<f64>)>) {
        let helps = match (best, self.search.direction) {
            (None, _) => true,
            (Some((best, spread)), Direction::Backward) => score >= best - spread.unwrap_or(0.0),
            (Some((best, _)), _) => score > best,
        };
        self.idle = if helps { 0 } else { self.idle + 1 };
    }

    /// Keeps the present set if it is the best of its size.
    fn remember(&mut self, fold_scores: &[f64]) {
        let (score, spread) = mean_and_spread(fold_scores);
        let features = self.present.clone();
        self.keep_better(Subset { features, score, spread, fold_scores: fold_scores.to_vec() });
    }

    fn keep_better(&mut self, subset: Subset) {
        let subsets = &mut self.found.subsets;
        match subsets.binary_search_by_key(&subset.features.len(), |other| other.features.len()) {
            Ok(at) if subset.score > subsets[at].score => subsets[at] = subset,
            Ok(_) => {}
            Err(at) => subsets.insert(at, subset),
        }
    }
}

fn better(best: Option<(f64, Option<f64>)>, next: (f64, Option<f64>)) -> Option<(f64, Option<f64>)> {
    match best {
        Some(best) if next.0.is_nan() || best.0 >= next.0 => Some(best),
        _ => Some(next),
    }
}

/// Mean over folds and its standard error; none with a single fold.
pub(super) fn mean_and_spread(fold_scores: &[f64]) -> (f64, Option<f64>) {
    let (mean, error) = mean_and_error(fold_scores);
    // Numerics: the mean of equal scores need not be that score.
    let error = if fold_scores.windows(2).all(|pair| pair[0] == pair[1]) { 0.0 } else { error };
    (mean, (fold_scores.len() > 1).then_some(error))
}

/// Which of the sets has the best score, of equals the smallest, and which is the smallest within one standard error of it, (S22).
pub fn one_standard_error(subsets: &[Subset]) -> Option<(usize, usize)> {
    let scored = || subsets.iter().enumerate().filter(|(_, subset)| subset.score.is_finite());
    let (best, top) = scored().reduce(|a, b| if b.1.score > a.1.score { b } else { a })?;
    // Numerics: shares of rows are often exactly one standard error apart.
    let least = top.score - top.spread.unwrap_or(0.0) - ROUNDING * top.score.abs();
    let chosen = scored().find(|(_, subset)| subset.score >= least).map_or(best, |(at, _)| at);
    Some((best, chosen))
}

#[cfg(test)]
mod tests;
