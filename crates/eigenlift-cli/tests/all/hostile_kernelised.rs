//! What the kernelised methods refuse, with which words and which status.

use crate::support::Folder;

/// A command line, the status it ends with, and what it must say.
type Case = (&'static str, i32, &'static str);

const TABLES: [(&str, &str); 9] = [
    ("short.csv", "u,v\n1,2\n2,1\n3,3\n"),
    ("gaps.csv", "u,v\n1,2\n,1\n3,3\n4,1\n5,2\n6,9\n7,1\n"),
    ("seven.csv", "p,q\n1,2\n2,7\n3,3\n4,1\n5,2\n6,9\n7,1\n"),
    ("eight.csv", "u,v\n1,2\n0,1\n3,3\n4,1\n5,2\n6,9\n7,1\n1,8\n"),
    ("same.csv", "u,v\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n"),
    ("one.csv", "a,b,c\n1,2,x\n2,7,x\n3,3,x\n4,1,x\n"),
    ("lonely.csv", "a,b,c\n1,2,x\n2,7,x\n3,3,y\n4,1,x\n"),
    ("unlabelled.csv", "a,b,c\n1,2,x\n2,7,\n3,3,y\n4,1,y\n"),
    ("taken.csv", "view1_kcca1,p,q\nx,1,2\ny,2,7\nz,3,3\nx,4,1\ny,5,2\nz,6,9\nx,7,1\n"),
];

fn prepared() -> Folder {
    let folder = Folder::new();
    TABLES.iter().for_each(|(name, text)| folder.write(name, text));
    folder.say("data iris --out iris.csv").ok();
    folder.split_iris();
    folder
        .say("fit kcca sepals.csv petals.csv --target species --regularization 0.1 --model kcca.safetensors --json")
        .ok();
    folder.say("fit kda iris.csv --target species --regularization 0.1 --model kda.safetensors --json").ok();
    folder.say("fit kkmeans iris.csv --target species --clusters 3 --model kk.safetensors --json").ok();
    for name in ["kcca", "kda", "kk"] {
        let whole = std::fs::read(folder.path(&format!("{name}.safetensors"))).unwrap();
        folder.write(&format!("{name}-cut.safetensors"), &whole[..whole.len() - 9]);
        let mut bent = whole;
        *bent.last_mut().unwrap() ^= 1;
        folder.write(&format!("{name}-bent.safetensors"), bent);
    }
    folder
}

#[track_caller]
fn check(folder: &Folder, cases: &[Case]) {
    let before = folder.names();
    for (line, code, message) in cases {
        let run = folder.say(&format!("{line}{}", if line.starts_with("inspect") { "" } else { " --quiet" }));
        assert_eq!(run.code, *code, "eigenlift {line}\n{}", run.err);
        assert!(run.err.contains(message), "eigenlift {line}\nshould say: {message}\nsays: {}", run.err);
        assert!(run.err.starts_with("error: "), "{line}: {}", run.err);
        assert!(!run.err.contains("panicked") && !run.err.contains("internal error"), "{line}: {}", run.err);
        assert!(run.out.is_empty(), "{line}: {}", run.out);
        assert_eq!(folder.names(), before, "{line} left a file");
    }
}

