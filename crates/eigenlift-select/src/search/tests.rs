//! Searches over scores of all sets of six features, known beforehand.

use super::*;
use eigenlift::random::{Purpose, Stream};

/// Scores of all sets by their bits, on two folds.
struct Table {
    scores: Vec<[f64; 2]>,
    present: usize,
    judged: usize,
}

const N: usize = 6;

impl Table {
    fn random(seed: u64) -> Self {
        let mut stream = Stream::new(seed, Purpose::Probes);
        Self {
            scores: (0..1 << N).map(|_| [stream.uniform(), stream.uniform()]).collect(),
            present: 0,
            judged: 0,
        }
    }

    fn mean(&self, set: usize) -> f64 {
        (self.scores[set][0] + self.scores[set][1]) / 2.0
    }

    fn of(&mut self, sets: Vec<usize>) -> Result<Vec<Vec<f64>>> {
        self.judged += sets.len();
        Ok(sets.into_iter().map(|set| self.scores[set].to_vec()).collect())
    }
}

impl Judge for Table {
    fn n_features(&self) -> usize {
        N
    }

    fn present(&mut self) -> Result<Vec<f64>> {
        Ok(self.scores[self.present].to_vec())
    }

    fn with(&mut self, features: &[usize]) -> Result<Vec<Vec<f64>>> {
        assert!(features.iter().all(|j| self.present & (1 << j) == 0));
        self.of(features.iter().map(|j| self.present | (1 << j)).collect())
    }

    fn without(&mut self, features: &[usize]) -> Result<Vec<Vec<f64>>> {
        assert!(features.iter().all(|j| self.present & (1 << j) != 0));
        self.of(features.iter().map(|j| self.present & !(1 << j)).collect())
    }

    fn add(&mut self, feature: usize) -> Result<()> {
        self.present |= 1 << feature;
        Ok(())
    }

    fn remove(&mut self, feature: usize) -> Result<()> {
        self.present &= !(1 << feature);
        Ok(())
    }
}

fn run(search: &Search, table: &mut Table) -> Found {
    search.run(table, Vec::new(), &mut |_| Ok(())).unwrap()
}

fn bits(features: &[usize]) -> usize {
    features.iter().map(|j| 1 << j).sum()
}

/// Sets of a size.
fn of_size(size: u32) -> impl Iterator<Item = usize> {
    (0..1usize << N).filter(move |set| set.count_ones() == size)
}

#[test]
fn forward_and_backward_steps_are_greedy() {
    for seed in 0..20 {
        let mut table = Table::random(seed);
        let found = run(&Search::new(Direction::Forward, N), &mut table);
        let mut set = 0usize;
        for step in &found.steps {
            let others = of_size(set.count_ones() + 1).filter(|other| other & set == set);
            let best = others.max_by(|a, b| table.mean(*a).total_cmp(&table.mean(*b))).unwrap();
            assert!(step.added);
            set |= 1 << step.feature;
            assert_eq!(set, best);
            assert_eq!(step.score, Some(table.mean(best)));
            assert_eq!(step.n_features, best.count_ones() as usize);
        }
        assert_eq!(set, (1 << N) - 1);
        assert_eq!(table.judged, N * (N + 1) / 2);
        assert_eq!(found.guess, Some(table.mean(0)));

        table.present = 0;
        let found = run(&Search::new(Direction::Backward, 1), &mut table);
        let mut set = (1usize << N) - 1;
        assert_eq!(found.subsets.last().unwrap().score, table.mean(set));
        for step in &found.steps {
            let others = of_size(set.count_ones() - 1).filter(|other| other & !set == 0);
            let best = others.max_by(|a, b| table.mean(*a).total_cmp(&table.mean(*b))).unwrap();
            set &= !(1 << step.feature);
            assert_eq!(set, best);
        }
        assert_eq!(set.count_ones(), 1);
    }
}

#[test]
fn features_that_tell_nothing_come_last_and_go_first() {
    let features = |found: &Found| found.steps.iter().map(|step| step.feature).collect::<Vec<usize>>();
    for seed in 0..5 {
        let forward = Search::new(Direction::Forward, N).idle(vec![1, 4]);
        let order = features(&run(&forward, &mut Table::random(seed)));
        assert!(order[4..].contains(&1) && order[4..].contains(&4), "{order:?}");
        let backward = Search::new(Direction::Backward, 1).idle(vec![1, 4]);
        let order = features(&run(&backward, &mut Table::random(seed)));
        assert!(order[..2].contains(&1) && order[..2].contains(&4), "{order:?}");
    }
}

