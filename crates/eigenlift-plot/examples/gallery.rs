//! Writes every kind of picture as PNG and SVG into a folder:
//! `cargo run --example gallery -p eigenlift-plot -- FOLDER`.

mod support;

use std::path::Path;

use eigenlift_plot::{
    Choice, Color, ContourPanels, DoctorPicture, GraphPicture, Panel, Rule, Scatter, Scree, WhiteningPicture,
    choice, contour_panels, doctor, graph_picture, scatter, scree, whitening,
};
use support::{Outcome, Random, folder, write};

fn main() -> Outcome {
    let folder = folder()?;
    scatters(&folder)?;
    hard_scatters(&folder)?;
    scree_plots(&folder)?;
    choices(&folder)?;
    whitenings(&folder)?;
    graphs(&folder)?;
    doctors(&folder)?;
    contours(&folder)
}

/// Points around `n_classes` centres on a spiral.
fn blobs(n: usize, n_classes: usize) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
    let mut random = Random(7);
    let mut out = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        let class = i % n_classes;
        let angle = 2.4 * class as f64;
        let radius = 2.0 * (class as f64).sqrt();
        out.0.push(radius * angle.cos() + 0.6 * random.normal());
        out.1.push(radius * angle.sin() + 0.6 * random.normal());
        out.2.push(class);
    }
    out
}

fn scatters(folder: &Path) -> Outcome {
    let (x, y, class) = blobs(150, 3);
    let names = ["setosa", "versicolor", "virginica"];
    let classes: Vec<String> = class.iter().map(|k| names[*k].to_owned()).collect();
    let base = Scatter { x: &x, y: &y, x_label: "component 1", y_label: "component 2", ..Scatter::default() };
    let by_class = Scatter {
        color: Color::Classes(&classes),
        title: "Kernel PCA, rbf(γ = 0.5)",
        equal_aspect: true,
        ..base
    };
    write(folder, "scatter-classes", &scatter(&by_class)?)?;

    let distance: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x.hypot(*y)).collect();
    let values = Color::Values { name: "distance to the origin", values: &distance };
    write(
        folder,
        "scatter-values",
        &scatter(&Scatter { color: values, title: "Coloured by value", ..base })?,
    )?;
    write(folder, "scatter-plain", &scatter(&base)?)?;

    let (x, y, class) = blobs(100_000, 5);
    let classes: Vec<String> = class.iter().map(|k| format!("cluster {k}")).collect();
    let color = Color::Classes(&classes);
    let many = Scatter { x: &x, y: &y, color, title: "100 000 points", ..base };
    write(folder, "scatter-many-points", &scatter(&many)?)?;
    let radius: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x.hypot(*y)).collect();
    let color = Color::Values { name: "radius", values: &radius };
    write(folder, "scatter-many-values", &scatter(&Scatter { color, ..many })?)?;

    for n_classes in [12, 18, 30] {
        let (x, y, class) = blobs(900, n_classes);
        let classes: Vec<String> = class.iter().map(|k| format!("species {k}")).collect();
        let color = Color::Classes(&classes);
        let title = format!("{n_classes} classes");
        let figure = scatter(&Scatter { x: &x, y: &y, color, title: &title, ..base })?;
        write(folder, &format!("scatter-{n_classes}-classes"), &figure)?;
    }
    Ok(())
}

