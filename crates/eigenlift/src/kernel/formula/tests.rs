use proptest::prelude::*;

use super::*;

fn value(text: &str, x: &[f64], y: &[f64]) -> f64 {
    Formula::parse(text, true).unwrap().eval(x, y)
}

fn error(text: &str, allow_y: bool) -> String {
    Formula::parse(text, allow_y).unwrap_err().to_string()
}

#[test]
fn values_agree_with_closures() {
    type Closure = fn(&[f64], &[f64]) -> f64;
    let cases: &[(&str, Closure)] = &[
        ("1 + 2*x1^2*y1^2 + 2*x2^2*y2^2", |x, y| {
            1.0 + 2.0 * (x[0] * y[0]).powi(2) + 2.0 * (x[1] * y[1]).powi(2)
        }),
        ("sqrt(2)*x1^2", |x, _| 2.0_f64.sqrt() * x[0] * x[0]),
        ("exp(-((x1-y1)^2 + (x2-y2)**2)/2)", |x, y| {
            (-((x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2)) / 2.0).exp()
        }),
        ("sin(x1 + 2 + 3)", |x, _| (x[0] + 5.0).sin()),
        ("tanh(x1*2*3)", |x, _| (x[0] * 6.0).tanh()),
        ("1e-3*x1 + 2.5E+1*x2 - .5", |x, _| 1e-3 * x[0] + 25.0 * x[1] - 0.5),
        ("PI*x1 + π*x2 + e*y1 + E", |x, y| {
            std::f64::consts::PI * (x[0] + x[1]) + std::f64::consts::E * (y[0] + 1.0)
        }),
        ("log(x1) + ln(x2) + log2(y1) + log10(y2)", |x, y| {
            x[0].ln() + x[1].ln() + y[0].log2() + y[1].log10()
        }),
        ("Cbrt(x1) + ABS(-x2) + cos(x1) + tan(x2)", |x, _| {
            x[0].cbrt() + x[1].abs() + x[0].cos() + x[1].tan()
        }),
        ("asin(x1/9)+acos(x1/9)+atan(x1)", |x, _| (x[0] / 9.0).asin() + (x[0] / 9.0).acos() + x[0].atan()),
        ("sinh(x1)+cosh(x1)", |x, _| x[0].exp()),
        ("floor(x1)+ceil(x1)+round(x2)", |x, _| x[0].floor() + x[0].ceil() + x[1].round()),
        ("sign(x1) + sign(0) - sign(-x1)", |_, _| 2.0),
        ("min(x1, x2, y1) + max(x1, y2)", |x, y| x[0].min(x[1]).min(y[0]) + x[0].max(y[1])),
        ("pow(x1, y1) + atan2(x1, x2)", |x, y| x[0].powf(y[0]) + x[0].atan2(x[1])),
        ("x1^0.5 + x1^-1 + x1^y2 + x1^17", |x, y| x[0].sqrt() + 1.0 / x[0] + x[0].powf(y[1]) + x[0].powi(17)),
    ];
    let (x, y) = ([0.7, 1.3], [2.1, 0.4]);
    for (text, closure) in cases {
        let (found, expected) = (value(text, &x, &y), closure(&x, &y));
        assert!(
            (found - expected).abs() <= 32.0 * f64::EPSILON * expected.abs().max(1.0),
            "{text}: {found} {expected}"
        );
    }
}

