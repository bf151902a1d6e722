//! The order of modules inside a room: no two modules of a room need each other, not even by way of others.

use crate::layers::{names, uses_below};
use crate::report::Violation;
use crate::source::{Source, find_word, is_word};
use std::collections::{BTreeMap, BTreeSet};

/// A folder whose modules have an order.
pub(crate) struct Room {
    pub(crate) name: &'static str,
    /// Where its files are.
    folder: &'static str,
    /// Its path in code.
    path: &'static str,
    /// The file that declares the modules. What it takes from a module and passes on counts as that module.
    root: &'static str,
    /// Circles there are today: modules that need each other. May only shrink.
    known: &'static [&'static [&'static str]],
    /// Pairs within them that need each other directly. May only shrink.
    pairs: &'static [(&'static str, &'static str)],
    /// Whether no module may use another one.
    apart: bool,
}

/// Every room with an order.
pub(crate) const ROOMS: [Room; 2] = [
    Room {
        name: "methods",
        folder: "crates/eigenlift/src/methods/",
        path: "crate::methods::",
        root: "mod.rs",
        known: &[],
        pairs: &[],
        apart: true,
    },
    Room {
        name: "command line",
        folder: "crates/eigenlift-cli/src/",
        path: "crate::",
        root: "main.rs",
        known: &[],
        pairs: &[],
        apart: false,
    },
];

/// Which module of a room uses which others.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Circles and pairs of a room.
pub(crate) struct Circles {
    /// Groups of modules each of which needs all others of its group.
    pub(crate) groups: Vec<BTreeSet<String>>,
    /// Pairs that need each other directly.
    pub(crate) pairs: BTreeSet<(String, String)>,
}

/// Checks every room.
pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    ROOMS.iter().flat_map(|room| room.check(sources)).collect()
}

impl Room {
    /// What there is in these sources.
    pub(crate) fn circles(&self, sources: &[Source]) -> Circles {
        let graph = self.graph(sources);
        let needs = |a: &str, b: &str| graph.get(a).is_some_and(|used| used.contains(b));
        let mut pairs = BTreeSet::new();
        for (name, used) in &graph {
            let back = used.iter().filter(|other| name < *other && needs(other, name));
            pairs.extend(back.map(|other| (name.clone(), other.clone())));
        }
        Circles { groups: groups(&graph), pairs }
    }

    fn check(&self, sources: &[Source]) -> Vec<Violation> {
        let found = self.circles(sources);
        let mut messages = Vec::new();
        for group in &found.groups {
            let known = |list: &&&[&str]| group.iter().all(|name| list.contains(&name.as_str()));
            if !self.known.iter().any(|list| known(&list)) {
                let names: Vec<&str> = group.iter().map(String::as_str).collect();
                messages.push(format!(
                    "modules that need each other: {}; move what one takes from the other to a module that both may use",
                    names.join(", ")
                ));
            }
        }
        let known: BTreeSet<(String, String)> =
            self.pairs.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string())).collect();
        for (a, b) in found.pairs.difference(&known) {
            messages.push(format!("`{a}` and `{b}` use each other; move what one takes from the other to a module that both may use"));
        }
        for (a, b) in known.difference(&found.pairs) {
            messages.push(format!(
                "`{a}` and `{b}` do not use each other any more; take the pair out of the list in xtask/src/rooms.rs"
            ));
        }
        if self.apart {
            messages.extend(self.uses(sources));
        }
        let file = format!("{}{}", self.folder, self.root);
        messages.into_iter().map(|message| Violation { file: file.clone(), line: 1, message }).collect()
    }

    /// Uses of one module by another, where there must be none.
    fn uses(&self, sources: &[Source]) -> Vec<String> {
        let used = |(name, used): (String, BTreeSet<String>)| {
            used.into_iter().map(move |other| {
                format!("`{name}` uses `{other}`, and no module here may use another; move what it takes below this room in lib.rs")
            })
        };
        self.graph(sources).into_iter().flat_map(used).collect()
    }

    fn graph(&self, sources: &[Source]) -> Graph {
        let inside: Vec<(&Source, Vec<&str>)> = sources
            .iter()
            .filter(|source| !source.only_tests)
            .filter_map(|source| Some((source, module(source.path.strip_prefix(self.folder)?))))
            .collect();
        let own: BTreeSet<&str> = inside.iter().filter_map(|(_, parts)| parts.first().copied()).collect();
        let root = inside.iter().find(|(source, _)| source.path == format!("{}{}", self.folder, self.root));
        let passed_on = root.map(|(source, _)| passed_on(&source.code)).unwrap_or_default();
        let mut graph = Graph::new();
        for (source, parts) in &inside {
            let Some(name) = parts.first() else { continue };
            let used =
                uses_below(&source.code, self.path, parts.len()).into_iter().filter_map(|(_, used)| {
                    if own.contains(used.as_str()) { Some(used) } else { passed_on.get(&used).cloned() }
                });
            let used = used.filter(|used| used != name && own.contains(used.as_str()));
            graph.entry((*name).to_string()).or_default().extend(used);
        }
        graph
    }
}

