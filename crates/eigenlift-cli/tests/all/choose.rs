//! How many components: the rules on the command line.

use crate::support::{Folder, list};

const RULES: [&str; 7] = [
    "explained variance",
    "residual error",
    "Minka",
    "Gavish–Donoho",
    "parallel analysis",
    "cross-validation",
    "factor analysis",
];

fn irises() -> Folder {
    let folder = Folder::new();
    folder.say("data iris --out iris.csv").ok();
    folder
}

#[test]
fn the_table_goes_to_standard_output_and_says_what_the_rules_agree_on() {
    let folder = irises();
    let run = folder.say("choose pca iris.csv --target species").ok();
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 1 + 7 + 1, "{}", run.out);
    assert_eq!(lines[0], "  rule                components  what it says");
    for (line, rule) in lines[1..].iter().zip(RULES) {
        assert!(line.starts_with(&format!("  {rule} ")), "{line}");
        assert_eq!(line.trim_end(), *line);
    }
    assert!(
        lines[1].contains("  1  1 component holds 92.5 % of the variance; 90 % were asked for"),
        "{}",
        lines[1]
    );
    assert!(lines[8].starts_with("consensus: "), "{}", lines[8]);
    assert!(run.err.contains("150 rows, 4 columns of numbers; target species"), "{}", run.err);
    let quiet = folder.say("choose pca iris.csv --target species --quiet").ok();
    assert_eq!((quiet.out, quiet.err), (run.out, String::new()));
}

#[test]
fn the_consensus_is_the_lower_median_of_the_rules_that_ask_the_data() {
    let folder = Folder::new();
    for set in ["iris", "digits"] {
        folder.say(&format!("data {set} --out t.csv")).ok();
        let account = folder.say("choose pca t.csv --json --quiet --permutations 10").ok().json();
        let rules = account["choice"]["rules"].as_array().unwrap();
        assert_eq!(rules.iter().filter_map(|rule| rule["name"].as_str()).collect::<Vec<_>>(), RULES);
        let mut by_data: Vec<u64> =
            rules[2..6].iter().filter_map(|rule| rule["n_components"].as_u64()).collect();
        by_data.sort_unstable();
        assert_eq!(by_data.len(), 4);
        let bound = rules[6]["n_components"].as_u64().unwrap_or(u64::MAX);
        assert_eq!(account["n_components"].as_u64().unwrap(), by_data[1].min(bound));
        assert_eq!(account["choice"]["consensus"], account["n_components"]);
        // J(m) for every m, from the total down to nothing.
        let (left, spectrum) = (list(&account["residual_errors"]), list(&account["spectrum"]));
        assert_eq!(left.len(), spectrum.len() + 1);
        let total = account["total_variance"].as_f64().unwrap();
        assert!((left[0] - total).abs() < 1e-12 * total);
        assert_eq!(left[spectrum.len()], 0.0);
    }
}

#[test]
fn two_rules_go_by_what_is_asked_for() {
    let folder = irises();
    let answers = |more: &str| {
        let line = format!("choose pca iris.csv --json --quiet --permutations 5{more}");
        let rules = folder.say(&line).ok().json()["choice"]["rules"].clone();
        [0, 1].map(|rule| rules[rule]["n_components"].as_u64().unwrap())
    };
    // Shares 92.46, 97.77, 99.48, 100 %; J(m) = 0.342, 0.101, 0.0237, 0.
    assert_eq!(answers(""), [1, 2]);
    assert_eq!(answers(" --explained 0.93 --residual 0.35"), [2, 1]);
    assert_eq!(answers(" --explained 0.99 --residual 0.05"), [3, 3]);
    assert_eq!(answers(" --explained 1 --residual 0"), [4, 4]);
    // Scaled: 72.96, 95.81, 99.48, 100 % of 4.
    assert_eq!(answers(" --scale --residual 1.1"), [2, 1]);
}

#[test]
fn a_picture_of_the_rules_is_drawn() {
    let folder = irises();
    let account =
        folder.say("choose pca iris.csv --plot a.svg --plot choice=b.png --json --quiet").ok().json();
    assert_eq!(account["files"][1]["what"], "choice");
    let text = folder.read("a.svg");
    assert!(text.starts_with("<svg") && !text.contains("NaN"), "{text}");
    assert!(std::fs::read(folder.path("b.png")).unwrap().starts_with(b"\x89PNG"));
    let said = folder.say("choose pca iris.csv --plot c.svg").ok();
    assert!(said.err.contains("wrote c.svg (choice)"), "{}", said.err);
}