/// Labels and values that are hard to draw.
fn hard_scatters(folder: &Path) -> Outcome {
    let (mut x, y, class) = blobs(60, 4);
    x.iter_mut().for_each(|v| *v *= 1e-7);
    x[3] = f64::NAN;
    let names = ["<script>&\"'", "naïve Bayes – Łódź, Ελλάδα, Москва", "中文 and 😀", ""];
    let classes: Vec<String> = class.iter().map(|k| names[*k].to_owned()).collect();
    let figure = scatter(&Scatter {
        x: &x,
        y: &y,
        color: Color::Classes(&classes),
        title: "A title so long that it cannot possibly fit above a figure that is one column wide",
        x_label: "a horizontal label that is also longer than the axis it stands below, by some words",
        y_label: "a vertical label that is longer than the axis it stands beside",
        equal_aspect: false,
    })?;
    write(folder, "scatter-hard", &figure)?;
    let offset: Vec<f64> = y.iter().map(|v| 123_456.0 + 0.001 * v).collect();
    let one = Scatter {
        x: &[2.0],
        y: &[-3.0],
        title: "one point",
        x_label: "x",
        y_label: "y",
        ..Scatter::default()
    };
    write(folder, "scatter-one", &scatter(&one)?)?;
    write(folder, "scatter-offset", &scatter(&Scatter { x: &offset, y: &y, title: "offset", ..one })?)?;
    write(folder, "scatter-empty", &scatter(&Scatter { x: &[], y: &[], title: "nothing", ..one })?)?;
    Ok(())
}

fn scree_plots(folder: &Path) -> Outcome {
    for n in [1_usize, 8, 30, 200, 500] {
        let eigenvalues: Vec<f64> = (1..=n).map(|k| 21.7 / (k as f64).powf(1.3)).collect();
        let total = eigenvalues.iter().sum::<f64>() / 0.93;
        let ratio: Vec<f64> = eigenvalues.iter().map(|v| v / total).collect();
        let intervals: Vec<(f64, f64)> = eigenvalues.iter().map(|v| (0.9 * v, 1.15 * v)).collect();
        let intervals = (n == 8).then_some(intervals.as_slice());
        let title = format!("Spectrum, {n} components");
        let base = Scree { eigenvalues: &eigenvalues, ratio: &ratio, title: &title, ..Scree::default() };
        write(folder, &format!("scree-{n}"), &scree(&Scree { intervals, ..base })?)?;
    }
    for n in [1_usize, 2, 10, 64, 300] {
        let eigenvalues: Vec<f64> = (0..n).map(|k| 8.0 * 0.75_f64.powf(k as f64)).collect();
        let total = eigenvalues.iter().sum::<f64>() / 0.96;
        let ratio: Vec<f64> = eigenvalues.iter().map(|v| v / total).collect();
        let residual: Vec<f64> = (0..=n).map(|m| total - eigenvalues[..m].iter().sum::<f64>()).collect();
        let title = format!("Spectrum and residual error, {n} components");
        let input = Scree {
            eigenvalues: &eigenvalues,
            ratio: &ratio,
            residual: &residual,
            title: &title,
            ..Scree::default()
        };
        write(folder, &format!("scree-residual-{n}"), &scree(&input)?)?;
        if n == 10 {
            write(folder, "scree-residual-alone", &scree(&Scree { ratio: &[], ..input })?)?;
        }
    }
    let indefinite = [3.1e-6, 1.2e-6, 0.4e-6, -0.3e-6, f64::NAN];
    let figure =
        scree(&Scree { eigenvalues: &indefinite, title: "An indefinite kernel", ..Scree::default() })?;
    write(folder, "scree-negative", &figure)?;
    Ok(())
}

