//! Memory that the system refuses: an error with a number, and not the end of the process.
//!
//! The standard library aborts when an allocation fails. Allocations whose size scales with the data therefore ask first:
//! [`reserve`] where an error can be returned, and all matrices by `demand`, which unwinds to the nearest [`guard`]. Fits and
//! projections that run by `Engine::complete`, and every call from Python, run within a guard. Vectors of lists and of some sparse
//! factors do not ask, so refusing them still ends the process.

use crate::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Smaller allocations are not checked: their size does not scale with the data.
pub(crate) const CHECKED_BYTES: usize = 64 << 10;
/// What must be left beside a large allocation for the small ones that follow it.
const SLACK_BYTES: usize = 4 << 20;
/// From this size on, an allocation is tried and given back before it is made.
///
/// Why: glibc serves such requests from pages of their own, whatever was freed before, so that trying one leaves no trace.
const TRIED_BYTES: usize = 32 << 20;

/// Bytes that the system refused; what [`demand`] unwinds with.
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

/// Whether the system grants `bytes` now.
fn is_granted(bytes: u128) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else { return false };
    Vec::<u8>::new().try_reserve_exact(bytes.saturating_add(SLACK_BYTES)).is_ok()
}

/// Checks that the system grants `bytes` now, without keeping them.
///
/// # Errors
/// [`Error::Memory`] with the number of bytes.
pub fn reserve(bytes: u128) -> Result<()> {
    if bytes < TRIED_BYTES as u128 || is_granted(bytes) { Ok(()) } else { Err(Refused(bytes).error()) }
}

/// Unwinds to the nearest [`guard`] when the system does not grant `count` numbers of type `T`.
pub(crate) fn demand<T>(count: usize) {
    let bytes = count as u128 * size_of::<T>() as u128;
    if bytes >= TRIED_BYTES as u128 && !is_granted(bytes) {
        refuse(bytes);
    }
}

/// An empty vector with room for `count` numbers; unwinds to the nearest [`guard`] when the system refuses it.
pub(crate) fn room_for<T>(count: usize) -> Vec<T> {
    let mut numbers = Vec::new();
    if numbers.try_reserve_exact(count).is_err() {
        refuse(count as u128 * size_of::<T>() as u128);
    }
    numbers
}

/// `count` copies of `value`; unwinds to the nearest [`guard`] when the system refuses them.
pub(crate) fn filled<T: Copy>(value: T, count: usize) -> Vec<T> {
    let bytes = count as u128 * size_of::<T>() as u128;
    // Why: what is zero costs nothing until it is written, but only when it is asked for as zero.
    if bytes < CHECKED_BYTES as u128 || bytes >= TRIED_BYTES as u128 {
        demand::<T>(count);
        return vec![value; count];
    }
    let mut numbers = room_for(count);
    numbers.resize(count, value);
    numbers
}

#[cold]
fn refuse(bytes: u128) -> ! {
    // Not a panic: no hook is to report it.
    resume_unwind(Box::new(Refused(bytes)))
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
        let huge = || guard(|| Ok(Matrix::<f64>::zeros(1 << 30, 1 << 27).n_rows()));
        assert!(message(huge()).contains("1152921504606846976 bytes"));
        // Also from a thread of a pool, and the pool goes on.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert!(message(pool.install(huge)).contains("bytes"));
        let both = || rayon::join(|| Matrix::<f32>::from_fn(1 << 30, 1 << 28, |_, _| 0.0), || 1).1;
        assert!(message(guard(|| pool.install(|| Ok(both())))).contains("bytes"));
        assert_eq!(pool.install(|| rayon::join(|| 1, || 2)), (1, 2));
    }

    #[test]
    fn other_panics_go_on() {
        let caught = catch_unwind(|| guard(|| -> Result<()> { resume_unwind(Box::new(7_u8)) }));
        assert_eq!(*caught.unwrap_err().downcast::<u8>().unwrap(), 7);
    }
}
