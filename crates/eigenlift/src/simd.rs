//! Runs a loop compiled for the widest vector instructions this processor has.

/// A loop over numbers that the compiler can vectorise. `run` and all it calls must be `#[inline(always)]`, so that it is
/// compiled anew inside each of the functions below.
pub trait Vectorised {
    /// Runs the loop; FMA says whether a fused multiply-add is an instruction here.
    fn run<const FMA: bool>(self);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
fn with_avx512<V: Vectorised>(task: V) {
    task.run::<true>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<V: Vectorised>(task: V) {
    task.run::<true>();
}

/// Runs `task`. The choice depends on the processor alone, so results are the same from call to call.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub fn dispatch<V: Vectorised>(task: V) {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl");
    if avx2 && avx512 {
        // SAFETY: the processor has the instructions.
        return unsafe { with_avx512(task) };
    }
    if avx2 {
        // SAFETY: the processor has the instructions.
        return unsafe { with_avx2(task) };
    }
    task.run::<false>();
}

/// Runs `task`.
#[cfg(not(target_arch = "x86_64"))]
pub fn dispatch<V: Vectorised>(task: V) {
    task.run::<{ cfg!(target_arch = "aarch64") }>();
}
