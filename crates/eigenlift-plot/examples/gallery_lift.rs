//! Writes density, Gram matrices, curves, selection paths, rows of contours and bounds as PNG and SVG into a folder:
//! `cargo run --example gallery_lift -p eigenlift-plot -- FOLDER`.

mod support;

use std::path::Path;
use std::time::Instant;

use eigenlift_plot::{
    Color, ContourPanels, Curve, Curves, GramPicture, Panel, PathPicture, PathStep, Scatter, Scree,
    contour_rows, curves, gram_picture, scatter, scree, selection_path,
};
use support::{Outcome, Random, folder, write};

fn main() -> Outcome {
    let folder = folder()?;
    densities(&folder)?;
    grams(&folder)?;
    curved(&folder)?;
    paths(&folder)?;
    rows(&folder)?;
    certificates(&folder)
}

/// Points around centres on a spiral, the later ones wider.
fn blobs(n: usize, n_classes: usize) -> (Vec<f64>, Vec<f64>, Vec<String>) {
    let mut random = Random(7);
    let mut out = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        let class = i % n_classes;
        let (angle, radius) = (2.4 * class as f64, 2.0 * (class as f64).sqrt());
        let spread = 0.5 + 0.1 * class as f64;
        out.0.push(radius * angle.cos() + spread * random.normal());
        out.1.push(radius * angle.sin() + spread * random.normal());
        out.2.push(format!("class {class}"));
    }
    out
}

fn densities(folder: &Path) -> Outcome {
    for (n, n_classes) in [(25_000, 3), (70_000, 10), (1_000_000, 5)] {
        let (x, y, classes) = blobs(n, n_classes);
        let values: Vec<f64> = x.iter().zip(&y).map(|(x, y)| (x + y).sin()).collect();
        let (x_label, y_label) = ("component 1", "component 2");
        let base = Scatter { x: &x, y: &y, x_label, y_label, equal_aspect: true, ..Scatter::default() };
        for (name, color) in [
            ("count", Color::None),
            ("classes", Color::Classes(&classes)),
            ("values", Color::Values { name: "sin(x + y)", values: &values }),
        ] {
            let start = Instant::now();
            let figure = scatter(&Scatter { color, title: "Density", ..base })?;
            let svg = figure.to_svg();
            eprintln!("{n} {name}: {:.2} s, {} kB", start.elapsed().as_secs_f64(), svg.len() / 1000);
            write(folder, &format!("density-{n}-{name}"), &figure)?;
        }
    }
    Ok(())
}

