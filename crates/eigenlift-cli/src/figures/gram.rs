//! The kernel matrix and its centred form as colours.

use super::{Shown, continuous};
use crate::exit::Failure;
use crate::pairwise::{Square, refuse_large, square};
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::FittedKernelPca;
use eigenlift::model::Lift;
use eigenlift::progress::Watch;
use eigenlift_io::Target;
use eigenlift_plot::{Figure, GramPicture, gram_picture};

/// Draws K and K̃ of the samples that a model holds, or else of those shown.
pub(crate) fn draw_gram(model: &FittedKernelPca, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
    let held = match &model.projection().lift {
        Lift::Kernel { samples, .. } => Some(samples.points()),
        Lift::Features { .. } => shown.rows,
        _ => None,
    };
    let Some(points) = held else {
        return Err(Failure::usage(
            "the kernel matrix of a model that holds no rows",
            "samples or landmarks are needed",
            "Use eigenlift kernel gram TABLE --plot FILE",
        ));
    };
    let spec: KernelSpec = model.plan().kernel.parse()?;
    draw_gram_of(&spec, &points.to_dense::<f64>(), shown.target, title, &Watch::default())
}

/// Draws K and K̃ of rows.
pub(crate) fn draw_gram_of(
    spec: &KernelSpec,
    x: &Matrix<f64>,
    target: Option<&Target>,
    title: &str,
    watch: &Watch,
) -> Result<Figure, Failure> {
    refuse_large(x.n_rows(), None)?;
    let (_, gram) = square(Square::Gram, spec, x, 0, watch)?;
    let (_, centered) = square(Square::Centered, spec, x, 0, watch)?;
    let classes = target
        .filter(|target| continuous(target).is_none() && target.values.len() == x.n_rows())
        .map(|target| target.values.as_slice());
    Ok(gram_picture(&GramPicture {
        gram: gram.as_slice(),
        centered: centered.as_slice(),
        n: x.n_rows(),
        classes,
        title,
    })?)
}
