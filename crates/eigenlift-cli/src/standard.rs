//! Standard input and output: what stands for them, and whether standard output was open when the program was started.
//!
//! The standard library opens `/dev/null` in place of a closed standard output before `main` runs, and what is written
//! there is lost without an error. So the look is taken before the standard library starts.

use crate::exit::Failure;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether the path stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Fails if standard output was closed at the start, as by `>&-` in a shell.
pub(crate) fn check() -> Result<(), Failure> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(Failure::Machine(
            "standard output is closed; results must have a place to go. Redirect it to a file or to \
             /dev/null, or name a file with --out."
                .into(),
        ));
    }
    Ok(())
}

#[cfg(unix)]
mod start {
    use std::os::fd::BorrowedFd;
    use std::sync::atomic::Ordering;

    /// The system calls what stands in this section before the standard library starts.
    #[allow(unsafe_code)]
    // SAFETY: the entry is a function of the type that the section holds; it makes one system call and needs nothing
    // that the standard library sets up.
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    #[used]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: the descriptor is used for this call alone, which fails if it is not open.
        #[allow(unsafe_code)]
        let standard_output = unsafe { BorrowedFd::borrow_raw(1) };
        super::CLOSED.store(standard_output.try_clone_to_owned().is_err(), Ordering::Relaxed);
    }
}
