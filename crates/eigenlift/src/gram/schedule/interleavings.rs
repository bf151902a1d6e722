//! Every interleaving of a few threads on a few blocks, one access to what they share at a time.
//!
//! The steps are those that the threads take ([`Tournament::advance`]), on a board without atomics. What is checked: each
//! block receives its pairs in the order of the tournament, nothing is added twice, and from whatever state can be
//! reached the work can end.

use super::*;
use std::cell::RefCell;
use std::collections::HashMap;

/// What happens when a thread comes to a certain pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Nothing out of the ordinary.
    Well,
    /// Adding fails.
    Fails(usize),
    /// `work` panics before it waits, and the thread ends.
    Panics(usize),
}

/// All that threads share, and where each stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    next: usize,
    received: Vec<usize>,
    stopped: bool,
    stages: Vec<Stage>,
    /// Pairs that were added to each block, in order.
    added: Vec<Vec<usize>>,
}

struct Plain<'a>(&'a RefCell<World>);

impl Board for Plain<'_> {
    fn claim(&self) -> usize {
        let mut world = self.0.borrow_mut();
        world.next += 1;
        world.next - 1
    }

    fn received(&self, block: usize) -> usize {
        self.0.borrow().received[block]
    }

    fn pass(&self, block: usize, turn: usize) {
        self.0.borrow_mut().received[block] = turn;
    }

    fn is_stopped(&self) -> bool {
        self.0.borrow().stopped
    }

    fn stop(&self) {
        self.0.borrow_mut().stopped = true;
    }
}

impl World {
    fn new(n_blocks: usize, n_threads: usize) -> Self {
        Self {
            next: 0,
            received: vec![0; n_blocks],
            stopped: false,
            stages: vec![Stage::Claim; n_threads],
            added: vec![Vec::new(); n_blocks],
        }
    }

    /// The world after one step of a thread.
    fn after(&self, tournament: &Tournament, thread: usize, fate: Fate, advance: Advance) -> Self {
        let world = RefCell::new(self.clone());
        let stage = match self.stages[thread] {
            Stage::First(at) if fate == Fate::Panics(at) => {
                Plain(&world).stop();
                Stage::Ended
            }
            Stage::Add(at) if fate == Fate::Fails(at) => Stage::Stop,
            stage => advance(tournament, stage, &Plain(&world)),
        };
        let mut world = world.into_inner();
        if let Stage::Add(at) = stage {
            let Meeting { first, second, .. } = tournament.meeting(at);
            world.added[first].push(at);
            if first != second {
                world.added[second].push(at);
            }
        }
        world.stages[thread] = stage;
        // Only how far beyond the end does not matter.
        world.next = world.next.min(tournament.len());
        world
    }

    fn has_ended(&self) -> bool {
        self.stages.iter().all(|stage| *stage == Stage::Ended)
    }
}

/// A step of a thread.
type Advance = fn(&Tournament, Stage, &Plain<'_>) -> Stage;

/// Goes through all worlds that can be reached. Returns how many there are.
fn explore(n_blocks: usize, n_threads: usize, fate: Fate) -> std::result::Result<usize, String> {
    explore_steps(n_blocks, n_threads, fate, |tournament, stage, board| tournament.advance(stage, board))
}

fn explore_steps(
    n_blocks: usize,
    n_threads: usize,
    fate: Fate,
    advance: Advance,
) -> std::result::Result<usize, String> {
    let tournament = Tournament::new(n_blocks);
    let start = World::new(n_blocks, n_threads);
    let mut numbers = HashMap::from([(start.clone(), 0usize)]);
    let (mut worlds, mut before) = (vec![start], vec![Vec::new()]);
    let mut at = 0;
    while at < worlds.len() {
        for thread in 0..n_threads {
            let next = worlds[at].after(&tournament, thread, fate, advance);
            check(&next, &tournament, fate)?;
            let number = *numbers.entry(next.clone()).or_insert(worlds.len());
            if number == worlds.len() {
                worlds.push(next);
                before.push(Vec::new());
            }
            before[number].push(at);
        }
        at += 1;
    }
    // Backwards from the worlds in which all threads have ended.
    let mut ends = vec![false; worlds.len()];
    let mut left: Vec<usize> = (0..worlds.len()).filter(|at| worlds[*at].has_ended()).collect();
    left.iter().for_each(|at| ends[*at] = true);
    while let Some(at) = left.pop() {
        for earlier in &before[at] {
            if !std::mem::replace(&mut ends[*earlier], true) {
                left.push(*earlier);
            }
        }
    }
    match ends.iter().position(|ends| !ends) {
        Some(at) => Err(format!("no end can be reached from {:?}", worlds[at])),
        None => Ok(worlds.len()),
    }
}

fn check(world: &World, tournament: &Tournament, fate: Fate) -> std::result::Result<(), String> {
    for (block, added) in world.added.iter().enumerate() {
        let has =
            |at: &usize| [tournament.meeting(*at).first, tournament.meeting(*at).second].contains(&block);
        let order: Vec<usize> = (0..tournament.len()).filter(has).collect();
        if !order.starts_with(added) {
            return Err(format!("block {block} has received {added:?}"));
        }
        if world.has_ended() && fate == Fate::Well && added.len() < order.len() {
            return Err(format!("the work ended when block {block} had received {added:?}"));
        }
    }
    Ok(())
}

#[test]
fn all_interleavings_end_with_every_block_in_order() {
    for (n_blocks, n_threads) in [(0, 2), (1, 2), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3), (4, 2), (5, 2)] {
        let worlds = explore(n_blocks, n_threads, Fate::Well).unwrap();
        assert!(n_blocks == 0 || worlds > 10, "{n_blocks} blocks, {n_threads} threads: {worlds}");
    }
}

#[test]
fn all_interleavings_end_when_a_pair_fails_or_a_thread_panics() {
    for at in 0..6 {
        for fate in [Fate::Fails(at), Fate::Panics(at)] {
            explore(3, 2, fate).unwrap();
            explore(3, 3, fate).unwrap();
        }
    }
}

/// A schedule that passes the turn of a block with itself twice, which hung once, is found out.
#[test]
fn a_turn_that_is_passed_twice_is_found_out() {
    fn twice(tournament: &Tournament, stage: Stage, board: &Plain<'_>) -> Stage {
        match (stage, tournament.advance(stage, board)) {
            (Stage::PassFirst(at), Stage::Claim) => Stage::PassSecond(at),
            (_, next) => next,
        }
    }
    assert!(explore_steps(3, 3, Fate::Well, twice).unwrap_err().contains("no end can be reached"));
}
