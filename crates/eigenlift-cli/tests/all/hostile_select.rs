//! What selections refuse, with which words and which status; searches that are stopped and taken up again.

use crate::support::Folder;

/// A command line, the status it ends with, and what it must say.
type Case = (&'static str, i32, &'static str);

const TABLES: [(&str, &str); 10] = [
    ("few.csv", "a,b,y,g\n1,2,u,1\n2,7,v,1\n3,3,u,1\n4,1,v,1\n5,2,u,2\n6,9,v,2\n"),
    ("numbers.csv", "a,b,y\n1,2,0.5\n2,7,1.5\n3,3,2.25\n4,1,3\n5,2,4.5\n6,9,5\n7,1,6.5\n"),
    ("wide.csv", "a,b,y\n1000,2,0.5\n7000,7,1.5\n3000,3,2.25\n9000,1,3\n5000,2,4.5\n6000,9,5\n2000,1,6.5\n"),
    ("one-row.csv", "a,b,y\n1,2,u\n"),
    ("one-column.csv", "a,y\n1,u\n2,v\n3,u\n4,v\n5,u\n6,v\n7,u\n8,v\n9,u\n0,v\n"),
    ("same.csv", "a,b,y\n1,2,u\n2,3,u\n3,5,u\n4,1,u\n"),
    ("gaps.csv", "a,b,y\n1,,u\n,3,v\n3,,u\n4,1,v\n"),
    ("unlabelled.csv", "a,b,y\n1,2,u\n2,3,\n3,5,u\n4,1,v\n"),
    ("negative.csv", "a,b,y\n1,2,u\n2,-3,v\n3,5,u\n4,1,v\n5,1,u\n6,2,v\n"),
    ("still.csv", "a,b,y\n1,7,u\n9,7,v\n1,7,u\n8,7,v\n2,7,u\n9,7,v\n1,7,u\n8,7,v\n1,7,u\n9,7,v\n"),
];

