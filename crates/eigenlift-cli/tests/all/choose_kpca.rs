//! Which bandwidth and how many components, and refits that are matched to an earlier model.

use crate::support::{Folder, assert_close, list, table};
use serde_json::Value;
use std::fs;

/// Three clusters of thirty points.
fn clusters() -> Folder {
    let folder = Folder::new();
    folder.say("data three-gaussians --out three.csv --quiet").ok();
    folder
}

#[test]
fn the_best_points_are_told_and_written() {
    let folder = Folder::prepared();
    let run = folder.say("choose kpca iris.csv --out e.csv --plot c.svg").ok();
    assert!(
        run.err.contains("wrote e.csv (errors)") && run.err.contains("wrote c.svg (choice)"),
        "{}",
        run.err
    );
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[0].contains("kernel") && lines[0].contains("masked error"), "{}", run.out);
    assert_eq!(run.out.matches("  chosen").count(), 1, "{}", run.out);
    assert!(lines.last().unwrap().contains("times the median heuristic, with"), "{}", run.out);
    let csv = folder.read("e.csv");
    assert_eq!(csv.lines().next(), Some("kernel,bandwidth,components,error,spread"));
    let json = folder.say("choose kpca iris.csv --json --quiet").ok().json();
    for key in [
        "command",
        "version",
        "data",
        "kernel",
        "n_components",
        "sentence",
        "choice",
        "warnings",
        "seconds",
        "files",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
    let choice = &json["choice"];
    let points = choice["points"].as_array().unwrap();
    assert_eq!(points.len(), csv.lines().count() - 1);
    let chosen = &points[choice["chosen"].as_u64().unwrap() as usize];
    assert_eq!((&json["kernel"], &json["n_components"]), (&chosen["kernel"], &chosen["n_components"]));
    assert!(json["sentence"].as_str().unwrap().starts_with(json["kernel"].as_str().unwrap()));
    assert!(choice["near"].as_array().unwrap().contains(&choice["chosen"]));
    let least = points.iter().map(|p| p["error"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert!(chosen["error"].as_f64().unwrap() < least + 3.0 * chosen["spread"].as_f64().unwrap());
    let drawn = folder.read("c.svg");
    assert!(drawn.contains("γ = ") && drawn.contains("chosen") && !drawn.contains("NaN"));
}

#[test]
fn threads_do_not_change_the_choice() {
    let folder = clusters();
    let run =
        |threads: &str| folder.say(&format!("choose kpca three.csv --quiet --threads {threads}")).ok().out;
    assert_eq!(run("1"), run("2"));
}

#[test]
fn what_is_given_is_kept() {
    let folder = Folder::prepared();
    let points = |line: &str| -> Vec<Value> {
        let json = folder.say(&format!("choose kpca iris.csv --json --quiet {line}")).ok().json();
        json["choice"]["points"].as_array().unwrap().clone()
    };
    let all = points("--kernel rbf(gamma=0.3) --most 5");
    assert!(all.iter().all(|point| point["kernel"] == "rbf(gamma=0.3)"));
    assert!(all.iter().all(|point| point["n_components"].as_u64().unwrap() <= 5));
    let all = points("-k 3");
    assert!(all.iter().all(|point| point["n_components"] == 3) && all.len() > 3);
    let all = points("--kernel auto --most 3");
    assert!(all.iter().any(|p| p["kernel"] == "linear" && p["bandwidth"].is_null()));
    assert!(all.iter().any(|p| p["kernel"].as_str().unwrap().starts_with("rbf")));
    let all = points("--kernel matern(nu=2.5,length=auto) --mask blocks=2 --rows 60 --seed 4");
    assert!(all.iter().all(|p| p["kernel"].as_str().unwrap().starts_with("matern(nu=2.5,length=")));
}

#[test]
fn labels_decide_when_there_are_any() {
    let folder = Folder::prepared();
    let line = "choose kpca iris.csv --target species --json --quiet --most 8 --plot c.svg";
    let json = folder.say(line).ok().json();
    let criterion = json["choice"]["criterion"].as_str().unwrap().to_string();
    assert!(criterion.starts_with("accuracy "), "{criterion}");
    assert!(folder.read("c.svg").contains(&criterion));
    let words = folder.say("choose kpca iris.csv --target species --most 8 --quiet").ok().out;
    // Accuracies are told, not errors.
    let best = words.lines().nth(1).unwrap();
    assert!(best.contains(" 0.9") || best.contains(" 1.0"), "{words}");
    let kept_out =
        folder.say("choose kpca iris.csv --target species --scorer none --json --quiet").ok().json();
    assert_eq!(kept_out["choice"]["criterion"], "masked error");
    for scorer in ["knn", "ridge"] {
        let line = format!("choose kpca iris.csv --target species --scorer {scorer} --most 4 --json --quiet");
        assert_eq!(folder.say(&line).ok().json()["choice"]["criterion"], format!("accuracy {scorer}"));
    }
    // Numbers with many values are learned as numbers.
    folder.say("data swiss-roll --rows 150 --out roll.csv --quiet").ok();
    let json = folder.say("choose kpca roll.csv --target t --json --quiet --most 20").ok().json();
    assert!(
        json["choice"]["criterion"].as_str().unwrap().starts_with("R2 "),
        "{}",
        json["choice"]["criterion"]
    );
}

#[test]
fn studies_of_the_choice_are_told_and_drawn() {
    let folder = Folder::prepared();
    let line = "choose kpca iris.csv -k 2 --sensitivity --stability --parallel --plot sensitivity=s.png --plot choice=c.png";
    let out = folder.say(&format!("{line} --quiet")).ok().out;
    for word in ["sensitivity: ", "stability: ", "parallel analysis: ", "effective rank", "9 of 10 within"] {
        assert!(out.contains(word), "{word}: {out}");
    }
    for picture in ["s.png", "c.png"] {
        assert!(fs::read(folder.path(picture)).unwrap().starts_with(b"\x89PNG"));
    }
    let json = folder.say("choose kpca iris.csv -k 2 --stability --json --quiet").ok().json();
    assert_eq!(json["stability"]["levels"].as_array().unwrap().len(), 2);
    assert!(json.get("sensitivity").is_none() && json.get("parallel").is_none());
    // A picture asks for its study.
    folder.say("choose kpca iris.csv -k 2 --plot sensitivity=t.svg --quiet").ok();
    assert!(folder.read("t.svg").contains("effective rank"));
    // Columns that a line goes through: linear is chosen and has no bandwidth.
    let rows: Vec<Vec<f64>> = (0..60)
        .map(|i| (0..5).map(|j| f64::from(i) * f64::from(j + 1) + f64::from(i * j % 3)).collect())
        .collect();
    folder.write_table("line.csv", &rows);
    let run = folder.say("choose kpca line.csv --kernel auto --sensitivity").ok();
    assert!(run.out.contains("\nlinear with 2 components"), "{}", run.out);
    assert!(run.err.contains("the kernel linear was chosen, which has no bandwidth"), "{}", run.err);
}

#[test]
fn a_table_too_large_for_the_memory_is_drawn_from() {
    let folder = Folder::new();
    folder.say("data s-curve --rows 300000 --out s.parquet --quiet").ok();
    let run =
        folder.say("choose kpca s.parquet --target t --scorer none --memory 7MB --rows 80 --most 8 --json");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("evenly from the whole, are looked at"), "{}", run.err);
    assert_eq!(run.json()["choice"]["n_rows"], 80);
}

#[test]
fn a_fit_chooses_what_is_written_auto() {
    let folder = Folder::prepared();
    let chosen = folder.say("choose kpca iris.csv --json --quiet").ok().json();
    let fit = "fit kpca iris.csv --kernel rbf(gamma=auto) -k auto --json --quiet --model m.safetensors --out s.csv --plot choice=c.svg";
    let fitted = folder.say(fit).ok().json();
    assert_eq!((&fitted["kernel"], &fitted["choice"]), (&chosen["kernel"], &chosen["choice"]));
    let k = chosen["n_components"].as_u64().unwrap() as usize;
    assert_eq!(fitted["eigenvalues"].as_array().unwrap().len(), k);
    assert!(folder.read("c.svg").contains("chosen"));
    // The same numbers given by hand give the same scores.
    let kernel = chosen["kernel"].as_str().unwrap();
    folder.say(&format!("fit kpca iris.csv --kernel {kernel} -k {k} --out t.csv --quiet")).ok();
    assert_eq!(folder.read("s.csv"), folder.read("t.csv"));
    let plan = folder.say("plan kpca iris.csv --kernel auto -k auto --quiet").ok().out;
    assert!(plan.contains("because chosen by cross-validation: "), "{plan}");
    let run = folder.say("fit kpca iris.csv -k auto --out t.csv").ok();
    assert!(run.err.contains("because chosen by cross-validation: "), "{}", run.err);
    assert!(folder.say("inspect m.safetensors").ok().out.contains("chosen by cross-validation"));
    // In pieces, too.
    folder.say("data s-curve --rows 300000 --out s.parquet --quiet").ok();
    let pieces = folder.say("fit kpca s.parquet --target t -k auto --memory 7MB --json --out p.npy");
    assert_eq!(pieces.code, 0, "{}", pieces.err);
    assert!(pieces.json()["choice"]["sentence"].is_string());
}

#[test]
fn a_refit_is_matched_to_an_earlier_model() {
    let folder = Folder::prepared();
    folder.say("fit kpca iris.csv -k 3 --model old.safetensors --out old.csv --quiet").ok();
    // Half of the rows, turned round: signs may change, and are changed back.
    let text = folder.read("iris.csv");
    let lines: Vec<&str> = text.lines().collect();
    let half: Vec<&str> = lines[1..].iter().step_by(2).rev().copied().collect();
    folder.write("half.csv", format!("{}\n{}\n", lines[0], half.join("\n")));
    let run = folder
        .say("fit kpca half.csv -k 3 --like old.safetensors --model new.safetensors --out new.csv")
        .ok();
    assert!(
        run.err.contains("matched to old.safetensors: ") && run.err.contains("agreement of the components")
    );
    let old = folder.say("transform old.safetensors half.csv --quiet").ok().out;
    let (old, new) = (table(&old).1, folder.numbers("new.csv"));
    for j in 0..2 {
        let cosine: f64 = old.iter().zip(&new).map(|(a, b)| a[j] * b[j]).sum();
        assert!(cosine > 0.0, "component {j}");
    }
    let again = folder.say("transform new.safetensors half.csv --quiet").ok().out;
    assert_close(&table(&again).1, &new, 1e-10);
    let told = folder.say("fit kpca half.csv -k 3 --like old.safetensors --json --quiet").ok().json();
    assert_eq!(told["like"], "old.safetensors");
    let how = &told["alignment"];
    assert!(
        list(&how["agreement"])[0] > 0.99 && how["sentence"].is_string() && how["angle"].is_f64(),
        "{how}"
    );
    assert_eq!(how["turned"].as_array().unwrap().len(), 3);
    // The same rows give the same scores, to the last digit.
    folder.say("fit kpca iris.csv -k 3 --like old.safetensors --out same.csv --quiet").ok();
    assert_eq!(folder.read("same.csv"), folder.read("old.csv"));
}

#[test]
fn near_ties_are_rotated_together_and_told() {
    let folder = Folder::new();
    // A circle: pairs of components have the same eigenvalue.
    let circle = |shift: f64| -> Vec<Vec<f64>> {
        (0..120).map(|i| (f64::from(i) * 3.0 + shift).to_radians()).map(|a| vec![a.cos(), a.sin()]).collect()
    };
    folder.write_table("a.csv", &circle(0.0));
    folder.write_table("b.csv", &circle(1.3));
    folder
        .say("fit kpca a.csv -k 4 --kernel rbf(gamma=1) --model a.safetensors --out a-out.csv --quiet")
        .ok();
    let run =
        folder.say("fit kpca b.csv -k 4 --kernel rbf(gamma=1) --like a.safetensors --out b-out.csv").ok();
    assert!(run.err.contains("only their subspace is determined"), "{}", run.err);
    assert!(run.err.contains("groups of components were rotated"), "{}", run.err);
    let json = folder
        .say("fit kpca b.csv -k 4 --kernel rbf(gamma=1) --like a.safetensors --json --quiet")
        .ok()
        .json();
    assert_eq!(json["alignment"]["groups"], serde_json::json!([[1, 2], [3, 4]]));
    assert!(list(&json["alignment"]["agreement"]).iter().all(|c| *c > 0.999), "{}", json["alignment"]);
    assert!(
        json["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|w| w.as_str().unwrap().contains("only their subspace"))
    );
    let scores = folder.say("transform a.safetensors b.csv --quiet").ok().out;
    assert_close(&folder.numbers("b-out.csv"), &table(&scores).1, 1e-3);
}

#[test]
fn a_refit_in_pieces_is_matched_too() {
    let folder = Folder::new();
    folder.say("data s-curve --rows 300000 --out s.parquet --quiet").ok();
    folder
        .say("fit kpca s.parquet --target t --memory 7MB --rank 50 --model old.safetensors --json --quiet")
        .ok();
    let line = "fit kpca s.parquet --target t --memory 7MB --rank 50 --seed 5 --like old.safetensors --json";
    let run = folder.say(line).ok();
    let how = &run.json()["alignment"];
    assert!(list(&how["agreement"])[0] > 0.99, "{how}");
}
