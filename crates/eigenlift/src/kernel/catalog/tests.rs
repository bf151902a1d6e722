use super::*;
use crate::kernel::NamedKernel;
use crate::kernel::{Dimension, Kernel, KernelSpec};
use crate::matrix::Matrix;

/// Rows of the catalog that are built from parameters.
fn built() -> impl Iterator<Item = KernelSpec> {
    let from_text = |entry: &KernelEntry| {
        matches!(entry.profile, Profile::Map | Profile::Expr | Profile::Precomputed | Profile::Auto)
    };
    CATALOG
        .iter()
        .filter(move |entry| !from_text(entry))
        .map(|entry| KernelSpec::Named(NamedKernel::new(entry)))
}

#[test]
fn every_row_is_complete_and_named_once() {
    let mut seen: Vec<&str> = Vec::new();
    for entry in CATALOG {
        seen.extend(entry.aliases.iter().chain([&entry.name]));
        for text in [entry.name, entry.title, entry.formula, entry.doc] {
            assert!(!text.is_empty(), "{entry:?}");
        }
        for param in entry.params {
            assert!(
                !param.name.is_empty() && !param.title.is_empty() && param.doc.ends_with('.'),
                "{param:?}"
            );
            assert!(param.check(entry.name, param.default).is_ok(), "{param:?}");
        }
        assert!(entry.doc.ends_with('.'), "{entry:?}");
    }
    let n = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), n, "a name stands for two kernels");
}

#[test]
fn every_row_is_printed_read_and_computed() {
    let x = Matrix::from_fn(6, 3, |i, j| 0.1 + ((i * 3 + j) as f64 * 1.7).sin().abs());
    for spec in built() {
        assert_eq!(spec.to_string().parse::<KernelSpec>().unwrap(), spec);
        let kernel = Kernel::for_points(&spec, (&x).into(), 0).unwrap();
        let values = kernel.matrix((&x).into(), (&x).into());
        assert!(values.as_slice().iter().all(|value| value.is_finite()), "{kernel}");
    }
}

/// K + 1e-13·tr(K)·I has a Cholesky factorization: all pivots are positive. Rounding of its 12 steps is below 1e-14·tr(K).
#[test]
fn kernels_that_are_called_valid_are_so_on_points() {
    let x = Matrix::from_fn(12, 3, |i, j| ((i * 3 + j) as f64 * 2.3).sin().abs());
    for spec in built().filter(|spec| spec.is_mercer() == Some(true)) {
        let kernel = Kernel::for_points(&spec, (&x).into(), 0).unwrap();
        let mut k = kernel.matrix((&x).into(), (&x).into());
        let trace: f64 = (0..12).map(|i| k[(i, i)]).sum();
        for i in 0..12 {
            k[(i, i)] += 1e-13 * trace;
            let pivot = k[(i, i)];
            assert!(pivot > 0.0, "{kernel}: pivot {i} is {pivot:e}");
            for a in i + 1..12 {
                let factor = k[(a, i)] / pivot;
                for b in i + 1..12 {
                    k[(a, b)] -= factor * k[(i, b)];
                }
            }
        }
    }
}

/// `docs/reference/kernels.md` holds this table.
fn table() -> String {
    let mut text = String::from(
        "| kernel | k(x,y) | parameters | computed from | positive semi-definite | dimension, d columns | Fourier |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for entry in CATALOG {
        let mut names = vec![format!("`{}`", entry.name)];
        names.extend(entry.aliases.iter().map(|alias| format!("`{alias}`")));
        let params: Vec<String> =
            entry.params.iter().map(|param| format!("`{}` = {}", param.name, param.default)).collect();
        let valid = match entry.mercer {
            Mercer::Always if entry.nonnegative => "entries ≥ 0",
            Mercer::Always => "always",
            Mercer::When { condition, .. } => condition,
            Mercer::Unknown => "not in general",
        };
        let dimension = match entry.features {
            Features::Monomials(_) => "that of the monomials",
            Features::Columns => "d",
            Features::Formulas => "number of formulas",
            Features::Infinite => "infinite",
            Features::Unknown => "not known",
        };
        text += &format!(
            "| {} | {} | {} | {} | {valid} | {dimension} | {} |\n",
            names.join(", "),
            entry.formula,
            params.join(if entry.takes_one() { " or " } else { ", " }),
            entry.profile.word(),
            if entry.has_spectral_density() { "yes" } else { "" },
        );
    }
    text
}

#[test]
fn the_reference_lists_every_kernel() {
    let page = include_str!("../../../../../docs/reference/kernels.md");
    assert!(page.contains(&table()), "docs/reference/kernels.md must hold this table:\n\n{}", table());
}

#[test]
fn dimensions_are_those_of_the_rows() {
    for spec in built() {
        let Some(kernel) = spec.named() else { panic!("{spec}") };
        let known = spec.dimension(3) != Dimension::Unknown;
        assert_eq!(known, !matches!(kernel.entry().features, Features::Unknown), "{spec}");
    }
}
