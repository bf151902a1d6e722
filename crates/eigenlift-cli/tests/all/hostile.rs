//! Command lines, tables and model files that are wrong: each has its message and its exit status.

use crate::support::Folder;

/// Arguments, exit status, what standard error must contain.
type Case = (&'static str, i32, &'static str);

const COMMAND_LINES: &[Case] = &[
    ("frobnicate", 2, "unrecognized subcommand 'frobnicate'"),
    ("fit tsne iris.csv", 2, "unrecognized subcommand 'tsne'"),
    ("fit kpca", 2, "<DATA>"),
    ("fit kpca iris.csv --frob", 2, "unexpected argument '--frob'"),
    ("fit kpca iris.csv -k 0", 2, "a whole number of at least 1, or auto, is required"),
    ("fit kpca iris.csv -k some", 2, "a whole number of at least 1, or auto, is required"),
    ("fit kpca iris.csv -k -1", 2, "-1"),
    (
        "fit kpca iris.csv --kernel foo",
        2,
        "the kernel 'foo' at position 1 is unknown; a kernel is one of linear, polynomial",
    ),
    ("fit kpca iris.csv --kernel rbf(gama=1)", 2, "rbf has no parameter 'gama'"),
    ("fit kpca iris.csv --kernel rbf(gamma=-1)", 2, "invalid value 'rbf(gamma=-1)' for '--kernel <SPEC>'"),
    ("fit kpca iris.csv --kernel rbf(", 2, "invalid value 'rbf(' for '--kernel <SPEC>'"),
    ("fit kpca iris.csv --kernel expr(x9*y9)", 2, "uses feature 9, the data has 4"),
    ("fit kpca worked.csv --kernel expr(x1-y2)", 2, "a kernel must be symmetric"),
    ("fit kpca worked.csv --kernel poly(300)", 2, "kernel values must be finite"),
    ("fit kpca iris.csv --tol 0", 2, "a number between 0 and 1 is required"),
    ("fit kpca iris.csv --tol 1e-15 --quiet", 2, "it must lie between 1e-14 and 1"),
    ("fit kpca iris.csv --memory lots", 2, "a size such as 4GiB"),
    ("fit kpca iris.csv --threads 99999", 2, "99999 is not in 0..=1024"),
    ("fit kpca iris.csv --precision f16", 2, "[possible values: f32, f64]"),
    ("fit kpca iris.csv --missing maybe", 2, "[possible values: error, drop, mean]"),
    ("fit kpca iris.csv --delimiter ab", 2, "one ASCII character"),
    ("fit kpca iris.csv --target nope", 2, "--target names \"nope\", which is not a column"),
    ("fit kpca iris.csv --columns 1-9", 2, "--columns"),
    ("fit kpca iris.csv --out iris.csv", 2, "--out iris.csv is also an input"),
    ("fit kpca iris.csv --out ./iris.csv", 2, "is also an input"),
    (
        "fit kpca iris.csv --out s.csv --plot s.csv",
        2,
        "--plot s.csv has the unknown extension .csv; it must end in .svg or .png",
    ),
    ("fit kpca iris.csv --plot a.svg --plot scree=a.svg", 2, "are the same file"),
    ("fit kpca iris.csv --out s.docx", 2, "has the unknown extension .docx"),
    ("fit kpca iris.csv --out scores", 2, "--out scores has no extension"),
    ("fit kpca iris.csv --model m.pkl", 2, "it must end in .safetensors"),
    ("fit kpca iris.csv --out folder.csv", 2, "--out folder.csv is a folder"),
    ("fit kpca iris.csv --out none/s.csv", 2, "the folder none does not exist"),
    ("fit kpca iris.csv --json --out -", 2, "--json and --out - both want standard output"),
    ("fit kpca iris.csv --out s.csv --plot contours=c.svg", 2, "--plot contours= of 4 data columns"),
    (
        "transform iris.safetensors iris.csv --out iris.safetensors",
        2,
        "has the unknown extension .safetensors",
    ),
    ("data nope", 2, "[possible values: digits, iris, worked-example"),
    ("data iris --rows 10", 2, "--rows with the data set iris"),
    ("data moons --rows 1", 2, "2 to 100000000 rows"),
    ("data swiss-roll --rows 99999999999999999", 2, "2 to 100000000 rows"),
    ("data moons --noise -1", 2, "a noise of 0 or more"),
    ("kernel gram iris.csv --with linear", 2, "unexpected argument '--with'"),
    ("kernel compare iris.csv", 2, "--with <SPEC>"),
    ("kernel check iris.csv --out c.csv", 2, "--out with a question whose answer is a sentence"),
    ("kernel eigen iris.csv --out e.csv", 2, "--out without --what"),
    ("kernel distance worked.csv --kernel precomputed --quiet", 2, "the kernel precomputed has no formula"),
    ("completions cmd", 2, "[possible values: bash"),
];

