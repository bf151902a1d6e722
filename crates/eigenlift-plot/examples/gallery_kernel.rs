//! Writes the pictures of pre-images and of the choice of a kernel as PNG and SVG into a folder:
//! `cargo run --example gallery_kernel -p eigenlift-plot -- FOLDER`.

mod support;

use std::path::Path;

use eigenlift_plot::{
    ChoiceCurve, KernelChoicePicture, PreimageRow, PreimageScatter, Preimages, SensitivityPicture,
    kernel_choice, preimage_scatter, preimages, sensitivity,
};
use support::{Outcome, Random, folder, write};

fn main() -> Outcome {
    let folder = folder()?;
    images(&folder)?;
    odd_images(&folder)?;
    moves(&folder)?;
    choices(&folder)?;
    odd_choices(&folder)?;
    sensitivities(&folder)
}

/// A ring, a bar or a cross in an image of side × side, values from 0 to 16.
fn drawing(kind: usize, side: usize) -> Vec<f64> {
    let at = |k: usize| (k as f64 + 0.5) / side as f64 * 2.0 - 1.0;
    let near = |distance: f64| 16.0 * (-(distance / 0.22).powi(2)).exp();
    let pixel = |(x, y): (f64, f64)| match kind % 4 {
        0 => near(x.hypot(y) - 0.6),
        1 => near((x - 0.3 * y).abs() + (y.abs() - 0.8).max(0.0)),
        2 => near((x - y).abs().min((x + y).abs()) / 1.4 + (x.abs() - 0.8).max(0.0)),
        _ => near((x.hypot(y + 0.4) - 0.4).abs().min((x.hypot(y - 0.4) - 0.4).abs())),
    };
    (0..side * side).map(|k| pixel((at(k % side), at(k / side)))).collect()
}

/// Clean, noisy and denoised images.
fn stages(n: usize, side: usize) -> [Vec<Vec<f64>>; 4] {
    let mut random = Random(3);
    let clean: Vec<Vec<f64>> = (0..n).map(|k| drawing(k, side)).collect();
    let mut with_noise = |size: f64| -> Vec<Vec<f64>> {
        clean.iter().map(|image| image.iter().map(|v| v + size * random.normal()).collect()).collect()
    };
    let (noisy, pca, denoised) = (with_noise(5.0), with_noise(2.0), with_noise(0.5));
    [clean, noisy, pca, denoised]
}

fn images(folder: &Path) -> Outcome {
    let labels = ["original", "noisy", "denoised by PCA", "denoised"];
    for (n, side) in [(1, 8), (3, 8), (8, 8), (10, 28), (40, 28), (16, 64)] {
        let stages = stages(n, side);
        let slices: Vec<Vec<&[f64]>> = stages.iter().map(|s| s.iter().map(Vec::as_slice).collect()).collect();
        let rows: Vec<PreimageRow> =
            labels.iter().zip(&slices).map(|(label, images)| PreimageRow { label, images }).collect();
        let captions: Vec<String> = (0..n).map(|k| format!("{:.2}", 0.11 + 0.07 * (k % 9) as f64)).collect();
        let untrusted: Vec<bool> = (0..n).map(|k| k % 7 == 5).collect();
        let title = format!("{n} images of {side} × {side} pixels");
        let input = Preimages {
            rows: &rows,
            height: side,
            width: side,
            captions: &captions,
            untrusted: &untrusted,
            range: Some((0.0, 16.0)),
            title: &title,
        };
        write(folder, &format!("preimages-{n}-{side}"), &preimages(&input)?)?;
        if n == 8 {
            let plain = Preimages { captions: &[], untrusted: &[], range: None, rows: &rows[1..3], ..input };
            write(folder, "preimages-plain", &preimages(&plain)?)?;
        }
    }
    Ok(())
}

/// Oblong images, pixels that are not finite, labels and captions that are too long, and nothing.
fn odd_images(folder: &Path) -> Outcome {
    let mut random = Random(9);
    let series: Vec<Vec<f64>> = (0..6)
        .map(|i| (0..200).map(|k| (0.1 * f64::from(k * (i + 1))).sin() + 0.1 * random.normal()).collect())
        .collect();
    let series: Vec<&[f64]> = series.iter().map(Vec::as_slice).collect();
    let captions: Vec<String> = (0..6).map(|k| format!("distance {k}.123456")).collect();
    let rows = [
        PreimageRow { label: "series, a label with many words in it", images: &series },
        PreimageRow { label: "", images: &series },
        PreimageRow { label: "again", images: &series },
    ];
    let wide = Preimages {
        rows: &rows,
        height: 1,
        width: 200,
        captions: &captions,
        untrusted: &[true, false, false, true, false, false],
        title: "Images of one line, and a title that is much longer than there is room for",
        ..Preimages::default()
    };
    write(folder, "preimages-wide", &preimages(&wide)?)?;
    write(folder, "preimages-tall", &preimages(&Preimages { height: 25, width: 8, title: "Tall", ..wide })?)?;
    let holes: Vec<f64> = (0..64).map(|k| if k % 9 == 0 { f64::NAN } else { f64::from(k) * 1e-7 }).collect();
    let rows = [PreimageRow { label: "holes", images: &[&holes, &holes] }];
    let odd = Preimages { rows: &rows, height: 8, width: 8, title: "Not finite", ..Preimages::default() };
    write(folder, "preimages-odd", &preimages(&odd)?)?;
    write(folder, "preimages-empty", &preimages(&Preimages { title: "Nothing", ..Preimages::default() })?)
}

