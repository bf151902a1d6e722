//! Kernel PCA of the irises: scores, what they are worth, and the scores of a new flower.
#![allow(clippy::print_stdout)]

use eigenlift::{data, error::Error, matrix::Matrix, methods::KernelPca};

fn main() -> Result<(), Error> {
    let iris = data::iris()?;
    let model = KernelPca::new(2).kernel("rbf(gamma=median)".parse()?).fit(iris.samples)?;

    println!("{}", model.plan());
    println!("share of variance {:.3?}", model.explained_variance_ratio());
    println!("worst residual    {:.1e}", model.certificate().worst_residual());
    println!("first flower      {:.4?}", model.scores()?.row(0));

    let flower = Matrix::from_vec(vec![5.0, 3.4, 1.5, 0.2], 1, 4)?;
    println!("new flower        {:.4?}", model.transform(&flower)?.row(0));
    Ok(())
}
