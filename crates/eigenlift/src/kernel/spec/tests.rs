use proptest::prelude::*;

use super::*;
use crate::kernel::CATALOG;
use crate::kernel::entry::{KernelEntry, Range};
use crate::kernel::token::bad;

fn read(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

fn formula(text: &str) -> Formula {
    Formula::parse(text, true).unwrap()
}

#[test]
fn the_default_is_a_gaussian_of_median_width() {
    assert_eq!(KernelSpec::default().to_string(), "rbf(gamma=median)");
    assert_eq!(read("rbf"), KernelSpec::default());
}

#[test]
fn every_name_has_its_parameters_and_can_be_read() {
    for entry in CATALOG {
        for name in entry.aliases.iter().chain([&entry.name]) {
            let text =
                if ["map", "expr"].contains(name) { format!("{name}(x1)") } else { (*name).to_string() };
            assert!(read(&text).to_string().starts_with(entry.name));
            for param in entry.params {
                let text = format!("{name}({}=1.5)", param.name.to_uppercase());
                assert!(read(&text).to_string().contains(&format!("{}=1.5", param.name)), "{text}");
            }
        }
    }
}

#[test]
fn constructors_give_the_canonical_form() {
    let (a, b, c) = (KernelSpec::linear(), read("cosine"), read("intersection"));
    let sum = KernelSpec::sum([KernelSpec::sum([a.clone(), b.clone()]), c.clone()]);
    assert_eq!(sum, KernelSpec::Sum(vec![a.clone(), b.clone(), c.clone()]));
    let product =
        KernelSpec::product([a.clone().scaled(2.0), KernelSpec::product([b.clone(), c.clone().scaled(3.0)])]);
    assert_eq!(product, KernelSpec::Scaled(6.0, Box::new(KernelSpec::Product(vec![a.clone(), b, c]))));
    assert_eq!(KernelSpec::sum([a.clone()]), a);
    assert_eq!(KernelSpec::product([a.clone()]), a);
    assert_eq!(a.clone().scaled(2.0).scaled(0.5), KernelSpec::Scaled(1.0, Box::new(a)));
}

#[test]
fn mercer_where_it_is_known() {
    for text in [
        "linear",
        "poly(2)",
        "poly(3,1/d,0)",
        "rbf(sigma=2)",
        "laplacian",
        "exponential",
        "matern",
        "rational_quadratic",
        "cosine",
        "chi2",
        "intersection",
        "map(x1, x2)",
        "2*rbf + linear*cosine",
    ] {
        assert_eq!(read(text).is_mercer(), Some(true), "{text}");
    }
    for text in [
        "sigmoid",
        "expr(x1*y1)",
        "precomputed",
        "poly(2.5)",
        "poly(2,1,-1)",
        "poly(2,-1)",
        "poly(2,median)",
        "-1*rbf",
        "rbf + sigmoid",
        "rbf*expr(1)",
    ] {
        assert_eq!(read(text).is_mercer(), None, "{text}");
    }
}

#[test]
fn parameters_are_resolved_by_role() {
    let spec = read(
        "rbf + rbf(sigma=median)*rbf(c=median) + 2*laplacian + exponential + matern + rational_quadratic + \
         poly(gamma=1/d) + sigmoid + chi2(7)",
    );
    assert!(spec.needs_data());
    assert!(!read("rbf(1)*(linear + poly)").needs_data());
    let mut seen = Vec::new();
    let resolved = spec
        .map_params(&mut |role, param| {
            seen.push((role, param));
            Ok(match param {
                Param::Value(value) => value,
                Param::Median | Param::Auto => 0.5,
                Param::OverDimension => 0.25,
            })
        })
        .unwrap();
    use ParamRole::*;
    let roles: Vec<ParamRole> = seen.iter().map(|(role, _)| *role).collect();
    assert_eq!(
        roles,
        [
            SquaredDistanceRate,
            Distance,
            SquaredDistance,
            L1Rate,
            DistanceRate,
            Distance,
            Distance,
            InnerProductRate,
            InnerProductRate,
            Chi2Rate
        ]
    );
    assert_eq!(seen.last(), Some(&(Chi2Rate, Param::Value(7.0))));
    assert!(!resolved.needs_data());
    assert_eq!(
        resolved.to_string(),
        "rbf(gamma=0.5) + rbf(sigma=0.5)*rbf(c=0.5) + 2*laplacian(gamma=0.5) + exponential(gamma=0.5) + \
         matern(nu=1.5,length=0.5) + rational_quadratic(alpha=1,length=0.5) + \
         polynomial(degree=3,gamma=0.25,coef0=1) + sigmoid(gamma=0.25,coef0=1) + chi2(gamma=7)"
    );
}

#[test]
fn a_resolved_parameter_is_checked_and_an_error_passed_on() {
    assert_eq!(
        KernelSpec::default().map_params(&mut |_, _| Ok(f64::INFINITY)).unwrap_err().to_string(),
        "gamma of rbf is inf; it must be finite and above 0. \
         Give a positive number, or median to find it from the data."
    );
    let failed =
        read("rbf + rbf").map_params(&mut |_, _| Err(bad("all rows are equal", "two must differ", "Look.")));
    assert_eq!(failed.unwrap_err().to_string(), "all rows are equal; two must differ. Look.");
}

#[test]
fn descriptions_that_were_built_wrongly_are_refused() {
    let linear = KernelSpec::linear;
    let canonical = "sums and products have two or more parts, which are not sums or products of the same kind. \
                     Build it with KernelSpec::sum, KernelSpec::product and KernelSpec::scaled.";
    for (spec, found) in [
        (KernelSpec::Sum(vec![]), "a sum of 0 parts"),
        (KernelSpec::Sum(vec![linear(), KernelSpec::Sum(vec![linear(), linear()])]), "a sum of 2 parts"),
        (KernelSpec::Product(vec![linear()]), "a product of 1 parts"),
        (KernelSpec::Product(vec![linear(), linear().scaled(2.0)]), "a product of 2 parts"),
        (KernelSpec::Scaled(2.0, Box::new(linear().scaled(2.0))), "a scaling of 1 parts"),
    ] {
        let message = spec.validate().unwrap_err().to_string();
        assert_eq!(message, format!("{found} is not in canonical form; {canonical}"));
    }
    assert_eq!(
        KernelSpec::Map(vec![]).validate().unwrap_err().to_string(),
        "map has no formulas; a feature map needs at least one. Write one, as in map(x1, x1^2)."
    );
    assert_eq!(
        KernelSpec::Map(vec![formula("y1")]).validate().unwrap_err().to_string(),
        "a formula of a map uses a second point; a feature map depends on one point, through x1, x2, …. \
         Write the kernel itself with expr(…) to use both points."
    );
    let mut deep = linear();
    for _ in 0..200 {
        deep = KernelSpec::Product(vec![linear(), KernelSpec::Sum(vec![linear(), deep])]);
    }
    assert_eq!(
        deep.validate().unwrap_err().to_string(),
        "the kernel description is nested too deeply; at most 64 levels are read. \
         Build sums and products as one list."
    );
    assert_eq!(
        KernelSpec::Sum(vec![linear(); 10_000]).validate().unwrap_err().to_string(),
        "the kernel description takes 89997 bytes when written in full; at most 65536 are read. \
         Shorten it, or compute the kernel matrix yourself and use precomputed."
    );
}

#[test]
fn variables_of_all_formulas_count() {
    assert_eq!(read("2*map(x1, x7) + expr(x2*y3)").max_variable(), 7);
    assert_eq!(read("rbf").max_variable(), 0);
    assert!(read("precomputed").is_precomputed() && !read("rbf").is_precomputed());
}

#[test]
fn serde_uses_the_text() {
    let spec = read("0.5*rbf + map(1, sqrt(2)*x1^2)");
    let json = serde_json::to_string(&spec).unwrap();
    assert_eq!(json, "\"0.5*rbf(gamma=median) + map(1, sqrt(2)*x1^2)\"");
    assert_eq!(serde_json::from_str::<KernelSpec>(&json).unwrap(), spec);
    let error = serde_json::from_str::<KernelSpec>("\"rbf(gamma=0)\"").unwrap_err().to_string();
    assert!(error.starts_with("gamma of rbf is 0; it must be finite and above 0."), "{error}");
}

fn positive() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NORMAL, POSITIVE, SUBNORMAL};
    prop_oneof![(1_u32..1000).prop_map(|n| f64::from(n) / 8.0), POSITIVE | NORMAL | SUBNORMAL]
}

