//! The memory that a fit may use.

use super::plan::{MEMORY_IS_FREE, human_bytes};
use crate::engine::Engine;

/// Share of the memory that can be had which a fit allows itself.
const SHARE_OF_AVAILABLE: f64 = 0.8;
/// Assumed when the engine does not know how much memory there is.
const UNKNOWN_MEMORY: u64 = 4 << 30;

/// Bytes of an n × columns block of doubles.
pub(crate) fn block_bytes(n: usize, columns: usize) -> u128 {
    n as u128 * columns as u128 * 8
}

/// The bytes that the work may take: the limit, or a share of what can be had now; and why.
pub(crate) fn allowance(limit: Option<u64>, engine: &dyn Engine) -> (u64, String) {
    match (limit, engine.memory_available()) {
        (Some(limit), _) => {
            (limit, format!("{} of memory are allowed for the work", human_bytes(u128::from(limit))))
        }
        (None, Some(there)) => {
            let share = (there as f64 * SHARE_OF_AVAILABLE) as u64;
            (
                share,
                format!(
                    "{} {MEMORY_IS_FREE}, of which {:.0} % may be used",
                    human_bytes(u128::from(there)),
                    100.0 * SHARE_OF_AVAILABLE
                ),
            )
        }
        (None, None) => (
            UNKNOWN_MEMORY,
            format!(
                "free memory is not known here, so {} are assumed",
                human_bytes(u128::from(UNKNOWN_MEMORY))
            ),
        ),
    }
}
