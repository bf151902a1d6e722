//! The worked example of the notes, digit for digit, through the program.

use crate::support::{Folder, assert_close, table};

const KERNEL: &str = "polynomial(degree=2)";

/// Signs of whole columns follow the convention: the first entry of largest magnitude is positive.
const SCORES: [[f64; 3]; 4] = [
    [1.72801191, 7.93725393, 1.00696319],
    [11.66094908, -7.93725393, -0.14921979],
    [-1.72801191, 7.93725393, -1.00696319],
    [-11.66094908, -7.93725393, 0.14921979],
];

fn rows<const N: usize>(numbers: &[[f64; N]]) -> Vec<Vec<f64>> {
    numbers.iter().map(|row| row.to_vec()).collect()
}

#[test]
fn the_kernel_matrix_and_its_centred_form() {
    let folder = Folder::new();
    folder.run(&["data", "worked-example", "--out", "w.csv"]).ok();
    let gram = folder.run(&["kernel", "gram", "w.csv", "--kernel", KERNEL]).ok();
    let k = [[9., 49., 1., 9.], [49., 441., 9., 169.], [1., 9., 9., 49.], [9., 169., 49., 441.]];
    assert_close(&table(&gram.out).1, &rows(&k), 0.0);
    let centered = folder.run(&["kernel", "centered", "w.csv", "--kernel", KERNEL]).ok();
    let c =
        [[67., -43., 59., -83.], [-43., 199., -83., -73.], [59., -83., 67., -43.], [-83., -73., -43., 199.]];
    assert_close(&table(&centered.out).1, &rows(&c), 1e-12);
}

#[test]
fn eigenvalues_alpha_beta_and_scores() {
    let folder = Folder::new();
    folder.run(&["data", "worked-example", "--out", "w.csv"]).ok();
    let text = folder.run(&["kernel", "eigen", "w.csv", "--kernel", KERNEL]).ok().out;
    for digits in [
        "277.92751720",
        "252.00000000",
        "2.07248280", // nλ
        "0.00621749",
        "0.04195680",
        "0.03149704",
        "0.48587288",
        "0.07200050", // α
        "1.72801191",
        "11.66094908",
        "7.93725393",
        "1.00696319",
        "0.14921979", // scores
        "0.69946844",
        "0.10365278", // β
    ] {
        assert!(text.contains(digits), "{digits} is missing in\n{text}");
    }
    let json = folder.run(&["kernel", "eigen", "w.csv", "--kernel", KERNEL, "--json"]).ok().json();
    let alpha: Vec<Vec<f64>> = serde_json::from_value(json["alpha"].clone()).unwrap();
    let expected = [
        [0.00621749, 0.03149704, 0.48587288],
        [0.04195680, -0.03149704, -0.07200050],
        [-0.00621749, 0.03149704, -0.48587288],
        [-0.04195680, -0.03149704, 0.07200050],
    ];
    assert_close(&alpha, &rows(&expected), 5e-9);
    let scores: Vec<Vec<f64>> = serde_json::from_value(json["scores"].clone()).unwrap();
    assert_close(&scores, &rows(&SCORES), 5e-9);
}

#[test]
fn one_table_goes_into_a_file() {
    let folder = Folder::new();
    folder.run(&["data", "worked-example", "--out", "w.csv"]).ok();
    let run = folder
        .run(&["kernel", "eigen", "w.csv", "--kernel", KERNEL, "--what", "values", "--out", "values.csv"])
        .ok();
    assert!(run.out.is_empty());
    let (names, values) = table(&folder.read("values.csv"));
    assert_eq!(names, ["n_lambda", "lambda", "explained"]);
    assert!((values[0][0] - 277.927517).abs() < 1e-6 && (values[2][1] - 2.07248280 / 4.0).abs() < 1e-8);
}

#[test]
fn fit_gives_the_same_scores() {
    let folder = Folder::new();
    folder.run(&["data", "worked-example", "--out", "w.csv"]).ok();
    let run = folder.run(&["fit", "kpca", "w.csv", "-k", "3", "--kernel", KERNEL]).ok();
    let (names, scores) = table(&run.out);
    assert_eq!(names, ["kpca1", "kpca2", "kpca3"]);
    assert_close(&scores, &rows(&SCORES), 5e-9);
    assert!(run.err.contains("277.927517") && run.err.contains("2.07248280"), "{}", run.err);
}

#[test]
fn geometry_dimension_and_validity() {
    let folder = Folder::new();
    folder.run(&["data", "worked-example", "--out", "w.csv"]).ok();
    let ask = |args: &[&str]| folder.run(&[&["kernel"], args].concat()).ok().out;
    let k = table(&ask(&["gram", "w.csv", "--kernel", "rbf(gamma=0.05)"])).1;
    let distance = table(&ask(&["distance", "w.csv", "--kernel", "rbf(gamma=0.05)"])).1;
    let angle = table(&ask(&["angle", "w.csv", "--kernel", "rbf(gamma=0.05)"])).1;
    for i in 0..4 {
        for j in 0..4 {
            assert!((distance[i][j].powi(2) - (2.0 - 2.0 * k[i][j])).abs() < 1e-14);
            assert!((angle[i][j].to_radians().cos() - k[i][j]).abs() < 1e-14);
        }
    }
    assert!(ask(&["dim", "w.csv", "--kernel", KERNEL]).contains("dimension of the feature space 6\n"));
    assert!(ask(&["dim", "w.csv", "--kernel", KERNEL]).contains("rank at most 5"));
    assert!(ask(&["dim", "w.csv", "--kernel", "polynomial(2,1,0)"]).contains("feature space 3\n"));
    assert!(ask(&["dim", "w.csv", "--kernel", "rbf"]).contains("feature space infinite\n"));
    let (user, map) = ("expr(1 + 2*x1^2*y1^2 + 2*x2^2*y2^2)", "map(1, sqrt(2)*x1^2, sqrt(2)*x2^2)");
    assert!(
        ask(&["compare", "w.csv", "--kernel", user, "--with", map]).contains("its feature map is exhibited")
    );
    assert!(ask(&["compare", "w.csv", "--kernel", user, "--with", "linear"]).contains("different: rows"));
    assert!(ask(&["check", "w.csv", "--kernel", KERNEL]).contains("valid on this data"));
    assert!(ask(&["check", "w.csv", "--kernel", "expr(x1-y2)"]).contains("not a kernel"));
    let bad = ask(&["check", "w.csv", "--kernel", "sigmoid(gamma=1,coef0=-1)"]);
    assert!(bad.contains("the most negative eigenvalue is -"), "{bad}");
}

#[test]
fn a_broken_precomputed_matrix_is_named() {
    let folder = Folder::new();
    folder.write("k.csv", "1,2\n2,1\n");
    let json = folder.run(&["kernel", "check", "k.csv", "--kernel", "precomputed", "--json"]).ok().json();
    assert_eq!(json["report"]["verdict"], "indefinite");
    assert!((json["report"]["smallest"].as_f64().unwrap() + 1.0).abs() < 1e-12);
}