fn signed() -> impl Strategy<Value = f64> {
    (positive(), any::<bool>()).prop_map(|(value, minus)| if minus { -value } else { value })
}

fn param(value: impl Strategy<Value = f64> + 'static) -> impl Strategy<Value = Param> {
    prop_oneof![value.prop_map(Param::Value), Just(Param::Median), Just(Param::OverDimension)]
}

/// A parameter with a value in its range.
fn given(param: &'static Parameter) -> BoxedStrategy<(&'static Parameter, Param)> {
    let number = match param.range {
        Range::Positive => positive().boxed(),
        Range::NonZero => signed().boxed(),
        Range::Finite => prop_oneof![signed(), Just(0.0)].boxed(),
        Range::OneOf { values, .. } => prop::sample::select(values).boxed(),
    };
    let value = match param.role {
        Some(_) => self::param(number).boxed(),
        None => number.prop_map(Param::Value).boxed(),
    };
    value.prop_map(move |value| (param, value)).boxed()
}

/// A kernel of the catalog with values in the ranges of its parameters.
fn named(entry: &'static KernelEntry) -> BoxedStrategy<KernelSpec> {
    let all = if entry.takes_one() {
        (0..entry.params.len()).prop_flat_map(|i| given(&entry.params[i]).prop_map(|one| vec![one])).boxed()
    } else {
        entry.params.iter().map(given).collect::<Vec<_>>().boxed()
    };
    all.prop_map(move |given| KernelSpec::Named(NamedKernel::with(entry, &given).unwrap())).boxed()
}

