//! The way back, the choice of kernel PCA and the match to an earlier model, when something is wrong: each has its message and
//! its exit status, and nothing is left behind.

use crate::support::Folder;

/// Arguments, exit status, what standard error must contain.
type Case = (&'static str, i32, &'static str);

fn prepared() -> Folder {
    let folder = Folder::prepared();
    folder.write("short.csv", "kpca1\n1\n");
    folder.write("wide.csv", "1,2,3\n4,5,6\n");
    folder.write("two.csv", "a,b\n1,2\n2,1\n");
    folder.write("one.csv", "a\n1\n2\n5\n7\n8\n9\n11\n12\n13\n");
    folder.write("same.csv", format!("a,b\n{}", "1,2\n".repeat(20)));
    folder.write("inf.csv", "a,b\n1,2\n3,inf\n");
    folder.write("start.csv", "start,sepal_length,sepal_width,petal_length,petal_width\nfoo,1,2,3,4\n");
    folder.write("named.csv", "distance,b\n1,2\n2,1\n3,5\n4,4\n");
    folder.write("nan.csv", "kpca1,kpca2\n1,nan\n");
    folder.write("big.csv", "kpca1,kpca2\n1e308,-1e308\n");
    folder.write("label.csv", format!("a,b,c\n{}", "1,2,5\n2,1,5\n4,1,5\n".repeat(5)));
    folder.say("fit kpca named.csv --model named.safetensors --json --quiet").ok();
    folder.say("fit kpca one.csv --model one.safetensors --json --quiet").ok();
    folder.say("fit kpca moons.csv --target class --model moons.safetensors --json --quiet").ok();
    folder
        .say("fit kpca iris.csv --rank 50 --low-rank fourier --model fourier.safetensors --json --quiet")
        .ok();
    folder.say("fit whiten iris.csv --model white.safetensors --json --quiet").ok();
    folder.say("kernel gram iris.csv --kernel linear --out k.npy --quiet").ok();
    folder.say("fit kpca k.npy --kernel precomputed --model gram.safetensors --json --quiet").ok();
    folder
        .run(&[
            "fit",
            "kpca",
            "iris.csv",
            "--kernel",
            "linear",
            "--model",
            "linear.safetensors",
            "--json",
            "--quiet",
        ])
        .ok();
    folder
}

#[track_caller]
fn check(folder: &Folder, cases: &[Case]) {
    let before = folder.names();
    for (line, code, message) in cases {
        let run = folder.say(&format!("{line} --quiet"));
        assert_eq!(run.code, *code, "eigenlift {line}\n{}", run.err);
        assert!(run.err.contains(message), "eigenlift {line}\nshould say: {message}\nsays: {}", run.err);
        assert!(run.err.starts_with("error: "), "{line}: {}", run.err);
        assert!(!run.err.contains("panicked") && !run.err.contains("internal error"), "{line}: {}", run.err);
        assert!(run.out.is_empty(), "{line}: {}", run.out);
        assert_eq!(folder.names(), before, "{line} left a file");
    }
}

