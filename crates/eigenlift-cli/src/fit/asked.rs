//! What `fit METHOD` was asked for, whatever the method.

use crate::args::{FitMethod, FitOutputArgs, InputArgs, MachineArgs};
use crate::exit::Failure;
use crate::method::{
    Earlier, KccaSettings, KdaSettings, KernelPcaSettings, KkmeansSettings, ManifoldSettings, Method,
    PcaSettings, WhitenSettings,
};
use std::path::Path;

/// A fit as the command line asks for it.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a dyn Method,
    pub(crate) input: &'a InputArgs,
    pub(crate) machine: &'a MachineArgs,
    pub(crate) output: &'a FitOutputArgs,
    pub(crate) loadings: Option<&'a Path>,
}

impl FitMethod {
    /// Hands over what was asked for.
    pub(crate) fn with<T>(&self, then: impl FnOnce(Asked<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        match self {
            Self::Kpca(args) => {
                let earlier = args.like.as_deref().map(Earlier::load).transpose()?;
                then(Asked {
                    method: &KernelPcaSettings {
                        args: &args.settings,
                        earlier,
                        control_limits: args.control_limits,
                    },
                    input: &args.input,
                    machine: &args.settings.machine,
                    output: &args.output,
                    loadings: None,
                })
            }
            Self::Pca(args) => then(Asked {
                method: &PcaSettings(&args.settings),
                input: &args.input,
                machine: &args.settings.linear.machine,
                output: &args.output,
                loadings: args.loadings.as_deref(),
            }),
            Self::Whiten(args) => then(Asked {
                method: &WhitenSettings(&args.settings),
                input: &args.input,
                machine: &args.settings.linear.machine,
                output: &args.output,
                loadings: None,
            }),
            Self::Kcca(args) => then(Asked {
                method: &KccaSettings(&args.settings),
                input: &args.input,
                machine: &args.settings.factor.machine,
                output: &args.output,
                loadings: None,
            }),
            Self::Kda(args) => then(Asked {
                method: &KdaSettings(&args.settings),
                input: &args.input,
                machine: &args.settings.factor.machine,
                output: &args.output,
                loadings: None,
            }),
            Self::Kkmeans(args) => then(Asked {
                method: &KkmeansSettings(&args.settings),
                input: &args.input,
                machine: &args.settings.factor.machine,
                output: &args.output,
                loadings: None,
            }),
            Self::Manifold(args) => then(Asked {
                method: &ManifoldSettings(&args.settings),
                input: &args.input,
                machine: &args.settings.machine,
                output: &args.output,
                loadings: None,
            }),
        }
    }
}
