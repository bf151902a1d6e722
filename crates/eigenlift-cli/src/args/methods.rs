//! Which method a command is about.

use super::kernelised::{KccaArgs, KdaArgs, KkmeansArgs};
use super::manifold::{Described, FitWith, PlanWith};
use super::{
    ChooseKpcaArgs, ChoosePcaArgs, DoctorIsomapArgs, FitArgs, FitOutputArgs, FitPcaArgs, FitWhitenArgs,
    PlanArgs, PlanPcaArgs, PlanWhitenArgs, SpeechArgs, examples,
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
    #[command(flatten)]
    Manifold(Described<FitOutputArgs>),
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
    #[command(flatten)]
    Manifold(Described<SpeechArgs>),
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