/// Points around a circle and their places on it.
fn moves(folder: &Path) -> Outcome {
    for n in [40, 400, 20_000] {
        let mut random = Random(4);
        let angles: Vec<f64> = (0..n).map(|_| std::f64::consts::TAU * random.uniform()).collect();
        let (x, y): (Vec<f64>, Vec<f64>) = angles
            .iter()
            .map(|a| (a.cos() + 0.15 * random.normal(), a.sin() + 0.15 * random.normal()))
            .unzip();
        let (cos, sin): (Vec<f64>, Vec<f64>) = x
            .iter()
            .zip(&y)
            .map(|(x, y)| {
                (x / x.hypot(*y) + 0.02 * random.normal(), y / x.hypot(*y) + 0.02 * random.normal())
            })
            .unzip();
        let untrusted: Vec<bool> = x.iter().zip(&y).map(|(x, y)| (x.hypot(*y) - 1.0).abs() > 0.32).collect();
        let title = format!("Denoised circle, {n} rows");
        let input = PreimageScatter {
            before: (&x, &y),
            after: (&cos, &sin),
            names: ("x₁", "x₂"),
            untrusted: &untrusted,
            title: &title,
        };
        write(folder, &format!("preimage-scatter-{n}"), &preimage_scatter(&input)?)?;
    }
    let odd = PreimageScatter {
        before: (&[1.0, f64::NAN, 3.0], &[1000.0, 1.0, 3000.0]),
        after: (&[1.0, 2.0, 2.5], &[1000.0, 2.0, 2900.0]),
        names: ("a", "b"),
        title: "One stays, one has no number",
        ..PreimageScatter::default()
    };
    write(folder, "preimage-scatter-odd", &preimage_scatter(&odd)?)?;
    write(folder, "preimage-scatter-empty", &preimage_scatter(&PreimageScatter::default())?)
}

/// A bandwidth, and (k, error, standard error) for each k.
type Errors = (f64, Vec<(usize, f64, f64)>);

/// Errors that fall and rise again over k, best at γ = 2⁻⁴ and k = 16.
fn errors(n_bandwidths: usize, n_k: u32) -> Vec<Errors> {
    let mut random = Random(8);
    (0..n_bandwidths)
        .map(|b| {
            let gamma = 2.0_f64.powf(b as f64 - 1.0 - 0.5 * n_bandwidths as f64);
            let from_best = (gamma.log2() + 3.0).abs();
            let points = (0..n_k).map(|j| {
                let k = 2.0_f64.powf(8.0 * f64::from(j) / f64::from(n_k.max(2) - 1)).round();
                let far = (k.log2() - 4.0 - 0.4 * from_best).abs();
                let error = 21.0 * (0.3 + 0.03 * far * far + 0.12 * from_best) + 0.2 * random.normal();
                (k as usize, error, 0.6 + 0.3 * random.uniform())
            });
            (gamma, points.collect())
        })
        .collect()
}

/// The best point, and those within its standard error.
fn best(curves: &[Errors]) -> ((usize, usize), Vec<(usize, usize)>) {
    let all: Vec<((usize, usize), f64, f64)> = curves
        .iter()
        .enumerate()
        .flat_map(|(c, (_, points))| points.iter().enumerate().map(move |(p, (_, e, s))| ((c, p), *e, *s)))
        .collect();
    let best = all.iter().min_by(|a, b| a.1.total_cmp(&b.1)).copied().unwrap_or(((0, 0), 0.0, 0.0));
    (best.0, all.iter().filter(|at| at.1 <= best.1 + best.2 && at.0 != best.0).map(|at| at.0).collect())
}

