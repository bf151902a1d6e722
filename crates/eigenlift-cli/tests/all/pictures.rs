//! `eigenlift plot`, and `--plot` of the commands that have something to show.

use crate::support::{Folder, Run};

fn toy() -> Folder {
    let folder = Folder::prepared();
    folder.say("data three-gaussians --seed 57 --out toy.csv").ok();
    let fit = "fit kpca toy.csv --target class --kernel rbf(c=0.1) -k 8 --out s.csv --model toy.safetensors";
    folder.say(fit).ok();
    folder
}

/// Numbers behind `nλ… = ` in a picture.
fn eigenvalues(svg: &str) -> Vec<f64> {
    svg.split("nλ")
        .skip(1)
        .filter_map(|rest| rest.split(" = ").nth(1)?.split('<').next()?.trim().parse().ok())
        .collect()
}

#[test]
fn a_model_is_drawn_in_every_way_that_it_has() {
    let folder = toy();
    for kind in ["scree", "contours", "linear", "curves", "gram"] {
        folder.say(&format!("plot {kind} toy.safetensors --out {kind}.svg")).ok();
        folder.say(&format!("plot {kind} toy.safetensors --out {kind}.png")).ok();
        assert!(folder.read(&format!("{kind}.svg")).starts_with("<svg"), "{kind}");
        assert!(
            std::fs::read(folder.path(&format!("{kind}.png"))).unwrap().starts_with(b"\x89PNG"),
            "{kind}"
        );
    }
    assert_eq!(eigenvalues(&folder.read("contours.svg")).len(), 8);
    // Two that are linear, two of the kernel; those of the kernel are the same in both pictures.
    let (all, pairs) = (eigenvalues(&folder.read("contours.svg")), eigenvalues(&folder.read("linear.svg")));
    assert_eq!(pairs.len(), 4);
    assert_eq!(pairs[2..], all[..2]);
    assert!(folder.read("linear.svg").contains("rbf(c=0.1)"));
    // A linear kernel's nλ is n times the variance of PCA.
    let run = folder.say("fit pca toy.csv --target class -k 2 --json").ok();
    let variances = crate::support::list(&run.json()["eigenvalues"]);
    for (drawn, variance) in pairs[..2].iter().zip(variances) {
        assert!((drawn - variance).abs() < 0.006, "{drawn} {variance}");
    }
}

#[test]
fn a_fit_draws_what_plot_draws() {
    let folder = toy();
    let fit = "fit kpca toy.csv --columns 1-2 --kernel rbf(c=0.1) -k 8 --out s2.csv --plot contours=a.svg \
               --plot linear=b.svg --plot curves=c.svg --plot gram=d.svg --model two.safetensors";
    folder.say(fit).ok();
    for (kind, file) in [("contours", "a"), ("linear", "b"), ("curves", "c"), ("gram", "d")] {
        let title = "Kernel PCA of toy.csv";
        folder.run(&["plot", kind, "two.safetensors", "--title", title, "--out", "again.svg"]).ok();
        assert_eq!(folder.read("again.svg"), folder.read(&format!("{file}.svg")), "{kind}");
    }
}

/// A polynomial kernel is fitted by its features, and its model holds no rows.
#[test]
fn features_are_drawn_over_the_plane_while_the_rows_are_there() {
    let folder = Folder::new();
    folder.say("data parabola --rows 600 --out p.csv").ok();
    let fit = "fit kpca p.csv --target t --kernel polynomial(degree=2) -k 5 --out s.csv --model p.safetensors \
               --plot contours=a.svg --plot linear=b.svg --plot curves=c.svg --plot gram=d.svg --report r.html";
    folder.say(fit).ok();
    // The centred rank of the features is five: 1, x, y, x², xy, y² without the constant.
    assert_eq!(eigenvalues(&folder.read("a.svg")).len(), 5);
    assert!(folder.read("r.html").contains("Axes of feature space"));
    let by_rows = fit.replace("a.svg", "e.svg").replace(" -k 5", " -k 5 --solver davidson");
    folder.say(&by_rows).ok();
    assert_eq!(eigenvalues(&folder.read("a.svg")), eigenvalues(&folder.read("e.svg")));
    folder.say(fit).ok();
    let run = folder.say("plot contours p.safetensors --out f.svg");
    assert_eq!(run.code, 2, "{}", run.err);
}