#[test]
fn floating_steps_are_never_worse_than_forward_ones_and_often_better() {
    let (mut better, mut optimal) = (0, 0);
    for seed in 0..50 {
        let mut table = Table::random(seed);
        let forward = run(&Search::new(Direction::Forward, N), &mut table);
        table.present = 0;
        let floating = run(&Search::new(Direction::Floating, N), &mut table);
        let at = |found: &Found, size: usize| {
            let subset = found.subsets.iter().find(|subset| subset.features.len() == size).unwrap().clone();
            assert_eq!(subset.score, table.mean(bits(&subset.features)));
            subset.score
        };
        // The first two steps are the same; after them a set of three is better than that of forward steps or the same.
        let best = of_size(3).map(|set| table.mean(set)).fold(0.0, f64::max);
        assert!(at(&floating, 3) >= at(&forward, 3));
        better += usize::from(at(&floating, 3) > at(&forward, 3));
        optimal += usize::from(at(&floating, 3) == best);
        assert!(floating.steps.iter().any(|step| !step.added) || floating.steps == forward.steps);
    }
    assert!(better > 10 && optimal > 10, "{better} {optimal}");
}

#[test]
fn a_search_taken_up_again_goes_the_same_way() {
    let all = [Direction::Forward, Direction::Backward, Direction::Floating];
    for (direction, seed) in all.into_iter().flat_map(|direction| (0..10).map(move |seed| (direction, seed)))
    {
        let search = Search::new(direction, if direction == Direction::Backward { 1 } else { N })
            .patience(Some(1 + seed as usize % 3));
        let mut table = Table::random(seed);
        let mut kept = Vec::new();
        let whole = search
            .run(&mut table, Vec::new(), &mut |steps| {
                kept.push(steps.to_vec());
                Ok(())
            })
            .unwrap();
        assert_eq!(kept.len(), whole.steps.len());
        for earlier in kept {
            table.present = 0;
            let again = search.run(&mut table, earlier, &mut |_| Ok(())).unwrap();
            assert_eq!(again, whole);
        }
    }
}

/// Scores that grow with the number of features up to `top` and fall afterwards.
fn hill(top: usize) -> Table {
    let height = |set: usize| {
        let (size, extra) = (set.count_ones() as f64, (set % 7) as f64 * 1e-3);
        let score = extra + if size <= top as f64 { size } else { 2.0 * top as f64 - size };
        [score - 0.1, score + 0.1]
    };
    Table { scores: (0..1 << N).map(height).collect(), present: 0, judged: 0 }
}

#[test]
fn a_search_ends_where_it_is_told_to() {
    let found = run(&Search::new(Direction::Forward, N).tol(Some(0.0)), &mut hill(3));
    assert_eq!(found.steps.len(), 3);
    assert!(found.stopped.unwrap().starts_with("the next step would change the score by -"));
    let found = run(&Search::new(Direction::Forward, N).patience(Some(2)), &mut hill(3));
    assert_eq!(found.steps.len(), 5);
    assert_eq!(found.stopped.as_deref(), Some("2 steps in a row without a better score"));
    let found = run(&Search::new(Direction::Backward, 1).tol(Some(-0.5)), &mut hill(3));
    assert_eq!(found.steps.len(), 3);
    let found = run(&Search::new(Direction::Backward, 1).patience(Some(1)), &mut hill(3));
    assert_eq!(found.steps.len(), 4);
    let found = run(&Search::new(Direction::Forward, 2), &mut hill(3));
    assert_eq!((found.steps.len(), found.stopped), (2, None));
}

#[test]
fn the_fewest_features_within_one_standard_error_are_chosen() {
    let subset = |size: usize, score: f64, spread: f64| Subset {
        features: (0..size).collect(),
        score,
        spread: Some(spread),
        fold_scores: Vec::new(),
    };
    let subsets = [subset(1, 0.5, 0.1), subset(2, 0.87, 0.2), subset(3, 0.9, 0.02), subset(4, 0.9, 0.04)];
    assert_eq!(one_standard_error(&subsets), Some((2, 2)));
    let wide = [subset(1, 0.5, 0.1), subset(2, 0.87, 0.2), subset(3, 0.9, 0.04), subset(4, f64::NAN, 0.04)];
    assert_eq!(one_standard_error(&wide), Some((2, 1)));
    let one =
        [Subset { spread: None, ..subset(1, 0.5, 0.0) }, Subset { spread: None, ..subset(2, 0.6, 0.0) }];
    assert_eq!(one_standard_error(&one), Some((1, 1)));
    assert_eq!(one_standard_error(&[]), None);
}