fn choices(folder: &Path) -> Outcome {
    for (n_bandwidths, n_k) in [(1, 9), (2, 5), (6, 9), (10, 9), (24, 17)] {
        let errors = errors(n_bandwidths, n_k);
        let labels: Vec<String> = errors.iter().map(|(gamma, _)| format!("γ = {gamma:.3}")).collect();
        let curves: Vec<ChoiceCurve> = errors
            .iter()
            .zip(&labels)
            .map(|((gamma, points), label)| ChoiceCurve { label, bandwidth: *gamma, points })
            .collect();
        let (chosen, near) = best(&errors);
        let title = format!("Which γ and k: {n_bandwidths} bandwidths");
        let input = KernelChoicePicture {
            curves: &curves,
            chosen,
            near: &near,
            baseline: Some(21.0),
            criterion: "masked mean squared error",
            higher_is_better: false,
            title: &title,
        };
        write(folder, &format!("kernel-choice-{n_bandwidths}"), &kernel_choice(&input)?)?;
    }
    Ok(())
}

/// A score, values without a logarithm, no label, and nothing.
fn odd_choices(folder: &Path) -> Outcome {
    let errors = errors(5, 7);
    let scores: Vec<Errors> = errors
        .iter()
        .map(|(gamma, points)| {
            (*gamma, points.iter().map(|(k, e, s)| (*k, 1.0 - e / 40.0, s / 40.0)).collect())
        })
        .collect();
    let curves: Vec<ChoiceCurve> =
        scores.iter().map(|(gamma, points)| ChoiceCurve { label: "", bandwidth: *gamma, points }).collect();
    let (chosen, near) = best(&errors);
    let score = KernelChoicePicture {
        curves: &curves,
        chosen,
        near: &near,
        baseline: Some(0.41),
        criterion: "accuracy of 5 neighbours",
        higher_is_better: true,
        title: "A score",
    };
    write(folder, "kernel-choice-score", &kernel_choice(&score)?)?;
    let odd = [
        ChoiceCurve {
            label: "a kernel with a name that is much too long",
            bandwidth: f64::NAN,
            points: &[(0, 1.0, 0.1), (7, 1e-9, 5.0), (3, f64::NAN, 0.1), (5, 0.0, 0.0)],
        },
        ChoiceCurve { label: "", bandwidth: 1.5e-7, points: &[(5, 1e4, 1e3), (1000, 2e-6, f64::NAN)] },
        ChoiceCurve { label: "no points", bandwidth: 2.0, points: &[] },
    ];
    let odd = KernelChoicePicture { curves: &odd, chosen: (0, 1), criterion: "error", ..Default::default() };
    write(folder, "kernel-choice-odd", &kernel_choice(&odd)?)?;
    let empty = KernelChoicePicture { title: "Nothing", ..Default::default() };
    write(folder, "kernel-choice-empty", &kernel_choice(&empty)?)
}

fn sensitivities(folder: &Path) -> Outcome {
    for n in [1_usize, 7, 33] {
        let bandwidths: Vec<f64> =
            (0..n).map(|k| 10.0_f64.powf(-3.0 + 5.0 * (k as f64 + 0.5) / n as f64)).collect();
        let rank = |b: &f64| 1.0 + 300.0 * b / (b + 20.0);
        let shares = |b: &f64| -> Vec<f64> {
            let spread = 0.3 + b.sqrt();
            let all: Vec<f64> = (0..40).map(|j| (-f64::from(j) / spread).exp()).collect();
            let total: f64 = all.iter().sum::<f64>() * (1.0 + 0.2 * b);
            all.iter().take(6).map(|v| v / total).collect()
        };
        let shares: Vec<Vec<f64>> = bandwidths.iter().map(shares).collect();
        let title = format!("Sensitivity to the bandwidth, {n} tried");
        let input = SensitivityPicture {
            bandwidths: &bandwidths,
            shares: &shares,
            effective_rank: &bandwidths.iter().map(rank).collect::<Vec<_>>(),
            angle_to_reference: &bandwidths
                .iter()
                .map(|b| 84.0 * (b.log10() + 1.0).tanh().powi(2))
                .collect::<Vec<_>>(),
            reference: 0.1,
            plateau: Some((0.045, 0.31)),
            title: &title,
        };
        write(folder, &format!("sensitivity-{n}"), &sensitivity(&input)?)?;
        if n == 7 {
            let plain = SensitivityPicture { shares: &[], plateau: None, reference: 0.0, ..input };
            write(folder, "sensitivity-plain", &sensitivity(&plain)?)?;
        }
    }
    let odd = SensitivityPicture {
        bandwidths: &[1e-7, 2e-7, 4e-7, -1.0, 3e-7],
        shares: &[vec![0.9, 0.05], vec![f64::NAN], vec![0.6, 0.2, 0.1], vec![], vec![0.8]],
        effective_rank: &[1.0, 1.0, 1.0, 1.0, f64::NAN],
        angle_to_reference: &[0.0, f64::INFINITY, 170.0, 1.0, 2.0],
        reference: 1e-7,
        plateau: Some((1e-8, 1.5e-7)),
        title: "Not finite, not positive",
    };
    write(folder, "sensitivity-odd", &sensitivity(&odd)?)?;
    write(folder, "sensitivity-empty", &sensitivity(&SensitivityPicture::default())?)
}