/// A spectrum of `strong` components over noise, and what the rules make of it.
fn choices(folder: &Path) -> Outcome {
    for (name, n, strong, noise) in [
        ("few", 4, 2, 0.1),
        ("ten", 10, 3, 0.2),
        ("many", 64, 12, 0.01),
        ("flat", 30, 0, 1.0),
        ("cut", 400, 9, 0.05),
    ] {
        let eigenvalues: Vec<f64> = (0..n)
            .map(|k| {
                if k < strong {
                    30.0 * 0.7_f64.powi(k as i32)
                } else {
                    noise * (1.3 - 0.6 * k as f64 / n as f64)
                }
            })
            .collect();
        let null: Vec<f64> = (0..n).map(|k| noise * (1.5 - 0.9 * k as f64 / n as f64)).collect();
        let residual: Vec<f64> = (0..=n).map(|m| eigenvalues[m..].iter().sum()).collect();
        let cross_validated: Vec<(usize, f64, f64)> = (0..n.min(40))
            .map(|m| {
                let error = residual[m] * (1.0 + 0.02 * m as f64) + 0.4 * noise * m as f64;
                (m, error, 0.08 * error)
            })
            .collect();
        let rules = [
            Rule { name: "parallel analysis", m: Some(strong) },
            Rule { name: "Gavish–Donoho", m: Some(strong) },
            Rule { name: "cross-validation", m: Some(strong + 1) },
            Rule { name: "90 % of variance", m: Some(strong.saturating_sub(1)) },
            Rule { name: "elbow", m: None },
            Rule { name: "broken stick", m: Some(if name == "cut" { 150 } else { 1 }) },
        ];
        let title = format!("How many components: {name}");
        let input = Choice {
            eigenvalues: &eigenvalues,
            null: Some(&null),
            threshold: Some(2.2 * noise),
            cross_validated: &cross_validated,
            residual: &residual,
            rules: &rules,
            consensus: strong,
            title: &title,
        };
        write(folder, &format!("choice-{name}"), &choice(&input)?)?;
        if name == "ten" {
            let plain = Choice { null: None, threshold: None, cross_validated: &[], residual: &[], ..input };
            write(folder, "choice-plain", &choice(&plain)?)?;
            let without = Choice { residual: &[], rules: &rules[..1], ..input };
            write(folder, "choice-no-residual", &choice(&without)?)?;
        }
    }
    odd_choices(folder)
}

/// Values without a logarithm, a long name, an answer beyond the data, and nothing at all.
fn odd_choices(folder: &Path) -> Outcome {
    let odd = Choice {
        eigenvalues: &[3.0, f64::NAN, 1e-3, 1e-17, 0.0, -1e-18],
        threshold: Some(-1.0),
        cross_validated: &[(3, 2.0, 5.0), (1, 4.0, 0.1), (2, f64::INFINITY, 1.0)],
        residual: &[3.001, 0.001, 1e-3, 1e-17, 0.0, 0.0, 0.0],
        rules: &[
            Rule { name: "a rule whose name is longer than there is room", m: Some(123_456) },
            Rule { name: "", m: None },
        ],
        consensus: 1,
        title: "Values that have no logarithm",
        ..Choice::default()
    };
    write(folder, "choice-odd", &choice(&odd)?)?;
    write(folder, "choice-empty", &choice(&Choice { title: "Nothing", ..Choice::default() })?)
}

/// Columns with the identity as their covariance, by Gram and Schmidt.
fn white_columns(n: usize, p: usize) -> Vec<Vec<f64>> {
    let mut random = Random(11);
    let mut columns: Vec<Vec<f64>> = vec![vec![1.0; n]];
    for _ in 0..p {
        let mut column: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        for earlier in &columns {
            let along = column.iter().zip(earlier).map(|(a, b)| a * b).sum::<f64>() / n as f64;
            column.iter_mut().zip(earlier).for_each(|(a, b)| *a -= along * b);
        }
        let size = (column.iter().map(|a| a * a).sum::<f64>() / n as f64).sqrt();
        columns.push(column.iter().map(|a| a / size).collect());
    }
    columns.split_off(1)
}

