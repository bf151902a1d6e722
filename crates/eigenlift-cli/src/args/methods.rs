//! Which method a command is about.

use super::kernelised::{KccaArgs, KdaArgs, KkmeansArgs};
use super::manifold::{DiffusionArgs, FitWith, IsomapArgs, LaplacianArgs, LleArgs, MdsArgs, PlanWith};
use super::{
    ChooseKpcaArgs, ChoosePcaArgs, DoctorIsomapArgs, FitArgs, FitPcaArgs, FitWhitenArgs, PlanArgs,
    PlanPcaArgs, PlanWhitenArgs, examples,
};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum FitMethod {
    /// Kernel PCA
    #[command(after_help = examples::FIT_KPCA)]
    Kpca(FitArgs),
    /// Principal component analysis
    #[command(after_help = examples::FIT_PCA)]
    Pca(FitPcaArgs),
    /// Whitening: coordinates without correlation, of variance 1
    #[command(after_help = examples::FIT_WHITEN)]
    Whiten(FitWhitenArgs),
    /// Isomap: keeps distances along a graph of neighbours
    #[command(after_help = examples::FIT_ISOMAP)]
    Isomap(FitWith<IsomapArgs>),
    /// Classical multidimensional scaling: keeps distances
    #[command(after_help = examples::FIT_MDS)]
    Mds(FitWith<MdsArgs>),
    /// Laplacian eigenmaps: rows that are alike lie close together
    #[command(after_help = examples::FIT_LAPLACIAN)]
    Laplacian(FitWith<LaplacianArgs>),
    /// Diffusion maps: keeps where random walks lead
    #[command(after_help = examples::FIT_DIFFUSION)]
    Diffusion(FitWith<DiffusionArgs>),
    /// Locally linear embedding and its variants
    #[command(after_help = examples::FIT_LLE)]
    Lle(FitWith<LleArgs>),
    /// Kernel canonical correlation: what two or more views of the same rows have in common
    #[command(after_help = examples::FIT_KCCA)]
    Kcca(FitWith<KccaArgs>),
    /// Kernel discriminant: directions that tell the classes of --target apart
    #[command(after_help = examples::FIT_KDA)]
    Kda(FitWith<KdaArgs>),
    /// Kernel k-means: clusters in the feature space of a kernel
    #[command(after_help = examples::FIT_KKMEANS)]
    Kkmeans(FitWith<KkmeansArgs>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanMethod {
    /// Kernel PCA
    #[command(after_help = examples::PLAN)]
    Kpca(PlanArgs),
    /// Principal component analysis
    #[command(after_help = examples::PLAN_PCA)]
    Pca(PlanPcaArgs),
    /// Whitening
    #[command(after_help = examples::PLAN_WHITEN)]
    Whiten(PlanWhitenArgs),
    /// Isomap
    #[command(after_help = examples::PLAN_ISOMAP)]
    Isomap(PlanWith<IsomapArgs>),
    /// Classical multidimensional scaling
    #[command(after_help = examples::PLAN_MDS)]
    Mds(PlanWith<MdsArgs>),
    /// Laplacian eigenmaps
    #[command(after_help = examples::PLAN_LAPLACIAN)]
    Laplacian(PlanWith<LaplacianArgs>),
    /// Diffusion maps
    #[command(after_help = examples::PLAN_DIFFUSION)]
    Diffusion(PlanWith<DiffusionArgs>),
    /// Locally linear embedding and its variants
    #[command(after_help = examples::PLAN_LLE)]
    Lle(PlanWith<LleArgs>),
    /// Kernel canonical correlation
    #[command(after_help = examples::PLAN_KCCA)]
    Kcca(PlanWith<KccaArgs>),
    /// Kernel discriminant
    #[command(after_help = examples::PLAN_KDA)]
    Kda(PlanWith<KdaArgs>),
    /// Kernel k-means
    #[command(after_help = examples::PLAN_KKMEANS)]
    Kkmeans(PlanWith<KkmeansArgs>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChooseMethod {
    /// Kernel PCA: bandwidth and number of components, by predicting hidden entries or labels
    #[command(after_help = examples::CHOOSE_KPCA)]
    Kpca(ChooseKpcaArgs),
    /// Principal component analysis: what seven rules say, and what they agree on
    #[command(after_help = examples::CHOOSE_PCA)]
    Pca(ChoosePcaArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum DoctorQuestion {
    /// How many neighbours, and which edges of their graph look like short circuits
    #[command(after_help = examples::DOCTOR_ISOMAP)]
    Isomap(DoctorIsomapArgs),
}
