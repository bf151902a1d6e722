//! Manifold methods and the doctor, when something is wrong: each has its message and its exit status, and nothing is left
//! behind.

use crate::support::Folder;

/// Arguments, exit status, what standard error must contain.
type Case = (&'static str, i32, &'static str);

const TABLES: &[(&str, &str)] = &[
    ("empty.csv", ""),
    ("one.csv", "a,b\n1,2\n"),
    ("same.csv", "a,b\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n"),
    ("nan.csv", "a,b\n1,2\n3,NaN\n5,6\n"),
    ("inf.csv", "a,b\n1,2\n3,inf\n5,6\n"),
    ("text.csv", "a,b\n1,2\n3,foo\n"),
    ("flat.csv", "0,1,2\n1,0,1\n"),
    ("crooked.csv", "0,1,2\n1,0,1\n3,1,0\n"),
    ("minus.csv", "0,-1,2\n-1,0,1\n2,1,0\n"),
    ("far.csv", "component,a,b\nx,0,0\ny,1,0\nz,2,1\nv,3,0\nw,5,1\n"),
    ("clash.csv", "isomap1,a,b\nx,0,0\ny,1,0\nz,2,1\n"),
    ("graph.csv", "from,to,length\n1,2,1\n2,3,1\n3,4,1\n4,5,1\n"),
    ("ragged.csv", "from,to,length\n1,2,1\n2,3\n"),
    ("away.csv", "from,to,length\n1,2,1\n2,9,1\n"),
    ("zero.csv", "from,to,length\n0,2,1\n"),
    ("half.csv", "from,to,length\n1.5,2,1\n"),
    ("loop.csv", "from,to,length\n1,2,1\n2,2,1\n"),
    ("short.csv", "from,to,length\n1,2,-1\n"),
    ("gap.csv", "from,to,length\n1,2,\n"),
    ("words.csv", "from,to,length\n1,2,far\n"),
    ("names.csv", "a,b,c\n1,2,1\n"),
    ("two.csv", "from,to\n1,2\n"),
    ("nowhere.csv", "from,to\n1,5\n"),
    ("beyond.csv", "from,to\n1,77\n"),
];