/// Correlated columns before and after whitening.
fn whitenings(folder: &Path) -> Outcome {
    for (n, p, scale, ratio) in [(150, 2, 1.0, -0.9_f64), (1000, 8, 1e-3, -0.9), (20_000, 64, 40.0, 0.9)] {
        let white = white_columns(n, p);
        let factor = |i: usize, j: usize| -> f64 {
            scale * (if j == i { 0.6 } else { 1.2 }) * ratio.powi((i - j) as i32)
        };
        let mixed = |i: usize| -> Vec<f64> {
            (0..n).map(|k| (0..=i).map(|j| factor(i, j) * white[j][k]).sum()).collect()
        };
        let columns: Vec<Vec<f64>> = (0..p).map(mixed).collect();
        let covariance = |columns: &[Vec<f64>]| -> Vec<f64> {
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / n as f64;
            columns.iter().flat_map(|a| columns.iter().map(move |b| product(a, b))).collect()
        };
        let title = format!("Whitening, {p} features");
        let input = WhiteningPicture {
            before: (&columns[0], &columns[1]),
            after: (&white[0], &white[1]),
            names: ["sepal length (cm)", "petal length (cm)", "z₁", "z₂"],
            covariance_before: &covariance(&columns),
            covariance_after: &covariance(&white),
            p,
            title: &title,
        };
        write(folder, &format!("whitening-{p}"), &whitening(&input)?)?;
    }
    let odd = WhiteningPicture {
        before: (&[1.0, 2.0, 3.0, f64::NAN], &[1.0, 2.0, 3.0, 1.0]),
        after: (&[0.0], &[0.0]),
        names: ["a label that is longer than its axis", "another label that is too long", "", "z₂"],
        covariance_before: &[0.0; 9],
        covariance_after: &[1.0, f64::NAN, -0.5, 0.0, 1.0, 0.0, -0.5, 0.2, 0.9],
        p: 3,
        title: "A line, a point, zeros and NaN",
    };
    write(folder, "whitening-odd", &whitening(&odd)?)?;
    write(folder, "whitening-empty", &whitening(&WhiteningPicture::default())?)
}

/// A strip of n points, each joined to the k of the next 60 that are nearest.
fn strip(n: usize, k: usize) -> (Vec<f64>, Vec<f64>, Vec<(u32, u32)>) {
    let mut random = Random(5);
    let xy: (Vec<f64>, Vec<f64>) =
        (0..n).map(|i| (40.0 * i as f64 / n as f64, 12.0 * random.uniform())).unzip();
    let mut edges = Vec::new();
    for i in 0..n {
        let distance = |j: &usize| (xy.0[i] - xy.0[*j]).hypot(xy.1[i] - xy.1[*j]);
        let mut others: Vec<usize> = (i + 1..n.min(i + 61)).collect();
        others.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        edges.extend(others.iter().take(k).map(|j| (i as u32, *j as u32)));
    }
    (xy.0, xy.1, edges)
}

/// Neighbourhood graphs over an embedding: by class and by value, very many edges, and odd ones.
fn graphs(folder: &Path) -> Outcome {
    let (x, y, edges) = strip(300, 3);
    let base = GraphPicture {
        xy: (&x, &y),
        edges: &edges,
        marked: &[(12, 190), (60, 255), (200, 206)],
        marked_name: "suspected short circuits",
        names: ("isomap 1", "isomap 2"),
        title: "Neighbourhood graph, k = 6",
        ..GraphPicture::default()
    };
    let color = Color::Values { name: "angle along the roll", values: &x };
    write(folder, "graph-values", &graph_picture(&GraphPicture { color, ..base })?)?;
    let classes: Vec<String> = x.iter().map(|v| format!("part {}", (v / 10.0) as i32)).collect();
    let color = Color::Classes(&classes);
    write(folder, "graph-classes", &graph_picture(&GraphPicture { color, marked_name: "bridges", ..base })?)?;
    write(folder, "graph-plain", &graph_picture(&GraphPicture { marked: &[], ..base })?)?;

    let (x, y, edges) = strip(12_500, 8);
    let marked: Vec<(u32, u32)> = (0..40).map(|k| (300 * k, 300 * k + 450)).collect();
    let many = GraphPicture { xy: (&x, &y), edges: &edges, marked: &marked, title: "100 000 edges", ..base };
    write(folder, "graph-many", &graph_picture(&many)?)?;

    let odd = GraphPicture {
        xy: (&[1.0, 1.0, 2.0, f64::NAN], &[1.0, 1.0, 3.0, 0.0]),
        edges: &[(0, 1), (0, 2), (1, 3)],
        marked: &[(0, 1), (2, 3)],
        title: "Equal points and NaN",
        ..base
    };
    write(folder, "graph-odd", &graph_picture(&odd)?)?;
    write(
        folder,
        "graph-empty",
        &graph_picture(&GraphPicture { title: "Nothing", ..GraphPicture::default() })?,
    )
}

