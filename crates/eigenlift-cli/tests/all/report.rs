//! `--report`: one file that tells everything and needs nothing.

use crate::support::Folder;

fn report(folder: &Folder, line: &str) -> String {
    folder.say(&format!("{line} --report r.html")).ok();
    folder.read("r.html")
}

/// Fails unless the file keeps to itself.
#[track_caller]
fn assert_self_contained(html: &str) {
    assert!(html.contains("default-src 'none'"));
    for word in ["src=\"http", "href=\"http", "url(", "@import", "fetch(", "XMLHttpRequest"] {
        assert!(!html.contains(word), "{word}");
    }
}

#[test]
fn every_method_has_a_report() {
    let folder = Folder::prepared();
    for method in ["kpca", "pca", "whiten", "isomap", "mds", "laplacian", "diffusion", "lle"] {
        let html = report(&folder, &format!("fit {method} iris.csv --target species --out s.csv"));
        assert_self_contained(&html);
        for part in
            ["The embedding", "The numbers", "What was decided", "The data", "iris.csv", "setosa", "<svg"]
        {
            assert!(html.contains(part), "{method}: {part}");
        }
        assert!(
            html.contains(&format!("eigenlift fit {method} iris.csv --target species --out s.csv")),
            "{method}"
        );
    }
}

#[test]
fn warnings_come_first_and_the_command_can_be_run_again() {
    let folder = Folder::prepared();
    let run = folder.run(&[
        "fit",
        "kpca",
        "worked.csv",
        "--kernel",
        "polynomial(degree=2)",
        "-k",
        "10",
        "--out",
        "s.csv",
        "--memory",
        "1GB",
        "--report",
        "r.html",
    ]);
    assert!(run.ok().err.contains("warning:"));
    let html = folder.read("r.html");
    let (warning, numbers) = (html.find("were asked for").unwrap(), html.find("The numbers").unwrap());
    assert!(warning < numbers);
    let command = html.split("<code>eigenlift").nth(1).unwrap().split("</code>").next().unwrap();
    let command = format!("eigenlift{}", command.replace("&#39;", "'").replace("&quot;", "\""));
    let scores = folder.read("s.csv");
    folder.write("s.csv", "");
    folder.shell(&command).ok();
    assert_eq!(folder.read("s.csv"), scores);
    assert_eq!(folder.read("r.html"), html, "the same fit gives the same file");
}

#[test]
fn hostile_names_and_labels_are_text() {
    let folder = Folder::new();
    folder.write(
        "h.csv",
        "</script><b>,\"a\"\"><img src=x>\",label\n1,2,<i>x</i>\n2,1,</script>\n4,3,&amp;\n3,5,'\n",
    );
    let html = report(&folder, "fit kpca h.csv --target label --out s.csv");
    assert_self_contained(&html);
    for tag in ["<b>", "<img src=x>", "<i>x</i>"] {
        assert!(!html.contains(tag), "{tag}");
    }
    // Our own scripts end, and nothing of the table ends one.
    assert_eq!(html.matches("<script").count(), html.matches("</script>").count());
}

#[test]
fn choices_and_the_doctor_have_reports() {
    let folder = Folder::prepared();
    let html = report(&folder, "choose pca iris.csv --target species");
    assert!(html.contains("Consensus:") && html.contains("<svg"));
    let html = report(&folder, "choose kpca iris.csv --columns 1-4 --rows 80");
    assert!(html.contains("What was found") && html.contains("<svg"));
    let html = report(&folder, "doctor isomap iris.csv --target species");
    assert!(html.contains("recommended") && html.contains("<svg"));
    assert_self_contained(&html);
}

#[test]
fn a_table_in_pieces_has_a_report_of_some_rows() {
    let folder = Folder::new();
    folder.say("data swiss-roll --rows 50000 --out roll.npy").ok();
    let html = report(&folder, "fit pca roll.npy -k 2 --memory 2MB --out s.npy");
    assert!(html.contains("One row in 3 is shown"));
    assert!(html.len() < 3_000_000, "{}", html.len());
}

#[test]
fn a_report_has_a_name_that_says_so() {
    let folder = Folder::prepared();
    let run = folder.say("fit pca iris.csv --report r.txt");
    assert_eq!(run.code, 2);
    assert!(run.err.contains(".html"), "{}", run.err);
    let run = folder.say("fit pca iris.csv --target species --image 3x3 --report r.html --out s.csv");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("4 data columns"), "{}", run.err);
    assert_eq!(folder.say("fit pca iris.csv --image 2x2").code, 2, "nothing would show it");
    assert!(!folder.names().iter().any(|name| name == "r.html" || name == "s.csv"));
}