#[test]
fn views_that_do_not_fit_together() {
    check(
        &prepared(),
        &[
            ("fit kcca", 2, "<DATA>"),
            ("fit kcca seven.csv", 2, "two views of the same rows or more are required"),
            ("fit kcca seven.csv --view 1", 2, "one --view of seven.csv"),
            ("fit kcca seven.csv short.csv", 3, "seven.csv has 7 rows, short.csv has 3 rows"),
            ("plan kcca seven.csv eight.csv", 3, "eight.csv has 8 rows"),
            ("fit kcca seven.csv nowhere.csv", 3, "nowhere.csv"),
            ("fit kcca - -", 2, "standard input can be read once"),
            ("fit kcca seven.csv same.csv --view 1 --view 2", 2, "--view with 2 tables"),
            ("fit kcca seven.csv same.csv --columns p", 2, "--columns with 2 tables"),
            ("fit kcca seven.csv gaps.csv", 3, "1 cell is missing"),
            ("fit kcca seven.csv gaps.csv --missing drop", 3, "1 row left out because a cell was missing"),
            ("fit kcca seven.csv same.csv", 3, "view 2"),
            ("fit kcca seven.csv --view p --view p,q", 2, "--view p,q names p, which is in view 1 too"),
            ("fit kcca seven.csv --view p --view z", 2, "--view names \"z\", which is not a column"),
            ("fit kcca seven.csv --view 1 --view 3", 2, "a position from 1 to 2"),
            ("fit kcca seven.csv --view 2-1 --view 1", 2, "runs backwards"),
            ("fit kcca iris.csv --target none --view 1 --view 2", 2, "--target names \"none\""),
            ("fit kcca sepals.csv petals.csv --target none", 2, "--target names \"none\""),
            (
                "fit kcca taken.csv --view 1 --view 2 --regularization 1",
                3,
                "the column view1_kcca1 is carried",
            ),
            ("fit kcca sepals.csv petals.csv --memory 1KB", 1, "rows must be in memory, all of them"),
        ],
    );
}

#[test]
fn settings_out_of_range() {
    check(
        &prepared(),
        &[
            ("fit kcca sepals.csv petals.csv -k 0", 2, "a whole number of at least 1 is required"),
            ("fit kcca sepals.csv petals.csv -k auto", 2, "a whole number of at least 1 is required"),
            ("fit kcca sepals.csv petals.csv --regularization -1", 2, "a regularisation of -1"),
            ("fit kcca sepals.csv petals.csv --regularization much", 2, "it must be a number or auto"),
            ("fit kcca sepals.csv petals.csv --regularization nan", 2, "a regularisation of NaN"),
            ("fit kcca sepals.csv petals.csv --folds 1", 2, "at least 2 folds are held out in turn"),
            ("fit kda iris.csv --target species --folds 0", 2, "at least 2 folds are held out in turn"),
            ("fit kcca sepals.csv petals.csv --permutations -1", 2, "unexpected argument '-1'"),
            (
                "fit kcca seven.csv eight.csv --view 1",
                2,
                "--view with 2 tables; each table is a view by itself",
            ),
            ("fit kcca seven.csv --view 1 --view 2 --regularization 0", 2, "a regularisation of 0"),
            (
                "fit kcca sepals.csv petals.csv --kernel linear --kernel linear --kernel linear",
                2,
                "3 kernels for 2 views",
            ),
            ("fit kcca sepals.csv petals.csv --kernel auto", 2, "kernels are chosen for kpca alone"),
            ("fit kcca sepals.csv petals.csv --kernel precomputed", 2, "views are tables of rows"),
            ("fit kcca sepals.csv petals.csv --landmarks short.csv", 2, "--landmarks with kcca"),
            ("fit kcca sepals.csv petals.csv --exact --rank 3", 2, "cannot be used with"),
            (
                "fit kcca sepals.csv petals.csv --plot scree=c.svg",
                2,
                "it has the pictures scatter, canonical",
            ),
            (
                "fit kcca sepals.csv petals.csv --regularization 1 --plot regularization=c.svg",
                2,
                "where nothing is chosen",
            ),
            ("fit kda iris.csv", 2, "kda of iris.csv without --target"),
            ("plan kda iris.csv", 2, "without --target"),
            ("fit kda one.csv --target c", 3, "1 class"),
            ("fit kda lonely.csv --target c", 3, "y"),
            ("fit kda unlabelled.csv --target c", 3, "the target has 1 missing cell"),
            ("fit kda iris.csv --target species --regularization -2", 2, "a regularisation of -2"),
            ("fit kda iris.csv --target species -k 0", 2, "a whole number of at least 1 is required"),
            (
                "fit kda iris.csv --target species --plot regions=r.svg",
                2,
                "regions of the plane need exactly 2",
            ),
            (
                "fit kda iris.csv --target species --regularization 0 --kernel rbf(gamma=9)",
                2,
                "regularisation of 0",
            ),
            (
                "fit kda iris.csv --target species --kernel rbf(gamma=auto)",
                2,
                "kernels are chosen for kpca alone",
            ),
            ("fit kkmeans iris.csv", 2, "--clusters <N>"),
            ("fit kkmeans iris.csv --clusters 0", 2, "a whole number of at least 1 is required"),
            ("fit kkmeans iris.csv -k 3", 2, "unexpected argument '-k'"),
            ("fit kkmeans seven.csv --clusters 8", 2, "8 clusters of 7 rows"),
            ("fit kkmeans same.csv --clusters 2", 3, ""),
            (
                "fit kkmeans seven.csv --clusters 2 --spectral 0",
                2,
                "a whole number of at least 1 is required",
            ),
            ("fit kkmeans gaps.csv --clusters 2", 3, "1 cell is missing"),
            ("fit kkmeans iris.csv --clusters 2 --memory 1KB", 1, "rows must be in memory, all of them"),
            ("fit kda iris.csv --target species --memory 1KB", 1, "rows must be in memory, all of them"),
        ],
    );
}