/// Numbers of neighbours: a usual sweep, a long one, one k, and nothing known.
fn doctors(folder: &Path) -> Outcome {
    let known = |values: &[f64]| values.iter().map(|v| (*v >= 0.0).then_some(*v)).collect::<Vec<_>>();
    let input = DoctorPicture {
        neighbors: &[4, 5, 7, 10, 14, 20, 28, 40],
        residual_variance: &known(&[-1.0, 0.021, 0.0042, 0.0031, 0.0028, 0.19, 0.41, 0.47]),
        components: &[12, 2, 1, 1, 1, 1, 1, 1],
        mean_geodesic: &known(&[-1.0, 33.2, 36.4, 35.8, 35.1, 22.9, 18.3, 17.5]),
        suspects: &[None, Some(0), Some(0), Some(0), Some(0), Some(3), Some(25), Some(118)],
        recommended: 10,
        title: "Swiss roll: how many neighbours",
    };
    write(folder, "doctor", &doctor(&input)?)?;
    let n = 56;
    let at = |i: usize| 1.0 / (1.0 + (-((i as f64) - 30.0)).exp());
    let long = DoctorPicture {
        neighbors: &(5..5 + n).collect::<Vec<_>>(),
        residual_variance: &(0..n)
            .map(|i| (i % 17 != 3).then(|| 1e-4 * (1.0 + 40.0 * at(i))))
            .collect::<Vec<_>>(),
        components: &(0..n).map(|i| 1 + 200 / (1 + i * i)).collect::<Vec<_>>(),
        mean_geodesic: &(0..n).map(|i| Some(1234.5 * (1.0 - 0.6 * at(i)))).collect::<Vec<_>>(),
        suspects: &(0..n).map(|i| Some(i.saturating_sub(28))).collect::<Vec<_>>(),
        recommended: 58,
        title: "A long sweep",
    };
    write(folder, "doctor-long", &doctor(&long)?)?;
    let one = DoctorPicture {
        neighbors: &[12],
        residual_variance: &[Some(0.0)],
        components: &[1],
        mean_geodesic: &[Some(2.5e-7)],
        suspects: &[None],
        recommended: 12,
        title: "One number of neighbours",
    };
    write(folder, "doctor-one", &doctor(&one)?)?;
    let unknown = DoctorPicture {
        neighbors: &[20, 5, 10],
        residual_variance: &[None; 3],
        components: &[900, 1000, 1500],
        mean_geodesic: &[None, Some(f64::NAN), None],
        suspects: &[Some(123_456); 3],
        recommended: 15,
        title: "Nothing known, 15 not tried",
    };
    write(folder, "doctor-unknown", &doctor(&unknown)?)?;
    write(folder, "doctor-empty", &doctor(&DoctorPicture::default())?)
}

