use eigenlift::{matrix::Matrix, methods::KernelPca, gram::Storage};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: usize = args[1].parse().unwrap();
    let d: usize = 64;
    let storage = if args[2] == "tiled" { Storage::Tiled } else { Storage::Stored };
    let threads: usize = args[3].parse().unwrap();
    let f32s = args.get(4).is_some();
    let mut s = 12345u64;
    let mut uni = move || { s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); ((s >> 33) as f64) / (1u64 << 31) as f64 };
    let mut g = move || { let mut t = 0.0; for _ in 0..12 { t += uni(); } t - 6.0 };
    let c = Matrix::from_fn(20, d, |_, _| g());
    let mut which = 0;
    let x = Matrix::from_fn(n, d, |i, j| { if j == 0 { which = (i * 7919) % 20; } c[(which, j)] + 0.7 * g() });
    let k = KernelPca::new(16).storage(storage).threads(threads);
    for _ in 0..3 {
        let t = Instant::now();
        let m = if f32s { k.fit(Matrix::from_fn(n, d, |i, j| x[(i, j)] as f32)).unwrap() } else { k.fit(x.clone()).unwrap() };
        let fit = t.elapsed();
        let q = Matrix::from_fn(5000, d, |i, j| x[(i % n, j)] + 0.1);
        let t = Instant::now();
        m.transform(&q).unwrap();
        println!("n {n} fit {:.3} transform {:.3} residual {:.1e} {:?} {} e1 {} {:?}", fit.as_secs_f64(), t.elapsed().as_secs_f64(), m.certificate().worst_residual(), m.stats(), m.plan().kernel, m.eigenvalues()[0], m.plan().sketch_rank);
    }
    let hwm = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", hwm.lines().find(|l| l.starts_with("VmHWM")).unwrap());
}
