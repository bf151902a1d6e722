//! Selection of features from the command line.

use crate::support::{Folder, list, table};
use eigenlift::data::AnySamples;
use eigenlift::data::Labels;
use eigenlift::matrix::Matrix;
use eigenlift_select::{Scorer, Selection, SelectionMethod};
use serde_json::Value;

const FILTERS: [&str; 6] = ["mi", "mrmr", "jmi", "f", "chi2", "hsic"];
const SEARCHES: [&str; 3] = ["forward", "backward", "floating"];

/// Numbers between 0 and 1 that are fixed by their place.
fn noise(i: usize, j: usize) -> f64 {
    let mut x =
        (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (j as u64 + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    for _ in 0..3 {
        x ^= x >> 31;
        x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}

/// 160 rows: a text column, noise, and two columns (b and e) that together are the class; a number that both add up to.
fn planted(folder: &Folder) {
    let mut text = "id,a,b,c,d,e,f,class,sum\n".to_string();
    for i in 0..160 {
        let x: Vec<f64> = (0..6).map(|j| noise(i, j)).collect();
        let sum = x[1] + x[4];
        let class = if sum > 1.0 { "high" } else { "low" };
        let cells: Vec<String> = x.iter().map(f64::to_string).collect();
        text += &format!("r{i},{},{class},{sum}\n", cells.join(","));
    }
    folder.write("planted.csv", text);
}

/// Cells of some columns, as text.
fn cells(csv: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut lines = csv.lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    let places: Vec<usize> =
        names.iter().map(|name| heading.iter().position(|own| own == name).expect(name)).collect();
    lines.map(|line| places.iter().map(|j| line.split(',').nth(*j).unwrap().to_string()).collect()).collect()
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|name| name.as_str().expect("a name")).collect()
}

#[test]
fn planted_features_are_found_by_every_method() {
    let folder = Folder::new();
    planted(&folder);
    for method in FILTERS.iter().chain(&SEARCHES) {
        let line =
            format!("select {method} planted.csv --columns a-f --target class --features 2 --json --quiet");
        let account = folder.say(&line).ok().json();
        let mut selected = names(&account["selected"]);
        selected.sort_unstable();
        assert_eq!(selected, ["b", "e"], "{method}");
        assert_eq!(account["command"], format!("select {method}"));
        assert_eq!(account["columns"], "b,e", "{method}");
        assert_eq!(account["labels"]["n_classes"], 2);
        assert_eq!(account["n_features"], 6);
        let judged = SEARCHES.contains(method);
        assert_eq!(account["scorer"].is_null(), !judged, "{method}");
        assert_eq!(account["scores"].as_array().unwrap().is_empty(), judged, "{method}");
    }
    for method in ["mi", "mrmr", "jmi", "f", "hsic", "forward", "floating"] {
        let line =
            format!("select {method} planted.csv --columns a-f --target sum --features 2 --json --quiet");
        let account = folder.say(&line).ok().json();
        let mut selected = names(&account["selected"]);
        selected.sort_unstable();
        assert_eq!((selected, &account["labels"]["kind"]), (vec!["b", "e"], &"numbers".into()), "{method}");
    }
}

#[test]
fn a_reduced_table_has_the_cells_of_the_table() {
    let folder = Folder::new();
    planted(&folder);
    let run =
        folder.say("select forward planted.csv --columns a-f --target class --features 2 --out r.csv").ok();
    let (heading, _) = table(&folder.read("r.csv"));
    assert_eq!(heading, ["id", "class", "b", "e"]);
    let all = ["id", "class", "b", "e"];
    assert_eq!(cells(&folder.read("r.csv"), &all), cells(&folder.read("planted.csv"), &all));
    for words in [
        "read planted.csv: 160 rows, 6 columns of numbers; target class; text set aside: id",
        "labels: 2 classes",
        "judged by knn of 5 neighbours: accuracy on 5 parts of the rows, held out in turn; a guess without features scores 0.5",
        "step  features",
        "2 of 6 features, as asked for: accuracy 0.9",
        "--columns b,e",
        "--nested gives an honest one",
        "wrote r.csv (reduced table)",
    ] {
        assert!(run.err.contains(words), "{words}\n{}", run.err);
    }
    // Without --out the table goes to standard output, and what is written there can be read again.
    let printed =
        folder.say("select forward planted.csv --columns a-f --target class --features 2 --quiet").ok();
    assert_eq!((printed.out, printed.err), (folder.read("r.csv"), String::new()));
    folder.say("fit pca planted.csv --target class --columns b,e --out p.csv --quiet").ok();
    // Parquet keeps the numbers as they are.
    folder.say("select f planted.csv --columns a-f --target class --features 3 --out r.parquet --quiet").ok();
    let again = folder.say("select f r.parquet --target class --features 3 --quiet").ok();
    let (heading, rows) = table(&again.out);
    assert_eq!((heading.len(), rows.len()), (5, 160));
}

#[test]
fn the_number_of_features_and_the_path_are_those_of_the_library() {
    let folder = Folder::new();
    folder.say("data iris --out iris.csv --quiet").ok();
    let rows = folder.numbers("iris.csv");
    let samples: AnySamples = Matrix::from_vec(rows.concat(), 150, 4).unwrap().into();
    let species: Vec<String> = cells(&folder.read("iris.csv"), &["species"]).concat();
    let labels = Labels::of_words(&species);
    let line = "select floating iris.csv --target species --scorer lda --folds 4 --seed 3 --nested 3 --path p.csv \
                --plot path=p.svg --report r.html --json";
    let run = folder.say(line).ok();
    let account = run.json();
    let expected = Selection::new(SelectionMethod::Floating)
        .scorer(Scorer::Lda)
        .split(eigenlift_select::Split::Folds(4))
        .nested(3)
        .seed(3)
        .select(&samples, &labels)
        .unwrap();
    let columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"];
    let selected: Vec<&str> = expected.selected.iter().map(|j| columns[*j]).collect();
    assert_eq!(names(&account["selected"]), selected);
    let score = |value: &Value| value.as_f64().unwrap();
    for (found, step) in account["steps"].as_array().unwrap().iter().zip(&expected.steps) {
        assert_eq!(found["feature"], columns[step.feature]);
        assert_eq!(
            (score(&found["score"]), list(&found["fold_scores"])),
            (step.score.unwrap(), step.fold_scores.clone())
        );
    }
    assert_eq!(account["subsets"].as_array().unwrap().len(), expected.subsets.len());
    let nested = expected.nested.unwrap();
    assert_eq!(score(&account["nested"]["score"]), nested.score);
    assert_eq!(score(&account["nested"]["frequency"]["petal_width"]), nested.frequency[3]);
    let (heading, steps) = table(&folder.read("p.csv"));
    assert_eq!(heading, ["feature", "action", "score", "spread", "step", "n_features", "best", "chosen"]);
    assert_eq!(steps.len(), expected.steps.len());
    assert!(folder.read("p.svg").contains("within one standard error of the best"));
    assert!(folder.read("r.html").contains("honest score"));
    folder.say("plot path p.csv --out again.svg --title same").ok();
    assert!(folder.read("again.svg").contains("chosen: "));
}

#[test]
fn an_exclusive_or_is_found_together() {
    let folder = Folder::new();
    // Neither p nor q tells the class, both together do; r repeats p, and s tells a little by itself.
    let mut text = "p,q,r,s,class\n".to_string();
    for i in 0..400 {
        let [p, q, s] = [0, 1, 2].map(|j| usize::from(noise(i, j) < 0.5));
        let class = p ^ q;
        let s = if noise(i, 3) < 0.6 { class } else { s };
        text += &format!("{p},{q},{p},{s},{}\n", if class == 1 { "odd" } else { "even" });
    }
    folder.write("xor.csv", text);
    let joint = folder.say("select jmi xor.csv --target class --features 3 --json --quiet").ok().json();
    let found = names(&joint["selected"]);
    // Once one of the two is there, the other one is worth the most: r is as good as p.
    assert!(found.contains(&"q") && (found.contains(&"p") || found.contains(&"r")), "{found:?}");
    let run = folder
        .say("select mi xor.csv --target class --features 1 --corrected --permutations 99 --scores s.csv")
        .ok();
    assert!(run.err.contains("columns: 4 discrete (p, q, r, s)"), "{}", run.err);
    let (heading, scores) = table(&folder.read("s.csv"));
    assert_eq!(heading, ["feature", "score", "error", "p_value", "family_p_value", "rank", "kept"]);
    // By themselves p, q and r tell nothing: less than ln 2 by far, and no more than chance gives.
    assert!(scores[..3].iter().all(|row| row[0] < 0.02 && row[2] > 0.01), "{scores:?}");
    assert!(scores[3][0] > 0.05 && scores[3][2] < 0.02, "{scores:?}");
    assert_eq!((scores[3][4], scores[3][5]), (1.0, 1.0));
}

#[test]
fn rows_are_held_out_as_asked() {
    let folder = Folder::new();
    planted(&folder);
    let base =
        "select forward planted.csv --columns a-f --target class --scorer ridge --features 3 --json --quiet";
    let account = |more: &str| folder.say(&format!("{base} {more}")).ok().json();
    assert_eq!(account("--holdout 0.25")["n_folds"], 1);
    assert!(account("--holdout 0.25")["subsets"][0]["spread"].is_null());
    assert_eq!(account("--folds 7")["n_folds"], 7);
    assert_ne!(account("--folds 4"), account("--folds 4 --unstratified"));
    let same = account("--folds 4 --threads 1");
    let other = account("--folds 4 --threads 3");
    assert_eq!((&same["steps"], &same["subsets"]), (&other["steps"], &other["subsets"]));
    assert_eq!(account("--measure balanced_accuracy")["measure"], "balanced_accuracy");
    assert_eq!(account("--alpha 2.5")["scorer"]["alpha"], 2.5);
}

#[test]
fn groups_stay_together_and_stay_in_the_table() {
    let folder = Folder::new();
    let mut text = "g,x,y,word,class\n".to_string();
    for i in 0..60 {
        // Rows of a group are copies: a nearest neighbour knows the class of a copy, and nothing of other groups.
        let group = i / 4;
        text += &format!(
            "{group},{},{},w{group},c{}\n",
            noise(group, 0),
            noise(group, 1),
            usize::from(noise(group, 2) < 0.5)
        );
    }
    folder.write("groups.csv", text);
    let score = |more: &str| {
        let line = format!(
            "select forward groups.csv --columns x,y,g --target class --features 1 --scorer-neighbors 1 --json --quiet {more}"
        );
        let account = folder.say(line.trim_end()).ok().json();
        (account["subsets"][0]["score"].as_f64().unwrap(), account["n_features"].clone())
    };
    let (leaky, n) = score("");
    let (by_number, kept_out) = score("--groups g");
    let (by_text, _) = score("--groups word");
    assert_eq!((n, kept_out), (3.into(), 2.into()));
    assert!(leaky > 0.95 && by_number < 0.85 && by_text < 0.95, "{leaky} {by_number} {by_text}");
    let run = folder.say("select f groups.csv --target class --features 1 --groups g --out r.csv").ok();
    assert!(run.err.contains("target class; groups g; text set aside: word"), "{}", run.err);
    let (heading, _) = table(&folder.read("r.csv"));
    assert_eq!(heading[..3], ["word", "class", "g"]);
    assert_eq!(heading.len(), 4);
    assert_eq!(cells(&folder.read("r.csv"), &["g"]), cells(&folder.read("groups.csv"), &["g"]));
}

#[test]
fn a_filter_is_drawn_by_its_own_values_where_no_rows_are_held_out() {
    let folder = Folder::new();
    folder.say("data iris --out iris.csv --quiet").ok();
    let run = folder
        .say("select mi iris.csv --target species --features 2 --out r.csv --plot p.svg --path steps.csv")
        .ok();
    assert!(run.err.contains("2 of 4 features, as asked for; no rows were held out"), "{}", run.err);
    let picture = folder.read("p.svg");
    assert!(picture.contains("mutual information (nats)") && picture.contains("chosen: 2 features"));
    assert_eq!(folder.numbers("steps.csv").len(), 4);
    folder.say("plot path steps.csv --out again.svg").ok();
    assert!(!folder.read("again.svg").contains("best"));
    // Judged, the same filter is drawn by what the rows held out say.
    folder.say("select mi iris.csv --target species --features 2 --scorer lda --out r.csv --plot q.svg").ok();
    assert!(folder.read("q.svg").contains("accuracy"));
    let auto = folder.say("select mi iris.csv --target species --json --quiet").ok().json();
    assert_eq!(auto["scorer"]["name"], "knn");
    assert_eq!(auto["subsets"].as_array().unwrap().len(), 4);
}

#[test]
fn kinds_of_columns_and_labels_are_what_is_said() {
    let folder = Folder::new();
    folder.say("data digits --out digits.csv --quiet").ok();
    let said = |more: &str| {
        let line =
            format!("select mi digits.csv --columns 20-23 --target digit --features 2 --out r.csv {more}");
        folder.say(line.trim_end()).ok().err
    };
    let auto = said("");
    assert!(auto.contains("columns: 4 discrete"), "{auto}");
    assert!(
        auto.contains("labels: 10 classes (whole numbers of few different values; --labels numbers"),
        "{auto}"
    );
    assert!(said("--discrete none").contains("columns: 4 continuous"));
    let some = said("--discrete 1,3-4");
    assert!(some.contains("columns: 3 discrete") && some.contains("1 continuous"), "{some}");
    assert!(said("--labels numbers").contains("labels: numbers\n"));
}