fn prepared() -> Folder {
    let folder = Folder::new();
    TABLES.iter().for_each(|(name, text)| folder.write(name, text));
    folder.say("data swiss-roll --rows 120 --out roll.csv").ok();
    folder.say("data iris --out iris.csv").ok();
    folder.say("fit isomap roll.csv --target t --model isomap.safetensors --json --quiet").ok();
    let whole = std::fs::read(folder.path("isomap.safetensors")).unwrap();
    folder.write("cut.safetensors", &whole[..whole.len() - 9]);
    folder.write("head.safetensors", &whole[..200]);
    let mut bent = whole;
    *bent.last_mut().unwrap() ^= 1;
    folder.write("bent.safetensors", bent);
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
fn many_more_components_than_rows_are_no_fault() {
    let folder = prepared();
    for method in ["isomap", "mds", "laplacian", "diffusion", "lle"] {
        for verb in ["plan", "fit"] {
            let run =
                folder.say(&format!("{verb} {method} roll.csv --target t -k 1000000000000000000 --quiet"));
            assert!(!run.err.contains("internal error"), "{verb} {method}: {}", run.err);
            assert!([0, 1, 2, 3].contains(&run.code), "{verb} {method}: {} {}", run.code, run.err);
        }
    }
}

#[test]
fn wrong_command_lines() {
    check(
        &prepared(),
        &[
            ("fit isomap", 2, "<DATA>"),
            ("fit isomap roll.csv -k 0", 2, "a whole number of at least 1 is required"),
            ("fit isomap roll.csv -k auto", 2, "a whole number of at least 1 is required"),
            ("fit isomap roll.csv --neighbors 0", 2, "a whole number of at least 1 is required"),
            ("fit isomap roll.csv --neighbors 5 --radius 1", 2, "cannot be used with '--radius <R>'"),
            ("fit isomap roll.csv --radius 0", 2, "a number above 0 is required"),
            ("fit isomap roll.csv --radius -1", 2, "a number above 0 is required"),
            ("fit isomap roll.csv --radius nan", 2, "a number above 0 is required"),
            ("fit isomap roll.csv --exact --landmarks 20", 2, "cannot be used with '--landmarks <N>'"),
            ("fit isomap roll.csv --landmarks 0", 2, "a whole number of at least 1 is required"),
            (
                "fit isomap roll.csv --metric chebyshev",
                2,
                "[possible values: euclidean, manhattan, cosine, correlation, precomputed]",
            ),
            ("fit lle roll.csv --metric precomputed", 2, "invalid value 'precomputed'"),
            ("fit isomap roll.csv --search fast", 2, "[possible values: auto, brute, tree]"),
            ("fit isomap roll.csv --search tree --metric cosine", 2, "trees know euclidean and manhattan"),
            (
                "fit isomap roll.csv --disconnected maybe",
                2,
                "[possible values: bridge, separate, largest, error]",
            ),
            ("fit isomap roll.csv --kernel linear", 2, "unexpected argument '--kernel'"),
            ("fit mds roll.csv --neighbors 5", 2, "unexpected argument '--neighbors'"),
            ("fit laplacian roll.csv --heat 0", 2, "a number above 0 is required"),
            ("fit laplacian roll.csv --heat 1 --kernel rbf", 2, "cannot be used with"),
            ("fit laplacian roll.csv --neighbors 5 --kernel rbf", 2, "cannot be used with"),
            ("fit laplacian roll.csv --kernel nosuch", 2, "nosuch"),
            ("fit diffusion roll.csv --alpha x", 2, "a number is required"),
            ("fit diffusion roll.csv --time -1", 2, "a number of at least 0 is required"),
            ("fit diffusion roll.csv --kernel precomputed", 2, "a diffusion map needs rows"),
            ("fit lle roll.csv --variant best", 2, "[possible values: standard, modified, hessian, ltsa]"),
            ("fit lle roll.csv --ridge 0", 2, "a number above 0 is required"),
            ("fit lle roll.csv --variant hessian --neighbors 5", 2, "needs at least 6"),
            ("fit isomap roll.csv --plot contours=c.svg", 2, "it has the pictures scatter, scree, graph"),
            (
                "fit mds roll.csv --plot graph=c.svg",
                2,
                "--plot graph= of mds; it has the pictures scatter, scree.",
            ),
            ("fit isomap roll.csv --graph graph.csv --metric precomputed", 2, "Leave one of them out"),
            ("fit isomap roll.csv --graph -", 2, "standard input is read for DATA alone"),
            ("fit isomap roll.csv --cut=graph.csv --out graph.csv", 2, "--out graph.csv is also an input"),
            ("fit isomap roll.csv --neighbors 120", 2, "120 neighbours of 120 rows"),
            ("plan isomap roll.csv --neighbors 120", 2, "Ask for fewer neighbours"),
            ("fit laplacian roll.csv --neighbors 120", 2, "120 neighbours of 120 rows"),
            ("fit lle roll.csv --neighbors 120", 2, "120 neighbours of 120 rows"),
            ("doctor isomap roll.csv --neighbors 120", 2, "120 neighbours of 120 rows"),
            ("doctor isomap roll.csv --edges -", 2, "--edges -; standard output is for what the doctor says"),
            ("doctor isomap roll.csv --edges roll.csv", 2, "--edges roll.csv is also an input"),
            ("doctor isomap roll.csv --plot scree=c.svg", 2, "the only picture here is doctor=FILE"),
            ("doctor", 2, "Usage: eigenlift doctor"),
        ],
    );
}

#[test]
fn unusable_tables() {
    check(
        &prepared(),
        &[
            ("fit isomap nosuch.csv", 3, "nosuch.csv: cannot be read"),
            ("fit isomap empty.csv", 3, "it is empty (0 bytes)"),
            ("doctor isomap empty.csv", 3, "it is empty (0 bytes)"),
            ("fit isomap one.csv", 3, "1 row(s); an embedding needs at least 2"),
            ("fit mds one.csv", 3, "1 row(s); an embedding needs at least 2"),
            ("fit laplacian one.csv", 3, "1 row(s); an embedding needs at least 2"),
            ("fit diffusion one.csv", 3, "1 row(s); an embedding needs at least 2"),
            ("fit lle one.csv", 3, "1 row(s); an embedding needs at least 2"),
            ("doctor isomap one.csv", 3, "an embedding needs at least 2"),
            ("fit isomap nan.csv --neighbors 1", 3, "1 cell is missing in 1 column"),
            ("fit mds inf.csv", 3, "every entry must be finite"),
            ("fit lle text.csv", 3, "is \"foo\""),
            ("fit isomap same.csv", 3, "All rows lie at the same place"),
            ("fit mds same.csv", 3, "All rows lie at the same place"),
            ("fit mds flat.csv --metric precomputed", 3, "2 × 3 between rows; it must be square"),
            ("fit isomap crooked.csv --metric precomputed --neighbors 1", 3, "must be symmetric"),
            ("fit mds minus.csv --metric precomputed", 3, "row 2, column 1 is -1"),
            ("fit laplacian minus.csv --kernel precomputed", 3, "row 2, column 1 is -1"),
            ("doctor isomap crooked.csv --metric precomputed", 3, "must be symmetric"),
            (
                "fit isomap far.csv --neighbors 2 --disconnected separate",
                3,
                "far.csv: a column component is carried",
            ),
            ("fit isomap clash.csv --neighbors 2", 3, "the column isomap1 is carried in front of the scores"),
            (
                "fit isomap roll.csv --radius 1e-9 --disconnected error",
                3,
                "the number of connected components of the neighbour graph is 120 > 1",
            ),
        ],
    );
}

#[test]
fn unusable_edges() {
    check(
        &prepared(),
        &[
            ("fit isomap far.csv --graph nosuch.csv", 3, "nosuch.csv: cannot be read"),
            ("fit isomap far.csv --graph empty.csv", 3, "it is empty (0 bytes)"),
            ("fit isomap far.csv --graph ragged.csv", 3, "ragged.csv"),
            (
                "fit isomap far.csv --graph away.csv",
                3,
                "away.csv: edge 2 names row 9; rows of DATA are counted from 1 to 5",
            ),
            ("fit isomap far.csv --graph zero.csv", 3, "zero.csv: edge 1 names row 0"),
            ("fit isomap far.csv --graph half.csv", 3, "half.csv: edge 1 names row 1.5"),
            ("fit isomap far.csv --graph loop.csv", 3, "loop.csv: edge 2: from 2 to 2"),
            ("fit isomap far.csv --graph short.csv", 3, "lengths are finite and not negative"),
            ("fit isomap far.csv --graph gap.csv", 3, "column 3 (\"length\") is missing"),
            ("fit isomap far.csv --graph words.csv", 3, "words.csv"),
            (
                "fit isomap far.csv --graph names.csv",
                3,
                "a table for --graph has the columns from, to, length",
            ),
            ("fit isomap far.csv --graph two.csv", 3, "the columns from, to, length"),
            ("plan isomap far.csv --graph away.csv", 3, "edge 2 names row 9"),
            ("fit isomap far.csv --graph graph.csv --cut=nosuch.csv", 3, "nosuch.csv: cannot be read"),
            (
                "fit isomap far.csv --graph graph.csv --cut=names.csv",
                3,
                "a table for --cut has the columns from, to",
            ),
            (
                "fit isomap far.csv --graph graph.csv --cut=nowhere.csv",
                3,
                "an edge between rows 1 and 5 to be taken out; the graph has no such edge",
            ),
            ("fit isomap far.csv --graph graph.csv --cut=beyond.csv", 3, "beyond.csv: edge 1 names row 77"),
            (
                "fit isomap far.csv --graph graph.csv --cut=two.csv --disconnected error",
                3,
                "is 2 > 1 (4, 1 rows)",
            ),
        ],
    );
}

#[test]
fn models_that_cannot_do_what_is_asked() {
    check(
        &prepared(),
        &[
            (
                "inverse isomap.safetensors roll.csv",
                3,
                "a model of the method isomap; the way back from scores to rows is known for kpca, pca and whiten",
            ),
            ("denoise isomap.safetensors roll.csv", 3, "a model of the method isomap; the way back"),
            ("score isomap.safetensors roll.csv", 3, "a model of the method isomap"),
            ("certify isomap.safetensors roll.csv", 3, "isomap"),
            ("refine isomap.safetensors roll.csv", 3, "isomap"),
            ("transform isomap.safetensors iris.csv", 3, "the model"),
            ("transform cut.safetensors roll.csv", 3, "the file is truncated"),
            ("transform head.safetensors roll.csv", 3, "head.safetensors"),
            ("inspect cut.safetensors", 3, "the file is truncated"),
            ("inspect head.safetensors", 3, "head.safetensors"),
            ("inspect bent.safetensors", 3, "bent.safetensors"),
            ("transform bent.safetensors roll.csv --out t.csv", 3, "bent.safetensors"),
        ],
    );
}

#[test]
fn what_the_memory_allows() {
    check(
        &prepared(),
        &[
            (
                "fit isomap iris.csv --memory 4k",
                1,
                "isomap: rows must be in memory, all of them. Allow more memory",
            ),
            ("plan lle iris.csv --memory 4k", 1, "lle: rows must be in memory"),
            ("fit isomap iris.csv --memory 100k --exact", 1, "Use landmarks, allow more memory"),
            ("plan mds iris.csv --memory 30k --landmarks 100", 1, "Use fewer landmarks"),
        ],
    );
}

/// Duplicates and constant columns are data like others.
#[test]
fn odd_rows_are_embedded() {
    let folder = prepared();
    let rows: Vec<Vec<f64>> = (0..40).map(|i| vec![f64::from(i / 2), 7.0, f64::from(i / 2 % 3)]).collect();
    folder.write_table("twice.csv", &rows);
    for line in [
        "isomap twice.csv --neighbors 6",
        "isomap twice.csv --neighbors 2 --disconnected separate",
        "isomap twice.csv --neighbors 2 --disconnected largest",
        "mds twice.csv -k 5",
        "laplacian twice.csv --neighbors 6",
        "diffusion twice.csv",
        "lle twice.csv --neighbors 6",
    ] {
        let run = folder.say(&format!("fit {line} --out s.csv")).ok();
        assert!(run.err.contains("one column is the same in every row: x2"), "{line}\n{}", run.err);
        assert_eq!(folder.numbers("s.csv").len(), 40, "{line}");
        assert!(folder.numbers("s.csv").iter().flatten().all(|x| x.is_finite()), "{line}");
    }
    let run = folder.say("fit mds twice.csv -k 5 --out s.csv").ok();
    assert!(run.err.contains("warning: 5 components were asked for and 2 exist"), "{}", run.err);
}
