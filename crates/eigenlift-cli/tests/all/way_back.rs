//! From scores back to rows, and from noisy rows to clean ones, with models of kernel PCA.

use crate::support::{Folder, assert_close, last, table};
use serde_json::Value;
use std::fs;

/// Moons, and a model of them with twelve components.
fn moons() -> Folder {
    let folder = Folder::new();
    folder.say("data moons --out moons.csv --quiet").ok();
    folder.say("fit kpca moons.csv --target class -k 12 --model m.safetensors --json --quiet").ok();
    folder
}

#[test]
fn rows_on_a_curve_without_noise_come_back() {
    let folder = Folder::new();
    folder.say("data moons --rows 200 --noise 0 --out moons.csv --quiet").ok();
    folder.say("fit kpca moons.csv --target class -k 30 --model m.safetensors --out fit.csv --quiet").ok();
    folder.say("transform m.safetensors moons.csv --target class --out s.csv --quiet").ok();
    folder.say("inverse m.safetensors s.csv --target class --out back.csv --quiet").ok();
    let (names, rows) = table(&folder.read("moons.csv"));
    let (back_names, back) = table(&folder.read("back.csv"));
    assert_eq!((names.join(","), back_names.join(",")), ("x1,x2,class".into(), "class,x1,x2".into()));
    // Thirty components leave a distance of 2e-5 in feature space; the kernel turns it into less than ten times as much.
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| vec![row[2], row[0], row[1]]).collect();
    assert_close(&back, &rows, 2e-4);
    // To denoise is the same as to transform and to invert.
    folder.say("denoise m.safetensors moons.csv --target class --out d.csv --quiet").ok();
    assert_close(&folder.numbers("d.csv"), &back, 1e-4);
}

#[test]
fn a_polynomial_of_degree_one_gives_the_reconstruction_of_principal_components() {
    let folder = Folder::prepared();
    folder
        .run(&[
            "fit",
            "kpca",
            "iris.csv",
            "--kernel",
            "linear",
            "--model",
            "l.safetensors",
            "--json",
            "--quiet",
        ])
        .ok();
    folder.say("denoise l.safetensors iris.csv --out kernel.csv --quiet").ok();
    folder.say("denoise pca.safetensors iris.csv --out linear.csv --quiet").ok();
    assert_close(&folder.numbers("kernel.csv"), &folder.numbers("linear.csv"), 1e-6);
}

#[test]
fn noise_is_taken_away_by_every_method() {
    let folder = moons();
    folder.say("data moons --seed 3 --noise 0 --out clean.csv --quiet").ok();
    folder.say("data moons --seed 3 --noise 0.1 --out noisy.csv --quiet").ok();
    let clean = folder.numbers("clean.csv");
    let error = |name: &str, first: usize| -> f64 {
        let rows = folder.numbers(name);
        assert_eq!(rows.len(), clean.len());
        let off = |(row, truth): (&Vec<f64>, &Vec<f64>)| {
            (row[first] - truth[0]).powi(2) + (row[first + 1] - truth[1]).powi(2)
        };
        rows.iter().zip(&clean).map(off).sum()
    };
    let before = error("noisy.csv", 0);
    for method in ["auto", "fixed-point", "distance", "ridge", "gradient"] {
        let line =
            format!("denoise m.safetensors noisy.csv --target class --preimage {method} --json --out d.csv");
        let told = folder.say(&format!("{line} --quiet")).ok().json();
        let expected = if method == "auto" { "fixed-point" } else { method };
        assert_eq!(told["way_back"]["method"], expected);
        let after = error("d.csv", 1);
        // The ridge learns noise as well: twelve components leave it little to take away.
        let most = if method == "ridge" { 1.0 } else { 0.9 };
        assert!(after < most * before, "{method}: {after} of {before}");
    }
    // A strong penalty leaves the rows nearer to where they were.
    let moved = |more: &str| -> f64 {
        folder.say(&format!("denoise m.safetensors noisy.csv --target class --out d.csv --quiet{more}")).ok();
        let rows = folder.numbers("d.csv");
        let step = |(a, b): (&Vec<f64>, &Vec<f64>)| (a[1] - b[0]).powi(2) + (a[2] - b[1]).powi(2);
        rows.iter().zip(&folder.numbers("noisy.csv")).map(step).sum()
    };
    assert!(moved(" --penalty 1") < 0.5 * moved(""));
}

