//! Principal components, whitening and what is done with their models, when something is wrong: each has its message and
//! its exit status, and nothing is left behind.

use crate::support::Folder;

/// Arguments, exit status, what standard error must contain.
type Case = (&'static str, i32, &'static str);

const TABLES: &[(&str, &str)] = &[
    ("empty.csv", ""),
    ("header.csv", "a,b\n"),
    ("missing.csv", "a,b\n1,2\n,1\n3,4\n5,5\n"),
    ("text.csv", "a,b\n1,2\n3,foo\n"),
    ("words.csv", "n\nfoo\nbar\n"),
    ("same.csv", "a,b\n1,2\n1,2\n1,2\n"),
    ("one.csv", "a,b\n1,2\n"),
    ("inf.csv", "a,b\n1,2\n3,inf\n"),
    ("negative.csv", "a,b,w\n1,2,1\n2,1,-1\n3,5,1\n"),
    ("nan.csv", "a,b,w\n1,2,1\n2,1,nan\n3,5,1\n"),
    ("zero.csv", "a,b,w\n1,2,0\n2,1,0\n3,5,0\n"),
    ("single.csv", "a,b,w\n1,2,0\n2,1,0\n3,5,1\n"),
    ("only.csv", "w\n1\n2\n"),
    ("huge.csv", "a,b\n1e300,1\n2,3\n5,1e300\n"),
    ("clash.csv", "pca1,a,b\nfoo,1,2\nbar,3,5\n"),
    ("short.csv", "pca1\n1\n"),
    ("numbered.csv", "1,2,3\n4,5,6\n"),
    ("other.csv", "p,q\n1,2\n3,4\n"),
    ("t2.csv", "t2,sepal_length,sepal_width,petal_length,petal_width\nfoo,1,2,3,4\n"),
];

fn prepared() -> Folder {
    let folder = Folder::prepared();
    TABLES.iter().for_each(|(name, text)| folder.write(name, text));
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    std::fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/counts.npz"),
        folder.path("counts.npz"),
    )
    .unwrap();
    folder.say("fit whiten iris.csv --model white.safetensors --json --quiet").ok();
    let whole = std::fs::read(folder.path("pca.safetensors")).unwrap();
    folder.write("cut.safetensors", &whole[..whole.len() - 9]);
    let mut bent = whole;
    *bent.last_mut().unwrap() ^= 1;
    folder.write("bent.safetensors", bent);
    folder
}

#[track_caller]
fn check(folder: &Folder, cases: &[Case]) {
    let before = folder.names();
    for (line, code, message) in cases {
        let planned = !line.starts_with("inspect") && !line.contains("--quiet");
        let run = folder.say(&format!("{line}{}", if planned { " --quiet" } else { "" }));
        assert_eq!(run.code, *code, "eigenlift {line}\n{}", run.err);
        assert!(run.err.contains(message), "eigenlift {line}\nshould say: {message}\nsays: {}", run.err);
        assert!(run.err.starts_with("error: "), "{line}: {}", run.err);
        assert!(!run.err.contains("panicked") && !run.err.contains("internal error"), "{line}: {}", run.err);
        assert!(run.out.is_empty(), "{line}: {}", run.out);
        assert_eq!(folder.names(), before, "{line} left a file");
    }
}

