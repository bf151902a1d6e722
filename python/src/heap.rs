//! Memory set aside, so that a small allocation that the system refuses does not end the interpreter.

use eigenlift::error::{Error, Result};
use eigenlift::memory::{self, shortage};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What is given back when memory runs out: address space only, as it is never written.
///
/// Why this size: glibc serves it from pages of its own, so that all of it is there for requests of any size and any thread.
const RESERVE: Layout = match Layout::from_size_align(32 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<u128>(),
};
/// Larger requests are refused: they are checked where they are made.
const SMALL_BYTES: usize = 8 << 20;

#[global_allocator]
static HEAP: Heap = Heap;

static RESERVED: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// The system's memory, and the reserve for small requests.
///
/// Why: the standard library aborts when memory is refused, and a library can change that on a stable compiler only here. What was
/// served from the reserve ends in an exception: until there is one again, larger requests are refused and work ends at its next step.
struct Heap;

// SAFETY: each method hands its arguments to the same method of `System`, which keeps the contract of `GlobalAlloc`, and returns
// what that returns; where that is null, it may call it once more.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        given(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        given(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: `place` came from `System` with this layout, because all places do.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `place` came from `System` with this layout, because all places do; where null was returned, it is still there.
        given(size, || unsafe { System.realloc(place, layout, size) })
    }
}

/// What the system gives, the second time with what had been set aside.
#[inline]
fn given(size: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let place = ask();
    if !place.is_null() || size > SMALL_BYTES {
        return place;
    }
    release(size);
    ask()
}

#[cold]
fn release(refused: usize) {
    shortage::begin(refused);
    let place = RESERVED.swap(std::ptr::null_mut(), Ordering::SeqCst);
    if !place.is_null() {
        // SAFETY: the place came from `System` with this layout, and is given back once.
        #[allow(unsafe_code)]
        unsafe {
            System.dealloc(place, RESERVE);
        }
    }
}

/// Address space that a thread takes when it starts.
const STACK_BYTES: u128 = 2 << 20;

/// Starts `threads` threads; where the system refuses, once more with the reserve given back.
///
/// # Errors
/// Those of `start`, or [`Error::Memory`] when there is no room for stacks.
pub(crate) fn start<T>(threads: usize, start: impl Fn() -> Result<T>) -> Result<T> {
    let again = |_: Error| {
        release(STACK_BYTES as usize);
        start()
    };
    let room = (RESERVE.size() as u128).max(threads as u128 * STACK_BYTES) + RESERVE.size() as u128;
    start().or_else(again).map_err(|error| memory::reserve(room).err().unwrap_or(error))
}

/// Sets memory aside, unless that was done and it is still there; work may begin when this is so again.
pub(crate) fn reserve() {
    if !RESERVED.load(Ordering::SeqCst).is_null() {
        return;
    }
    // SAFETY: the layout is not of size 0.
    #[allow(unsafe_code)]
    let place = unsafe { System.alloc(RESERVE) };
    if place.is_null() {
        return;
    }
    let before = RESERVED.compare_exchange(std::ptr::null_mut(), place, Ordering::SeqCst, Ordering::SeqCst);
    if before.is_err() {
        // Another thread was faster. SAFETY: the place came from `System` with this layout, and nobody else knows it.
        #[allow(unsafe_code)]
        unsafe {
            System.dealloc(place, RESERVE);
        }
    }
    shortage::end();
}