#[test]
fn what_is_known_of_each_row_is_told() {
    let folder = moons();
    folder.write("far.csv", "name,x1,x2\na,0,1\nb,100,100\nc,3,-3\nd,0,0.5\n");
    let run = folder.say("denoise m.safetensors far.csv").ok();
    assert_eq!(run.out.lines().next(), Some("name,x1,x2"));
    assert!(
        run.err.contains("warning: 2 of 4 rows are not to be trusted, the first is row 2"),
        "{}",
        run.err
    );
    assert!(run.err.contains("way back: by fixed-point") && run.err.contains("2 of 4 rows"), "{}", run.err);
    let wide = folder.say("denoise m.safetensors far.csv --trust --quiet").ok();
    assert!(wide.err.is_empty(), "{}", wide.err);
    let (names, rows) = table(&wide.out);
    assert_eq!(names.join(","), "name,start,x1,x2,distance,trusted");
    assert_eq!(rows.iter().map(|row| row[3]).collect::<Vec<_>>(), [1.0, 0.0, 0.0, 1.0]);
    assert_close(
        &last(&rows, 4).iter().map(|r| r[..2].to_vec()).collect::<Vec<_>>(),
        &table(&run.out).1,
        0.0,
    );
    assert!(wide.out.lines().nth(1).unwrap().starts_with("a,input,"), "{}", wide.out);
    let json = folder.say("denoise m.safetensors far.csv --json --quiet").ok().json();
    let known = &json["way_back"];
    for key in ["limit", "mean_distance", "largest_distance", "mean_steps"] {
        assert!(known[key].is_f64(), "{key}: {known}");
    }
    assert_eq!(
        (&known["rows"], &known["untrusted"], &known["first_untrusted"]),
        (&4.into(), &2.into(), &2.into())
    );
    assert_eq!(known["starts"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>(), 4);
    assert!(json["warnings"][0].as_str().unwrap().contains("not to be trusted"));
    let far = rows.iter().map(|row| row[2]).fold(0.0, f64::max);
    assert!((far - known["largest_distance"].as_f64().unwrap()).abs() < 1e-12);
    // Principal components search for nothing.
    let folder = Folder::prepared();
    assert!(folder.say("denoise pca.safetensors iris.csv --json --quiet").ok().json()["way_back"].is_null());
}

#[test]
fn text_is_kept_where_the_format_holds_it() {
    let folder = moons();
    let npy = folder.say("denoise m.safetensors moons.csv --target class --trust --out d.npy").ok();
    assert!(npy.err.contains("NPY holds numbers alone: class, start are not written"), "{}", npy.err);
    folder.say("denoise m.safetensors moons.csv --target class --trust --out d.parquet --quiet").ok();
    let kept = folder.say("fit pca d.parquet --columns x1,x2,distance --quiet");
    assert!(kept.code == 0 && kept.out.starts_with("start,class,pca1"), "{} {}", kept.out, kept.err);
}

#[test]
fn pieces_of_a_long_table_are_counted_together() {
    let folder = moons();
    let angle = |i: i32| f64::from(i % 180).to_radians();
    let mut rows: Vec<Vec<f64>> = (0..9000).map(|i| vec![angle(i).cos(), angle(i).sin()]).collect();
    rows[8999] = vec![90.0, 90.0];
    rows[8500] = vec![-90.0, 90.0];
    folder.write_table("long.csv", &rows);
    let run = folder.say("denoise m.safetensors long.csv --json --out d.npy --preimage distance").ok();
    let known = &run.json()["way_back"];
    assert_eq!(known["rows"], 9000);
    assert_eq!((&known["untrusted"], &known["first_untrusted"]), (&2.into(), &8501.into()), "{known}");
    // The same rows, cut elsewhere.
    folder.say("denoise m.safetensors long.csv --out whole.csv --quiet").ok();
    folder.write_table("end.csv", &rows[8400..]);
    let run = folder.say("denoise m.safetensors end.csv --out end-out.csv").ok();
    assert!(run.err.contains("the first is row 101:"), "{}", run.err);
    assert_close(&folder.numbers("whole.csv")[8400..], &folder.numbers("end-out.csv"), 1e-10);
}

#[test]
fn threads_do_not_change_a_bit() {
    let folder = moons();
    let run = |threads: &str, method: &str| {
        let line = format!(
            "denoise m.safetensors moons.csv --target class --quiet --threads {threads} --preimage {method} --trust"
        );
        folder.say(&line).ok().out
    };
    for method in ["fixed-point", "ridge", "gradient"] {
        assert_eq!(run("1", method), run("2", method), "{method}");
    }
}

#[test]
fn low_rank_models_and_other_kernels_have_a_way_back() {
    let folder = Folder::prepared();
    let fits = [
        ("--rank 60", "fixed-point"),
        ("--kernel polynomial(degree=2,gamma=0.1)", "gradient"),
        ("--kernel matern(nu=1.5)", "fixed-point"),
        ("--rank 200 --low-rank fourier", "gradient"),
        ("--precision f32", "fixed-point"),
    ];
    for (how, method) in fits {
        folder.say(&format!("fit kpca iris.csv {how} -k 6 --model m.safetensors --json --quiet")).ok();
        let told = folder.say("denoise m.safetensors iris.csv --json --quiet --out d.csv").ok().json();
        assert_eq!(told["way_back"]["method"], method, "{how}");
        let (rows, back) = (folder.numbers("iris.csv"), folder.numbers("d.csv"));
        let off = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
        let error = rows.iter().zip(&back).map(off).sum::<f64>() / 150.0;
        // The variance of the rows is 4.5.
        assert!(error < 0.5, "{how}: {error}");
    }
}

#[test]
fn pictures_show_rows_or_images() {
    let folder = Folder::prepared();
    let moons = moons();
    moons.say("denoise m.safetensors moons.csv --target class --out d.csv --plot d.svg --quiet").ok();
    let drawn = moons.read("d.svg");
    assert!(drawn.contains("Denoising of moons.csv") && drawn.contains("x2") && drawn.contains("pre-image"));
    moons.say("transform m.safetensors moons.csv --target class --out s.csv --quiet").ok();
    moons.say("inverse m.safetensors s.csv --target class --out d.csv --plot preimages=s.png --quiet").ok();
    assert!(fs::read(moons.path("s.png")).unwrap().starts_with(b"\x89PNG"));
    folder
        .say("fit kpca digits.csv --target digit -k 20 --rank 100 --model d.safetensors --json --quiet")
        .ok();
    let line = "denoise d.safetensors digits.csv --target digit --image 8x8 --plot d.svg --json";
    let told = folder.say(&format!("{line} --quiet")).ok().json();
    let drawn = folder.read("d.svg");
    assert!(drawn.contains("given") && drawn.contains("denoised"), "no rows of images");
    let kinds: Vec<&Value> = told["files"].as_array().unwrap().iter().map(|file| &file["what"]).collect();
    assert_eq!(kinds, ["preimages"]);
    // Principal components have pictures, too.
    folder.say("denoise pca.safetensors iris.csv --out d.csv --plot p.svg --quiet").ok();
    assert!(folder.read("p.svg").contains("sepal_length"));
    folder.say("inverse pca.safetensors pcascores.csv --out d.csv --plot 2x2.svg --image 2x2 --quiet").ok();
    assert!(folder.read("2x2.svg").contains("Pre-images of pcascores.csv"));
}

#[test]
fn a_reader_who_leaves_early_loses_no_picture() {
    let folder = moons();
    folder.say("data moons --rows 20000 --seed 2 --out many.csv --quiet").ok();
    let line =
        "eigenlift denoise m.safetensors many.csv --target class --preimage distance --plot p.svg | head -2";
    let run = folder.shell(line).ok();
    assert_eq!(run.out.lines().next(), Some("class,x1,x2"));
    assert!(folder.read("p.svg").contains("Denoising of many.csv"));
}
