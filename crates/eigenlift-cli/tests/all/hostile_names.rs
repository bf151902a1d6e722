//! Names that are not what they should be: the same one twice, control characters.

use crate::support::Folder;

/// A Parquet file whose last two columns are called alike: its own writer refuses that, so a name is changed afterwards.
fn twice(folder: &Folder) {
    folder.write("t.csv", "other,namea,nameb\n1,2,7\n2,1,5\n4,3,1\n3,5,4\n0,2,2\n");
    folder.say("fit pca t.csv -k 2 --model m.safetensors --json --quiet").ok();
    folder.say("denoise m.safetensors t.csv --out t.parquet --quiet").ok();
    let bytes = std::fs::read(folder.path("t.parquet")).unwrap();
    let name = |bytes: &[u8]| bytes == b"nameb";
    let mut changed = bytes.clone();
    for at in 0..bytes.len() - 5 {
        if name(&bytes[at..at + 5]) {
            changed[at + 4] = b'a';
        }
    }
    assert_ne!(bytes, changed);
    folder.write("t.parquet", changed);
}

#[test]
fn columns_that_are_called_alike_are_refused_in_every_format() {
    let folder = Folder::new();
    twice(&folder);
    folder.write("t2.csv", "other,namea,namea\n1,2,3\n2,1,5\n");
    folder.write("t2.tsv", "other\tnamea\tnamea\n1\t2\t3\n2\t1\t5\n");
    let before = folder.names();
    for line in [
        "fit pca t.parquet -k 2 --out s.csv --model n.safetensors",
        "fit pca t.parquet --columns 1-2 -k 2 --out s.csv",
        "fit pca t.parquet --memory 1MB -k 2 --out s.csv",
        "transform m.safetensors t.parquet --out s.csv",
        "score m.safetensors t.parquet --out s.csv",
        "select mi t.parquet --target other --out s.csv",
        "plan kpca t.parquet",
        "fit pca t2.csv -k 2 --out s.csv",
        "transform m.safetensors t2.tsv --out s.csv",
    ] {
        let run = folder.say(line);
        assert_eq!(run.code, 3, "{line}: {}", run.err);
        assert!(run.err.contains("every column must have a name of its own"), "{line}: {}", run.err);
        assert!(run.err.contains("\"namea\""), "{line}: {}", run.err);
        assert_eq!(folder.names(), before, "{line} left a file");
    }
}

#[test]
fn columns_are_found_by_name_in_any_order() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b,c\n1,2,7\n2,1,5\n4,3,1\n3,5,4\n");
    folder.write("u.csv", "c,more,a,b\n7,0,1,2\n5,0,2,1\n1,0,4,3\n4,1,3,5\n");
    folder.say("fit pca t.csv -k 2 --model m.safetensors --out s.csv --quiet").ok();
    folder.say("transform m.safetensors t.csv --out t1.csv --quiet").ok();
    let run = folder.say("transform m.safetensors u.csv --out u1.csv").ok();
    assert_eq!(folder.read("t1.csv"), folder.read("u1.csv"));
    assert!(run.err.contains("columns the model does not know were left out: more"), "{}", run.err);
}