#[test]
fn tables_and_scores_are_drawn() {
    let folder = Folder::prepared();
    folder.say("plot scatter iris.csv --target species --x petal_length --y 4 --out petals.svg").ok();
    let svg = folder.read("petals.svg");
    assert!(svg.contains("petal_length") && svg.contains("petal_width") && svg.contains("versicolor"));
    folder.say("plot scores iris.safetensors iris.csv --target species --out scores.svg").ok();
    assert!(folder.read("scores.svg").contains("kpca2"));
    folder.say("fit whiten iris.csv --target species --out w.csv --model w.safetensors").ok();
    folder.say("plot whitening w.safetensors iris.csv --target species --out w.svg").ok();
    folder.say("plot path path.csv --chosen 2 --out path.svg").ok();
    let path = folder.read("path.svg");
    for word in ["one standard error", "chosen", "best"] {
        assert!(path.contains(word), "{word}");
    }
}

#[test]
fn many_points_are_drawn_by_density() {
    let folder = Folder::new();
    folder.say("data moons --rows 1000000 --noise 0.2 --out moons.npy").ok();
    folder.say("plot scatter moons.npy --out moons.svg").ok();
    let svg = folder.read("moons.svg");
    assert!(svg.contains("density"), "a note says how the points are drawn");
    assert!(svg.len() < 3_000_000, "{}", svg.len());
}

#[test]
fn commands_on_models_draw() {
    let folder = Folder::prepared();
    let ok = |line: &str| folder.say(line).ok();
    ok("transform iris.safetensors iris.csv --target species --out t.csv --plot t.svg");
    assert!(folder.read("t.svg").contains("setosa"));
    ok("score pca.safetensors iris.csv --out u.csv --plot u.svg");
    assert!(folder.read("u.svg").contains("T²") && folder.read("u.svg").contains("SPE"));
    ok("kernel gram worked.csv --kernel polynomial(degree=2) --out k.csv --plot k.svg");
    assert!(folder.read("k.svg").contains("441"), "entries of a small matrix are written");
    for question in ["check", "dim", "eigen", "distance"] {
        ok(&format!("kernel {question} worked.csv --kernel polynomial(degree=2) --plot {question}.svg"));
        assert_eq!(folder.read(&format!("{question}.svg")), folder.read("k.svg"), "{question}");
    }
    ok("fit kpca digits.csv --target digit -k 3 --rank 50 --model rough.safetensors --out r.npy");
    ok("certify rough.safetensors digits.csv --target digit --plot certified.svg");
    ok("refine rough.safetensors digits.csv --target digit --plot refined.svg --out e.npy");
    for file in ["certified.svg", "refined.svg"] {
        assert!(folder.read(file).contains("bounds"), "{file} shows error bars");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_in_words() {
    let folder = Folder::prepared();
    let refused = |line: &str, code: i32, words: &[&str]| {
        let Run { code: found, err, .. } = folder.say(line);
        assert_eq!(found, code, "{line}: {err}");
        words.iter().for_each(|word| assert!(err.contains(word), "{line}: {err}"));
    };
    refused("plot contours iris.safetensors --out a.svg", 2, &["4 columns", "scree"]);
    refused("plot scree iris.csv --out a.svg", 3, &["iris.csv"]);
    refused("plot scree iris.safetensors --out a.pdf", 2, &[".svg or .png"]);
    refused("plot scatter iris.csv --x nothing --out a.svg", 2, &["--x nothing", "sepal_length"]);
    refused("plot path iris.csv --out a.svg", 3, &["score", "sepal_length"]);
    refused("plot path path.csv --chosen 9 --out a.svg", 2, &["9"]);
    refused("plot whitening iris.safetensors iris.csv --out a.svg", 2, &["kpca"]);
    refused("fit kpca iris.csv --plot curves=a.svg", 2, &["curves", "exactly 2"]);
    refused("transform iris.safetensors - --plot a.svg", 2, &["second time"]);
    refused(
        "fit kpca digits.csv --target digit --memory 20MB --plot gram=a.svg",
        1,
        &["1797 × 1797", "--memory"],
    );
    assert!(!folder.names().contains(&"a.svg".to_string()));
}
