//! One law suite for every place where rows can be: in memory, read in chunks, in partitions.

use eigenlift::data::{AnySamples, RowsInMemory, synthetic};
use eigenlift::engine::{Cpu, Engine};
use eigenlift::rows::Data;
use eigenlift_testkit::pieces::Cut;
use eigenlift_testkit::rows::RowLaws;
use std::sync::Arc;

fn tables() -> Vec<(AnySamples, f64)> {
    let x: AnySamples = synthetic("swiss-roll", Some(157), Some(0.05), 7).unwrap().samples.into();
    // Rows in single precision have kernel values in single precision: 2⁻²⁴ for each of some ten operations, of polynomials of degree 2.
    vec![(x.clone(), 1e-10), (x.to_single(), 1e-5)]
}

fn engine(threads: usize) -> Arc<dyn Engine> {
    Arc::new(Cpu::new(threads).unwrap())
}

#[test]
fn rows_in_memory_obey_the_laws() {
    for (x, rounding) in tables() {
        let laws = RowLaws { x: &x, kernel: "polynomial(degree=2,gamma=0.1,coef0=1)", rounding };
        for threads in [1, 3] {
            laws.check(&*Data::from(&x).rows(&engine(threads), false).unwrap());
            laws.check(&*Data::from(x.points()).rows(&engine(threads), false).unwrap());
        }
    }
}

#[test]
fn rows_read_in_chunks_obey_the_laws() {
    for (x, rounding) in tables() {
        let laws = RowLaws { x: &x, kernel: "polynomial(degree=2,gamma=0.1,coef0=1)", rounding };
        let mut source = RowsInMemory::new(x.points());
        laws.check(&*Data::from(&mut source).rows(&engine(2), false).unwrap());
    }
}

#[test]
fn rows_in_partitions_obey_the_laws() {
    for (x, rounding) in tables() {
        let laws = RowLaws { x: &x, kernel: "polynomial(degree=2,gamma=0.1,coef0=1)", rounding };
        for cuts in [vec![80], vec![1, 90, 91]] {
            let cut = Cut::new(&x, &cuts);
            laws.check(&*Data::from(&cut).rows(&engine(2), false).unwrap());
        }
    }
}

#[test]
fn pivots_are_the_same_wherever_rows_are() {
    let x = tables().swap_remove(0).0;
    let laws = RowLaws { x: &x, kernel: "linear", rounding: 1e-10 };
    let (mut source, cut) = (RowsInMemory::new(x.points()), Cut::new(&x, &[40, 41, 100]));
    let memory = Data::from(&x).rows(&engine(2), false).unwrap();
    let chunks = Data::from(&mut source).rows(&engine(1), false).unwrap();
    let partitions = Data::from(&cut).rows(&engine(2), false).unwrap();
    laws.same_pivots(&*memory, &*chunks);
    laws.same_pivots(&*memory, &*partitions);
}

/// The same bits for any number of threads.
#[test]
fn threads_change_no_bit() {
    use eigenlift::gram::Similarity;
    use eigenlift::kernel::Kernel;
    use eigenlift::progress::Watch;
    use eigenlift::rows::{Pass, Rows};
    let x: AnySamples = synthetic("swiss-roll", Some(1500), Some(0.05), 3).unwrap().samples.into();
    let kernel = Kernel::new(&"rbf(gamma=0.01)".parse().unwrap(), 3).unwrap();
    let watch = Watch::default();
    let asked = |rows: &dyn Rows| {
        let pass = Pass::new(&watch);
        let center = [1.0, 2.0, 3.0];
        let block = eigenlift::matrix::Matrix::from_fn(3, 2, |i, j| (i + 2 * j) as f64);
        let product = rows.centered_product(&center, block.view(), &pass).unwrap();
        (product.into_vec(), rows.diagonal(&Similarity::Kernel(kernel.clone()), &pass).unwrap())
    };
    let one = asked(&*Data::from(&x).rows(&engine(1), false).unwrap());
    let four = asked(&*Data::from(&x).rows(&engine(4), false).unwrap());
    assert_eq!(one, four);
}
