//! Kernels that are compared: a family and its bandwidths around the median.

use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::kernel::{DistanceProfile, Kernel, KernelSpec, Param, ParamRole, Parameter, of_distance};

/// Powers of 2 by which squared distances are scaled against the median heuristic.
pub(super) const OCTAVES: std::ops::RangeInclusive<i32> = -2..=5;

/// What was asked for: a kernel as it is written, or one whose bandwidth is to be chosen whatever is written.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    Written(KernelSpec),
    Open(KernelSpec),
}

/// A family of kernels, one for each bandwidth.
#[derive(Clone, Debug)]
pub(super) struct Family {
    spec: KernelSpec,
    /// The bandwidth; `None` for the linear kernel, which has none.
    parameter: Option<&'static Parameter>,
    /// The bandwidth of the median heuristic.
    pub(super) median: Option<f64>,
    /// The bandwidth, where it is not to be chosen.
    kept: Option<f64>,
}

/// A kernel whose bandwidth is a number.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) text: String,
    pub(super) bandwidth: Option<f64>,
    pub(super) family: usize,
    /// log₂ of what squared distances are scaled by against the median heuristic; `None` where nothing is to be chosen.
    pub(super) octave: Option<f64>,
    pub(super) form: Form,
}

/// How a candidate is computed.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Linear,
    /// A positive factor and what it multiplies.
    Distance(f64, DistanceProfile),
}

impl Family {
    pub(super) fn new(wanted: &Wanted, rows: AnyPoints<'_>, seed: u64) -> Result<Self> {
        let (spec, open) = match wanted {
            Wanted::Written(spec) => (spec, false),
            Wanted::Open(spec) => (spec, true),
        };
        if *spec == KernelSpec::linear() {
            return Ok(Self { spec: spec.clone(), parameter: None, median: None, kept: None });
        }
        // Why 1: any number passes the checks; only the parameter is of interest here.
        let numbered = spec.map_params(&mut |_, _| Ok(1.0))?;
        let known = Kernel::new(&numbered, rows.n_cols()).is_ok_and(|kernel| kernel.by_distance().is_some());
        let found = spec.bandwidth().filter(|_| known);
        let Some((parameter, role, param)) = found.and_then(|(p, value)| Some((p, p.role?, value))) else {
            return Err(not_known(spec));
        };
        // γ of rbf(gamma=median) is one over the median of the squared distances.
        let rate = match Kernel::resolve(&KernelSpec::default(), rows.into(), seed)?.bandwidth() {
            Some((_, Param::Value(gamma))) => gamma,
            Some((_, Param::Median | Param::OverDimension | Param::Auto)) | None => f64::NAN,
        };
        let median = match role {
            ParamRole::SquaredDistance => 1.0 / rate,
            ParamRole::Distance => (1.0 / rate).sqrt(),
            ParamRole::DistanceRate => rate.sqrt(),
            ParamRole::SquaredDistanceRate => rate,
            ParamRole::L1Rate | ParamRole::InnerProductRate | ParamRole::Chi2Rate => {
                return Err(not_known(spec));
            }
        };
        let kept = match param {
            _ if open => None,
            Param::Value(value) => Some(value),
            Param::Median => Some(median),
            Param::OverDimension => Some(1.0 / rows.n_cols().max(1) as f64),
            Param::Auto => None,
        };
        Ok(Self { spec: spec.clone(), parameter: Some(parameter), median: Some(median), kept })
    }

    /// Whether there is a bandwidth to choose.
    pub(super) fn is_open(&self) -> bool {
        self.parameter.is_some() && self.kept.is_none()
    }

    /// The name of the bandwidth in a description.
    pub(super) fn bandwidth_name(&self) -> &'static str {
        self.parameter.map_or("", |parameter| parameter.name)
    }

    /// The candidate with squared distances scaled by 2^octave, or the only one there is.
    pub(super) fn candidate(&self, family: usize, octave: f64, n_features: usize) -> Result<Candidate> {
        let Some((role, median)) = self.parameter.and_then(|parameter| parameter.role).zip(self.median)
        else {
            return Ok(Candidate {
                text: self.spec.to_string(),
                bandwidth: None,
                family,
                octave: None,
                form: Form::Linear,
            });
        };
        let scaled = match role {
            ParamRole::SquaredDistance => median * (-octave).exp2(),
            ParamRole::Distance => median * (-0.5 * octave).exp2(),
            ParamRole::DistanceRate => median * (0.5 * octave).exp2(),
            ParamRole::SquaredDistanceRate
            | ParamRole::L1Rate
            | ParamRole::InnerProductRate
            | ParamRole::Chi2Rate => median * octave.exp2(),
        };
        let bandwidth = self.kept.unwrap_or(scaled);
        let spec = self.spec.map_params(&mut |_, _| Ok(bandwidth))?;
        let kernel = Kernel::new(&spec, n_features)?;
        let Some((factor, profile)) = kernel.by_distance() else { return Err(not_known(&self.spec)) };
        Ok(Candidate {
            text: spec.to_string(),
            bandwidth: Some(bandwidth),
            family,
            octave: self.is_open().then_some(octave),
            form: Form::Distance(factor, profile),
        })
    }
}

fn not_known(spec: &KernelSpec) -> Error {
    Error::kernel(
        format!("the kernel {spec}"),
        format!("a choice is made among linear, {}", of_distance("and")),
        "Choose one of these, or say how many components and give the parameters as numbers",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    fn family(wanted: Wanted) -> Result<Family> {
        let x = Matrix::from_fn(30, 2, |i, j| (i as f64 * 0.7 + j as f64).sin());
        Family::new(&wanted, (&x).into(), 0)
    }

    #[test]
    fn an_octave_doubles_squared_distances_in_every_notation() {
        for text in
            ["rbf", "rbf(sigma=median)", "rbf(c=median)", "matern(nu=2.5)", "rational_quadratic", "2*rbf"]
        {
            let family = family(Wanted::Open(text.parse().unwrap())).unwrap();
            let value = |octave: f64, r: f64| {
                let spec: KernelSpec = family.candidate(0, octave, 2).unwrap().text.parse().unwrap();
                Kernel::new(&spec, 2).unwrap().pair(&[0.0, 0.0], &[r, 0.0])
            };
            let (one, other) = (value(2.0, 0.5), value(0.0, 1.0));
            assert!((one - other).abs() < 1e-12, "{text}: {one} {other}");
        }
    }

    #[test]
    fn what_is_written_is_kept_and_what_is_open_is_not() {
        let kept = family(Wanted::Written("rbf(gamma=0.5)".parse().unwrap())).unwrap();
        assert!(!kept.is_open());
        assert_eq!(kept.candidate(0, 3.0, 2).unwrap().text, "rbf(gamma=0.5)");
        assert!(!family(Wanted::Written("rbf".parse().unwrap())).unwrap().is_open());
        assert!(family(Wanted::Open("rbf".parse().unwrap())).unwrap().is_open());
        assert!(!family(Wanted::Open(KernelSpec::linear())).unwrap().is_open());
        assert_eq!(family(Wanted::Open("rbf(sigma=1)".parse().unwrap())).unwrap().bandwidth_name(), "sigma");
    }

    #[test]
    fn other_kernels_are_refused() {
        for text in ["polynomial(degree=2)", "rbf + linear", "cosine", "precomputed"] {
            let message = family(Wanted::Written(text.parse().unwrap())).unwrap_err().to_string();
            assert!(message.contains("a choice is made among"), "{message}");
        }
    }
}