/// The Gram matrix of exp(−γ|a − b|²), and the centred one.
fn gram(points: &[[f64; 2]], gamma: f64) -> (Vec<f64>, Vec<f64>) {
    let n = points.len();
    let entry = |a: &[f64; 2], b: &[f64; 2]| (-gamma * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp();
    let gram: Vec<f64> = points.iter().flat_map(|a| points.iter().map(move |b| entry(a, b))).collect();
    let means: Vec<f64> = gram.chunks(n.max(1)).map(|row| row.iter().sum::<f64>() / n as f64).collect();
    let mean = means.iter().sum::<f64>() / n.max(1) as f64;
    let centered = gram.iter().enumerate().map(|(k, v)| v - means[k / n] - means[k % n] + mean).collect();
    (gram, centered)
}

fn grams(folder: &Path) -> Outcome {
    for (n, n_classes) in [(3, 0), (6, 2), (40, 0), (150, 3), (600, 12), (1000, 30)] {
        let (x, y, classes) = blobs(n, n_classes.max(1));
        let points: Vec<[f64; 2]> = x.iter().zip(&y).map(|(x, y)| [*x, *y]).collect();
        let (gram, centered) = gram(&points, 0.3);
        let figure = gram_picture(&GramPicture {
            gram: &gram,
            centered: &centered,
            n,
            classes: (n_classes > 0).then_some(&classes),
            title: "rbf(γ = 0.3)",
        })?;
        eprintln!("gram {n}: {} kB", figure.to_svg().len() / 1000);
        write(folder, &format!("gram-{n}"), &figure)?;
    }
    Ok(())
}

fn curved(folder: &Path) -> Outcome {
    let mut random = Random(3);
    let (x, y): (Vec<f64>, Vec<f64>) = (0..300)
        .map(|_| {
            let t = 2.0 * random.uniform() - 1.0;
            (t + 0.05 * random.normal(), t * t + 0.1 * random.normal())
        })
        .unzip();
    let classes: Vec<String> = x.iter().map(|x| if *x < 0.0 { "left" } else { "right" }.to_owned()).collect();
    let at = |k: usize| 3.0 * k as f64 / 99.0 - 1.5;
    let along = Curve {
        name: "component 1 (71 %)".into(),
        x: (0..100).map(at).collect(),
        y: (0..100).map(|k| at(k).powi(2)).collect(),
        trusted: (0..100).map(|k| at(k).abs() < 1.05).collect(),
    };
    let across = Curve {
        name: "component 2 (18 %)".into(),
        x: (0..50).map(|k| 0.1 * (at(2 * k)).sin()).collect(),
        y: (0..50).map(|k| if k == 30 { f64::NAN } else { at(2 * k) * 0.5 + 0.2 }).collect(),
        trusted: Vec::new(),
    };
    let base = Curves {
        points: (&x, &y),
        curves: vec![along.clone(), across],
        title: "Components in input space",
        x_label: "x₁",
        y_label: "x₂",
        ..Curves::default()
    };
    write(folder, "curves", &curves(&base)?)?;
    let many = (0..4).map(|k| Curve {
        name: format!("component {}", k + 1),
        y: along.y.iter().map(|y| y * (1.0 - 0.3 * f64::from(k)) + 0.1 * f64::from(k)).collect(),
        ..along.clone()
    });
    let many = Curves { curves: many.collect(), classes: Some(&classes), ..base };
    write(folder, "curves-classes", &curves(&many)?)
}

fn paths(folder: &Path) -> Outcome {
    let names =
        ["petal width", "petal length", "sepal width", "sepal length in centimetres", "noise 1", "noise 2"];
    for (n, best, chosen) in [(6, 3, 1), (40, 22, 9)] {
        let score =
            |k: usize| 0.6 + 0.36 * (1.0 - (-(k as f64 + 1.0) * 5.0 / n as f64).exp()) - 0.002 * k as f64;
        let step = |k: usize| PathStep {
            name: names.get(k).map_or_else(|| format!("pixel {}", 7 * k % 64), |name| (*name).to_owned()),
            score: score(k) + 0.004 * (7.0 * k as f64).sin(),
            spread: Some(0.02 + 0.005 * (k as f64).cos()),
            baseline: Some(score(k) + 0.01 + 0.003 * k as f64),
        };
        let steps: Vec<PathStep> = (0..n).map(step).collect();
        let figure = selection_path(&PathPicture {
            steps: &steps,
            chosen: Some(chosen),
            best: Some(best),
            score_label: "cross-validated accuracy",
            baseline_label: "training accuracy",
            title: "Forward selection",
            ..PathPicture::default()
        })?;
        write(folder, &format!("path-{n}"), &figure)?;
    }
    Ok(())
}

fn rows(folder: &Path) -> Outcome {
    const N: usize = 80;
    let (x, y, classes) = blobs(120, 3);
    let at = |k: usize| 8.0 * k as f64 / (N - 1) as f64 - 5.0;
    let panel = |j: usize, f: &dyn Fn(f64, f64) -> f64| Panel {
        title: format!("nλ{} = {:.2}", ["₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈"][j], 40.0 / (j + 1) as f64),
        values: (0..N * N).map(|k| f(at(k % N), at(k / N))).collect(),
    };
    for k in [2, 3, 4, 8] {
        let linear = (0..k).map(|j| {
            let (sin, cos) = (0.9 * j as f64).sin_cos();
            panel(j, &|x, y| cos * x + sin * y)
        });
        let wave = |j: usize| {
            move |x: f64, y: f64| ((0.3 + 0.2 * j as f64) * x + y * y / 9.0).sin() * (y - x / 3.0).cos()
        };
        let panels: Vec<Panel> = linear.chain((0..k).map(|j| panel(j, &wave(j)))).collect();
        let input = ContourPanels {
            panels,
            nx: N,
            ny: N,
            x_range: (-5.0, 3.0),
            y_range: (-5.0, 3.0),
            points: (&x, &y),
            classes: Some(&classes),
            title: "Linear beside kernel",
            x_label: "x₁",
            y_label: "x₂",
            ..ContourPanels::default()
        };
        let figure = contour_rows(&input, &["linear".into(), "rbf(gamma=10)".into()])?;
        eprintln!("contours of {} panels: {} kB", 2 * k, figure.to_svg().len() / 1000);
        write(folder, &format!("rows-{k}"), &figure)?;
    }
    Ok(())
}

fn certificates(folder: &Path) -> Outcome {
    let eigenvalues: Vec<f64> = (0..12).map(|k| 20.0 * 0.75_f64.powi(k)).collect();
    let ratio: Vec<f64> = eigenvalues.iter().map(|v| v / 80.0).collect();
    let base = Scree { eigenvalues: &eigenvalues, ratio: &ratio, ..Scree::default() };
    let tiny: Vec<(f64, f64)> = eigenvalues.iter().map(|v| (v - 1e-9, v + 1e-9)).collect();
    write(
        folder,
        "scree-tiny",
        &scree(&Scree { intervals: Some(&tiny), title: "Bounds of a direct solver", ..base })?,
    )?;
    let one_sided: Vec<(f64, f64)> = eigenvalues.iter().map(|v| (*v, v + 1.7)).collect();
    write(
        folder,
        "scree-one-sided",
        &scree(&Scree { intervals: Some(&one_sided), title: "Bounds of a low-rank fit", ..base })?,
    )?;
    let open: Vec<(f64, f64)> = eigenvalues.iter().map(|v| (0.8 * v, f64::INFINITY)).collect();
    write(folder, "scree-open", &scree(&Scree { intervals: Some(&open), title: "No upper bound", ..base })?)
}
