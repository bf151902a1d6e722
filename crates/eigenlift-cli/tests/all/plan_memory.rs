//! Plans hold: memory and readings that were planned against those that a process of its own took, route by route.
#![cfg(target_os = "linux")]

use crate::support::Folder;

const MB: f64 = 1e6;
/// How far a plan may be off: a share of it, and what threads and the system's own allocator keep.
const SHARE: f64 = 0.3;
const KEPT: f64 = 8.0 * MB;

/// Rows of independent columns with these spreads.
fn spread(n: usize, d: usize, of: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..n * d).map(|at| (uniform() + uniform() + uniform() - 1.5) * of(at % d)).collect()
}

/// Rows whose columns have different spreads; the last column counts 0, 1, 2, 0, …
fn numbers(n: usize, d: usize) -> Vec<f64> {
    let mut rows = spread(n, d, |j| 3.0 / (1 + j) as f64);
    rows.chunks_mut(d).enumerate().for_each(|(i, row)| row[d - 1] = (i % 3) as f64);
    rows
}

fn folder(n: usize, d: usize) -> Folder {
    folder_of(d, &numbers(n, d))
}

fn folder_of(d: usize, rows: &[f64]) -> Folder {
    let folder = Folder::new();
    folder.write_npy("x.npy", d, rows);
    folder
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number and not {value}"))
}

/// What the program itself takes.
fn base(folder: &Folder) -> f64 {
    folder.write_npy("tiny.npy", 2, &numbers(20, 2));
    number(&folder.say("fit pca tiny.npy --json --quiet --out tiny.csv").ok().json()["peak_memory_bytes"])
}

/// Planned and taken bytes, and the plan, of `fit` with these words.
fn measured(folder: &Folder, words: &str) -> (f64, f64, serde_json::Value) {
    let plan = folder.say(&format!("plan {words} --json --quiet --threads 2")).ok().json();
    let account = folder.say(&format!("fit {words} --json --quiet --threads 2 --out s.npy")).ok().json();
    if let Some(readings) = account["data"]["readings"].as_f64() {
        let told = format!("{words}: {readings} readings of the table");
        match plan["most_readings"].as_f64() {
            Some(most) => assert!(readings <= most, "{told}"),
            None => assert_eq!(number(&plan["readings"]), readings, "{told}"),
        }
    }
    let passes = account["stats"]["passes"].as_f64().unwrap_or(0.0);
    match plan["most_passes"].as_f64() {
        Some(most) => assert!(passes <= most, "{words}: {passes} passes"),
        // Methods that read rows in place of passing over a matrix have no passes to report.
        None if passes > 0.0 && !plan["expected_passes"].is_null() => {
            assert_eq!(number(&plan["expected_passes"]), passes, "{words}: passes");
        }
        None => {}
    }
    if let [Some(low), Some(high)] = [0, 1].map(|end| plan["likely_passes"][end].as_f64()) {
        let told = format!("{words}: {passes} passes, likely {low} to {high}");
        assert!(low <= passes && passes <= high && high <= 4.0 * low, "{told}");
    }
    (number(&plan["bytes_in_all"]), number(&account["peak_memory_bytes"]) - base(folder), plan)
}

/// Where a phase may follow that takes more: at least what was planned is taken, and at most what is stated.
#[track_caller]
fn check_at_most(folder: &Folder, words: &str) {
    let (planned, taken, plan) = measured(folder, words);
    let most = plan["most_bytes_in_all"].as_f64().unwrap_or(planned);
    let told = format!("{words}: {:.1} to {:.1} MB, {:.1} taken", planned / MB, most / MB, taken / MB);
    assert!(taken <= (1.0 + SHARE) * most + KEPT && planned <= (1.0 + SHARE) * taken + KEPT, "{told}");
}

#[track_caller]
fn check(folder: &Folder, words: &str) -> serde_json::Value {
    let (planned, taken, plan) = measured(folder, words);
    let told = format!("{words}: {:.1} MB were planned and {:.1} taken", planned / MB, taken / MB);
    assert!(taken <= (1.0 + SHARE) * planned + KEPT && planned <= (1.0 + SHARE) * taken + KEPT, "{told}");
    plan
}

#[test]
fn kernel_pca() {
    let folder = folder(6000, 20);
    assert_eq!(check(&folder, "kpca x.npy -k 5")["storage"], "stored");
    assert_eq!(check(&folder, "kpca x.npy -k 5 --memory 60MB --rank exact")["storage"], "tiled");
    check(&folder, "kpca x.npy -k 5 --precision f32");
    let few = self::folder(1500, 10);
    assert_eq!(check(&few, "kpca x.npy -k 5 --solver dense")["expected_passes"], 2);
}

