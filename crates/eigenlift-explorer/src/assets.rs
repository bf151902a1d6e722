//! The files of the page, held inside the program.

use eigenlift_plot::web;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Name and content of a file that is served under its own name.
macro_rules! own {
    ($name:literal, $kind:ident) => {
        ($name, $kind, include_str!(concat!("../web/", $name)))
    };
}

/// Name, kind and content of each.
const FILES: [(&str, &str, &str); 18] = [
    ("", HTML, include_str!("../web/index.html")),
    ("base.css", CSS, web::BASE_CSS),
    ("points.js", SCRIPT, web::POINTS_JS),
    ("figures.js", SCRIPT, web::FIGURES_JS),
    own!("explorer.css", CSS),
    own!("dom.js", SCRIPT),
    own!("api.js", SCRIPT),
    own!("settings.js", SCRIPT),
    own!("sliders.js", SCRIPT),
    own!("tabs.js", SCRIPT),
    own!("fitter.js", SCRIPT),
    own!("controls.js", SCRIPT),
    own!("embedding.js", SCRIPT),
    own!("results.js", SCRIPT),
    own!("inspector.js", SCRIPT),
    own!("pane.js", SCRIPT),
    own!("data.js", SCRIPT),
    own!("explorer.js", SCRIPT),
];

/// Kind and content of the file of a name; the empty name is the page itself.
pub(crate) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(own, _, _)| *own == name).map(|(_, kind, content)| (*kind, *content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_the_page_names_is_there() {
        let page = find("").map(|(_, content)| content).unwrap_or_default();
        let named: Vec<&str> = ["src=\"", "rel=\"stylesheet\" href=\""]
            .iter()
            .flat_map(|mark| page.split(mark).skip(1).filter_map(|rest| rest.split('"').next()))
            .collect();
        assert!(named.len() >= FILES.len() - 1, "{named:?}");
        for name in named {
            assert!(find(name).is_some(), "{name}");
        }
        assert!(find("explorer").is_none() && find("../Cargo.toml").is_none());
    }
}