/// Three clusters of 30 points, k(x, x′) = exp(−‖x − x′‖²/0.1), the first eight components over the plane.
fn contours(folder: &Path) -> Outcome {
    let mut random = Random(1);
    let (mut px, mut py, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    for (name, cx, cy) in [("first", -0.5, -0.2), ("second", 0.0, 0.6), ("third", 0.5, 0.0)] {
        for _ in 0..30 {
            px.push(cx + 0.1 * random.normal());
            py.push(cy + 0.1 * random.normal());
            classes.push(name.to_owned());
        }
    }
    let (nx, ny, x_range, y_range) = (70, 60, (-1.0, 1.0), (-0.6, 1.1));
    let panels = component_panels(&px, &py, (nx, x_range), (ny, y_range));
    let base = ContourPanels {
        panels,
        nx,
        ny,
        x_range,
        y_range,
        points: (&px, &py),
        classes: Some(&classes),
        columns: 4,
        title: "Components of a Gaussian kernel",
        x_label: "x₁",
        y_label: "x₂",
    };
    write(folder, "contours-4", &contour_panels(&base)?)?;
    let plain = ContourPanels { columns: 2, classes: None, title: "", ..base.clone() };
    write(folder, "contours-2", &contour_panels(&plain)?)?;

    let mut odd = ContourPanels { columns: 3, classes: None, title: "Odd cases", ..base };
    odd.panels.truncate(5);
    odd.panels[1] = Panel { title: "constant".into(), values: vec![3.0; nx * ny] };
    odd.panels[2] = Panel { title: "not finite".into(), values: vec![f64::NAN; nx * ny] };
    odd.panels[3].title = "a hole, and a very long title".into();
    odd.panels[3].values.iter_mut().skip(nx * 30 + 20).step_by(nx).take(9).for_each(|v| *v = f64::NAN);
    odd.panels[4] =
        Panel { title: "positive".into(), values: (0..nx * ny).map(|k| (k % nx) as f64).collect() };
    write(folder, "contours-odd", &contour_panels(&odd)?)?;
    Ok(())
}

/// Kernel PCA by orthogonal iteration; enough for 90 points.
fn component_panels(px: &[f64], py: &[f64], x: (usize, (f64, f64)), y: (usize, (f64, f64))) -> Vec<Panel> {
    const COMPONENTS: usize = 8;
    let n = px.len();
    let kernel = |ax: f64, ay: f64, k: usize| (-((ax - px[k]).powi(2) + (ay - py[k]).powi(2)) / 0.1).exp();
    let gram: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| kernel(px[i], py[i], j)).collect()).collect();
    let row_means: Vec<f64> = gram.iter().map(|row| row.iter().sum::<f64>() / n as f64).collect();
    let mean = row_means.iter().sum::<f64>() / n as f64;
    let centered = |i: usize, j: usize| gram[i][j] - row_means[i] - row_means[j] + mean;
    let mut random = Random(3);
    let mut vectors: Vec<Vec<f64>> =
        (0..COMPONENTS + 4).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    let mut norms = vec![0.0; vectors.len()];
    for _ in 0..400 {
        for k in 0..vectors.len() {
            let mut v: Vec<f64> =
                (0..n).map(|i| (0..n).map(|j| centered(i, j) * vectors[k][j]).sum()).collect();
            for earlier in &vectors[..k] {
                let along: f64 = v.iter().zip(earlier).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(earlier).for_each(|(a, b)| *a -= along * b);
            }
            norms[k] = v.iter().map(|a| a * a).sum::<f64>().sqrt();
            vectors[k] = v.iter().map(|a| a / norms[k]).collect();
        }
    }
    let node = |(n, (lo, hi)): (usize, (f64, f64)), k: usize| lo + (hi - lo) * k as f64 / (n - 1) as f64;
    let component = |k: usize| {
        let values = (0..x.0 * y.0).map(|at| {
            let (gx, gy) = (node(x, at % x.0), node(y, at / x.0));
            (0..n).map(|i| vectors[k][i] * (kernel(gx, gy, i) - row_means[i])).sum::<f64>() / norms[k].sqrt()
        });
        let subscript = char::from_u32(0x2081 + k as u32).unwrap_or('?');
        Panel { title: format!("λ{subscript} = {:.2}", norms[k]), values: values.collect() }
    };
    (0..COMPONENTS).map(component).collect()
}
