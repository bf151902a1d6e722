//! What was found, in words.

use super::told::{has_variances, variances};
use crate::account::{SHOWN_COMPONENTS, number};
use crate::words::{aligned, counted};
use eigenlift::graph::{Edge, Search};
use eigenlift::methods::FittedManifold;
use eigenlift::methods::manifold::{GraphFacts, ManifoldKind, NegativeShare, Part, PathQuality};
use eigenlift::quality::NeighborhoodQuality;

/// Parts whose axes are shown, and edges and sizes that are named.
const SHOWN_PARTS: usize = 8;
const NAMED: usize = 5;
/// Up to this share negative eigenvalues are rounding.
const ROUNDING: f64 = 1e-6;
/// From this share on the embedding leaves out much.
const MUCH: f64 = 0.2;

/// Axes, graph, landmarks, and how well the embedding keeps what it was made from.
pub(super) fn words(model: &FittedManifold) -> Vec<String> {
    let facts = model.facts();
    let mut lines = vec![axes(model)];
    lines.extend(facts.graph.as_ref().map(|facts| graph(model, facts)));
    if let Some(count) = model.plan().n_landmarks {
        lines.push(format!("landmarks: {count} of {} rows stand for all", model.n_samples()));
    }
    lines.extend(facts.paths.map(|paths| kept(model.kind(), paths)));
    lines.extend(facts.negative.map(|negative| flat(model.kind(), negative)));
    lines.extend(facts.neighborhoods.map(neighbors));
    let stats = facts.stats;
    lines.push(format!(
        "solver: {}; {}, {}",
        facts.solver,
        if stats.passes == 1 { "1 pass".into() } else { format!("{} passes", stats.passes) },
        counted(stats.products, "product")
    ));
    lines
}

/// The table of axes.
fn axes(model: &FittedManifold) -> String {
    let several = model.parts().len() > 1;
    let residuals = model.parts().iter().any(|part| !part.residuals.is_empty());
    let mut heading = vec!["axis"];
    if several {
        heading.insert(0, "component");
    }
    heading.extend(if has_variances(model) { vec!["λ", "nλ"] } else { vec![eigenvalue(model.kind())] });
    if residuals {
        heading.push("residual");
    }
    let parts = model.parts().iter().take(SHOWN_PARTS).enumerate();
    let rows: Vec<Vec<String>> = parts
        .flat_map(|(at, part)| {
            let start = several.then(|| (at + 1).to_string());
            axes_of(model, part).into_iter().map(move |row| start.iter().cloned().chain(row).collect())
        })
        .collect();
    let more = model.n_components().saturating_sub(SHOWN_COMPONENTS);
    let rest = match (more, model.parts().len().saturating_sub(SHOWN_PARTS)) {
        (0, 0) => String::new(),
        (more, 0) => format!("\n  … and {more} more (all of them with --json)"),
        (_, parts) => format!("\n  … and {parts} more components (all of them with --json)"),
    };
    aligned(&heading, &rows) + &rest
}

fn axes_of(model: &FittedManifold, part: &Part) -> Vec<Vec<String>> {
    let variances = variances(model, part);
    let values = part.eigenvalues.iter().zip(&variances).enumerate().take(SHOWN_COMPONENTS);
    values
        .map(|(j, (value, variance))| {
            let mut row = vec![format!("{}{}", model.kind().name(), j + 1)];
            if has_variances(model) {
                row.push(number(*variance));
            }
            row.push(number(*value));
            row.extend(part.residuals.get(j).map(|residual| format!("{residual:.1e}")));
            row
        })
        .collect()
}

/// What the eigenvalues are of.
fn eigenvalue(kind: ManifoldKind) -> &'static str {
    match kind {
        ManifoldKind::Laplacian | ManifoldKind::Diffusion => "eigenvalue of the walk",
        _ => "eigenvalue (small is good)",
    }
}

fn graph(model: &FittedManifold, facts: &GraphFacts) -> String {
    let mut line =
        format!("graph: {} between {}", counted(facts.n_edges, "edge"), counted(model.n_samples(), "row"));
    let sizes = &facts.component_sizes;
    match sizes.len() {
        0 => {}
        1 => line += ", all connected",
        n => line += &format!(", {n} components ({} rows)", listed(sizes)),
    }
    if !facts.bridges.is_empty() {
        line += &format!("; {} added: {}", counted(facts.bridges.len(), "bridge"), named(&facts.bridges));
    }
    if !facts.cut.is_empty() {
        line += &format!("; {} taken out: {}", counted(facts.cut.len(), "edge"), named(&facts.cut));
    }
    match facts.search {
        Some(Search::Tree) => line += "; neighbours by a tree, exact",
        Some(Search::Brute) => line += "; neighbours by all distances, exact",
        Some(Search::Auto) | None => {}
    }
    line
}

fn listed(sizes: &[usize]) -> String {
    let mut descending = sizes.to_vec();
    descending.sort_unstable_by(|a, b| b.cmp(a));
    let words: Vec<String> = descending.iter().take(NAMED).map(usize::to_string).collect();
    words.join(", ") + if sizes.len() > NAMED { ", …" } else { "" }
}

/// Edges by their rows, counted from 1.
fn named(edges: &[Edge]) -> String {
    let words: Vec<String> = edges
        .iter()
        .take(NAMED)
        .map(|edge| format!("rows {} and {} ({:.4})", edge.from + 1, edge.to + 1, edge.length))
        .collect();
    match edges.len().saturating_sub(NAMED) {
        0 => words.join(", "),
        more => format!("{}, and {more} more", words.join(", ")),
    }
}

fn kept(kind: ManifoldKind, paths: PathQuality) -> String {
    let along = if kind == ManifoldKind::Isomap { "distances along the graph" } else { "distances" };
    let short = |x: f64| if x > 0.0 && x < 1e-3 { format!("{x:.1e}") } else { format!("{x:.4}") };
    let value = short(paths.residual_variance);
    let from = match (paths.standard_error, paths.held_out) {
        (Some(error), _) => {
            format!("{value} ± {}, estimated from {} held out", short(error), counted(paths.n_rows, "row"))
        }
        (None, true) => format!("{value}, estimated from {} held out", counted(paths.n_rows, "row")),
        (None, false) => format!("{value}, from all distances"),
    };
    format!("residual variance of the {along}: {from} (0: the embedding keeps them all)")
}

/// What negative eigenvalues mean.
fn flat(kind: ManifoldKind, NegativeShare { share, sampled_rows }: NegativeShare) -> String {
    let along = if kind == ManifoldKind::Isomap { "distances along the graph" } else { "distances" };
    let meaning = if share <= ROUNDING {
        format!("points of a flat space have exactly these {along}")
    } else if share < MUCH {
        format!(
            "the {along} are nearly those between points of a flat space; what is not cannot be drawn in any number of axes"
        )
    } else {
        format!(
            "the {along} are far from those between points of a flat space: something is curved, closed or short-circuited, and no number of axes shows it truly"
        )
    };
    let estimated =
        sampled_rows.map_or(String::new(), |n| format!(" (estimated from {})", counted(n, "row")));
    format!("negative share of the spectrum: {:.2} %{estimated}: {meaning}", 100.0 * share)
}

fn neighbors(quality: NeighborhoodQuality) -> String {
    format!(
        "trustworthiness {:.4}, continuity {:.4} (1: the {} nearest neighbours in the embedding are those in the data, and the \
         other way round; on {})",
        quality.trustworthiness,
        quality.continuity,
        quality.n_neighbors,
        counted(quality.n_rows, "row")
    )
}
