//! The worked example, step by step: four points, k = (⟨x,y⟩ + 1)², and K, K̃, nλ, α and the scores.
#![allow(clippy::print_stdout)]

use eigenlift::data;
use eigenlift::engine::{Cpu, Engine};
use eigenlift::error::Error;
use eigenlift::gram::{Similarity, Storage};
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelPca;
use eigenlift::operator::{Centered, LinearOperator};
use eigenlift::progress::Watch;
use eigenlift::rows::Data;
use std::sync::Arc;

fn main() -> Result<(), Error> {
    let samples = data::worked_example()?.samples;
    let spec: KernelSpec = "polynomial(degree=2)".parse()?;
    let similarity = Similarity::Kernel(Kernel::new(&spec, samples.n_cols())?);
    let watch = Watch::default();

    let engine: Arc<dyn Engine> = Arc::new(Cpu::new(1)?);
    let rows = Data::from(samples.clone()).rows(&engine, false)?;
    let gram = rows.gram(&similarity, Storage::Stored, false)?;
    print_matrix("K", &gram.to_dense(&watch)?, 0);
    print_matrix("K̃ = HKH", &Centered::new(&*gram).to_dense(&watch)?, 0);

    // Four points centred span at most three dimensions: the fourth eigenvalue is zero, and asking for it only warns.
    let model = KernelPca::new(4).kernel(spec).fit(samples)?;
    println!("nλ\n{:14.8?}\n", model.eigenvalues());
    print_matrix("α, one column for each component", model.coefficients(), 8);
    print_matrix("scores", &model.scores()?, 8);
    model.warnings().iter().for_each(|warning| println!("note: {warning}"));
    Ok(())
}

fn print_matrix(name: &str, matrix: &Matrix<f64>, digits: usize) {
    println!("{name}");
    for i in 0..matrix.n_rows() {
        let cells: Vec<String> = matrix.row(i).iter().map(|x| format!("{x:14.digits$}")).collect();
        println!("{}", cells.concat());
    }
    println!();
}