#[test]
fn models_and_outputs_that_cannot_be_used() {
    check(
        &prepared(),
        &[
            ("transform kda.safetensors iris.csv --view 1", 2, "--view 1 of a kda model; only kcca models"),
            ("transform kcca.safetensors sepals.csv --view 3", 2, "--view 3 of a model of 2 views"),
            ("transform kcca.safetensors sepals.csv --view 0", 2, "a whole number of at least 1 is required"),
            ("transform kcca.safetensors sepals.csv", 3, "petal_length"),
            ("transform kcca.safetensors sepals.csv --view 2", 3, "petal_length"),
            ("transform kda.safetensors sepals.csv", 3, "petal_length"),
            ("inverse kcca.safetensors sepals.csv", 3, "way back"),
            ("denoise kda.safetensors iris.csv", 3, "way back"),
            ("denoise kk.safetensors iris.csv", 3, "way back"),
            ("certify kda.safetensors iris.csv", 3, "kda"),
            ("plot canonical kda.safetensors iris.csv --out c.svg", 2, "plot canonical of a kda model"),
            ("plot regions kda.safetensors iris.csv --out c.svg", 2, "plot regions of a kda model"),
            ("plot regularization kk.safetensors --out c.svg", 2, "plot regularization of a kkmeans model"),
            ("inspect kcca-cut.safetensors", 3, "kcca-cut.safetensors"),
            ("inspect kda-cut.safetensors", 3, "kda-cut.safetensors"),
            ("inspect kk-cut.safetensors", 3, "kk-cut.safetensors"),
            ("inspect kcca-bent.safetensors", 3, "kcca-bent.safetensors"),
            ("transform kda-bent.safetensors iris.csv", 3, "kda-bent.safetensors"),
            ("transform kk-bent.safetensors iris.csv", 3, "kk-bent.safetensors"),
            ("fit kcca sepals.csv petals.csv --out petals.csv", 2, "--out petals.csv is also an input"),
            ("fit kda iris.csv --target species --out iris.csv", 2, "--out iris.csv is also an input"),
            ("fit kkmeans iris.csv --clusters 2 --model iris.csv", 2, "--model iris.csv"),
            ("fit kda iris.csv --target species --loadings l.csv", 2, "unexpected argument '--loadings'"),
        ],
    );
}

#[test]
fn more_components_than_there_are_gives_those_that_there_are() {
    let folder = prepared();
    let run = folder
        .say("fit kcca sepals.csv petals.csv --kernel linear --regularization 0 -k 5 --target species --out v.csv")
        .ok();
    assert!(run.err.contains("warning: ") && run.err.contains('5'), "{}", run.err);
    assert_eq!(crate::support::table(&folder.read("v.csv")).0.len(), 5);
}