#[test]
fn wrong_words_of_the_way_back() {
    check(
        &prepared(),
        &[
            ("denoise iris.safetensors iris.csv --penalty -1", 2, "a number of at least 0 is required"),
            ("denoise iris.safetensors iris.csv --penalty nan", 2, "a number of at least 0 is required"),
            (
                "denoise iris.safetensors iris.csv --neighbors 1",
                2,
                "a whole number of at least 2 is required",
            ),
            ("denoise iris.safetensors iris.csv --steps 0", 2, "a whole number of at least 1 is required"),
            ("denoise iris.safetensors iris.csv --tol 0", 2, "a number between 0 and 1 is required"),
            ("denoise iris.safetensors iris.csv -k 3", 2, "unexpected argument '-k'"),
            (
                "inverse iris.safetensors iris.csv --preimage magic",
                2,
                "[possible values: auto, fixed-point, distance, ridge, gradient]",
            ),
            (
                "denoise iris.safetensors iris.csv --preimage ridge --penalty 1",
                2,
                "only a search can be held back",
            ),
            (
                "denoise iris.safetensors iris.csv --preimage distance --penalty 1",
                2,
                "only a search can be held back",
            ),
            (
                "denoise fourier.safetensors iris.csv --preimage ridge",
                3,
                "the ridge learns from rows and their scores",
            ),
            ("denoise linear.safetensors iris.csv --preimage fixed-point", 2, "Use the method gradient"),
            ("denoise iris.safetensors iris.csv --image 2x2", 2, "--plot <FILE>"),
            ("denoise iris.safetensors iris.csv --plot p.svg --image 4", 2, "such as 8x8, are required"),
            (
                "denoise iris.safetensors iris.csv --plot p.svg --image 8x8",
                2,
                "--image 8x8; the rows have 4 columns. Give the height and the width whose product",
            ),
            (
                "denoise iris.safetensors iris.csv --plot scree=p.svg",
                2,
                "the only picture here is preimages=FILE",
            ),
            ("denoise iris.safetensors iris.csv --plot p.pdf", 2, "it must end in .svg or .png"),
            ("denoise iris.safetensors iris.csv --plot none/p.svg", 2, "the folder none does not exist"),
            (
                "denoise iris.safetensors iris.csv --out d.csv --plot a.svg --plot a.svg",
                2,
                "are the same file",
            ),
            ("denoise one.safetensors one.csv --plot p.svg", 2, "--plot of rows of 1 column"),
            (
                "denoise pca.safetensors iris.csv --preimage auto",
                2,
                "--preimage with a pca model; its way back is exact on the components and searches for nothing",
            ),
            ("denoise pca.safetensors iris.csv --trust", 2, "--trust with a pca model"),
            ("denoise white.safetensors iris.csv --penalty 0", 2, "--penalty with a whiten model"),
            ("inverse pca.safetensors pcascores.csv --neighbors 5", 2, "--neighbors with a pca model"),
            ("inverse pca.safetensors pcascores.csv --steps 5", 2, "--steps with a pca model"),
            ("inverse pca.safetensors pcascores.csv --tol 0.1", 2, "--tol with a pca model"),
            (
                "denoise named.safetensors named.csv --trust",
                2,
                "--trust with data that has a column distance",
            ),
            ("score iris.safetensors iris.csv --trust", 2, "unexpected argument '--trust'"),
        ],
    );
}

#[test]
fn scores_and_models_without_a_way_back() {
    check(
        &prepared(),
        &[
            (
                "inverse iris.safetensors short.csv",
                3,
                "short.csv: 1 column of numbers (kpca1); the way back needs the 2 scores of the model (kpca1, kpca2)",
            ),
            (
                "inverse iris.safetensors wide.csv",
                3,
                "3 columns of numbers (x1, x2, x3); the way back needs the 2",
            ),
            ("inverse iris.safetensors nan.csv", 3, "column 2 (\"kpca2\") is missing"),
            ("inverse iris.safetensors pcascores.csv", 3, "the 2 scores of the model (kpca1, kpca2)"),
            ("denoise iris.safetensors wide.csv", 3, "3 columns of numbers; the model has 4"),
            ("denoise iris.safetensors two.csv", 3, "4 of the model's columns are missing"),
            ("denoise named.safetensors inf.csv", 3, "columns"),
            ("denoise gram.safetensors k.npy", 3, "a model of a precomputed Gram matrix"),
            ("inverse gram.safetensors short.csv", 3, "a model of a precomputed Gram matrix"),
            (
                "denoise iris.safetensors start.csv --trust",
                3,
                "the column start is carried in front of the result and is called like a column of it",
            ),
            ("denoise nosuch.safetensors iris.csv", 3, "nosuch.safetensors: cannot be read"),
        ],
    );
    // Scores beyond all measure give no rows to trust, and no crash.
    let folder = prepared();
    let run = folder.say("inverse iris.safetensors big.csv --trust");
    assert!(run.code == 3 || run.err.contains("not to be trusted"), "{} {}", run.code, run.err);
}

