//! Every example that `--help` shows runs.

use crate::support::{EIGENLIFT, Folder, Run};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// `[[], ["demo"], …, ["fit", "kpca"], …]`: every command that help lists.
fn commands(prefix: &[String]) -> Vec<Vec<String>> {
    let output = Command::new(EIGENLIFT).args(prefix).arg("--help").output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("help is text");
    let mut all = vec![prefix.to_vec()];
    let Some(list) = text.split("\nCommands:\n").nth(1) else { return all };
    for line in list.lines().take_while(|line| line.starts_with("  ")) {
        // Continued lines of a description are indented further.
        let Some(name) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) else { continue };
        let name = name.split(' ').next().unwrap_or_default();
        all.extend(commands(&[prefix, &[name.to_string()]].concat()));
    }
    all
}

#[test]
fn every_example_runs() {
    let folder = Folder::prepared();
    let mut examples = Vec::new();
    for command in commands(&[]) {
        // The width of a common terminal, where long lines would be broken.
        let help =
            folder.command(&[]).args(&command).arg("--help").env("COLUMNS", "80").output().expect("help");
        let help = Run::from(help).ok().out.replace("\\\n", " ");
        let own: Vec<String> =
            help.lines().filter(|line| line.starts_with("  eigenlift ")).map(str::to_owned).collect();
        assert!(!own.is_empty(), "{command:?} has no example");
        examples.extend(own);
    }
    assert!(examples.len() > 50, "{examples:#?}");
    examples.dedup();
    for example in examples {
        if example.trim().starts_with("eigenlift explore") {
            shows_an_address(&folder, example.trim());
            continue;
        }
        let run = folder.shell(example.trim());
        assert_eq!(run.code, 0, "{example}\n{}", run.err);
    }
}

/// A page that is served until it is stopped.
fn shows_an_address(folder: &Folder, example: &str) {
    let words: Vec<&str> = example.split_whitespace().skip(1).collect();
    let mut page =
        folder.command(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut line = String::new();
    let read = BufReader::new(page.stdout.take().expect("piped")).read_line(&mut line);
    page.kill().and_then(|()| page.wait()).expect("it was running");
    assert!(read.is_ok() && line.starts_with("http://127.0.0.1:"), "{example}: {line}");
}

#[test]
fn only_commands_that_exist_are_listed() {
    let all = commands(&[]);
    assert!(!all.iter().any(|command| command.first().is_some_and(|name| name == "man")));
    let of = |first: &str| {
        all.iter().filter(|c| c.len() == 2 && c[0] == first).map(|c| c[1].as_str()).collect::<Vec<_>>()
    };
    let methods =
        ["kpca", "pca", "whiten", "isomap", "mds", "laplacian", "diffusion", "lle", "kcca", "kda", "kkmeans"];
    assert_eq!(of("fit"), methods);
    assert_eq!(of("plan"), of("fit"));
    assert_eq!(of("choose"), ["kpca", "pca"]);
    assert_eq!(of("doctor"), ["isomap"]);
    let selections = ["mi", "mrmr", "jmi", "f", "chi2", "hsic", "forward", "backward", "floating"];
    assert_eq!(of("select"), selections);
    assert_eq!(of("kernel").len(), 8);
    assert_eq!(all.iter().filter(|command| command.len() == 1).count(), 18);
    assert_eq!(all.len(), 1 + 18 + 11 + 11 + 2 + 1 + 9 + 8 + 13);
}

#[test]
fn manual_pages_and_completions_are_made() {
    let folder = Folder::new();
    folder.run(&["man", "--out", "pages"]).ok();
    let page = folder.read("pages/eigenlift-fit-kpca.1");
    assert!(page.contains("\\-\\-kernel") && page.contains("eigenlift\\-fit\\-kpca"), "{page}");
    assert!(folder.run(&["man"]).ok().out.contains(".TH eigenlift 1"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(folder.run(&["completions", shell]).ok().out.contains("eigenlift"), "{shell}");
    }
    assert!(folder.run(&["--version"]).ok().out.starts_with("eigenlift 0."));
}