fn leaves() -> impl Strategy<Value = KernelSpec> {
    let maps = prop::sample::subsequence(vec!["1", "sqrt(2)*x1^2", "min(x1, x2) - -3e-9", "(x3)^-x1"], 1..4);
    let built = |entry: &&KernelEntry| !["map", "expr", "precomputed", "auto"].contains(&entry.name);
    let names: Vec<&'static KernelEntry> = CATALOG.iter().copied().filter(built).collect();
    prop_oneof![
        12 => prop::sample::select(names).prop_flat_map(named),
        1 => maps.prop_map(|texts| KernelSpec::Map(texts.into_iter().map(formula).collect())),
        1 => Just(KernelSpec::Expr(formula("1 + 2*x1^2*y1^2 - exp(-(x2 - y2)^2)"))),
    ]
}

fn specs() -> impl Strategy<Value = KernelSpec> {
    let whole = leaves().prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), -64_i32..64).prop_map(|(k, n)| k.scaled(f64::from(2 * n + 1) / 8.0)),
            prop::collection::vec(inner.clone(), 2..4).prop_map(KernelSpec::sum),
            prop::collection::vec(inner, 2..4).prop_map(KernelSpec::product),
        ]
    });
    prop_oneof![8 => whole, 1 => Just(KernelSpec::Precomputed)]
}

proptest! {
    #[test]
    fn text_is_read_back_as_an_equal_value(spec in specs()) {
        spec.validate().unwrap();
        let text = spec.to_string();
        let again: KernelSpec = text.parse().unwrap();
        prop_assert_eq!(&again, &spec, "{}", &text);
        prop_assert_eq!(again.to_string(), text.clone());
        let json = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(serde_json::from_str::<KernelSpec>(&json).unwrap(), spec.clone());
        let upper_without_blanks: KernelSpec = text.replace(' ', "").to_uppercase().parse().unwrap();
        prop_assert_eq!(&upper_without_blanks, &spec);
        spec.dimension(3);
        spec.is_mercer();
    }
}

#[test]
fn auto_is_a_kernel_and_a_bandwidth_but_not_a_part() {
    for text in ["auto", "rbf(gamma=auto)", "matern(nu=2.5,length=auto)", "laplacian(gamma=auto)"] {
        let spec = read(text);
        assert!(spec.is_automatic(), "{text}");
        assert_eq!(read(&spec.to_string()), spec);
        assert!(crate::kernel::Kernel::new(&spec, 2).unwrap_err().to_string().contains("cross-validation"));
    }
    assert!(!read("rbf(gamma=median) + linear").is_automatic());
    assert!("auto + linear".parse::<KernelSpec>().unwrap_err().to_string().contains("whole kernel"));
}