#[test]
fn wrong_words_of_the_choice() {
    check(
        &prepared(),
        &[
            ("choose kpca", 2, "<DATA>"),
            ("choose isomap iris.csv", 2, "unrecognized subcommand 'isomap'"),
            ("choose kpca iris.csv -k 0", 2, "a whole number of at least 1, or auto, is required"),
            ("choose kpca iris.csv --most 0", 2, "a whole number of at least 1 is required"),
            ("choose kpca iris.csv --rows 0", 2, "a whole number of at least 1 is required"),
            ("choose kpca iris.csv --rows 3", 2, "a choice on 3 rows at most"),
            (
                "choose kpca iris.csv --mask squares",
                2,
                "entries, blocks=L with a length of at least 1, or image=HxW",
            ),
            ("choose kpca iris.csv --mask blocks=0", 2, "entries, blocks=L"),
            ("choose kpca iris.csv --mask blocks=9", 2, "9"),
            ("choose kpca iris.csv --mask image=8x8", 2, "images of 8×8 in rows of 4 columns"),
            ("choose kpca iris.csv --kernel polynomial(degree=2)", 2, "a choice is made among linear, rbf"),
            ("choose kpca k.npy --kernel precomputed", 2, "choose kpca with --kernel precomputed"),
            ("choose kpca iris.csv --scorer none", 2, "--target <COL>"),
            (
                "choose kpca iris.csv --target species --scorer forest",
                2,
                "[possible values: best, knn, ridge, none]",
            ),
            ("choose kpca iris.csv --target nope", 2, "--target names \"nope\""),
            ("choose kpca iris.csv --kernel linear --sensitivity", 2, "--sensitivity of the kernel linear"),
            ("choose kpca iris.csv --kernel linear --plot sensitivity=s.svg", 2, "it has no bandwidth"),
            (
                "choose kpca iris.csv --plot scree=s.svg",
                2,
                "the only pictures here are choice=FILE and sensitivity=FILE",
            ),
            ("choose kpca iris.csv --out -", 2, "standard output is for what was chosen"),
            ("choose kpca iris.csv --out iris.csv", 2, "is also an input"),
            ("choose kpca iris.csv --out e.txt", 2, "has the unknown extension .txt"),
            ("choose kpca iris.csv -k 500", 2, "500 components"),
            ("fit kpca k.npy --kernel precomputed -k auto", 2, "-k auto with --kernel precomputed"),
            ("plan kpca k.npy --kernel precomputed -k auto", 2, "-k auto with --kernel precomputed"),
            ("fit kpca iris.csv --plot choice=c.svg", 2, "--plot choice= where nothing is chosen"),
            ("fit kpca iris.csv -k auto --kernel cosine", 2, "a choice is made among"),
            ("fit kpca iris.csv --kernel polynomial(gamma=auto)", 2, "auto"),
            ("kernel gram iris.csv --kernel auto", 2, "auto"),
        ],
    );
}

#[test]
fn unusable_tables_of_the_choice() {
    check(
        &prepared(),
        &[
            ("choose kpca two.csv", 3, "a choice needs at least 8"),
            ("choose kpca one.csv", 3, "at least 2 are needed"),
            ("choose kpca same.csv", 3, "rows that differ"),
            ("choose kpca inf.csv", 3, "finite"),
            ("choose kpca nosuch.csv", 3, "nosuch.csv: cannot be read"),
            ("choose kpca label.csv --target c", 3, "labels that are all the same"),
            ("fit kpca two.csv -k auto", 3, "a choice needs at least 8"),
        ],
    );
}

#[test]
fn earlier_models_that_do_not_match() {
    check(
        &prepared(),
        &[
            ("fit kpca iris.csv --like nosuch.safetensors", 3, "nosuch.safetensors: cannot be read"),
            ("fit kpca iris.csv --like pca.safetensors", 3, "pca"),
            ("fit kpca iris.csv --like iris.csv", 3, "not a safetensors file"),
            (
                "fit kpca iris.csv --like moons.safetensors",
                3,
                "--like moons.safetensors: a model of 2 columns (x1, x2), and the table has 4",
            ),
            (
                "fit kpca iris.csv --columns 2,1,3,4 --like iris.safetensors",
                3,
                "both models must give scores to the same rows",
            ),
            (
                "fit kpca iris.csv --like iris.safetensors --model iris.safetensors",
                2,
                "--model iris.safetensors is also an input",
            ),
            ("fit pca iris.csv --like pca.safetensors", 2, "unexpected argument '--like'"),
        ],
    );
}

#[test]
fn a_bad_row_far_down_leaves_what_was_there() {
    let folder = prepared();
    let text: String =
        (0..9000).map(|i| format!("{},{}\n", f64::from(i).sin(), f64::from(i).cos())).collect();
    folder.write("far.csv", format!("x1,x2\n{text}1,foo\n"));
    folder.write("old.csv", "old");
    folder.write("old.svg", "old");
    let before = folder.names();
    let run = folder.say("denoise moons.safetensors far.csv --out old.csv --plot old.svg --trust --quiet");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("line 9002 (row 9001)"), "{}", run.err);
    assert_eq!((folder.read("old.csv"), folder.read("old.svg")), ("old".into(), "old".into()));
    assert_eq!(folder.names(), before);
}
