//! Memory that is refused ends the program with a message and status 1, and not with an abort.

use crate::exit::FAILURE;
use crate::interrupt;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// What is given back when memory runs out, so that the end itself finds some.
const RESERVE: Layout = match Layout::from_size_align(256 << 10, 16) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<u128>(),
};

#[global_allocator]
static HEAP: Heap = Heap;

static RESERVED: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static ENDING: AtomicBool = AtomicBool::new(false);

/// The system's memory.
///
/// Why: the standard library aborts when memory is refused, and a program can change that on a stable compiler only here.
struct Heap;

// SAFETY: each method hands its arguments to the same method of `System`, which keeps the contract of `GlobalAlloc`, and returns
// what that returns; where that is null, it does not return.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: `place` came from `System` with this layout, because all places do.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `place` came from `System` with this layout, because all places do.
        given(unsafe { System.realloc(place, layout, size) }, size)
    }
}

/// The place itself, unless memory was refused.
#[inline]
fn given(place: *mut u8, size: usize) -> *mut u8 {
    if place.is_null() {
        refused(size)
    }
    place
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
// SAFETY: the declaration is that of glibc's `malloc.h`.
unsafe extern "C" {
    safe fn mallopt(parameter: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
}

/// Lets all threads take memory from one heap.
///
/// Why: glibc gives each thread a heap of its own, and what one gave back is not there for the next, so that a fit would take up to
/// as many times what was planned as there are threads. Nothing here allocates small blocks where it counts.
fn share_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const M_ARENA_MAX: std::ffi::c_int = -8;
        mallopt(M_ARENA_MAX, 1);
    }
}

/// Lets large blocks go back to the system as soon as they are free, where the memory allowed is limited.
///
/// Why: glibc keeps free blocks of up to 32 MiB once it has seen such, and what is kept between others counts: a discriminant analysis of
/// 12 000 samples planned for 40 MB took 54 to 97 MB, from run to run. It costs time where large blocks come and go, a quarter of that
/// analysis, so blocks that are small beside the limit are kept.
pub(crate) fn keep_to(limit: u64) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const M_TRIM_THRESHOLD: std::ffi::c_int = -1;
        const M_MMAP_THRESHOLD: std::ffi::c_int = -3;
        let block = (limit / 64).clamp(1 << 20, 32 << 20) as std::ffi::c_int;
        mallopt(M_MMAP_THRESHOLD, block);
        mallopt(M_TRIM_THRESHOLD, block);
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = limit;
}

/// Sets memory aside for the end. To be called before threads are started.
pub(crate) fn reserve() {
    share_one_heap();
    // SAFETY: the layout is not of size 0.
    #[allow(unsafe_code)]
    let place = unsafe { System.alloc(RESERVE) };
    RESERVED.store(place, Ordering::SeqCst);
}

/// Ends the program without half files.
#[cold]
fn refused(size: usize) -> ! {
    if ENDING.swap(true, Ordering::SeqCst) {
        // Another thread is ending the program, or its end finds no memory itself.
        std::thread::sleep(std::time::Duration::from_secs(2));
        std::process::abort();
    }
    let place = RESERVED.swap(std::ptr::null_mut(), Ordering::SeqCst);
    if !place.is_null() {
        // SAFETY: the place came from `System` with this layout, and is given back once.
        #[allow(unsafe_code)]
        unsafe {
            System.dealloc(place, RESERVE);
        }
    }
    interrupt::remove_half_files();
    let _ = writeln!(
        std::io::stderr(),
        "error: not enough memory: the system refused {size} more bytes; the work must fit into what it allows. Set --memory, \
         so that the work is planned within that limit, or allow more."
    );
    std::process::exit(i32::from(FAILURE))
}