#[test]
fn precedence_is_that_of_mathematics() {
    for (text, expected) in [
        ("-x1^2", -9.0),
        ("(-x1)^2", 9.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("-2^-2", -0.25),
        ("x1 - 2 - 1", 0.0),
        ("x1 - 2 + 1", 2.0),
        ("x1/2*4", 6.0),
        ("12/x1/2", 2.0),
        ("2*-x1", -6.0),
        ("--x1", 3.0),
        ("+x1 - +1", 2.0),
        ("2 + x1*2^2", 14.0),
    ] {
        assert_eq!(value(text, &[3.0], &[]), expected, "{text}");
    }
}

#[test]
fn missing_features_and_nan_give_nan() {
    assert_eq!(value("x1/0", &[1.0], &[]), f64::INFINITY);
    assert!(value("x3", &[1.0], &[]).is_nan());
    assert!(value("x1*y2", &[1.0], &[1.0]).is_nan());
    for text in ["min(x1, 1)", "min(1, x1)", "max(x1, 1)", "max(1, x1)"] {
        assert!(value(text, &[f64::NAN], &[]).is_nan(), "{text}");
    }
}

#[test]
fn canonical_text_and_equality() {
    for (text, canonical) in [
        (" 1+2 *X1 ** 2", "1 + 2*x1^2"),
        ("LOG( x1 )-+-x2", "ln(x1) - -x2"),
        ("min(x1,x2 ,3)", "min(x1, x2, 3)"),
        ("1000000000000000000*π/1.50", "1e18*pi/1.5"),
    ] {
        let formula = Formula::parse(text, false).unwrap();
        assert_eq!(formula.to_string(), canonical);
        assert_eq!(formula, Formula::parse(canonical, false).unwrap());
        assert_eq!(formula.as_str(), canonical);
    }
}

#[test]
fn says_which_variables_it_uses() {
    let formula = Formula::parse("x2 + y10", true).unwrap();
    assert_eq!((formula.max_variable(), formula.uses_y()), (10, true));
    let formula = Formula::parse("x4294967295", false).unwrap();
    assert_eq!((formula.max_variable(), formula.uses_y()), (4_294_967_295, false));
    assert_eq!(Formula::parse("1", false).unwrap().max_variable(), 0);
}

#[test]
fn formulas_cross_threads() {
    fn check<T: Send + Sync + Clone>(_: &T) {}
    check(&Formula::parse("x1", false).unwrap());
}

#[test]
fn errors_say_what_to_do() {
    let value =
        "a value is a number, a variable, a function or a formula in parentheses. Add the missing value.";
    let follow = "an operator (+ - * / ^), a ')' that closes a '(' or the end must follow. \
                  Write products with *, as in 2*x1.";
    let range =
        "variables are numbered from 1 to 4294967295, without leading zeros. The first feature is x1.";
    let cases = [
        (" ", "a formula is empty; a formula needs at least a number or a variable. Write one, such as x1^2.".into()),
        ("x1 +", format!("the formula 'x1 +' ends where a value should stand; {value}")),
        ("x1*/2", format!("'/' at position 4 of the formula 'x1*/2' stands where a value should; {value}")),
        ("()", format!("')' at position 2 of the formula '()' stands where a value should; {value}")),
        ("2 x1", format!("'x1' at position 3 of the formula '2 x1' follows a complete value; {follow}")),
        ("x1)", format!("')' at position 3 of the formula 'x1)' follows a complete value; {follow}")),
        ("(1 x1)", format!("'x1' at position 4 of the formula '(1 x1)' follows a complete value; {follow}")),
        ("1e", format!("'e' at position 2 of the formula '1e' follows a complete value; {follow}")),
        (
            "2*(x1",
            "'(' at position 3 of the formula '2*(x1' is not closed; every '(' needs its ')'. Add the missing ')'.".into(),
        ),
        (
            "sin x1",
            "'sin' at position 1 is not followed by '('; a function has its arguments in parentheses. Write sin(x1)."
                .into(),
        ),
        ("sqrt(1,2)", "sqrt has 2 arguments in the formula 'sqrt(1,2)'; sqrt takes 1. Check its arguments.".into()),
        ("min(1)", "min has 1 argument in the formula 'min(1)'; min takes 2 or more. Check its arguments.".into()),
        ("pow(1,2,3)", "pow has 3 arguments in the formula 'pow(1,2,3)'; pow takes 2. Check its arguments.".into()),
        ("x0", format!("'x0' at position 1 is not a variable; {range}")),
        ("y01", format!("'y01' at position 1 is not a variable; {range}")),
        ("x4294967296", format!("'x4294967296' at position 1 is not a variable; {range}")),
        (
            "x1 + 1/0",
            "a constant part of the formula 'x1 + 1/0' is inf; every constant must be finite. \
             Look for a division by zero or a function outside its domain."
                .into(),
        ),
        (
            "1e999",
            "the number '1e999' at position 1 is too large; numbers must be below 1.8e308 in magnitude. \
             Write a smaller number."
                .into(),
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(text, true), message);
    }
}

#[test]
fn unknown_names_are_refused_with_what_is_allowed() {
    let functions = "sqrt, cbrt, exp, ln, log2, log10, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, abs, sign, \
                     floor, ceil, round, min, max, pow, atan2";
    assert_eq!(
        error("foo(x1)", true),
        format!(
            "'foo' at position 1 of the formula 'foo(x1)' is unknown; a formula has x1, x2, …, y1, y2, …, pi, e and \
             the functions {functions}. Use one of these."
        )
    );
    assert_eq!(
        error("y1*x1", false),
        "'y1' at position 1 of a map is a variable of a second point; a feature map depends on one point, through \
         x1, x2, …. Write the kernel itself with expr(…) to use both points."
    );
    for text in ["ax1", "x1a", "x", "y", "z1", "x_1", "x1x2", "inf", "nan", "sinx1", "_"] {
        assert!(error(text, true).contains(" is unknown; "), "{text}");
    }
}

#[test]
fn hostile_text_is_an_error() {
    let deep = "at most 64 levels are read";
    for n in [65, 1000, 20_000] {
        for text in [
            "(".repeat(n) + "1" + &")".repeat(n),
            "(".repeat(n),
            "-".repeat(n) + "x1",
            "x1^".repeat(n) + "2",
            "sin(".repeat(n / 2 + 40),
            "1+1*min(1,".repeat(n / 5 + 52),
        ] {
            assert!(error(&text, true).contains(deep), "{}", error(&text, true));
        }
    }
    assert!(error(&"(1+1*x1^".repeat(30), true).contains(deep));
    for text in ["x1+".repeat(400_000), "(".repeat(100_000), "é".repeat(500_000), "1".repeat(1_000_000)] {
        assert!(error(&text, true).ends_with(
            "at most 65536 are read. Shorten it, or compute the kernel matrix yourself and use precomputed."
        ));
    }
    // Within the limit as given, beyond it as written in canonical form.
    assert!(error(&("1+".repeat(30_000) + "1"), true).starts_with("a formula has 120001 bytes"));
    for text in
        ["\0", "é", "x1\u{301}", "{x1}", "x1;x2", "“x1”", "0x10", "−1", "1,2", "x1\\", "x1==2", "\u{202e}x1"]
    {
        assert!(Formula::parse(text, true).is_err(), "{text}");
    }
    assert_eq!(value(&("x1*y1 + ".repeat(5_000) + "0"), &[1.0], &[2.0]), 10_000.0);
}

/// A formula in full parentheses, and its value at `POINT`.
#[derive(Clone, Debug)]
struct Tree {
    full: String,
    value: f64,
}

const POINT: ([f64; 2], [f64; 2]) = ([0.75, -1.25], [0.5, 1.5]);

fn trees() -> impl Strategy<Value = Tree> {
    let tree = |full: &str, value| Tree { full: full.to_string(), value };
    let leaf = prop_oneof![
        (1_u32..400).prop_map(|n| {
            let value = f64::from(n) / 16.0;
            Tree { full: format!("{value}"), value }
        }),
        prop::sample::select(vec![tree("x1", 0.75), tree("x2", -1.25), tree("y1", 0.5), tree("y2", 1.5)]),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), 0..4_usize).prop_map(|(a, b, which)| {
                let value =
                    [a.value + b.value, a.value - b.value, a.value * b.value, a.value / b.value][which];
                Tree { full: format!("({}{}{})", a.full, ["+", "-", "*", "/"][which], b.full), value }
            }),
            (inner.clone(), 0..4_usize).prop_map(|(a, which)| {
                let value = [a.value.sin(), a.value.tanh(), a.value.abs(), -a.value][which];
                Tree { full: format!("({}({}))", ["sin", "tanh", "abs", "-"][which], a.full), value }
            }),
        ]
    })
}