#[test]
fn commas_between_columns_are_not_taken_for_decimal_marks() {
    let folder = Folder::new();
    for (name, text) in
        [("c.tsv", "a,b\n1,2\n3,4\n5,1\n"), ("n.tsv", "1,2\n3,4\n5,1\n"), ("c.csv", "a,b\n1,2\n3,4\n5,1\n")]
    {
        folder.write(name, text);
    }
    for line in [
        "fit pca c.tsv -k 1",
        "fit pca n.tsv -k 1",
        "fit pca c.csv --delimiter ; -k 1",
        "fit pca c.tsv --memory 1MB -k 1",
    ] {
        let run = folder.say(line);
        assert_eq!(run.code, 3, "{line}: {}", run.err);
        assert!(run.err.contains("every line is divided by commas into 2 cells"), "{line}: {}", run.err);
        assert!(run.err.contains("Use --delimiter , if they separate columns"), "{line}: {}", run.err);
    }
    let piped = folder.run_with_input(&["fit", "pca", "-", "--format", "tsv", "-k", "1"], "a,b\n1,2\n3,4\n");
    assert_eq!(piped.code, 3, "{}", piped.err);
    let columns = |line: &str| folder.say(line).ok().json()["data"]["columns"].as_u64();
    assert_eq!(columns("fit pca c.tsv --delimiter , -k 1 --json --quiet"), Some(2));
    // One column of decimal commas is what it was.
    folder.write("d.tsv", "price\n1,5\n2,5\n4,0\n");
    folder.write("q.tsv", "\"price, net\"\n1,5\n2,5\n4,0\n");
    folder.write("i.tsv", "1,5\n2\n4,5\n");
    for name in ["d.tsv", "q.tsv", "i.tsv"] {
        assert_eq!(columns(&format!("fit pca {name} -k 1 --json --quiet")), Some(1), "{name}");
    }
    assert_eq!(columns("fit pca d.tsv --delimiter ; -k 1 --json --quiet"), Some(1));
}

/// What a terminal would obey.
fn obeyed(text: &str) -> Option<char> {
    text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}')
}

#[test]
fn control_characters_in_names_do_not_reach_the_terminal() {
    let folder = Folder::new();
    let header = "a\u{1b}[31m,b\u{9b}2J\u{7},\"c\nwarning: forged\",kind\u{202e}\n";
    let rows: String =
        (0..12).map(|i| format!("{},{},{},k\u{1b}[{}m\n", i, (i * 7) % 5, (i * i) % 7, i % 2)).collect();
    folder.write("t.csv", format!("{header}{rows}"));
    folder.write("\u{1b}[1m.csv", format!("{header}{rows}"));
    folder.write("other.csv", "p,q\n1,2\n3,5\n4,4\n");
    let target = "kind\u{202e}";
    let fit =
        |more: &[&'static str]| [&["fit", "pca", "t.csv", "-k", "2", "--target", target][..], more].concat();
    let runs = [
        folder.run(&fit(&["--out", "s.csv", "--model", "m.safetensors"])).ok(),
        folder.run(&fit(&["--json"])).ok(),
        folder.run(&["inspect", "m.safetensors"]).ok(),
        folder.run(&["inspect", "m.safetensors", "--json"]).ok(),
        folder.run(&["transform", "m.safetensors", "other.csv", "--out", "u.csv"]),
        folder.run(&["fit", "kda", "t.csv", "--target", target, "--out", "k.csv"]),
        folder.run(&["select", "mi", "t.csv", "--target", target, "--out", "e.csv"]),
        folder.run(&["plan", "pca", "\u{1b}[1m.csv"]),
        folder.run(&["fit", "pca", "\u{1b}[1m.csv", "--weights", "no\u{1b}"]),
        folder.run(&["fit", "pca", "nosuch\u{1b}.csv"]),
        folder.run(&["fit", "pca", "t.csv", "two\u{1b}[31m.csv"]),
    ];
    for (number, run) in runs.iter().enumerate() {
        for text in [&run.out, &run.err] {
            assert_eq!(obeyed(text), None, "run {number}: {text}");
            assert!(!text.lines().any(|line| line.starts_with("warning: forged")), "run {number}: {text}");
        }
    }
    assert!(runs[2].out.contains("a\\u{1b}[31m, b\\u{9b}2J\\u{7}, c\\nwarning: forged"), "{}", runs[2].out);
    // Files and JSON have the names as they are.
    assert_eq!(runs[1].json()["data"]["column_names"][1], "b\u{9b}2J\u{7}");
    assert!(folder.read("s.csv").starts_with("kind\u{202e},pca1,pca2\n"));
}