#[test]
fn auto_takes_what_choose_says_and_the_model_remembers_it() {
    let folder = Folder::new();
    folder.say("data digits --out digits.csv").ok();
    let rules = "--target digit --permutations 10 --seed 3 --quiet";
    let chosen = folder.say(&format!("choose pca digits.csv --json {rules}")).ok().json();
    let table = folder.say(&format!("choose pca digits.csv {rules}")).ok().out;
    let fit = format!("fit pca digits.csv -k auto --model m.safetensors --out s.csv --json {rules}");
    let fitted = folder.say(&fit).ok().json();
    assert_eq!(fitted["choice"], chosen["choice"]);
    let k = chosen["n_components"].as_u64().unwrap() as usize;
    assert_eq!(fitted["variances"].as_array().unwrap().len(), k);
    assert_eq!(folder.numbers("s.csv")[0].len(), 1 + k);
    let shown = folder.say("inspect m.safetensors").ok().out;
    assert!(shown.contains(table.trim_end()), "{table}\n{shown}");
    let facts = folder.say("inspect m.safetensors --json").ok().json();
    assert_eq!(facts["choice"], chosen["choice"]);
    // The same number given by hand gives the same scores.
    folder.say(&format!("fit pca digits.csv --target digit -k {k} --out t.csv --quiet")).ok();
    assert_eq!(folder.read("s.csv"), folder.read("t.csv"));
}

#[test]
fn rules_that_cannot_answer_say_why() {
    let folder = Folder::new();
    folder.write("two.csv", "a,b\n1,2\n2,1\n");
    let out = folder.say("choose pca two.csv --quiet").ok().out;
    assert!(
        out.contains("  Minka                        –  needs more rows than columns; there are 2 and 2"),
        "{out}"
    );
    assert!(out.contains("consensus: no component stands out from noise; a fit keeps 1"), "{out}");
    folder.write("one.csv", "a\n1\n2\n5\n");
    let out = folder.say("choose pca one.csv --quiet").ok().out;
    assert!(out.contains("consensus: no component"), "{out}");
    folder.say("choose pca one.csv --quiet --plot one.svg").ok();
    folder
        .write("wide.csv", "a,b,c,d,e,f\n1,2,3,5,7,1\n2,1,4,4,4,0\n0,1,5,2,7,3\n4,4,1,0,2,2\n9,1,0,2,1,1\n");
    let out = folder.say("choose pca wide.csv --quiet").ok().out;
    assert!(out.contains("there are 5 and 6"), "{out}");
}

#[test]
fn noise_alone_has_no_components_and_one_is_kept() {
    let folder = Folder::new();
    let mut state = 5u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let values: Vec<f64> = (0..2000 * 8).map(|_| draw()).collect();
    folder.write_npy("noise.npy", 8, &values);
    let out = folder.say("choose pca noise.npy --quiet").ok().out;
    assert!(out.contains("consensus: no component stands out from noise; a fit keeps 1"), "{out}");
    let fitted = folder.say("fit pca noise.npy -k auto --out s.csv --json --quiet").ok().json();
    assert_eq!(fitted["variances"].as_array().unwrap().len(), 1);
    let warning = fitted["warnings"].to_string();
    assert!(warning.contains("no component stands out from noise"), "{warning}");
}

#[test]
fn a_table_in_pieces_gets_the_same_answers() {
    let folder = Folder::new();
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let values: Vec<f64> = (0..50_000)
        .flat_map(|_| {
            let (a, b) = (6.0 * draw(), 4.0 * draw());
            (0..12)
                .map(|j| f64::from(j) + a * f64::from(j % 3) + b * f64::from(j % 2) + draw())
                .collect::<Vec<_>>()
        })
        .collect();
    folder.write_npy("t.npy", 12, &values);
    let line = "choose pca t.npy --json --permutations 5";
    let whole = folder.say(&format!("{line} --quiet")).ok().json();
    assert_eq!(whole["n_components"], 2, "{whole:#}");
    // Numbers of 4.8 MB are more than half of what is allowed.
    let pieces = folder.say(&format!("{line} --memory 9MB")).ok();
    assert_eq!(pieces.json()["n_components"], 2, "{}", pieces.err);
    assert_eq!(pieces.json()["data"]["rows"], 50_000);
    let line =
        "fit pca t.npy -k auto --permutations 5 --memory 9MB --out s.npy --plot choice=c.svg --plot s.svg";
    let fitted = folder.say(line).ok().err;
    assert!(
        fitted.contains("it is read a piece at a time") && fitted.contains("consensus: 2 components"),
        "{fitted}"
    );
    assert!(!folder.read("c.svg").contains("NaN") && folder.read("s.svg").contains("pca1"));
}
