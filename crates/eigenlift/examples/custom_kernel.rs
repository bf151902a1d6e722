//! A kernel of one's own, in three ways: as a formula, as a feature map that proves it valid, and as a Rust function.
#![allow(clippy::print_stdout)]

use eigenlift::data::{self, AnySamples};
use eigenlift::engine::Cpu;
use eigenlift::error::Error;
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::kernel_check::{compare, mercer_check};
use eigenlift::methods::KernelPca;
use eigenlift::progress::Watch;

fn main() -> Result<(), Error> {
    let samples = data::synthetic("parabola", Some(100), None, 1)?.samples;
    let watch = Watch::default();

    // The same kernel as a formula in x and y and as ⟨φ(x), φ(y)⟩. That they agree shows that the formula is valid here.
    let formula: KernelSpec = "expr(1 + 2*x1^2*y1^2 + 2*x2^2*y2^2)".parse()?;
    let map: KernelSpec = "map(1, sqrt(2)*x1^2, sqrt(2)*x2^2)".parse()?;
    println!("{formula} and {map}: {}", compare(&formula, &map, samples.points(), 0, &watch)?.sentence());

    // Without a map, the eigenvalues of the Gram matrix tell.
    let rows: AnySamples = samples.clone().into();
    let sigmoid: KernelSpec = "sigmoid(gamma=1, coef0=-1)".parse()?;
    println!("{sigmoid}: {}", mercer_check(&sigmoid, &rows, &Cpu::new(0)?, None, 0, &watch)?.sentence());

    // A closure takes part in everything except saving: a model file holds descriptions, never code.
    let function = Kernel::from_fn("histogram overlap of squares", |x, y| {
        x.iter().zip(y).map(|(a, b)| (a * a).min(b * b)).sum()
    });
    let model = KernelPca::new(2).ready_kernel(function).fit(samples)?;
    println!("{}: eigenvalues {:.4?}", model.plan().kernel, model.eigenvalues());
    Ok(())
}
