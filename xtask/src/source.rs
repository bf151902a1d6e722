//! Rust sources as the rules see them: code without comments, text and tests; comments by themselves.

use std::fs;
use std::path::Path;

/// A source file. `code` and `comments` have the line breaks of `text`, so that positions give the same lines.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Path from the root of the workspace, with `/`.
    pub(crate) path: String,
    /// The file as it is.
    pub(crate) text: String,
    /// Code alone; comments, contents of literals and items under `#[cfg(test)]` are blanks.
    pub(crate) code: String,
    /// Comments alone; the rest is blanks.
    pub(crate) comments: String,
    /// Whether the whole file is a module under `#[cfg(test)]`.
    pub(crate) only_tests: bool,
}

impl Source {
    /// Splits `text` into code and comments.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let (code, comments) = split(text);
        let code = blank_tests(&code);
        Self { path: path.into(), text: text.into(), code, comments, only_tests: false }
    }

    /// The crate's folder name, for files under `crates/NAME/`.
    pub(crate) fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Path inside `src/` of its crate, for files that are part of a crate proper.
    pub(crate) fn inside_src(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split_once('/')?.1.strip_prefix("src/")
    }

    /// Code that ships: neither tests nor examples.
    pub(crate) fn ships(&self) -> bool {
        self.inside_src().is_some() && !self.only_tests
    }
}

/// Every Rust file under `crates/`, `python/` and `xtask/`, sorted by path.
pub(crate) fn read_workspace(root: &Path) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    for folder in ["crates", "python", "xtask"] {
        for path in files_below(root, folder, "rs")? {
            let text = fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?;
            sources.push(Source::new(&path, &text));
        }
    }
    mark_test_files(&mut sources);
    Ok(sources)
}

/// Paths of files below `folder` with the extension, sorted. Hidden folders and `target` are left out.
pub(crate) fn files_below(root: &Path, folder: &str, extension: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_string()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(root.join(&folder)).map_err(|e| format!("{folder}: {e}"))?;
        for entry in entries {
            let entry = entry.map_err(|e| format!("{folder}: {e}"))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder == "." { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type().map_err(|e| format!("{path}: {e}"))?;
            if kind.is_dir() && !name.starts_with('.') && name != "target" {
                open.push(path);
            } else if kind.is_file() && Path::new(&name).extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Marks the files of `#[cfg(test)] mod name;` and everything below them.
pub(crate) fn mark_test_files(sources: &mut [Source]) {
    let mut folders = Vec::new();
    for source in sources.iter() {
        let (code, _) = split(&source.text);
        for module in test_modules(&code) {
            folders.push(format!("{}/{module}", module_folder(&source.path)));
        }
    }
    for source in sources {
        let stem = source.path.strip_suffix(".rs").unwrap_or(&source.path);
        source.only_tests =
            folders.iter().any(|folder| stem == folder || stem.starts_with(&format!("{folder}/")));
    }
}

/// Where the modules declared in a file live: `a/b.rs` has them in `a/b`, `a/mod.rs` and `a/lib.rs` in `a`.
fn module_folder(path: &str) -> &str {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    if matches!(name, "mod" | "lib" | "main") { folder } else { stem }
}

/// Names of `#[cfg(test)] mod name;`.
fn test_modules(code: &str) -> impl Iterator<Item = &str> {
    code.split("#[cfg(test)]").skip(1).filter_map(|tail| {
        let (name, _) = tail.trim_start().strip_prefix("mod ")?.split_once(';')?;
        name.chars().all(is_word).then_some(name)
    })
}

/// Whether a character may stand in a name.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Line of a byte position, counted from 1.
pub(crate) fn line_of(text: &str, position: usize) -> usize {
    text[..position].matches('\n').count() + 1
}

/// Positions where `word` stands in `code` and is not the end of a longer name.
pub(crate) fn find_word<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !code[..*at].chars().next_back().is_some_and(is_word))
}

/// Code and comments, each with blanks in place of the other.
fn split(text: &str) -> (String, String) {
    let (mut code, mut comments) = (String::with_capacity(text.len()), String::with_capacity(text.len()));
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, kind) = token(rest, first, code.chars().next_back());
        let (piece, tail) = rest.split_at(length);
        for c in piece.chars() {
            // Why bytes: positions in code and comments must be positions in the text.
            let blank = |out: &mut String| {
                if c == '\n' { out.push('\n') } else { (0..c.len_utf8()).for_each(|_| out.push(' ')) }
            };
            match kind {
                Kind::Code => (code.push(c), blank(&mut comments)).1,
                Kind::Comment => (blank(&mut code), comments.push(c)).1,
                Kind::Literal => (blank(&mut code), blank(&mut comments)).1,
            }
        }
        rest = tail;
    }
    (code, comments)
}

