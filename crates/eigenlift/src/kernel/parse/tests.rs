use proptest::prelude::*;

use super::*;

fn canonical(text: &str) -> String {
    text.parse::<KernelSpec>().unwrap_or_else(|error| panic!("{text}: {error}")).to_string()
}

fn error(text: &str) -> String {
    text.parse::<KernelSpec>().map(|spec| spec.to_string()).unwrap_err().to_string()
}

const NAMES: &str = "a kernel is one of linear, polynomial, rbf, laplacian, exponential, matern, rational_quadratic, \
                     sigmoid, cosine, chi2, intersection, tanimoto, map, expr, precomputed, auto";

#[test]
fn defaults_aliases_and_notations() {
    for (text, expected) in [
        ("linear", "linear"),
        ("linear()", "linear"),
        ("poly", "polynomial(degree=3,gamma=1,coef0=1)"),
        ("Polynomial(2)", "polynomial(degree=2,gamma=1,coef0=1)"),
        ("poly(2, 1/d, -0.5)", "polynomial(degree=2,gamma=1/d,coef0=-0.5)"),
        ("poly(COEF0 = 0, degree=2)", "polynomial(degree=2,gamma=1,coef0=0)"),
        ("poly(2, coef0=+3)", "polynomial(degree=2,gamma=1,coef0=3)"),
        ("rbf", "rbf(gamma=median)"),
        ("RBF()", "rbf(gamma=median)"),
        (" gaussian ( 0.5 ) ", "rbf(gamma=0.5)"),
        ("rbf(sigma=1e-300)", "rbf(sigma=1e-300)"),
        ("rbf(c=Median)", "rbf(c=median)"),
        ("rbf(gamma=1 / d)", "rbf(gamma=1/d)"),
        ("laplacian", "laplacian(gamma=median)"),
        ("exponential(2)", "exponential(gamma=2)"),
        ("matern", "matern(nu=1.5,length=median)"),
        ("matern(0.5, 3)", "matern(nu=0.5,length=3)"),
        ("matern(nu=2.5)", "matern(nu=2.5,length=median)"),
        ("rational_quadratic", "rational_quadratic(alpha=1,length=median)"),
        ("sigmoid", "sigmoid(gamma=1/d,coef0=1)"),
        ("sigmoid(-2,0)", "sigmoid(gamma=-2,coef0=0)"),
        ("cosine", "cosine"),
        ("chi2", "chi2(gamma=1)"),
        ("intersection", "intersection"),
        ("Tanimoto()", "tanimoto"),
        ("precomputed", "precomputed"),
        ("(precomputed)", "precomputed"),
        ("map( 1,sqrt(2)*x1^2 )", "map(1, sqrt(2)*x1^2)"),
        ("map(min(x1,x2), (x1), max(1,2,x3))", "map(min(x1, x2), (x1), max(1, 2, x3))"),
        ("expr(1+2*x1^2*y1^2 + 2*x2^2*y2^2)", "expr(1 + 2*x1^2*y1^2 + 2*x2^2*y2^2)"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
        assert_eq!(canonical(expected), expected);
    }
}

#[test]
fn sums_products_and_numbers() {
    for (text, expected) in [
        ("0.5*rbf + linear", "0.5*rbf(gamma=median) + linear"),
        ("rbf(1)*(linear+cosine)", "rbf(gamma=1)*(linear + cosine)"),
        ("linear+(cosine+(linear+cosine))", "linear + cosine + linear + cosine"),
        ("linear*(cosine*(linear*cosine))", "linear*cosine*linear*cosine"),
        ("2*(3*linear)", "6*linear"),
        ("cosine*(2*linear)*3", "6*cosine*linear"),
        ("2*(linear+cosine)", "2*(linear + cosine)"),
        ("((linear))", "linear"),
        ("linear*0.5", "0.5*linear"),
        ("-1*linear + -2e3 * cosine", "-1*linear + -2000*cosine"),
        ("1*linear", "1*linear"),
        ("2*map(x1)*expr(x1*y1) + linear", "2*map(x1)*expr(x1*y1) + linear"),
        ("(2*linear + 3*(cosine + linear))*cosine", "(2*linear + 3*(cosine + linear))*cosine"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
        assert_eq!(canonical(expected), expected);
    }
}

/// Every text must give its error.
fn check(cases: &[(&str, String)]) {
    for (text, expected) in cases {
        assert_eq!(&error(text), expected, "{text}");
    }
}

#[test]
fn errors_of_names_and_arguments() {
    let own = "Use one of these; expr(…) takes a formula of your own.";
    check(&[
        ("", format!("the kernel description is empty; {NAMES}. Write one, such as rbf(gamma=median).")),
        ("rfb", format!("the kernel 'rfb' at position 1 is unknown; {NAMES}. Did you mean rbf?")),
        ("2*Polynomal(2)", format!("the kernel 'Polynomal' at position 3 is unknown; {NAMES}. Did you mean polynomial?")),
        ("gausian", format!("the kernel 'gausian' at position 1 is unknown; {NAMES}. Did you mean gaussian?")),
        ("wavelet", format!("the kernel 'wavelet' at position 1 is unknown; {NAMES}. {own}")),
        (
            "rbf(gama=1)",
            "rbf has no parameter 'gama' at position 5; rbf takes one of gamma, sigma, c, where gamma may go without \
             its name. Use one of these names, or leave it out."
                .into(),
        ),
        (
            "poly(alpha=1)",
            "polynomial has no parameter 'alpha' at position 6; polynomial takes degree, gamma, coef0. \
             Use one of these names, or leave it out."
                .into(),
        ),
        (
            "linear(2)",
            "linear has more than 0 arguments by position; linear takes no parameters. Remove what is too many.".into(),
        ),
        (
            "rbf(1,2)",
            "rbf has more than 1 arguments by position; rbf takes one of gamma, sigma, c, where gamma may go without \
             its name. Remove what is too many."
                .into(),
        ),
        (
            "chi2(1,)",
            "')' at position 8 stands where an argument of chi2 should; chi2 takes gamma. \
             Remove the comma that is too many."
                .into(),
        ),
        (
            "rbf(gamma=1,sigma=2)",
            "rbf has gamma and sigma; it takes one of gamma, sigma, c, which are notations of the same number. \
             Keep one of them."
                .into(),
        ),
        (
            "poly(2,degree=3)",
            "degree of polynomial is given twice; every parameter may be given once. Remove one degree.".into(),
        ),
        (
            "poly(degree=3,2)",
            "an argument without a name follows one with a name in polynomial; arguments by position come first. \
             Write name=value for every argument."
                .into(),
        ),
    ]);
}

#[test]
fn errors_of_parameter_ranges() {
    let gamma = "it must be finite and above 0. Give a positive number, or median to find it from the data.";
    check(&[
        ("rbf(gamma=0)", format!("gamma of rbf is 0; {gamma}")),
        ("rbf(-1)", format!("gamma of rbf is -1; {gamma}")),
        ("rbf(sigma=-1)", format!("sigma of rbf is -1; {gamma}")),
        ("rbf(c=0)", format!("c of rbf is 0; {gamma}")),
        ("laplacian(0)", format!("gamma of laplacian is 0; {gamma}")),
        ("exponential(0)", format!("gamma of exponential is 0; {gamma}")),
        ("matern(length=0)", format!("length of matern is 0; {gamma}")),
        ("rational_quadratic(1,0)", format!("length of rational_quadratic is 0; {gamma}")),
        ("chi2(-2)", format!("gamma of chi2 is -2; {gamma}")),
        (
            "rational_quadratic(0)",
            "alpha of rational_quadratic is 0; it must be finite and above 0. Give a positive number.".into(),
        ),
        ("poly(0)", "degree of polynomial is 0; it must be finite and above 0. Give a positive number.".into()),
        ("poly(2,0)", "gamma of polynomial is 0; it must be finite and not 0. Give another number, or 1/d.".into()),
        ("sigmoid(0)", "gamma of sigmoid is 0; it must be finite and not 0. Give another number, or 1/d.".into()),
        (
            "matern(2)",
            "nu of matern is 2; it must be 0.5, 1.5 or 2.5. Take the nearest of these; rbf is the limit of large nu."
                .into(),
        ),
    ]);
}

#[test]
fn errors_of_parameter_words() {
    let number = "it must be a number. Write";
    let open = "it must be a number, median, auto or 1/d. Write";
    check(&[
        ("poly(median)", format!("degree of polynomial is 'median'; {number} degree=1, for example.")),
        ("poly(coef0=1/d)", format!("coef0 of polynomial is '1/d'; {number} coef0=1, for example.")),
        (
            "rational_quadratic(median)",
            format!("alpha of rational_quadratic is 'median'; {number} alpha=1, for example."),
        ),
        ("matern(median)", format!("nu of matern is 'median'; {number} nu=1, for example.")),
        (
            "rbf(nan)",
            format!("gamma of rbf is 'nan' at position 5, which is not finite; {open} gamma=1, for example."),
        ),
        (
            "rbf(c=-Inf)",
            format!("c of rbf is 'Inf' at position 8, which is not finite; {open} c=1, for example."),
        ),
        (
            "rbf(1/2)",
            format!("gamma of rbf is the fraction '1/2' at position 5; {open} gamma=1, for example."),
        ),
        ("rbf(gamma=)", format!("gamma of rbf is ')' at position 11; {open} gamma=1, for example.")),
        ("rbf(gamma=", format!("gamma of rbf is missing; {open} gamma=1, for example.")),
        (
            "poly(twice)",
            format!("degree of polynomial is 'twice' at position 6; {number} degree=1, for example."),
        ),
        (
            "rbf(1e999)",
            "the number '1e999' at position 5 is too large; numbers must be below 1.8e308 in magnitude. \
             Write a smaller number."
                .into(),
        ),
    ]);
}

#[test]
fn errors_of_parentheses_and_missing_kernels() {
    let kernel = "a kernel, a number or '(' must stand there. Complete or remove the '+' or '*' before it.";
    let closed = "is not closed; every '(' needs its ')'. Add the missing ')'.";
    let only = "a number may only multiply a kernel. Write a kernel behind it, as in 0.5*linear; \
                a constant kernel is expr(0.5).";
    check(&[
        ("rbf +", format!("the description ends where a kernel should stand; {kernel}")),
        ("rbf + * linear", format!("'*' at position 7 stands where a kernel should; {kernel}")),
        ("()", format!("')' at position 2 stands where a kernel should; {kernel}")),
        ("é", format!("'é' at position 1 stands where a kernel should; {kernel}")),
        ("2", format!("'2' is a number, not a kernel; {only}")),
        ("rbf + 2*3", format!("'2*3' is a number, not a kernel; {only}")),
        ("rbf(gamma=1", format!("'(' at position 4 {closed}")),
        ("2*(rbf + linear", format!("'(' at position 3 {closed}")),
        ("map(x1, (x2)", format!("'(' at position 4 {closed}")),
        (
            "rbf(1 2)",
            "'2' at position 7 does not belong inside the parentheses; ',' or ')' must stand there. \
             Close the '(' of position 4 first, or remove it."
                .into(),
        ),
        (
            "(rbf linear)",
            "'linear' at position 6 does not belong inside the parentheses; +, * or ')' must stand there. \
             Close the '(' of position 1 first, or remove it."
                .into(),
        ),
    ]);
}

#[test]
fn errors_of_trailing_text() {
    let follow = "only + or * and another kernel may follow.";
    check(&[
        (
            "rbf linear",
            format!(
                "'linear' at position 5 follows a complete kernel; {follow} Remove it, or put + or * before it."
            ),
        ),
        (
            "rbf)",
            format!(
                "')' at position 4 follows a complete kernel; {follow} Remove it, or add the '(' that it closes."
            ),
        ),
        (
            "rbf - linear",
            format!(
                "'-' at position 5 follows a complete kernel; {follow} Write + -1*K to subtract a kernel K."
            ),
        ),
        (
            "rbf/2",
            format!("'/' at position 4 follows a complete kernel; {follow} Write 0.5*K to halve a kernel K."),
        ),
        (
            "rbf**2",
            format!(
                "'**' at position 4 follows a complete kernel; {follow} Write K*K for the square of a kernel K."
            ),
        ),
        (
            "-linear",
            "'-' at position 1 has no number behind it; a minus sign belongs to a number. \
             Write -1*linear for the negative of a kernel."
                .into(),
        ),
    ]);
}

#[test]
fn errors_of_numbers_and_formulas() {
    let front = "the number in front of a kernel";
    let alone = "precomputed stands inside a sum, a product or a scaling; it must stand alone, since it has no points \
                 to evaluate. Combine the matrices before you pass them.";
    check(&[
        ("0*rbf", format!("{front} is 0; it must be finite and not 0. Give another number.")),
        ("1e200*1e200*rbf", format!("{front} is inf; it must be finite and not 0. Give another number.")),
        (
            "inf*rbf",
            format!(
                "'inf' at position 1 is not a finite number; {front} must be finite and not 0. Give another number."
            ),
        ),
        ("precomputed + rbf", alone.to_string()),
        ("2*precomputed", alone.to_string()),
        ("rbf*(linear + precomputed)", alone.to_string()),
        (
            "map",
            "map has no formula; map takes its formulas in parentheses. Write one, as in map(x1, x1^2)."
                .into(),
        ),
        (
            "map( )",
            "map has no formula; map takes its formulas in parentheses. Write one, as in map(x1, x1^2)."
                .into(),
        ),
        (
            "expr()",
            "expr has no formula; expr takes its formulas in parentheses. Write one, as in expr(x1*y1)."
                .into(),
        ),
        (
            "expr(x1, y1)",
            "expr has 2 formulas; expr takes exactly one formula. \
             Write a feature map with several coordinates as map(…)."
                .into(),
        ),
        (
            "map(x1,)",
            "a formula is empty; a formula needs at least a number or a variable. Write one, such as x1^2."
                .into(),
        ),
    ]);
}

#[test]
fn hostile_text_is_an_error() {
    let long =
        "at most 65536 are read. Shorten it, or compute the kernel matrix yourself and use precomputed.";
    for text in ["(".repeat(100_000), "rbf+".repeat(250_000), "é".repeat(1_000_000)] {
        assert_eq!(error(&text), format!("the kernel description has {} bytes; {long}", text.len()));
    }
    for n in [65, 60_000] {
        assert_eq!(
            error(&"(".repeat(n)),
            "'(' at position 65 opens level 65 of parentheses; at most 64 levels are read. \
             Remove parentheses that are not needed."
        );
        assert!(error(&format!("expr({})", "(".repeat(n) + "1" + &")".repeat(n.min(5000)))).len() < 300);
    }
    assert_eq!(canonical(&("(".repeat(64) + "linear" + &")".repeat(64))), "linear");
    let expr = format!("expr({}x1{})", "-(".repeat(32), ")".repeat(32));
    let read = std::thread::Builder::new().stack_size(1 << 18).spawn(move || error(&expr)).unwrap().join();
    assert!(read.unwrap().contains("is nested too deeply"));
    let deepest = "2*linear*(linear+".repeat(64) + "linear" + &")".repeat(64);
    assert_eq!(canonical(&canonical(&deepest)), canonical(&deepest));
    assert!(error(&"a".repeat(60_000)).contains("the kernel 'aaaa"));
    assert!(error(&("rbf+".repeat(16_000) + "rbf")).ends_with(long));
}

#[test]
fn edit_distance_counts_single_letters() {
    for (a, b, distance) in
        [("", "", 0), ("rbf", "rfb", 2), ("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3)]
    {
        assert_eq!(edit_distance(a, b), distance, "{a} {b}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
        let _ = text.parse::<KernelSpec>();
    }

    #[test]
    fn any_sequence_of_words_is_read_or_refused(
        words in prop::collection::vec(prop::sample::select(vec![
            "rbf", "linear", "poly(2)", "map(", "expr(", "x1", "y1", "(", ")", ",", "=", "+", "*", "-", "/", "gamma",
            "median", "1", "0.5", "1e9", "1/d", "matern(", "nan", "precomputed", "é", "**", " ",
        ]), 0..14),
    ) {
        let text = words.concat();
        if let Ok(spec) = text.parse::<KernelSpec>() {
            prop_assert_eq!(spec.to_string().parse::<KernelSpec>().unwrap(), spec, "{}", text);
        }
    }
}