/// Spectra that decay slowly: the dense solver may take over, and the certificate may need the matrix written out.
#[test]
fn phases_that_may_follow_are_in_the_plan_of_kernel_pca() {
    let flat = |n: usize, d: usize| folder_of(d, &spread(n, d, |_| 1.0));
    check_at_most(&flat(1000, 1000), "kpca x.npy -k 5");
    check_at_most(&flat(2000, 500), "kpca x.npy -k 5");
    let flat = flat(2000, 2000);
    check_at_most(&flat, "kpca x.npy -k 10 --kernel sigmoid");
    let words = "kpca x.npy -k 10 --tol 1e-4 --memory 105MB";
    let (_, taken, plan) = measured(&flat, words);
    assert!(taken <= 105.0 * MB + KEPT, "{words}: {taken} taken\n{plan:#}");
}

/// Components that the covariance cannot tell from rounding are looked at again, with more memory.
#[test]
fn a_second_look_is_in_the_plan() {
    let folder = folder_of(400, &spread(8000, 400, |j| if j < 4 { 1.0 } else { 1e-6 }));
    let words = "pca x.npy -k 8";
    check_at_most(&folder, words);
    let (_, _, plan) = measured(&folder, words);
    assert_eq!(plan["most_passes"], 2, "{plan:#}");
    assert!(number(&plan["most_bytes_in_all"]) > number(&plan["bytes_in_all"]), "{plan:#}");
    let fitted = folder.say(&format!("fit {words} --json --quiet --out s.npy")).ok().json();
    assert_eq!(fitted["stats"]["passes"], 2, "{fitted:#}");
}

/// The range of passes holds for spectra that decay and for noise, of tables that are narrow and wide, in memory and in chunks.
#[test]
fn passes_of_the_iteration_lie_in_the_stated_range() {
    let noise = |_: usize| 1.0;
    let decay = |j: usize| 1.0 / (1 + j) as f64;
    for (n, d, words) in [
        (2000, 20, ""),
        (2000, 40, ""),
        (60_000, 20, "--memory 4MB"),
        (30_000, 60, "--memory 8MB"),
        (5000, 200, ""),
        (12_000, 100, "--memory 6MB"),
        (300, 2000, ""),
        (600, 2000, ""),
    ] {
        for spectrum in [&noise as &dyn Fn(usize) -> f64, &decay] {
            let folder = folder_of(d, &spread(n, d, spectrum));
            let line = format!("pca x.npy -k 5 --route krylov {words}");
            let (_, _, plan) = measured(&folder, line.trim_end());
            assert_eq!(number(&plan["chunk_rows"]) > 0.0, !words.is_empty(), "{plan:#}");
            assert_eq!(plan["likely_passes"].is_null(), d == 20, "{plan:#}");
        }
    }
}

#[test]
fn kernel_pca_through_features() {
    let folder = folder(60_000, 16);
    for words in [
        "kpca x.npy -k 5 --rank 300",
        "kpca x.npy -k 5 --rank 300 --low-rank uniform",
        "kpca x.npy -k 5 --rank 200 --low-rank kmeans",
        "kpca x.npy -k 5 --rank 300 --low-rank fourier",
        "kpca x.npy -k 5 --rank 256 --low-rank tensorsketch --kernel polynomial(degree=2)",
        "kpca x.npy -k 5 --kernel linear",
    ] {
        check(&folder, words);
    }
    check(&self::folder(3000, 10), "kpca x.npy -k 5 --rank 300");
}

/// Where the number of landmarks is found, the plan states what the expected number takes, and the most that are tried as the most.
#[test]
fn landmarks_whose_number_is_found() {
    for (folder, words) in [
        (folder(12_000, 3), "kpca x.npy -k 5 --rank auto --kernel rbf(gamma=0.05)"),
        (folder(6000, 20), "kpca x.npy -k 5 --rank auto --kernel rbf(gamma=0.02)"),
    ] {
        check_at_most(&folder, words);
        let (planned, _, plan) = measured(&folder, words);
        assert!(plan["reasons"].to_string().contains("whose memory is counted as the most"), "{plan}");
        assert!(number(&plan["most_bytes_in_all"]) > 1.5 * planned, "{plan:#}");
    }
}

/// Decompositions of many columns follow their moments, and scores follow both.
#[test]
fn phases_that_follow_each_other_are_not_added_up() {
    let folder = folder(2500, 1000);
    check(&folder, "whiten x.npy");
    check(&folder, "pca x.npy -k 900");
    check(&self::folder(6000, 20), "kkmeans x.npy --clusters 3");
}

/// The rules on the number of components hold copies of the rows.
#[test]
fn the_choice_of_the_number_of_components_is_in_the_plan() {
    check(&folder(6000, 300), "pca x.npy -k auto");
}

#[test]
fn rows_in_chunks() {
    let folder = folder(120_000, 16);
    folder.say("fit pca x.npy -k 16 --quiet --out x.csv").ok();
    folder.say("fit pca x.npy -k 16 --quiet --out x.parquet").ok();
    for words in [
        "kpca DATA -k 3 --rank 150 --memory 24MB",
        "pca DATA -k 3 --memory 24MB",
        "pca DATA -k 3 --route krylov --memory 24MB",
        "pca DATA -k 3 --route tsqr --memory 24MB",
        "whiten DATA --memory 24MB",
    ] {
        for data in ["x.npy", "x.csv", "x.parquet"] {
            let words = words.replace("DATA", data);
            let plan = check(&folder, &words);
            assert!(number(&plan["chunk_rows"]) > 0.0, "{words}");
        }
    }
}

