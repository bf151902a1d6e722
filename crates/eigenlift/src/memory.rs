//! Memory that the system refuses: an error with a number, and not the end of the process.
//!
//! The standard library aborts when an allocation fails. Allocations whose size scales with the data are therefore checked:
//! by [`reserve`] where an error can be returned, and in matrices, graphs and sparse factors by unwinding to the nearest [`guard`].
//! Fits and projections that run by `Engine::complete`, and every call from Python, run within a guard. Small allocations are not
//! checked; an allocator that serves them from memory it has set aside reports the [`shortage`], which ends the work.

use crate::error::{Error, Result};
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Smaller allocations are not checked: their size does not scale with the data.
pub(crate) const CHECKED_BYTES: usize = 64 << 10;
/// What must be left beside a large allocation for the small ones that follow it.
const SLACK_BYTES: usize = 4 << 20;
/// Bytes that the system refused; what [`refuse`] unwinds with.
struct Refused(u128);

impl Refused {
    fn error(&self) -> Error {
        Error::memory(
            format!("an allocation of {} bytes", self.0),
            "the system refuses that much memory",
            "Set a memory limit, so that the work is planned within it, or use fewer rows",
        )
    }
}

/// Refuses what is not small while memory is short.
fn check(bytes: u128) {
    if bytes >= CHECKED_BYTES as u128 && shortage::bytes() > 0 {
        refuse(bytes);
    }
}

/// Checks that the system grants `bytes` now, without keeping them.
///
/// # Errors
/// [`Error::Memory`] with the number of bytes.
pub fn reserve(bytes: u128) -> Result<()> {
    let needed = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(SLACK_BYTES);
    let mut tried = Vec::<u8>::new();
    let granted = tried.try_reserve_exact(needed);
    // An allocation that nobody looks at may be optimized away.
    black_box(tried);
    granted.map_err(|_| Refused(bytes).error())
}

/// An empty vector with room for `count` numbers; unwinds to the nearest [`guard`] when the system refuses it.
pub(crate) fn room_for<T>(count: usize) -> Vec<T> {
    let (mut numbers, bytes) = (Vec::new(), count as u128 * size_of::<T>() as u128);
    check(bytes);
    if numbers.try_reserve_exact(count).is_err() {
        refuse(bytes);
    }
    numbers
}

/// Changes the length; what is new is `value`. Unwinds to the nearest [`guard`] when the system refuses room for it.
pub(crate) fn resize<T: Copy>(numbers: &mut Vec<T>, count: usize, value: T) {
    make_room(numbers, count.saturating_sub(numbers.len()));
    numbers.resize(count, value);
}

/// Appends values; unwinds to the nearest [`guard`] when the system refuses room for them.
pub(crate) fn append<T>(numbers: &mut Vec<T>, values: impl ExactSizeIterator<Item = T>) {
    make_room(numbers, values.len());
    numbers.extend(values);
}

fn make_room<T>(numbers: &mut Vec<T>, more: usize) {
    let count = numbers.len().saturating_add(more);
    if count <= numbers.capacity() {
        return;
    }
    let bytes = count as u128 * size_of::<T>() as u128;
    check(bytes);
    if numbers.try_reserve(more).is_err() {
        refuse(bytes);
    }
}

/// A copy of numbers; unwinds to the nearest [`guard`] when the system refuses it.
pub(crate) fn copied<T: Clone>(numbers: &[T]) -> Vec<T> {
    collected(numbers.len(), numbers.iter().cloned())
}

/// Values one after another.
///
/// # Errors
/// [`Error::Memory`] with the number of bytes when the system refuses room for them.
pub fn collect<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    guard(|| Ok(collected(values.len(), values)))
}

/// Up to `most` values one after another; unwinds to the nearest [`guard`] when the system refuses room for so many.
pub(crate) fn collected<T>(most: usize, values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut out = room_for(most);
    out.extend(values);
    out
}

/// The values of all blocks; unwinds to the nearest [`guard`] when the system refuses room for them.
pub(crate) fn joined<T>(blocks: Vec<Vec<T>>) -> Vec<T> {
    let total = blocks.iter().map(Vec::len).sum();
    collected(total, blocks.into_iter().flatten())
}

/// What `allocate` makes of `bytes`; unwinds to the nearest [`guard`] when it makes nothing.
pub(crate) fn granted<T>(bytes: usize, allocate: impl FnOnce() -> Option<T>) -> T {
    check(bytes as u128);
    allocate().unwrap_or_else(|| refuse(bytes as u128))
}

/// `count` zeros, which cost nothing until they are written; unwinds to the nearest [`guard`] when the system refuses them.
pub(crate) fn zeroed<T: Zeroable>(count: usize) -> Vec<T> {
    granted(count.saturating_mul(size_of::<T>()), || try_zeroed_vec(count).ok())
}