#[derive(Clone, Copy)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// Length in bytes and kind of what `rest` starts with.
fn token(rest: &str, first: char, before: Option<char>) -> (usize, Kind) {
    let until = |end: Option<usize>| end.unwrap_or(rest.len());
    if rest.starts_with("//") {
        return (until(rest.find('\n')), Kind::Comment);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), Kind::Comment);
    }
    if first == '"' {
        return (quoted(rest, '"'), Kind::Literal);
    }
    if first == '\'' {
        let mut following = rest.chars().skip(1);
        let literal = match following.next() {
            Some('\\') => true,
            Some(_) => following.next() == Some('\''),
            None => false,
        };
        return if literal { (quoted(rest, '\''), Kind::Literal) } else { (1, Kind::Code) };
    }
    if first == 'r' && !before.is_some_and(|c| is_word(c) && c != 'b') {
        let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
        if rest[1 + hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let from = 2 + hashes;
            return (until(rest[from..].find(&close).map(|at| from + at + close.len())), Kind::Literal);
        }
    }
    (first.len_utf8(), Kind::Code)
}

/// Length of a literal between quotes, escapes respected.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Length of a block comment; they nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < rest.len() {
        let tail = &rest[at..];
        if tail.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if tail.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Blanks every item under `#[cfg(test)]`: to its semicolon or its closing brace, whichever ends it.
fn blank_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = code.to_string();
    let mut from = 0;
    while let Some(at) = out[from..].find(MARK).map(|at| from + at) {
        let end = item_end(&out, at + MARK.len());
        let blanks: String = out[at..end].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect();
        out.replace_range(at..end, &blanks);
        from = end;
    }
    out
}

fn item_end(code: &str, from: usize) -> usize {
    let (mut braces, mut others) = (0usize, 0usize);
    for (at, c) in code[from..].char_indices() {
        match c {
            '{' => braces += 1,
            '}' => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return from + at + 1;
                }
            }
            '(' | '[' => others += 1,
            ')' | ']' => others = others.saturating_sub(1),
            ';' if braces == 0 && others == 0 => return from + at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_code() {
        let text = "let a = \"crate::x\"; // crate::y\n/* /* crate::z */ */ let b = '\"'; let c: &'a str = r#\"crate::\"w\"#;";
        let source = Source::new("crates/e/src/a.rs", text);
        assert_eq!(source.code.len(), text.len());
        assert!(!source.code.contains("crate::"), "{}", source.code);
        assert!(source.code.contains("let b =") && source.code.contains("&'a str"));
        assert!(source.comments.contains("crate::y") && source.comments.contains("crate::z"));
        assert!(!source.comments.contains("crate::x"));
    }

    #[test]
    fn positions_survive_letters_of_several_bytes() {
        let source = Source::new("crates/e/src/a.rs", "// λ ≥ 0\nlet x = \"λ\"; here();\n");
        let at = source.code.find("here").unwrap();
        assert_eq!(source.text.find("here"), Some(at));
        assert_eq!(line_of(&source.code, at), 2);
    }

    #[test]
    fn test_items_are_blanked_and_what_follows_is_not() {
        let text = "use a;\n#[cfg(test)]\nmod tests {\n  fn f() { let x = [1; 2]; }\n}\nuse b;\n#[cfg(test)]\nuse c;\nuse d;\n";
        let code = Source::new("crates/e/src/a.rs", text).code;
        assert!(code.contains("use a;") && code.contains("use b;") && code.contains("use d;"));
        assert!(!code.contains("tests") && !code.contains("use c;"));
    }

    #[test]
    fn files_of_test_modules_are_marked() {
        let parent = "#[cfg(test)]\nmod tests;\nmod other;\n";
        let mut sources: Vec<Source> = [
            ("crates/e/src/kernel/spec.rs", parent),
            ("crates/e/src/kernel/spec/tests.rs", ""),
            ("crates/e/src/kernel/spec/tests/deep.rs", ""),
            ("crates/e/src/kernel/spec/other.rs", ""),
        ]
        .iter()
        .map(|(path, text)| Source::new(path, text))
        .collect();
        mark_test_files(&mut sources);
        let marks: Vec<bool> = sources.iter().map(|s| s.only_tests).collect();
        assert_eq!(marks, [false, true, true, false]);
        assert_eq!(module_folder("crates/e/src/kernel/mod.rs"), "crates/e/src/kernel");
    }

    #[test]
    fn words_begin_at_word_boundaries() {
        assert_eq!(find_word("eprintln!(); println!();", "println!").count(), 1);
        assert_eq!(find_word("my_faer::x; faer::y", "faer").count(), 1);
    }
}