#[track_caller]
fn check(folder: &Folder, cases: &[Case]) {
    let before = folder.names();
    for (line, code, message) in cases {
        // Without the words about what was read, which come before a mistake that shows late.
        let fit = line.starts_with("fit kpca ") && !line.contains("--quiet");
        let line = format!("{line}{}", if fit { " --quiet" } else { "" });
        let run = folder.run(&words(&line));
        assert_eq!(run.code, *code, "eigenlift {line}\n{}", run.err);
        assert!(run.err.contains(message), "eigenlift {line}\nshould say: {message}\nsays: {}", run.err);
        assert!(run.err.starts_with("error: "), "{line}: {}", run.err);
        assert!(!run.err.contains("panicked") && !run.err.contains("internal error"), "{line}: {}", run.err);
        assert!(run.out.is_empty(), "{line}: {}", run.out);
        assert_eq!(folder.names(), before, "{line} left a file");
    }
}

/// Splits at blanks.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn wrong_command_lines() {
    let folder = Folder::prepared();
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    check(&folder, COMMAND_LINES);
}

const TABLES: &[(&str, &str)] = &[
    ("empty.csv", ""),
    ("header.csv", "a,b\n"),
    ("nan.csv", "a,b\n1,2\n3,nan\n4,5\n"),
    ("inf.csv", "a,b\n1,2\n3,inf\n"),
    ("ragged.csv", "a,b\n1,2\n3\n"),
    ("text.csv", "a,b\n1,2\n3,foo\n"),
    ("words.csv", "n\nfoo\nbar\n"),
    ("same.csv", "a,b\n1,2\n1,2\n1,2\n"),
    ("one.csv", "a,b\n1,2\n"),
    ("negative.csv", "a,b\n1,2\n-1,2\n"),
    ("twice.csv", "a,a\n1,2\n3,4\n"),
    ("quote.csv", "a,b\n\"1,2\n3,4\n"),
    ("big.csv", "a,b\n1e300,1\n2,3\n"),
    ("skew.csv", "1,2\n3,1\n"),
    ("clash.csv", "kpca1,x,y\nfoo,1,2\nbar,3,5\n"),
    ("three.csv", "p,q,r\n1,2,3\n3,4,6\n"),
    ("four.csv", "sepal_length,b,c,d\n1,2,3,4\n3,4,6,5\n"),
];

const BAD_TABLES: &[Case] = &[
    ("fit kpca nosuch.csv --quiet", 3, "nosuch.csv: cannot be read"),
    ("fit kpca . --quiet", 3, "."),
    ("fit kpca empty.csv --quiet", 3, "it is empty (0 bytes)"),
    ("fit kpca header.csv --quiet", 3, "header.csv"),
    (
        "fit kpca nan.csv --quiet",
        3,
        "1 cell is missing in 1 column, the first at line 3 (row 2), column 2 (\"b\")",
    ),
    ("fit kpca inf.csv --quiet", 3, "every entry must be finite"),
    ("fit kpca ragged.csv --quiet", 3, "line 3 has 1 cell, and line 1 has 2"),
    ("fit kpca text.csv --quiet", 3, "line 3 (row 2), column 2 (\"b\") is \"foo\""),
    ("fit kpca words.csv --quiet", 3, "it has no column of numbers"),
    ("fit kpca same.csv --quiet", 3, "a median needs rows that differ"),
    ("fit kpca same.csv --kernel linear --quiet", 3, "All samples look the same to this kernel"),
    ("fit kpca one.csv --quiet", 3, "centring leaves nothing of fewer than 2"),
    ("fit kpca nan.csv --missing drop --columns a --kernel precomputed --quiet", 3, "it must be square"),
    (
        "fit kpca negative.csv --kernel chi2 --quiet",
        3,
        "row 2, column 1 is -1; the kernel chi2(gamma=1) needs entries",
    ),
    (
        "fit kpca negative.csv --kernel tanimoto --quiet",
        3,
        "row 2, column 1 is -1; the kernel tanimoto needs entries",
    ),
    ("fit kpca twice.csv --quiet", 3, "twice.csv"),
    ("fit kpca quote.csv --quiet", 3, "quote.csv"),
    ("fit kpca big.csv --precision f32 --kernel linear --quiet", 3, "finite"),
    ("fit kpca skew.csv --kernel precomputed --quiet", 3, "it must be symmetric"),
    ("fit kpca bytes.csv --quiet", 3, "bytes.csv"),
    ("fit kpca cut.npy --quiet", 3, "cut.npy"),
    ("fit kpca cut.parquet --quiet", 3, "cut.parquet"),
    ("fit kpca clash.csv --out s.csv --quiet", 3, "the column kpca1 is carried in front of the scores"),
];