proptest! {
    #[test]
    fn trees_have_the_value_of_rust_and_of_another_evaluator(tree in trees()) {
        prop_assume!(tree.value.is_finite());
        if let Ok(formula) = Formula::parse(&tree.full, true) {
            prop_assert_eq!(formula.eval(&POINT.0, &POINT.1), tree.value, "{}", tree.full);
            prop_assert_eq!(&Formula::parse(formula.as_str(), true).unwrap(), &formula);
            use exmex::Express;
            let other = exmex::FlatEx::<f64>::parse(&tree.full).unwrap();
            let all = [("x1", 0.75), ("x2", -1.25), ("y1", 0.5), ("y2", 1.5)];
            let used: Vec<f64> =
                all.iter().filter(|(name, _)| other.var_names().iter().any(|n| n == name)).map(|v| v.1).collect();
            prop_assert_eq!(other.eval(&used).unwrap(), tree.value, "{}", tree.full);
        } else {
            // Only a constant part such as 1/(2-2) may be refused.
            let message = error(&tree.full, true);
            prop_assert!(message.starts_with("a constant part"), "{message}");
        }
    }

    #[test]
    fn text_without_redundant_parentheses_keeps_its_value(tokens in prop::collection::vec((0..5_usize, 1_u32..9), 1..8)) {
        // x1 o n o n …: the operations in the order of precedence, by hand.
        let mut text = "x1".to_string();
        let (mut sum, mut term) = (0.0, 2.5);
        for (op, n) in tokens {
            let n_value = f64::from(n);
            text += &format!("{}{n}", [" + ", "-", "*", "/", "*-"][op]);
            match op {
                0 => (sum, term) = (sum + term, n_value),
                1 => (sum, term) = (sum + term, -n_value),
                2 => term *= n_value,
                3 => term /= n_value,
                _ => term *= -n_value,
            }
        }
        prop_assert!((value(&text, &[2.5], &[]) - (sum + term)).abs() <= 1e-12 * (1.0 + sum.abs() + term.abs()), "{text}");
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-+*/^(), .0-9exyπlnsqrtmipo{}\\PC]{0,40}", allow_y: bool) {
        if let Ok(formula) = Formula::parse(&text, allow_y) {
            prop_assert_eq!(&Formula::parse(formula.as_str(), allow_y).unwrap(), &formula);
            formula.eval(&[1.0, 2.0], &[3.0]);
        }
    }

    #[test]
    fn any_sequence_of_words_is_read_or_refused(
        words in prop::collection::vec(prop::sample::select(vec![
            "x1", "y2", "1", "2.5", "1e-3", "+", "-", "*", "/", "^", "**", "(", ")", ",", "sin(", "max(", "pi", " ",
        ]), 0..30),
    ) {
        let text = words.concat();
        if let Ok(formula) = Formula::parse(&text, true) {
            let again = Formula::parse(formula.as_str(), true).unwrap();
            prop_assert_eq!(&again, &formula);
            let (a, b) = (formula.eval(&[1.5], &[1.0, 0.3]), again.eval(&[1.5], &[1.0, 0.3]));
            prop_assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{text}");
        }
    }
}
