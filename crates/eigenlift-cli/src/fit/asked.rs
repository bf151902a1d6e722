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
        let (method, input, output): (ManifoldSettings<'_>, _, _) = match self {
            Self::Kpca(args) => {
                let earlier = args.like.as_deref().map(Earlier::load).transpose()?;
                return then(Asked {
                    method: &KernelPcaSettings {
                        args: &args.settings,
                        earlier,
                        control_limits: args.control_limits,
                    },
                    input: &args.input,
                    machine: &args.settings.machine,
                    output: &args.output,
                    loadings: None,
                });
            }
            Self::Pca(args) => {
                return then(Asked {
                    method: &PcaSettings(&args.settings),
                    input: &args.input,
                    machine: &args.settings.linear.machine,
                    output: &args.output,
                    loadings: args.loadings.as_deref(),
                });
            }
            Self::Whiten(args) => {
                return then(Asked {
                    method: &WhitenSettings(&args.settings),
                    input: &args.input,
                    machine: &args.settings.linear.machine,
                    output: &args.output,
                    loadings: None,
                });
            }
            Self::Kcca(args) => {
                return then(Asked {
                    method: &KccaSettings(&args.settings),
                    input: &args.input,
                    machine: &args.settings.factor.machine,
                    output: &args.output,
                    loadings: None,
                });
            }
            Self::Kda(args) => {
                return then(Asked {
                    method: &KdaSettings(&args.settings),
                    input: &args.input,
                    machine: &args.settings.factor.machine,
                    output: &args.output,
                    loadings: None,
                });
            }
            Self::Kkmeans(args) => {
                return then(Asked {
                    method: &KkmeansSettings(&args.settings),
                    input: &args.input,
                    machine: &args.settings.factor.machine,
                    output: &args.output,
                    loadings: None,
                });
            }
            Self::Isomap(args) => (ManifoldSettings::Isomap(&args.settings), &args.input, &args.output),
            Self::Mds(args) => (ManifoldSettings::Mds(&args.settings), &args.input, &args.output),
            Self::Laplacian(args) => (ManifoldSettings::Laplacian(&args.settings), &args.input, &args.output),
            Self::Diffusion(args) => (ManifoldSettings::Diffusion(&args.settings), &args.input, &args.output),
            Self::Lle(args) => (ManifoldSettings::Lle(&args.settings), &args.input, &args.output),
        };
        let machine = &method.common().machine;
        then(Asked { method: &method, input, machine, output, loadings: None })
    }
}