#[test]
fn linear_methods_count_their_scores() {
    let folder = folder(150_000, 24);
    check(&folder, "pca x.npy -k 24");
    check(&folder, "whiten x.npy --components 20");
    check(&folder, "pca x.npy -k 3 --route tsqr");
}

#[test]
fn principal_components() {
    let wide = folder(1200, 4000);
    check(&wide, "pca x.npy -k 5 --route dual");
    check(&wide, "pca x.npy -k 5 --route krylov");
    let folder = folder(20_000, 400);
    for route in ["covariance", "tsqr", "directions"] {
        check(&folder, &format!("pca x.npy -k 5 --route {route}"));
    }
}

#[test]
fn manifold_methods() {
    let folder = folder(6000, 6);
    check(&folder, "isomap x.npy --exact");
    check(&folder, "isomap x.npy --landmarks 300");
    check(&folder, "mds x.npy --landmarks 500");
    check(&folder, "laplacian x.npy");
    check(&folder, "laplacian x.npy --kernel rbf(gamma=0.1)");
    check(&folder, "diffusion x.npy");
}

#[test]
fn locally_linear_embedding() {
    check(&folder(6000, 6), "lle x.npy");
    let folder = folder(6000, 3);
    for variant in ["standard", "modified", "hessian", "ltsa"] {
        check(&folder, &format!("lle x.npy --variant {variant} --neighbors 12"));
    }
}

#[test]
fn kernelized_methods() {
    let folder = folder(12_000, 9);
    check(&folder, "kkmeans x.npy --clusters 3 --rank 300");
    check(&folder, "kda x.npy --target 9 --rank 300");
    check(&folder, "kcca x.npy --view 1-4 --view 5-8 --rank 300");
}

#[test]
fn landmarks_become_fewer_where_memory_is_short() {
    let folder = folder(12_000, 9);
    for words in [
        "mds x.npy --memory 40MB",
        "kda x.npy --target 9 --memory 40MB",
        "kcca x.npy --view 1-4 --view 5-8 --memory 60MB",
        "kkmeans x.npy --clusters 3 --memory 40MB",
        "isomap x.npy --memory 30MB",
    ] {
        let (planned, taken, plan) = measured(&folder, words);
        let allowed = words.rsplit(' ').next().and_then(|n| n.trim_end_matches("MB").parse::<f64>().ok());
        let told = format!("{words}: {planned} planned, {taken} taken\n{plan:#}");
        assert!(taken <= MB * allowed.unwrap() + KEPT, "{told}");
    }
}

#[test]
fn memory_that_is_refused_is_an_error_with_a_number() {
    let folder = folder(6000, 20);
    let run = |kib: usize, words: &str| {
        folder.shell(&format!("ulimit -v {kib}; eigenlift {words} --quiet --out s.csv"))
    };
    // The plan keeps to a limit that it sees.
    assert_eq!(run(100_000, "fit kpca x.npy --rank exact").ok().err, "");
    std::fs::remove_file(folder.path("s.csv")).unwrap();
    for (kib, words) in [
        (100_000, "fit isomap x.npy --exact"),
        // Whatever is promised, the system refuses it.
        (100_000, "fit isomap x.npy --exact --memory 900MB"),
        (100_000, "fit kpca x.npy --rank exact --memory 900MB"),
    ] {
        let run = run(kib, words);
        assert_eq!(run.code, 1, "ulimit -v {kib}; {words}: {}", run.err);
        let said = run.err.lines().last().unwrap_or_default();
        assert!(said.starts_with("error: ") && said.contains(|c: char| c.is_ascii_digit()), "{}", run.err);
        assert!(!folder.names().iter().any(|name| name == "s.csv" || name.contains(".part")));
    }
}

#[test]
fn standard_input_goes_by_disk_when_memory_is_limited() {
    let folder = folder(80_000, 16);
    folder.say("fit pca x.npy -k 16 --quiet --out x.csv").ok();
    let fit = |from: &str, out: &str| {
        let line =
            format!("cat x.csv | eigenlift fit pca {from} -k 3 --memory 12MB --quiet --json --out {out}");
        folder.shell(&line).ok().json()
    };
    let (piped, read) = (fit("-", "p.csv"), fit("x.csv", "f.csv"));
    assert_eq!(folder.read("p.csv"), folder.read("f.csv"));
    assert!(number(&piped["peak_memory_bytes"]) < number(&read["peak_memory_bytes"]) + 2.0 * MB);
    // Bytes that are no text are refused by the first of them, also where they never end.
    for line in [
        "cat /dev/zero | eigenlift fit pca -",
        "cat /dev/zero | eigenlift fit pca - --memory 1GB",
        "eigenlift fit pca /dev/zero",
    ] {
        let run = folder.shell(&format!("ulimit -v 2000000; {line} --quiet"));
        assert_eq!(run.code, 3, "{line}: {}", run.err);
        assert!(run.err.contains("NUL byte"), "{line}: {}", run.err);
    }
}
