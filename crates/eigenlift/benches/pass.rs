//! Times one pass K·V over an RBF Gram matrix that is computed tile by tile, and the two matrix products it contains.
//!
//! ```text
//! cargo bench -p eigenlift --bench pass -- [rows] [columns of X] [columns of V] [threads] [repetitions]
//! ```
//!
//! Prints one line of JSON: seconds of the best pass, and of the best run of the products by the crate gemm. Pass and
//! products have the same number of flops, n²d for the half of X·Xᵀ and 2n²b for K·V, and take turns, so that a machine that
//! slows down does so for both; the median of their ratios in each turn is what a busy machine disturbs least.
//! `benchmarks/pass.py` sets them beside OpenBLAS.

#![allow(missing_docs, unsafe_code, clippy::print_stdout)]

use eigenlift::data::Samples;
use eigenlift::gram::{Similarity, Storage, SymmetricGram};
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use eigenlift::operator::LinearOperator;
use eigenlift::progress::Watch;
use eigenlift::real::Real;
use std::sync::Mutex;
use std::time::Instant;

/// Rows of the products: large enough that packing is nothing beside the work. They are repeated to make up n².
const PRODUCT_ROWS: usize = 4096;

#[derive(Clone, Copy)]
struct Sizes {
    n: usize,
    d: usize,
    b: usize,
    repetitions: usize,
}

/// Entries that look random, with mean 0 and variance 1.
fn noise<T: Real>(n_rows: usize, n_cols: usize) -> Matrix<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    Matrix::from_fn(n_rows, n_cols, |_, _| T::of((0..3).map(|_| uniform()).sum::<f64>() * 2.0))
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// out ← A·B, or A·Bᵀ when `transposed`, by the crate gemm in one thread.
fn product<T: Real>(out: &mut Matrix<T>, a: &Matrix<T>, b: &Matrix<T>, transposed: bool) {
    let (m, n, k) = (out.n_rows(), out.n_cols(), a.n_cols());
    let (along_row, along_column) =
        if transposed { (b.n_cols() as isize, 1) } else { (1, b.n_cols() as isize) };
    // SAFETY: the three matrices have no gaps, and the callers below give them fitting shapes.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_slice().as_mut_ptr(),
            1,
            n as isize,
            false,
            a.as_slice().as_ptr(),
            1,
            k as isize,
            b.as_slice().as_ptr(),
            along_row,
            along_column,
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// The factors of the products in `T`, and for each thread a place for results.
struct Products<T> {
    x: Matrix<T>,
    v: Matrix<T>,
    k: Matrix<T>,
    upper: Matrix<T>,
    results: Vec<Mutex<(Matrix<T>, Matrix<T>)>>,
    times: usize,
}

impl<T: Real> Products<T> {
    fn new(Sizes { n, d, b, .. }: Sizes) -> Self {
        let rows = n.min(PRODUCT_ROWS);
        let threads = rayon::current_num_threads();
        let result = |_| Mutex::new((Matrix::zeros(rows / 2, rows), Matrix::zeros(rows, b)));
        Self {
            x: noise(rows, d),
            v: noise(rows, b),
            k: noise(rows, rows),
            upper: noise(rows / 2, d),
            results: (0..threads).map(result).collect(),
            times: (n / rows).pow(2).div_ceil(threads),
        }
    }

    /// Half of X·Xᵀ and all of K·V, as often as needed, shared among the threads.
    fn run(&self) {
        rayon::broadcast(|thread| {
            let mut results = self.results[thread.index()].lock().expect("a place");
            for _ in 0..self.times {
                product(&mut results.0, &self.upper, &self.x, true);
                product(&mut results.1, &self.k, &self.v, false);
            }
        });
    }

    /// Flops of a pass over those of `run`.
    fn scale(&self, Sizes { n, .. }: Sizes) -> f64 {
        (n * n) as f64 / (self.times * self.results.len() * self.x.n_rows().pow(2)) as f64
    }
}

/// Best seconds of a pass, best seconds of its products, and the median ratio of the two.
fn measure<T: Real>(sizes: Sizes) -> [f64; 3] {
    let Sizes { n, d, b, repetitions } = sizes;
    // Squared distances have mean 2d: the kernel takes values around 1/e.
    let spec: KernelSpec = format!("rbf(gamma={})", 0.5 / d as f64).parse().expect("a kernel");
    let kernel = Kernel::new(&spec, d).expect("a kernel");
    let samples = Samples::from(noise::<T>(n, d));
    let gram = SymmetricGram::new(Similarity::Kernel(kernel), samples, Storage::Tiled).expect("a matrix");
    let (block, mut out) = (noise::<f64>(n, b), Matrix::zeros(n, b));
    let products = Products::<T>::new(sizes);
    let mut best = [f64::INFINITY; 2];
    let mut ratios = Vec::new();
    for _ in 0..repetitions {
        let pass = seconds(|| gram.apply(block.view(), out.view_mut(), &Watch::default()).expect("a pass"));
        let gemm = seconds(|| products.run()) * products.scale(sizes);
        best = [best[0].min(pass), best[1].min(gemm)];
        ratios.push(pass / gemm);
    }
    std::hint::black_box((&out, &products.results));
    ratios.sort_by(f64::total_cmp);
    [best[0], best[1], ratios[ratios.len() / 2]]
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let number = |at: usize, otherwise: usize| numbers.get(at).copied().unwrap_or(otherwise);
    let sizes = Sizes { n: number(0, 1024), d: number(1, 32), b: number(2, 32), repetitions: number(4, 3) };
    let threads = number(3, 1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let results = pool.install(|| [("f32", measure::<f32>(sizes)), ("f64", measure::<f64>(sizes))]);
    let lines = results.map(|(name, [pass, gemm, ratio])| {
        format!(r#""{name}":{{"pass_seconds":{pass:.6e},"gemm_seconds":{gemm:.6e},"gemm_ratio":{ratio:.4}}}"#)
    });
    let Sizes { n, d, b, .. } = sizes;
    println!(r#"{{"n":{n},"d":{d},"b":{b},"threads":{threads},{}}}"#, lines.join(","));
}
