//! Writes canonical correlations, regularisation curves, monitoring charts, contributions and class regions as PNG and
//! SVG into a folder: `cargo run --example gallery_kernelised -p eigenlift-plot -- FOLDER`.

mod support;

use std::path::Path;
use std::time::Instant;

use eigenlift_plot::{
    CanonicalGallery, CanonicalPair, CanonicalPicture, Color, CorrelationsPicture, MonitorPicture,
    RegionsPicture, RegularizationPicture, canonical, canonical_gallery, contributions, correlations,
    monitor, monitor_chart, regions, regularization,
};
use support::{Outcome, Random, folder, write};

fn main() -> Outcome {
    let folder = folder()?;
    correlated(&folder)?;
    views(&folder)?;
    regularized(&folder)?;
    monitored(&folder)?;
    contributed(&folder)?;
    classified(&folder)
}

fn correlated(folder: &Path) -> Outcome {
    for n in [1, 2, 5, 30] {
        let training: Vec<f64> = (0..n).map(|k| 0.99 - 0.5 * f64::from(k) / f64::from(n.max(4))).collect();
        let held_out: Vec<f64> = (0..n).map(|k| 0.95 - 1.05 * (f64::from(k) / f64::from(n)).sqrt()).collect();
        let errors: Vec<f64> = (0..n).map(|k| 0.01 + 0.05 * f64::from(k) / f64::from(n)).collect();
        let title = "Canonical correlations";
        let base = CorrelationsPicture {
            training: &training,
            held_out: Some((&held_out, &errors)),
            null: Some(0.312),
            tested: None,
            title,
        };
        write(folder, &format!("correlations-{n}"), &correlations(&base)?)?;
        let alone = CorrelationsPicture { held_out: None, null: None, ..base };
        write(folder, &format!("correlations-{n}-alone"), &correlations(&alone)?)?;
    }
    Ok(())
}

fn views(folder: &Path) -> Outcome {
    for n in [150, 3000, 100_000] {
        let mut random = Random(5);
        let classes: Vec<String> =
            (0..n).map(|i| ["setosa", "versicolor", "virginica"][i % 3].to_owned()).collect();
        let scores: Vec<(Vec<f64>, Vec<f64>, f64)> = [0.97_f64, 0.8, 0.55, 0.2, 0.1]
            .into_iter()
            .map(|rho| {
                let pairs = (0..n).map(|i| {
                    let common = 0.6 * random.normal() + [-1.0, 0.2, 0.9][i % 3];
                    let noise = (1.0 / rho - 1.0).sqrt();
                    (common + noise * random.normal(), common + noise * random.normal())
                });
                let (first, second): (Vec<f64>, Vec<f64>) = pairs.unzip();
                (first, second, rho)
            })
            .collect();
        let pairs: Vec<CanonicalPair> = scores
            .iter()
            .map(|(first, second, rho)| CanonicalPair { first, second, correlation: *rho })
            .collect();
        let values: Vec<f64> = scores[0].0.iter().map(|v| v * 3.0).collect();
        for (name, color) in [
            ("plain", Color::None),
            ("classes", Color::Classes(&classes)),
            ("values", Color::Values { name: "temperature", values: &values }),
        ] {
            let (views, title) = (["expression of genes", "concentration of lipids"], "Canonical scores");
            let (first, second) = (&scores[0].0[..], &scores[0].1[..]);
            let one =
                CanonicalPicture { first, second, views, component: 1, color, correlation: 0.9731, title };
            write(folder, &format!("canonical-{n}-{name}"), &canonical(&one)?)?;
            for k in [1, 2, 3, 5] {
                let start = Instant::now();
                let figure =
                    canonical_gallery(&CanonicalGallery { pairs: &pairs[..k], views, color, title })?;
                let bytes = figure.to_svg().len();
                eprintln!("gallery of {n}, {k}: {:.2} s, {} kB", start.elapsed().as_secs_f64(), bytes / 1000);
                write(folder, &format!("gallery-{n}-{name}-{k}"), &figure)?;
            }
        }
    }
    Ok(())
}

fn regularized(folder: &Path) -> Outcome {
    for n in [1, 4, 13] {
        let kappas: Vec<f64> = (0..n).map(|k| 10.0_f64.powf(-6.0 + 0.5 * f64::from(k))).collect();
        let scores: Vec<f64> = (0..n).map(|k| 0.9 - 0.01 * (f64::from(k) - 7.0).powi(2)).collect();
        let errors: Vec<f64> = (0..n).map(|k| 0.03 + 0.02 * f64::from(k).sin()).collect();
        let figure = regularization(&RegularizationPicture {
            kappas: &kappas,
            scores: &scores,
            errors: &errors,
            chosen: (n as usize - 1).min(7),
            x_label: if n == 4 { "" } else { "regularisation κ as a share of tr C" },
            y_label: "held-out correlation",
            title: "How much regularisation",
        })?;
        write(folder, &format!("regularization-{n}"), &figure)?;
    }
    Ok(())
}