#[test]
fn wrong_command_lines() {
    check(
        &prepared(),
        &[
            (
                "fit pca iris.csv --columns 1-3 --weights petal_width",
                2,
                "with --columns, the weights must be among them",
            ),
            ("fit pca iris.csv --target petal_width --weights petal_width", 2, "petal_width is the target"),
            ("plan pca iris.csv -k auto --weights petal_width", 2, "-k auto with --weights"),
            ("fit pca", 2, "<DATA>"),
            ("fit pca iris.csv -k 0", 2, "a whole number of at least 1, or auto, is required"),
            ("fit pca iris.csv -k abc", 2, "invalid value 'abc' for '--components <N|auto>'"),
            ("fit pca iris.csv -k -1", 2, "-1"),
            ("fit pca iris.csv --kernel linear", 2, "unexpected argument '--kernel'"),
            (
                "fit pca iris.csv --route fast",
                2,
                "[possible values: auto, covariance, dual, tsqr, krylov, directions]",
            ),
            ("fit pca iris.csv --tol 0", 2, "a number between 0 and 1 is required"),
            ("fit pca iris.csv --explained 2", 2, "a number above 0 and up to 1 is required"),
            ("fit pca iris.csv --residual -1", 2, "a number of at least 0 is required"),
            ("fit pca iris.csv --permutations 0", 2, "a whole number of at least 1 is required"),
            (
                "fit pca iris.csv --weights nope",
                2,
                "--weights nope: iris.csv has no data column of that name; its columns of numbers are sepal_length",
            ),
            ("fit pca iris.csv --weights species", 2, "has no data column of that name"),
            ("fit whiten iris.csv --weights nope", 2, "--weights nope"),
            ("plan pca iris.csv --weights nope", 2, "--weights nope"),
            ("fit pca only.csv --weights w", 2, "--weights w names the only column of numbers"),
            (
                "fit pca iris.csv -k auto --weights petal_width",
                2,
                "-k auto with --weights; the rules take every row to count once",
            ),
            (
                "fit pca iris.csv --plot contours=c.svg",
                2,
                "--plot contours= of pca; it has the pictures scatter, scree, choice",
            ),
            ("fit pca iris.csv --plot whitening=c.svg", 2, "--plot whitening= of pca"),
            ("fit pca iris.csv --plot choice=c.svg", 2, "the rules are asked when -k is auto"),
            (
                "fit whiten iris.csv --plot choice=c.svg",
                2,
                "--plot choice= of whiten; it has the pictures scatter, scree, whitening",
            ),
            ("fit pca iris.csv --plot scree=c.pdf", 2, "it must end in .svg or .png"),
            ("choose pca iris.csv --plot scree=c.svg", 2, "the only picture here is choice=FILE"),
            ("choose pca iris.csv --plot none/c.svg", 2, "the folder none does not exist"),
            ("choose pca iris.csv --plot c.txt", 2, "--plot c.txt has the unknown extension .txt"),
            ("fit pca iris.csv --loadings l.txt", 2, "--loadings l.txt has the unknown extension .txt"),
            ("fit pca iris.csv --loadings iris.csv", 2, "--loadings iris.csv is also an input"),
            (
                "fit pca iris.csv --loadings l.csv --out l.csv",
                2,
                "--loadings l.csv and --out l.csv are the same file",
            ),
            (
                "fit pca iris.csv --loadings -",
                2,
                "--loadings - and the table of scores both want standard output",
            ),
            (
                "fit pca iris.csv --loadings - --json --out s.csv",
                2,
                "--loadings - and --json both want standard output",
            ),
            ("fit whiten iris.csv --loadings l.csv", 2, "unexpected argument '--loadings'"),
            ("fit pca iris.csv --out iris.csv", 2, "--out iris.csv is also an input"),
            ("fit pca iris.csv --out none/s.csv", 2, "the folder none does not exist"),
            ("fit pca iris.csv --out folder.csv", 2, "--out folder.csv is a folder"),
            ("fit pca iris.csv --model m.pkl", 2, "it must end in .safetensors"),
            ("fit pca iris.csv --json --out -", 2, "--json and --out - both want standard output"),
            (
                "fit whiten iris.csv --ridge -1",
                2,
                "invalid value '-1' for '--ridge <X>': a number of at least 0 is required",
            ),
            ("fit whiten iris.csv --ridge nan", 2, "a number of at least 0 is required"),
            (
                "fit whiten iris.csv --method pcr",
                2,
                "[possible values: pca, zca, cholesky, pca-cor, zca-cor]",
            ),
            ("fit whiten iris.csv -k auto", 2, "a whole number of at least 1 is required"),
            (
                "fit pca counts.npz --target 1",
                2,
                "a sparse matrix has no labels and all its columns are data",
            ),
            ("fit pca counts.npz --columns 1-3", 2, "a sparse matrix has no labels"),
            ("fit pca counts.npz --weights x1", 2, "--weights x1: the columns of counts.npz have no names"),
            ("score pca.safetensors counts.npz --target 1", 2, "a sparse matrix has no labels"),
            ("inverse pca.safetensors pcascores.csv --out pcascores.csv", 2, "is also an input"),
            ("inverse pca.safetensors pcascores.csv --json --out -", 2, "both want standard output"),
            (
                "denoise pca.safetensors iris.csv --out pca.safetensors",
                2,
                "has the unknown extension .safetensors",
            ),
            ("score pca.safetensors iris.csv --out none/s.csv", 2, "the folder none does not exist"),
            ("score pca.safetensors iris.csv --json --out -", 2, "both want standard output"),
            ("choose whiten iris.csv", 2, "unrecognized subcommand 'whiten'"),
            ("inverse pca.safetensors", 2, "<SCORES>"),
        ],
    );
}