/// The modules on the way to a file: `a/b.rs` and `a/b/mod.rs` are `[a, b]`, the root is none.
fn module(inside: &str) -> Vec<&str> {
    let parts = inside.trim_end_matches(".rs").split('/');
    parts.filter(|part| !matches!(*part, "mod" | "main" | "lib")).collect()
}

/// From names that the root takes from its modules to these modules: `use any::{AnyModel, Fitted}`.
fn passed_on(code: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for at in find_word(code, "use ") {
        let tail = code[at + 4..].trim_start();
        let tail = tail.strip_prefix("self::").unwrap_or(tail);
        let module: String = tail.chars().take_while(|c| is_word(*c)).collect();
        let Some((path, _)) = tail[module.len()..].split_once(';') else { continue };
        let Some(path) = path.strip_prefix("::") else { continue };
        for name in last_names(path) {
            found.insert(name, module.clone());
        }
    }
    found
}

/// The names at the end of a path: `a::b::C` has `C`, `a::{B, C}` has both.
fn last_names(path: &str) -> Vec<String> {
    match path.find('{') {
        Some(at) => names(&path[at..]),
        None => path.rsplit("::").next().map(|name| name.trim().to_string()).into_iter().collect(),
    }
}

/// Groups of modules that reach each other.
fn groups(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|name| (name, reach(graph, name))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (name, own) in &reached {
        if found.iter().any(|group| group.contains(*name)) {
            continue;
        }
        let back = |other: &&&String| reached.get(**other).is_some_and(|of| of.contains(name));
        let group: BTreeSet<String> = own.iter().filter(back).map(|other| (**other).clone()).collect();
        if !group.is_empty() {
            found.push(group);
        }
    }
    found
}

fn reach<'a>(graph: &'a Graph, name: &String) -> BTreeSet<&'a String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![name]);
    while let Some(at) = open.pop() {
        for next in graph.get(at).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room {
        name: "r",
        folder: "crates/e/src/r/",
        path: "crate::r::",
        root: "mod.rs",
        known: &[&["c", "d"]],
        pairs: &[("c", "d")],
        apart: false,
    };

    fn sources(files: &[(&str, &str)]) -> Vec<Source> {
        files.iter().map(|(path, text)| Source::new(&format!("{}{path}", ROOM.folder), text)).collect()
    }

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let known = [("c.rs", "use super::d::X;"), ("d.rs", "use super::c::Y;")];
        ROOM.check(&sources(&[&known[..], files].concat())).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn known_circles_pass_and_new_pairs_are_named() {
        assert!(messages(&[("a.rs", "use super::b::X;"), ("b.rs", "")]).is_empty());
        let found = messages(&[
            ("a/mod.rs", ""),
            ("a/x.rs", "use super::super::b::X;"),
            ("b.rs", "fn f() { crate::r::a::f() }"),
        ]);
        assert!(found.iter().any(|m| m.contains("`a` and `b` use each other")), "{found:?}");
        assert!(found[0].starts_with("crates/e/src/r/mod.rs:1: "), "{found:?}");
    }

    #[test]
    fn longer_circles_are_named() {
        let found = messages(&[
            ("a.rs", "use super::b::X;"),
            ("b.rs", "use super::f::X;"),
            ("f.rs", "use super::a::X;"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("modules that need each other: a, b, f"), "{found:?}");
    }

    #[test]
    fn names_that_the_root_passes_on_belong_to_their_module() {
        let root = ("mod.rs", "mod a;\nmod b;\npub use a::{One, Two};\npub use b::deep::Three;\n");
        let found = messages(&[root, ("a.rs", "use super::Three;"), ("b.rs", "use crate::r::{Two, Four};")]);
        assert!(found.iter().any(|m| m.contains("`a` and `b` use each other")), "{found:?}");
    }

    #[test]
    fn a_pair_that_is_gone_leaves_the_list() {
        let found = ROOM.check(&sources(&[("c.rs", "use super::d::X;"), ("d.rs", "")]));
        assert!(found[0].message.contains("do not use each other any more"), "{found:?}");
    }

    #[test]
    fn where_modules_stand_apart_none_uses_another() {
        let room = Room { known: &[], pairs: &[], apart: true, ..ROOM };
        let root = ("mod.rs", "mod a;\nmod b;\npub use b::One;\nuse b::deep;\n");
        let files =
            [root, ("a.rs", "use super::One;"), ("b/mod.rs", "mod deep;"), ("b/deep.rs", "use super::Own;")];
        let found = room.check(&sources(&files));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].message.starts_with("`a` uses `b`, and no module here may use another"),
            "{found:?}"
        );
    }

    #[test]
    fn tests_have_no_order() {
        assert!(
            messages(&[
                ("a.rs", "use super::b::X;"),
                ("b.rs", "#[cfg(test)]\nmod tests { use super::super::a::X; }")
            ])
            .is_empty()
        );
    }
}
