//! The order in which pairs of blocks are visited, and how threads keep it.
//!
//! A tile (I, J) adds to the results of both I and J. Pairs stand in the order of a round-robin tournament, where a block
//! meets every other once and neighbours in the order rarely share one. Threads take pairs as they come and compute tiles at
//! once, but each block receives its contributions in the order of the tournament: same bits for any number of threads, and
//! no thread waits for a whole round.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// All pairs I ≤ J of a number of blocks, the diagonal first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tournament {
    n_blocks: usize,
}

/// A pair of blocks, and how many contributions each has received before this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meeting {
    pub(crate) first: usize,
    pub(crate) second: usize,
    first_turn: usize,
    second_turn: usize,
}

impl Tournament {
    pub(crate) fn new(n_blocks: usize) -> Self {
        Self { n_blocks }
    }

    /// Number of pairs, the diagonal included.
    pub(crate) fn len(&self) -> usize {
        self.n_blocks * (self.n_blocks + 1) / 2
    }

    /// Pair number `at`, by the circle method: one place is fixed, the others turn. With an odd number of blocks nobody sits
    /// at the fixed place, and the block that would meet it, number r in round r, rests.
    pub(crate) fn meeting(&self, at: usize) -> Meeting {
        let n = self.n_blocks;
        if at < n {
            return Meeting { first: at, second: at, first_turn: 0, second_turn: 0 };
        }
        let odd = n % 2 == 1;
        let circle = if odd { n } else { n - 1 };
        let (round, place) = ((at - n) / (n / 2), (at - n) % (n / 2));
        let (a, b) = match (odd, place) {
            (false, 0) => (round, circle),
            (false, step) => ((round + step) % circle, (round + circle - step) % circle),
            (true, place) => ((round + place + 1) % circle, (round + circle - place - 1) % circle),
        };
        // One contribution from the diagonal, one from each earlier round but the one it rested in.
        let turn = |block: usize| 1 + round - usize::from(odd && block < round);
        let (first, second) = (a.min(b), a.max(b));
        Meeting { first, second, first_turn: turn(first), second_turn: turn(second) }
    }

    /// Where tile (i, j), i ≤ j, stands among the upper tiles counted row by row.
    pub(crate) fn tile_index(&self, i: usize, j: usize) -> usize {
        i * self.n_blocks - i * i.saturating_sub(1) / 2 + (j - i)
    }