#[test]
fn unusable_tables() {
    check(
        &prepared(),
        &[
            ("fit pca nosuch.csv", 3, "nosuch.csv: cannot be read"),
            ("fit pca empty.csv", 3, "it is empty (0 bytes)"),
            ("choose pca empty.csv", 3, "it is empty (0 bytes)"),
            ("fit whiten header.csv", 3, "header.csv"),
            (
                "fit pca missing.csv",
                3,
                "1 cell is missing in 1 column, the first at line 3 (row 2), column 1 (\"a\")",
            ),
            ("choose pca missing.csv", 3, "Use --missing drop"),
            ("fit pca text.csv", 3, "line 3 (row 2), column 2 (\"b\") is \"foo\""),
            ("fit whiten words.csv", 3, "it has no column of numbers"),
            ("fit pca same.csv", 3, "All rows look the same"),
            ("fit whiten same.csv", 3, "All rows look the same"),
            ("choose pca same.csv", 3, "All rows look the same"),
            ("fit pca one.csv", 3, "centring leaves nothing of fewer than 2 rows"),
            ("choose pca one.csv", 3, "fewer than 2"),
            ("fit pca inf.csv", 3, "every entry must be finite"),
            (
                "fit pca negative.csv --weights w",
                3,
                "row 2 has the weight -1; weights must be finite and not negative",
            ),
            ("fit whiten negative.csv --weights w", 3, "row 2 has the weight -1"),
            ("fit pca nan.csv --weights w", 3, "column 3 (\"w\")"),
            ("fit pca zero.csv --weights w", 3, "3 rows whose weights are all 0"),
            ("fit whiten zero.csv --weights w", 3, "3 rows whose weights are all 0"),
            ("fit pca single.csv --weights w", 3, "All rows look the same"),
            ("fit pca huge.csv", 3, "Divide the"),
            ("fit pca huge.csv --route covariance", 3, "Divide the"),
            ("fit pca huge.csv --route dual", 3, "Divide the"),
            ("fit pca huge.csv --route krylov", 3, "Divide the"),
            ("fit whiten huge.csv", 3, "Divide the"),
            ("fit pca clash.csv", 3, "the column pca1 is carried in front of the scores"),
            ("score pca.safetensors t2.csv", 3, "the column t2 is carried in front of the result"),
        ],
    );
}

#[test]
fn missing_cells_are_treated_as_asked() {
    let folder = prepared();
    for command in ["fit pca", "fit whiten", "choose pca"] {
        let dropped = folder.say(&format!("{command} missing.csv --missing drop")).ok();
        assert!(
            dropped.err.contains("3 rows, 2 columns of numbers\n  1 row left out because a cell"),
            "{}",
            dropped.err
        );
        let filled = folder.say(&format!("{command} missing.csv --missing mean")).ok();
        assert!(filled.err.contains("1 missing cell filled with the mean of the column"), "{}", filled.err);
        if command != "choose pca" {
            assert_eq!((dropped.out.lines().count(), filled.out.lines().count()), (4, 5));
        }
    }
    // A missing weight is a missing cell.
    assert_eq!(folder.say("fit pca nan.csv --weights w --missing drop --quiet").ok().out.lines().count(), 3);
    assert_eq!(folder.say("fit pca nan.csv --weights w --missing mean --quiet").ok().out.lines().count(), 4);
}

#[test]
fn models_that_cannot_do_what_is_asked() {
    check(
        &prepared(),
        &[
            (
                "inverse iris.safetensors pcascores.csv",
                3,
                "the way back needs the 2 scores of the model (kpca1, kpca2)",
            ),
            (
                "score white.safetensors iris.csv",
                3,
                "a model of the method whiten; T² and the squared prediction error are known for kpca and pca",
            ),
            (
                "inverse pca.safetensors short.csv",
                3,
                "short.csv: 1 column of numbers (pca1); the way back needs the 2 scores of the model (pca1, pca2). Give a table",
            ),
            (
                "inverse pca.safetensors numbered.csv",
                3,
                "3 columns of numbers (x1, x2, x3); the way back needs the 2 scores",
            ),
            (
                "inverse pca.safetensors iris.csv",
                3,
                "the way back needs the 2 scores of the model (pca1, pca2)",
            ),
            (
                "inverse white.safetensors pcascores.csv",
                3,
                "the 4 scores of the model (whiten1, whiten2, whiten3, whiten4)",
            ),
            ("transform pca.safetensors other.csv", 3, "4 of the model's columns are missing: sepal_length"),
            ("transform white.safetensors other.csv", 3, "4 of the model's columns are missing"),
            ("denoise pca.safetensors other.csv", 3, "4 of the model's columns are missing"),
            ("score pca.safetensors numbered.csv", 3, "3 columns of numbers; the model has 4"),
            ("score pca.safetensors counts.npz", 3, "9 columns of numbers; the model has 4"),
            ("transform pca.safetensors counts.npz --out t.csv", 3, "9 columns of numbers; the model has 4"),
            ("transform cut.safetensors iris.csv --out t.csv", 3, "the file is truncated"),
            ("inverse cut.safetensors pcascores.csv", 3, "the file is truncated"),
            ("score bent.safetensors iris.csv", 3, "bent.safetensors"),
            ("inspect cut.safetensors", 3, "the file is truncated"),
            ("inspect bent.safetensors", 3, "bent.safetensors"),
            ("score nosuch.safetensors iris.csv", 3, "nosuch.safetensors: cannot be read"),
            ("score iris.csv iris.csv", 3, "not a safetensors file"),
            ("certify pca.safetensors iris.csv", 3, "pca"),
            ("refine pca.safetensors iris.csv", 3, "pca"),
        ],
    );
}

