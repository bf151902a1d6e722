//! The compiled part of the Python package: NumPy arrays in, NumPy arrays out, everything else in the library or in Python.

mod choose;
mod errors;
mod fits;
mod heap;
mod kernelised;
mod kernels;
mod manifold;
mod model;
mod novelty;
mod pictures;
mod pieces;
mod pools;
mod preimage;
mod quality;
mod rows;
mod selection;
mod stream;
mod study;
mod sums;
mod work;

/// The module `eigenlift._native`.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::choose::choose_kernel_pca;
    #[pymodule_export]
    use super::errors::{EigenliftError, ModelFileError, NoVarianceError};
    #[pymodule_export]
    use super::fits::{fit_kernel_pca, fit_pca, fit_whitening, plan_kernel_pca, plan_pca, project};
    #[pymodule_export]
    use super::kernelised::{
        fit_kernel_cca, fit_kernel_discriminant, fit_kernel_k_means, kernel_cca_scores,
        kernel_discriminant_log_proba, kernel_k_means_plane, plan_kernel_cca, plan_kernel_discriminant,
        plan_kernel_k_means,
    };
    #[pymodule_export]
    use super::kernels::{
        cosine_features, kernel_catalog, kernel_diagonal, kernel_is_mercer, kernel_matrix, kernel_text,
        kernel_times, pivots, resolve_kernel,
    };
    #[pymodule_export]
    use super::manifold::{fit_manifold, plan_manifold};
    #[pymodule_export]
    use super::model::{Model, load};
    #[pymodule_export]
    use super::novelty::{contributions_kernel_pca, limits_kernel_pca, novelty_kernel_pca};
    #[pymodule_export]
    use super::pictures::{report_html, scree_svg};
    #[pymodule_export]
    use super::pieces::{
        certify_kernel_pca_pieces, fit_kernel_pca_pieces, fit_pca_pieces, fit_whitening_pieces,
        pivots_pieces, plan_kernel_pca_pieces, plan_pca_pieces, refine_kernel_pca_pieces,
    };
    #[pymodule_export]
    use super::preimage::{denoise_kernel_pca, invert_kernel_pca};
    #[pymodule_export]
    use super::quality::{examine_isomap, neighborhoods};
    #[pymodule_export]
    use super::selection::{mutual_information, search_features, select_features};
    #[pymodule_export]
    use super::stream::PcaStream;
    #[pymodule_export]
    use super::study::{align_kernel_pca, kernel_parallel_analysis, kernel_sensitivity, kernel_stability};
    #[pymodule_export]
    use super::sums::{FeatureSums, Features, centred_product, kernel_pair};
    #[pymodule_export]
    use super::work::stop_when;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        super::heap::reserve();
        super::errors::add_to(module)
    }
}
