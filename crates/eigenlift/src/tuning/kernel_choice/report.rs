//! From what was measured to what is told.

use super::candidates::{Candidate, Family};
use super::race::Race;
use super::result::{GridPoint, KernelChoice};
use super::words::{Told, counted, measured, sentence, short};

/// With fewer rows than this the choice is uncertain.
const FEW_ROWS: usize = 50;
/// With fewer columns than this hidden entries say little.
const FEW_COLUMNS: usize = 4;

/// Points that were measured, and the one chosen.
pub(super) struct Judged<'a> {
    pub(super) criterion: &'static str,
    pub(super) families: &'a [Family],
    /// What each point stands for, and its candidate.
    pub(super) points: Vec<(GridPoint, &'a Candidate)>,
    pub(super) chosen: usize,
    pub(super) near: Vec<usize>,
    pub(super) baseline: f64,
    pub(super) n_masks: usize,
    /// Rows looked at and rows there are.
    pub(super) rows: (usize, usize),
    /// The largest number of components tried, where it was to be chosen.
    pub(super) most: Option<usize>,
    /// What the chosen point reaches.
    pub(super) result: String,
    /// Whether it is better than the baseline.
    pub(super) stands_out: bool,
    pub(super) warnings: Vec<String>,
}

impl Judged<'_> {
    /// Puts points in order and everything into words.
    pub(super) fn finish(mut self) -> KernelChoice {
        self.sort();
        let (point, candidate) = &self.points[self.chosen];
        let family = &self.families[candidate.family];
        let near = self.near.iter().map(|at| &self.points[*at]);
        let counts = near.clone().map(|(point, _)| point.n_components);
        let k_range = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
        let own = near.filter(|(_, other)| other.family == candidate.family);
        let gamma_range = own.filter_map(|(point, _)| point.bandwidth).fold(None, |range, b| match range {
            None => Some((b, b)),
            Some((low, high)) => Some((b.min(low), b.max(high))),
        });
        let told = Told {
            point,
            bandwidth_name: family.bandwidth_name(),
            median: family.median.filter(|_| family.is_open()),
            result: self.result.clone(),
            gamma_range,
            k_range,
            n_near: self.near.len(),
            rows: self.rows,
        };
        let sentence = sentence(&told);
        let mut warnings = self.edges();
        warnings.append(&mut self.warnings);
        if self.rows.0 < FEW_ROWS {
            warnings.push(format!("{} rows are few: another sample may choose otherwise", self.rows.0));
        }
        KernelChoice {
            criterion: self.criterion,
            median: family.median,
            chosen: self.chosen,
            near: self.near,
            gamma_range,
            k_range,
            baseline: self.baseline,
            n_rows: self.rows.0,
            n_masks: self.n_masks,
            stands_out: self.stands_out,
            sentence,
            warnings,
            points: self.points.into_iter().map(|(point, _)| point).collect(),
        }
    }

    /// Family by family, bandwidth by bandwidth, then by the number of components.
    fn sort(&mut self) {
        let place = |at: &usize| {
            let (point, candidate) = &self.points[*at];
            (candidate.family, candidate.octave.unwrap_or(0.0), point.n_components)
        };
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        order.sort_by(|a, b| place(a).partial_cmp(&place(b)).unwrap_or(std::cmp::Ordering::Equal));
        let mut new_place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, old)| new_place[*old] = new);
        self.chosen = new_place[self.chosen];
        self.near.iter_mut().for_each(|at| *at = new_place[*at]);
        self.near.sort_unstable();
        self.points = order.iter().map(|at| self.points[*at].clone()).collect();
    }

    /// Warnings where the chosen point lies on the edge of what was tried.
    fn edges(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (point, chosen) = &self.points[self.chosen];
        let same = self.points.iter().filter(|(_, other)| other.family == chosen.family);
        let octaves = same.filter_map(|(_, other)| other.octave);
        let (low, high) = octaves.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), o| (a.min(o), b.max(o)));
        if chosen.octave.is_some_and(|octave| octave == low || octave == high) {
            let width = if chosen.octave == Some(low) { "widest" } else { "narrowest" };
            warnings.push(format!(
                "the kernel is the {width} that was tried, {} = {}: the best may lie beyond",
                self.families[chosen.family].bandwidth_name(),
                point.bandwidth.map_or(String::new(), short)
            ));
        }
        if self.most == Some(point.n_components) {
            let most = counted(point.n_components, "component");
            let verb = if point.n_components == 1 { "is" } else { "are" };
            warnings.push(format!("{most} {verb} the most that were tried: more may do better"));
        }
        warnings
    }
}

/// What a race found: the largest number of components within one standard error of the best point, at its bandwidth, (K72).
pub(super) fn of_race(
    race: &Race<'_>,
    families: &[Family],
    n_masks: usize,
    rows: (usize, usize),
) -> KernelChoice {
    let best = race.best();
    let near = race.near(best);
    let same = near.iter().copied().filter(|at| race.points[*at].candidate == race.points[best].candidate);
    let (gap, baseline) = race.gap_to_means(best);
    // Why three times: the best of many points is better than the mean by two even where all is noise.
    let stands_out = gap.mean < -3.0 * gap.deviation && gap.mean < -0.01 * baseline;
    let chosen = if stands_out {
        same.max_by_key(|at| race.points[*at].k)
    } else {
        same.min_by_key(|at| race.points[*at].k)
    };
    let chosen = chosen.unwrap_or(best);
    let measured_points: Vec<usize> = (0..race.points.len()).filter(|at| race.n_seen(*at) > 0).collect();
    let found = |at: usize| measured_points.iter().position(|other| *other == at).unwrap_or(0);
    let points = measured_points.iter().map(|at| {
        let candidate = &race.candidates[race.points[*at].candidate];
        (grid_point(race, *at, best), candidate)
    });
    let points: Vec<(GridPoint, &Candidate)> = points.collect();
    let point = &points[found(chosen)].0;
    let error = measured(point.error, point.spread);
    let mut warnings = Vec::new();
    let result = if stands_out {
        format!("hidden entries are missed by {error} (the mean of the column: {})", short(baseline))
    } else {
        let found = "nothing predicts hidden entries better than the mean of the column";
        warnings.push(format!("{found}: there is no structure that this kernel can use"));
        format!(
            "no component stands out from noise, hidden entries are missed by {error} and by the mean of the column by {}",
            short(baseline)
        )
    };
    let d = race.n_cols();
    if d < FEW_COLUMNS {
        warnings
            .push(format!("{d} columns are few: one says little about another, so the choice means little"));
    }
    Judged {
        criterion: "masked error",
        families,
        chosen: found(chosen),
        near: near.iter().map(|at| found(*at)).collect(),
        points,
        baseline,
        n_masks,
        rows,
        most: race.most_components(),
        result,
        stands_out,
        warnings,
    }
    .finish()
}

fn grid_point(race: &Race<'_>, at: usize, best: usize) -> GridPoint {
    let candidate = &race.candidates[race.points[at].candidate];
    let (own, spread) = race.error(at, race.n_seen(at));
    let dropped = race.n_seen(at) < race.n_seen(best);
    GridPoint {
        kernel: candidate.text.clone(),
        bandwidth: candidate.bandwidth,
        n_components: race.points[at].k,
        error: if dropped { race.error(best, race.n_seen(best)).0 + race.gap(at, best).mean } else { own },
        spread,
        n_masks: race.n_masked(race.n_seen(at)),
    }
}