#[test]
fn unusable_tables() {
    let folder = Folder::new();
    folder.run(&["data", "iris", "--out", "iris.csv"]).ok();
    folder.run(&["fit", "kpca", "iris.csv", "--model", "iris.safetensors", "--json", "--quiet"]).ok();
    for (name, text) in TABLES {
        folder.write(name, text);
    }
    folder.write("bytes.csv", [0xff, 0xfe, 0x00, 0x41, 0x0a]);
    folder.write("cut.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'");
    folder.write("cut.parquet", b"PAR1\x15\x04");
    check(&folder, BAD_TABLES);
    check(
        &folder,
        &[
            (
                "transform iris.safetensors three.csv --quiet",
                3,
                "4 of the model's columns are missing: sepal_length",
            ),
            (
                "transform iris.safetensors four.csv --quiet",
                3,
                "3 of the model's columns are missing: sepal_width, petal_length",
            ),
            ("transform iris.safetensors skew.csv --quiet", 3, "2 columns of numbers; the model has 4"),
        ],
    );
}

#[test]
fn unusable_models() {
    let folder = Folder::new();
    folder.run(&["data", "iris", "--out", "iris.csv"]).ok();
    folder.run(&["fit", "kpca", "iris.csv", "--model", "m.safetensors", "--json", "--quiet"]).ok();
    let whole = std::fs::read(folder.path("m.safetensors")).unwrap();
    folder.write("cut.safetensors", &whole[..whole.len() - 100]);
    folder.write("head.safetensors", &whole[..5]);
    folder.write("empty.safetensors", b"");
    let mut bent = whole.clone();
    *bent.last_mut().unwrap() ^= 1;
    folder.write("bent.safetensors", &bent);
    let mut long = whole;
    long[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    folder.write("long.safetensors", &long);
    check(
        &folder,
        &[
            ("inspect nosuch.safetensors", 3, "nosuch.safetensors: cannot be read"),
            ("inspect iris.csv", 3, "not a safetensors file"),
            ("inspect .", 3, "a folder; a model is a file"),
            ("inspect cut.safetensors", 3, "the file is truncated"),
            ("inspect head.safetensors", 3, "head.safetensors"),
            ("inspect empty.safetensors", 3, "empty.safetensors"),
            ("inspect bent.safetensors", 3, "bent.safetensors"),
            ("inspect long.safetensors", 3, "long.safetensors"),
            ("transform cut.safetensors iris.csv --out s.csv", 3, "the file is truncated"),
            ("transform iris.csv iris.csv --out s.csv", 3, "not a safetensors file"),
            ("transform m.safetensors nosuch.csv --out s.csv", 3, "nosuch.csv: cannot be read"),
        ],
    );
}

#[test]
fn the_machine_says_no() {
    let folder = Folder::new();
    folder.run(&["data", "iris", "--out", "iris.csv"]).ok();
    check(
        &folder,
        &[
            ("fit kpca iris.csv --memory 1k --quiet", 1, "1.0 KiB are allowed"),
            (
                "kernel gram iris.csv --memory 1k --quiet",
                1,
                "a matrix of 150 × 150 numbers takes 175.8 KiB; 1.0 KiB are allowed",
            ),
        ],
    );
    if std::path::Path::new("/dev/full").exists() {
        check(
            &folder,
            &[
                ("fit kpca iris.csv --out /dev/full --quiet", 1, "/dev/full: cannot be written"),
                ("data iris --out /dev/full", 1, "/dev/full: cannot be written"),
            ],
        );
        let run = folder.shell("eigenlift fit kpca iris.csv --quiet > /dev/full");
        assert_eq!(run.code, 1, "{}", run.err);
        assert!(run.err.contains("standard output: cannot be written"), "{}", run.err);
        assert_eq!(folder.shell("eigenlift kernel eigen iris.csv --quiet > /dev/full").code, 1);
    }
}

#[test]
fn what_is_odd_but_right_is_done_and_said() {
    let folder = Folder::prepared();
    folder.write("constant.csv", "a,b\n1,5\n2,5\n4,5\n");
    folder.write("repeated.csv", "a,b\n1,5\n1,5\n2,3\n2,3\n");
    folder.write("numbers.csv", "1,2,red\n3,4,blue\n5,7,red\n");
    let say = |args: &str, message: &str| {
        let run = folder.run(&words(args)).ok();
        assert!(run.err.contains(message), "{args}\n{}", run.err);
        run.out
    };
    let out = say(
        "fit kpca worked.csv -k 99 --kernel poly(2)",
        "warning: 99 components were asked for and 3 exist",
    );
    assert!(out.starts_with("kpca1,kpca2,kpca3\n"), "{out}");
    say("fit kpca constant.csv", "note: one column is the same in every row: b");
    assert!(say("fit kpca repeated.csv -k 3", "and 1 exist").starts_with("kpca1\n"));
    say("fit kpca numbers.csv", "warning: the first line has numbers in it and was taken for the names");
    assert_eq!(say("fit kpca numbers.csv --header no", "3 rows, 2 columns of numbers").lines().count(), 4);
    say("fit kpca iris.csv --target species --out s.npy", "note: NPY holds numbers alone");
    say(
        "fit kpca iris.csv --kernel sigmoid(gamma=0.1,coef0=-1)",
        "warning: the centred kernel matrix is not positive",
    );
    let refused =
        folder.run(&words("fit kpca iris.csv --kernel sigmoid(gamma=0.1,coef0=-1) --repair refuse --quiet"));
    assert!(matches!(refused.code, 2 | 3), "{} {}", refused.code, refused.err);
}

#[test]
fn a_reader_who_leaves_early_is_no_failure() {
    let folder = Folder::prepared();
    let piped = folder
        .shell("{ eigenlift fit kpca digits.csv --target digit -k 20 --quiet; echo $? > code; } | head -1");
    assert_eq!(piped.out.lines().count(), 1);
    assert_eq!((folder.read("code").trim(), piped.err.as_str()), ("0", ""));
    let data = folder.shell("{ eigenlift data digits; echo $? > code; } | head -1");
    assert_eq!((folder.read("code").trim(), data.err.as_str()), ("0", ""));
    let json = folder.shell(
        "{ eigenlift kernel gram digits.csv --target digit --json --quiet; echo $? > code; } | head -1",
    );
    assert_eq!((folder.read("code").trim(), json.err.as_str()), ("0", ""));
    let help = folder.shell("{ eigenlift fit kpca --help; echo $? > code; } | true");
    assert_eq!((folder.read("code").trim(), help.err.as_str()), ("0", ""));
    assert_eq!(folder.shell("eigenlift fit kpca iris.csv 2>&- | head -1").code, 0);
}

#[test]
fn an_existing_output_survives_a_failure() {
    let folder = Folder::prepared();
    folder.write("s.csv", "old");
    folder.write("bad.csv", "a\n1\nfoo\n");
    assert_eq!(folder.run(&words("fit kpca bad.csv --out s.csv")).code, 3);
    assert_eq!(folder.read("s.csv"), "old");
    folder.run(&words("fit kpca iris.csv --out s.csv")).ok();
    assert!(folder.read("s.csv").starts_with("species,kpca1"));
}