#[test]
fn what_the_memory_allows() {
    let folder = prepared();
    check(
        &folder,
        &[
            (
                "fit pca iris.csv --route dual --memory 4k",
                2,
                "the dual route for rows that are read in pieces",
            ),
            (
                "fit whiten iris.csv --route dual --memory 4k",
                2,
                "the dual route for rows that are read in pieces",
            ),
            ("fit pca iris.csv --memory 4k", 1, "4.0 KiB are allowed"),
            ("choose pca iris.csv --memory 4k", 1, "4.0 KiB are allowed"),
            (
                "fit pca digits.csv --target digit --route dual --memory 10MB",
                1,
                "the dual route of 1797 × 64 needs",
            ),
        ],
    );
    if std::path::Path::new("/dev/full").exists() {
        check(
            &folder,
            &[
                ("fit pca iris.csv --out /dev/full", 1, "/dev/full: cannot be written"),
                ("score pca.safetensors iris.csv --out /dev/full", 1, "/dev/full: cannot be written"),
            ],
        );
    }
}

#[test]
fn a_bad_row_far_down_leaves_no_output() {
    let folder = prepared();
    let mut text = String::from("sepal_length,sepal_width,petal_length,petal_width\n");
    (0..20_000).for_each(|i| text += &format!("{},3.5,1.4,{}\n", 5.0 + f64::from(i % 7), i % 5));
    folder.write("late.csv", text.clone() + "5.1,oops,1.4,0.2\n");
    let line = "fit pca late.csv --memory 3MB --out s.csv --model m.safetensors";
    check(
        &folder,
        &[
            ("denoise pca.safetensors late.csv --out t.csv", 3, "line 20002"),
            ("score pca.safetensors late.csv --out t.csv", 3, "\"oops\""),
            (line, 3, "line 20002"),
            ("fit whiten late.csv --weights petal_width --memory 3MB --out s.csv", 3, "line 20002"),
        ],
    );
    folder.write("weights.csv", text + "5.1,3.5,1.4,-2\n");
    let weighted = "fit pca weights.csv --weights petal_width --memory 3MB --out s.csv --model m.safetensors";
    check(&folder, &[(weighted, 3, "row 20001 has the weight -2")]);
}

#[test]
fn an_existing_output_survives_a_failure() {
    let folder = prepared();
    folder.write("s.csv", "old");
    assert_eq!(folder.say("fit pca text.csv --out s.csv").code, 3);
    assert_eq!(folder.say("score white.safetensors iris.csv --out s.csv").code, 3);
    assert_eq!(folder.say("inverse pca.safetensors short.csv --out s.csv").code, 3);
    assert_eq!(folder.read("s.csv"), "old");
    folder.say("score pca.safetensors iris.csv --out s.csv").ok();
    assert!(folder.read("s.csv").starts_with("species,novel,t2,spe\n"));
}

#[test]
fn a_reader_who_leaves_early_is_no_failure() {
    let folder = prepared();
    for command in [
        "fit pca digits.csv --target digit -k 20",
        "fit whiten digits.csv --target digit",
        "choose pca iris.csv",
        "denoise pca.safetensors iris.csv",
    ] {
        let run = folder.shell(&format!("{{ eigenlift {command} --quiet; echo $? > code; }} | head -1"));
        assert_eq!((folder.read("code").trim(), run.err.as_str()), ("0", ""), "{command}");
    }
}