/// `count` copies of `value`; unwinds to the nearest [`guard`] when the system refuses them.
pub(crate) fn filled<T: Copy>(value: T, count: usize) -> Vec<T> {
    let mut numbers = room_for(count);
    numbers.resize(count, value);
    numbers
}

#[cold]
fn refuse(bytes: u128) -> ! {
    // Not a panic: no hook is to report it.
    resume_unwind(Box::new(Refused(bytes)))
}

/// Memory that has run so short that an allocator took what it had set aside.
///
/// Why: the standard library aborts when a small allocation fails, and on a stable compiler only an allocator can prevent it. An
/// allocator that serves one from a reserve says so here; until the reserve is filled again, allocations that scale with the data
/// are refused and every [`Watch`](crate::progress::Watch) ends the work with [`Error::Memory`].
pub mod shortage {
    use super::{Refused, Result};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Bytes of the request that the system refused; 0 while memory is not short.
    static REFUSED: AtomicUsize = AtomicUsize::new(0);

    /// To be called by an allocator that was refused `bytes` and serves them from what it had set aside. Allocates nothing.
    pub fn begin(bytes: usize) {
        REFUSED.store(bytes.max(1), Ordering::Relaxed);
    }

    /// To be called when memory is set aside again.
    pub fn end() {
        REFUSED.store(0, Ordering::Relaxed);
    }

    pub(super) fn bytes() -> usize {
        REFUSED.load(Ordering::Relaxed)
    }

    /// Fails while memory is short.
    pub(crate) fn check() -> Result<()> {
        match bytes() {
            0 => Ok(()),
            bytes => Err(Refused(bytes as u128).error()),
        }
    }
}

/// Does `work`; memory that the system refuses within it, on whatever thread, is an error.
///
/// # Errors
/// [`Error::Memory`], or that of the work.
pub fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| match payload.downcast::<Refused>() {
        Ok(refused) => Err(refused.error()),
        Err(other) => resume_unwind(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn what_is_refused_is_an_error_with_its_number() {
        assert!(message(reserve(1 << 60)).contains("1152921504606846976 bytes"));
        reserve(1 << 20).unwrap();
        let huge = || guard(|| Ok(black_box(Matrix::<f64>::zeros(1 << 30, 1 << 27)).n_rows()));
        assert!(message(huge()).contains("1152921504606846976 bytes"));
        // Also from a thread of a pool, and the pool goes on.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert!(message(pool.install(huge)).contains("bytes"));
        let both = || rayon::join(|| Matrix::<f32>::from_fn(1 << 30, 1 << 28, |_, _| 0.0), || 1).1;
        assert!(message(guard(|| pool.install(|| Ok(both())))).contains("bytes"));
        assert_eq!(pool.install(|| rayon::join(|| 1, || 2)), (1, 2));
    }

    #[test]
    fn vectors_are_refused_as_matrices_are() {
        let refused = |work: fn() -> usize| message(guard(|| Ok(work()))).contains("8589934592000000 bytes");
        const COUNT: usize = 1_073_741_824_000_000;
        assert!(refused(|| filled(1.0f64, COUNT).len()));
        assert!(refused(|| black_box(zeroed::<f64>(COUNT)).len()));
        assert!(refused(|| room_for::<f64>(COUNT).len()));
        assert!(refused(|| collected(COUNT, [1.0f64]).len()));
        assert!(refused(|| {
            let mut numbers = vec![1.0f64; 3];
            resize(&mut numbers, COUNT, 0.0);
            numbers.len()
        }));
        assert!(refused(|| {
            let mut numbers = vec![1.0f64; 3];
            append(&mut numbers, (0..COUNT - 3).map(|_| 0.0));
            numbers.len()
        }));
        assert!(refused(|| granted(8 * COUNT, || None)));
    }

    #[test]
    fn values_keep_their_order() {
        assert_eq!(joined(vec![vec![1, 2], vec![], vec![3]]), [1, 2, 3]);
        assert_eq!(copied(&[1.0, 2.0]), [1.0, 2.0]);
        assert_eq!(collect([4, 5].into_iter()).unwrap(), [4, 5]);
        let mut numbers = vec![1, 2, 3];
        resize(&mut numbers, 2, 0);
        append(&mut numbers, [7, 8].into_iter());
        assert_eq!(numbers, [1, 2, 7, 8]);
    }

    #[test]
    fn other_panics_go_on() {
        let caught = catch_unwind(|| guard(|| -> Result<()> { resume_unwind(Box::new(7_u8)) }));
        assert_eq!(*caught.unwrap_err().downcast::<u8>().unwrap(), 7);
    }
}