fn monitored(folder: &Path) -> Outcome {
    for n in [1, 60, 400, 3000, 100_000] {
        let mut random = Random(11);
        let (mut t_squared, mut spe): (Vec<f64>, Vec<f64>) = (0..n)
            .map(|_| {
                let t: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                let s: f64 = (0..6).map(|_| random.normal().powi(2)).sum();
                (t, 0.02 * s)
            })
            .unzip();
        for (k, i) in (0..n).filter(|i| i % 97 == 50).enumerate() {
            t_squared[i] *= 4.0 + k as f64 % 7.0;
            spe[i] *= 2.0 + (k as f64 % 11.0) * 3.0;
        }
        let names: Vec<String> = (0..n).map(|i| format!("batch {} of line {}", 1000 + i, i % 3)).collect();
        let base = MonitorPicture {
            t_squared: &t_squared,
            spe: &spe,
            limits: Some((11.34, 0.336)),
            labels: None,
            title: "Rows far from the model",
        };
        let start = Instant::now();
        let figure = monitor(&base)?;
        eprintln!("monitor {n}: {:.2} s, {} kB", start.elapsed().as_secs_f64(), figure.to_svg().len() / 1000);
        write(folder, &format!("monitor-{n}"), &figure)?;
        write(folder, &format!("monitor-{n}-chart"), &monitor_chart(&base)?)?;
        let named = MonitorPicture { labels: Some(&names), ..base };
        write(folder, &format!("monitor-{n}-names"), &monitor(&named)?)?;
        let free = MonitorPicture { limits: None, ..base };
        write(folder, &format!("monitor-{n}-free"), &monitor(&free)?)?;
        write(folder, &format!("monitor-{n}-free-chart"), &monitor_chart(&free)?)?;
    }
    Ok(())
}

fn contributed(folder: &Path) -> Outcome {
    for n in [1, 4, 20, 64] {
        let name = |k: usize| match k {
            2 => "temperature at the outlet of the second heat exchanger".to_owned(),
            k => format!("sensor {k}"),
        };
        let names: Vec<String> = (0..n).map(name).collect();
        let values: Vec<f64> =
            (0..n).map(|k| 3.0 * (1.7 * k as f64 + 1.0).cos() / (1.0 + 0.1 * k as f64)).collect();
        let figure = contributions(&names, &values, "row 17", "contribution to SPE")?;
        write(folder, &format!("contributions-{n}"), &figure)?;
    }
    Ok(())
}

fn classified(folder: &Path) -> Outcome {
    const N: usize = 160;
    for (n_points, n_classes) in [(90, 2), (400, 3), (100_000, 5), (600, 15)] {
        let mut random = Random(3);
        let center = |class: usize| {
            let (angle, radius) = (2.4 * class as f64, 1.4 * (class as f64).sqrt());
            [radius * angle.cos(), radius * angle.sin()]
        };
        let nearest = |x: f64, y: f64| {
            let bent = [x + 0.4 * (1.7 * y).sin(), y + 0.3 * (1.3 * x).cos()];
            let distance = |class: &usize| {
                let [a, b] = center(*class);
                (bent[0] - a).powi(2) + (bent[1] - b).powi(2)
            };
            (0..n_classes).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0) as u32
        };
        let (lo, hi) = (-6.0, 6.0);
        let at = |k: usize| lo + (hi - lo) * k as f64 / (N - 1) as f64;
        let grid: Vec<u32> = (0..N * N).map(|k| nearest(at(k % N), at(k / N))).collect();
        let class_names: Vec<String> = (0..n_classes).map(|k| format!("class {k}")).collect();
        let (mut x, mut y, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..n_points {
            let [a, b] = center(i % n_classes);
            x.push(a + 0.6 * random.normal());
            y.push(b + 0.6 * random.normal());
            labels.push(format!("class {}", i % n_classes));
        }
        let base = RegionsPicture {
            grid: &grid,
            nx: N,
            ny: N,
            x_range: (lo, hi),
            y_range: (lo, hi),
            class_names: &class_names,
            points: (&x, &y),
            labels: Some(&labels),
            title: "Predicted classes",
            x_label: "sepal length",
            y_label: "petal width",
        };
        let figure = regions(&base)?;
        eprintln!("regions {n_classes}: {} kB", figure.to_svg().len() / 1000);
        write(folder, &format!("regions-{n_classes}"), &figure)?;
        let plain = RegionsPicture { labels: None, ..base };
        write(folder, &format!("regions-{n_classes}-plain"), &regions(&plain)?)?;
    }
    Ok(())
}