    /// Calls `work(number, meeting, turn)` for every pair, on all threads of the current pool. `work` prepares what it needs,
    /// then calls `turn` with what adds to the two blocks; that runs when both have received all earlier contributions.
    pub(crate) fn run(&self, work: impl Fn(usize, Meeting, Turn<'_>) -> Result<()> + Sync) -> Result<()> {
        let board = Atomics::new(self.n_blocks);
        let failure = Mutex::new(None);
        rayon::broadcast(|_| {
            // Why: if `work` panics, the others must not wait for it.
            let guard = StopOnPanic(&board);
            let mut stage = Stage::Claim;
            while stage != Stage::Ended {
                stage = match stage {
                    Stage::First(at) => {
                        let meeting = self.meeting(at);
                        let turn = Turn { tournament: self, board: &board, at };
                        match work(at, meeting, turn) {
                            Ok(()) => Stage::Claim,
                            Err(error) => {
                                let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                                failure.get_or_insert(error);
                                Stage::Stop
                            }
                        }
                    }
                    stage => self.advance(stage, &board),
                };
            }
            drop(guard);
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// What a thread does next: at most one access to what threads share.
    ///
    /// A pair waits only for pairs before it, all of which have been taken by some thread: the first unfinished one never
    /// waits, so this ends. The tests go through all interleavings of these steps for a few blocks and threads.
    fn advance(&self, stage: Stage, board: &impl Board) -> Stage {
        let meeting = |at| self.meeting(at);
        match stage {
            Stage::Claim => match board.claim() {
                at if at < self.len() => Stage::Claimed(at),
                _ => Stage::Ended,
            },
            Stage::Claimed(_) if board.is_stopped() => Stage::Ended,
            Stage::Claimed(at) => Stage::First(at),
            Stage::First(at) if board.received(meeting(at).first) == meeting(at).first_turn => {
                Stage::Second(at)
            }
            Stage::First(at) => Stage::WaitFirst(at),
            Stage::WaitFirst(at) => {
                if board.is_stopped() {
                    Stage::Refused
                } else {
                    Stage::First(at)
                }
            }
            Stage::Second(at) if board.received(meeting(at).second) == meeting(at).second_turn => {
                Stage::Add(at)
            }
            Stage::Second(at) => Stage::WaitSecond(at),
            Stage::WaitSecond(at) => {
                if board.is_stopped() {
                    Stage::Refused
                } else {
                    Stage::Second(at)
                }
            }
            Stage::Add(at) => Stage::PassFirst(at),
            Stage::PassFirst(at) => {
                let Meeting { first, second, first_turn, .. } = meeting(at);
                board.pass(first, first_turn + 1);
                // Why not for a block with itself: after the first pass the next pair may already have counted on.
                if first == second { Stage::Claim } else { Stage::PassSecond(at) }
            }
            Stage::PassSecond(at) => {
                board.pass(meeting(at).second, meeting(at).second_turn + 1);
                Stage::Claim
            }
            Stage::Stop => {
                board.stop();
                Stage::Claim
            }
            Stage::Refused => Stage::Stop,
            Stage::Ended => Stage::Ended,
        }
    }
}

/// Where a thread stands, with the number of its pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// Takes the next pair.
    Claim,
    /// Has one, and looks whether the work goes on.
    Claimed(usize),
    /// Looks whether it is its turn with the first block; its tile is ready.
    First(usize),
    /// It was not; looks whether the work goes on.
    WaitFirst(usize),
    /// The same with the second block.
    Second(usize),
    WaitSecond(usize),
    /// Adds to both.
    Add(usize),
    /// Passes the turn on, block by block.
    PassFirst(usize),
    PassSecond(usize),
    /// Its pair failed: tells the others.
    Stop,
    /// Another's pair failed while it waited.
    Refused,
    /// Has nothing left to do.
    Ended,
}

/// What the threads share.
trait Board {
    /// The number of the next pair, which nobody else gets.
    fn claim(&self) -> usize;
    /// Contributions that a block has received.
    fn received(&self, block: usize) -> usize;
    /// Makes them so many.
    fn pass(&self, block: usize, turn: usize);
    /// Whether a pair has failed.
    fn is_stopped(&self) -> bool;
    /// Says that one has.
    fn stop(&self);
}

struct Atomics {
    next: AtomicUsize,
    received: Vec<AtomicUsize>,
    stopped: AtomicBool,
}

impl Atomics {
    fn new(n_blocks: usize) -> Self {
        Self {
            next: AtomicUsize::new(0),
            received: (0..n_blocks).map(|_| AtomicUsize::new(0)).collect(),
            stopped: AtomicBool::new(false),
        }
    }
}

/// Numerics: what was added to a block before `pass` is seen by whoever sees its number in `received`.
impl Board for Atomics {
    fn claim(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn received(&self, block: usize) -> usize {
        self.received[block].load(Ordering::Acquire)
    }

    fn pass(&self, block: usize, turn: usize) {
        self.received[block].store(turn, Ordering::Release);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }
}

struct StopOnPanic<'a>(&'a Atomics);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// The right to add to the two blocks of a meeting, in its turn.
pub(crate) struct Turn<'a> {
    tournament: &'a Tournament,
    board: &'a Atomics,
    at: usize,
}

impl Turn<'_> {
    /// Waits for the turn, runs `add`, and passes the turn on.
    pub(crate) fn take(self, add: impl FnOnce() -> Result<()>) -> Result<()> {
        let (mut stage, mut tries) = (Stage::First(self.at), 0u32);
        while stage != Stage::Add(self.at) {
            stage = self.tournament.advance(stage, self.board);
            match stage {
                Stage::Refused => return Err(Error::Cancelled),
                Stage::WaitFirst(_) | Stage::WaitSecond(_) => {
                    tries += 1;
                    if tries < 100 { std::hint::spin_loop() } else { std::thread::yield_now() }
                }
                _ => {}
            }
        }
        add()?;
        while stage != Stage::Claim {
            stage = self.tournament.advance(stage, self.board);
        }
        Ok(())
    }
}

#[cfg(test)]
mod interleavings;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_comes_once_and_turns_count_up() {
        for n in 0..14 {
            let tournament = Tournament::new(n);
            let mut seen = vec![0; tournament.len()];
            let mut received = vec![0; n];
            for at in 0..tournament.len() {
                let Meeting { first, second, first_turn, second_turn } = tournament.meeting(at);
                seen[tournament.tile_index(first, second)] += 1;
                assert_eq!(
                    (received[first], received[second]),
                    (first_turn, second_turn),
                    "{n} blocks, pair {at}"
                );
                received[first] += 1;
                received[second] += usize::from(first != second);
            }
            assert!(seen.iter().all(|s| *s == 1), "{n} blocks: {seen:?}");
        }
    }

    #[test]
    fn contributions_arrive_in_the_same_order_for_any_number_of_threads() {
        let order = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let logs: Vec<Mutex<Vec<usize>>> = (0..9).map(|_| Mutex::default()).collect();
            pool.install(|| {
                Tournament::new(9).run(|at, meeting, turn| {
                    turn.take(|| {
                        logs[meeting.first].lock().unwrap().push(at);
                        logs[meeting.second].lock().unwrap().push(at);
                        Ok(())
                    })
                })
            })
            .unwrap();
            logs.into_iter().map(|log| log.into_inner().unwrap()).collect::<Vec<_>>()
        };
        let one = order(1);
        assert_eq!(one, order(2));
        assert_eq!(one, order(5));
    }

    #[test]
    fn no_turn_is_lost_when_threads_follow_each_other_closely() {
        // Nothing to compute: threads stand in the queue at once, and the diagonal is passed on as soon as it is done.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        for _ in 0..2000 {
            let count = AtomicUsize::new(0);
            let visit = |_: usize, _: Meeting, turn: Turn<'_>| {
                turn.take(|| {
                    count.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                })
            };
            pool.install(|| Tournament::new(3).run(visit)).unwrap();
            assert_eq!(count.load(Ordering::Relaxed), 6);
        }
    }

    #[test]
    fn the_first_failure_ends_the_work() {
        let result = Tournament::new(6).run(|at, _, turn| {
            turn.take(
                || if at == 4 { Err(Error::data("four", "not four", "Choose another")) } else { Ok(()) },
            )
        });
        assert_eq!(result.unwrap_err().to_string(), "four; not four. Choose another");
    }
}