fn prepared() -> Folder {
    let folder = Folder::new();
    TABLES.iter().for_each(|(name, text)| folder.write(name, text));
    folder.say("data iris --out iris.csv --quiet").ok();
    let counts = include_bytes!("../fixtures/counts.npz");
    folder.write("counts.npz", counts);
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
fn words_that_are_wrong() {
    check(
        &prepared(),
        &[
            ("select mi iris.csv", 2, "select mi of iris.csv without --target"),
            ("select mi iris.csv --target nothing", 2, "--target names \"nothing\""),
            ("select best iris.csv --target species", 2, "unrecognized subcommand"),
            (
                "select mi iris.csv --target species --features 0",
                2,
                "a whole number of at least 1, auto or best",
            ),
            ("select mi iris.csv --target species --features -1", 2, "unexpected argument"),
            (
                "select mi iris.csv --target species --features some",
                2,
                "a whole number of at least 1, auto or best",
            ),
            ("select mi iris.csv --target species -k 2", 2, "unexpected argument '-k'"),
            ("select mi iris.csv --target species --neighbors 0", 2, "at least 1 is required"),
            ("select mi iris.csv --target species --discrete z", 2, "--discrete names \"z\""),
            ("select mi iris.csv --target species --kernel linear", 2, "unexpected argument '--kernel'"),
            (
                "select f iris.csv --target species --permutations 9",
                2,
                "unexpected argument '--permutations'",
            ),
            ("select f iris.csv --target species --discrete all", 2, "unexpected argument '--discrete'"),
            ("select forward iris.csv --target species --permutations 9", 2, "unexpected argument"),
            ("select mi iris.csv --target species --resume s.json", 2, "unexpected argument '--resume'"),
            ("select backward iris.csv --target species --most 2", 2, "unexpected argument '--most'"),
            (
                "select forward iris.csv --target species --most 2 --features 2",
                2,
                "--most 2 with --features 2",
            ),
            (
                "select forward iris.csv --target species --holdout 0",
                2,
                "a number between 0 and 1 is required",
            ),
            (
                "select forward iris.csv --target species --holdout 1",
                2,
                "a number between 0 and 1 is required",
            ),
            ("select forward iris.csv --target species --holdout 0.5 --folds 3", 2, "cannot be used with"),
            ("select forward iris.csv --target species --folds 1", 2, "at least 2 is required"),
            ("select forward iris.csv --target species --nested 1", 2, "at least 2 is required"),
            ("select forward iris.csv --target species --alpha 1", 2, "--alpha without --scorer ridge"),
            (
                "select forward iris.csv --target species --scorer lda --scorer-neighbors 3",
                2,
                "--scorer-neighbors without --scorer knn",
            ),
            (
                "select mi iris.csv --target species --inverse-penalty 1",
                2,
                "--inverse-penalty without --scorer logistic",
            ),
            ("select forward iris.csv --target species --scorer svm", 2, "invalid value 'svm'"),
            (
                "select forward iris.csv --target species --measure r2",
                2,
                "the measure r2 for labels that are classes",
            ),
            (
                "select forward numbers.csv --target y --scorer lda",
                2,
                "the scorer lda for labels that are numbers",
            ),
            ("select forward numbers.csv --target y --scorer logistic", 2, "labels that are numbers"),
            ("select forward numbers.csv --target y --measure accuracy", 2, "the measure accuracy"),
            (
                "select mi iris.csv --target species --labels numbers",
                2,
                "--labels numbers of the target species",
            ),
            ("select hsic iris.csv --target species --kernel nonsense", 2, "nonsense"),
            (
                "select forward iris.csv --target species --groups z",
                2,
                "--groups z: iris.csv has no data column",
            ),
            ("select forward iris.csv --target species --groups species", 2, "species is the target"),
            ("select forward one-column.csv --target y --groups a", 2, "--groups a names the only column"),
        ],
    );
}

#[test]
fn tables_that_cannot_be_used() {
    check(
        &prepared(),
        &[
            ("select mi nowhere.csv --target y", 3, "nowhere.csv"),
            (
                "select mi gaps.csv --target y",
                3,
                "3 cells are missing in 2 columns, the first at line 2 (row 1), column 2 (\"b\") (1 in \"a\", 2 in \"b\")",
            ),
            ("select forward unlabelled.csv --target y", 3, "the target has 1 missing cell"),
            ("select mi same.csv --target y --features 1", 3, "labels that are all the same"),
            ("select forward same.csv --target y", 3, "labels that are all the same"),
            ("select forward one-row.csv --target y", 3, "labels that are all the same"),
            ("select mi one-row.csv --target y --features 1", 3, "labels that are all the same"),
            ("select chi2 negative.csv --target y --features 1", 3, "row 2, column b is -3"),
            ("select chi2 numbers.csv --target y --features 1", 2, "chi2 with numbers as labels"),
            ("select mi counts.npz", 3, "a sparse matrix has no column of labels"),
            (
                "select forward iris.csv --target species --memory 1KB",
                1,
                "select forward: rows and a copy by columns must be in memory",
            ),
        ],
    );
}

#[test]
fn outputs_that_cannot_come_about() {
    check(
        &prepared(),
        &[
            ("select f iris.csv --target species --out iris.csv", 2, "--out iris.csv is also an input"),
            ("select f iris.csv --target species --scores iris.csv", 2, "--scores iris.csv is also an input"),
            ("select f iris.csv --target species --out a.csv --path a.csv", 2, "are the same file"),
            ("select f iris.csv --target species --out - --json", 2, "both want standard output"),
            (
                "select f iris.csv --target species --path -",
                2,
                "--path -; standard output is for the reduced table",
            ),
            ("select f iris.csv --target species --scores -", 2, "--scores -"),
            ("select f iris.csv --target species --plot p.gif", 2, "must end in .svg or .png"),
            (
                "select f iris.csv --target species --plot scree=p.svg",
                2,
                "the only picture here is path=FILE",
            ),
            ("select f iris.csv --target species --report r.txt", 2, "must end in .html"),
            ("select forward iris.csv --target species --resume s.txt", 2, "must end in .json"),
            ("select forward iris.csv --target species --resume no/s.json", 2, "does not exist"),
        ],
    );
}

#[test]
fn little_data_gives_what_there_is_and_says_so() {
    let folder = prepared();
    let said = |line: &str| folder.say(&format!("{line} --out r.csv")).ok().err;
    let more = said("select f iris.csv --target species --features 9");
    assert!(more.contains("warning: 9 features were asked for; there are 4"), "{more}");
    let one = said("select forward one-column.csv --target y");
    assert!(one.contains("1 of 1 feature: accuracy") && one.contains("no better than a guess"), "{one}");
    let still = said("select mi still.csv --target y --features 2 --scores s.csv");
    assert!(still.contains("note: one column is the same in every row: b"), "{still}");
    assert_eq!(folder.numbers("s.csv")[1][0], 0.0);
    for method in ["mrmr", "jmi", "f", "hsic", "forward", "backward", "floating"] {
        let line = format!("select {method} still.csv --target y --features 1");
        assert!(said(&line).contains("--columns a\n"), "{method}");
    }
    let few = said("select forward few.csv --columns a,b --target y");
    assert!(few.contains("fewer than the 5 folds"), "{few}");
    let groups = said("select forward few.csv --target y --groups g");
    assert!(groups.contains("2 folds, not 5: there are 2 groups"), "{groups}");
    assert!(
        said("select forward iris.csv --target species --scorer ridge --features 1")
            .contains("ridge regression, alpha 1")
    );
    let scales = said("select forward wide.csv --target y --folds 3");
    assert!(scales.contains("warning: The standard deviations of the columns differ"), "{scales}");
    assert!(
        !said("select forward wide.csv --target y --folds 3 --standardize").contains("standard deviations")
    );
}

#[test]
fn a_search_on_file_is_taken_up_or_refused() {
    let folder = prepared();
    folder.say("data digits --out digits.csv --quiet").ok();
    let base =
        "select forward digits.csv --columns 1-20 --target digit --scorer lda --features 6 --json --quiet";
    let whole = folder.say(base).ok().json();
    let first =
        folder.say(&format!("{} --resume s.json", base.replace("--features 6", "--features 2"))).ok().json();
    assert_eq!(first["steps"].as_array().unwrap().len(), 2);
    assert!(first.get("resumed_steps").is_none());
    let state = folder.read("s.json");
    assert!(state.contains("\"what\":\"eigenlift selection\""), "{state}");
    let rest = folder.say(&format!("{base} --resume s.json")).ok().json();
    assert_eq!(rest["resumed_steps"], 2);
    for key in ["steps", "subsets", "selected", "best", "chosen", "guess"] {
        assert_eq!(rest[key], whole[key], "{key}");
    }
    let again = folder.say(&base.replace("--json --quiet", "--resume s.json --out r.csv")).ok().err;
    assert!(again.contains("resumed s.json: the search had made 6 steps"), "{again}");
    folder.write("empty.json", "");
    folder.write("other.json", "{\"what\":\"a cat\"}");
    let far = state.replace("\"feature\":", "\"feature\":99");
    folder.write("far.json", far);
    let twice = state.replace("\"added\":true", "\"added\":false");
    folder.write("twice.json", twice);
    let mut bytes = state.clone().into_bytes();
    bytes[state.find("fingerprint").unwrap()] = 0xff;
    folder.write("bytes.json", bytes);
    check(
        &folder,
        &[
            (
                "select forward digits.csv --columns 1-20 --target digit --scorer knn --resume s.json",
                3,
                "a search that was begun on other data",
            ),
            (
                "select forward iris.csv --target species --scorer lda --resume s.json",
                3,
                "a search that was begun on other data",
            ),
            (
                "select backward digits.csv --columns 1-20 --target digit --scorer lda --resume s.json",
                3,
                "a search that was begun on other data or with another method",
            ),
            ("select forward iris.csv --target species --resume empty.json", 3, "not the steps of a search"),
            ("select forward iris.csv --target species --resume other.json", 3, "not the steps of a search"),
            ("select forward iris.csv --target species --resume bytes.json", 3, "not the steps of a search"),
            (
                "select forward digits.csv --columns 1-20 --target digit --scorer lda --features 6 --resume far.json",
                3,
                "its checksum is not that of its steps",
            ),
            (
                "select forward digits.csv --columns 1-20 --target digit --scorer lda --features 6 --resume twice.json",
                3,
                "its checksum is not that of its steps",
            ),
        ],
    );
}

#[cfg(unix)]
#[test]
fn a_search_that_was_stopped_goes_on_to_the_same_end() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let folder = prepared();
    folder.say("data digits --out digits.csv --quiet").ok();
    folder.write("r.csv", "old");
    let line = "select forward digits.csv --target digit --features 14 --threads 1 --resume s.json --out r.csv --plot p.svg --quiet";
    let words: Vec<&str> = line.split(' ').collect();
    let child =
        folder.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let start = Instant::now();
    while !folder.path("s.json").exists() {
        assert!(start.elapsed() < Duration::from_secs(120), "no step was made");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success(), "the search was over before the signal came");
    let run: crate::support::Run = child.wait_with_output().expect("it ends").into();
    assert_eq!(run.code, 130, "{}", run.err);
    assert!(run.err.contains("interrupted; no file was left half-written"), "{}", run.err);
    assert_eq!((folder.read("r.csv"), folder.path("p.svg").exists()), ("old".to_string(), false));
    assert!(folder.names().iter().all(|name| !name.contains("part")), "{:?}", folder.names());
    let account = |more: &str| {
        folder
            .say(&format!("select forward digits.csv --target digit --features 14 --json --quiet{more}"))
            .ok()
            .json()
    };
    let (whole, resumed) = (account(""), account(" --resume s.json"));
    assert!(resumed["resumed_steps"].as_u64().unwrap() >= 1);
    for key in ["steps", "subsets", "selected", "best", "chosen", "guess"] {
        assert_eq!(whole[key], resumed[key], "{key}");
    }
}
