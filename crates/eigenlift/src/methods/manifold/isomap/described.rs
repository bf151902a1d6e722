//! What Isomap is told.

use super::Isomap;
use crate::describe::{Description, Kind, Parameter, Value};
use crate::methods::manifold::described::{METRIC, Manifold, NEAR, NEIGHBORS, OWN, SHARED};
use crate::methods::manifold::{Cut, Disconnected};

/// Its description.
pub(in crate::methods::manifold) const METHOD: Manifold = Manifold {
    description: Description {
        name: "isomap",
        title: "Isomap",
        about: "Isomap: keeps distances along a graph of neighbours",
        parameters: &[
            SHARED,
            NEIGHBORS,
            &[
                METRIC,
                Parameter {
                    name: "graph",
                    value: "FILE",
                    kind: Kind::Graph,
                    doc: "Use this graph instead of neighbours: a table with the columns from, to and length, rows of DATA counted from 1",
                    ..NEAR
                },
                Parameter {
                    name: "cut",
                    value: "FILE",
                    kind: Kind::Pairs,
                    doc: "Take edges out of the graph first: those that look like short circuits, or those in FILE (columns from and \
                          to, as doctor --edges writes them)",
                    ..NEAR
                },
                Parameter {
                    name: "disconnected",
                    value: "HOW",
                    kind: Kind::Choice(&Disconnected::NAMES),
                    default: Some("bridge"),
                    doc: "What becomes of a graph in several pieces: join them by the shortest bridges, embed each separately, embed \
                          the largest and place the other rows by their nearest rows in it, or refuse",
                    ..NEAR
                },
                Parameter {
                    name: "exact",
                    kind: Kind::Flag,
                    excludes: &["landmarks"],
                    doc: "Shortest paths from every row, whatever their number: n² distances",
                    ..OWN
                },
                Parameter {
                    name: "landmarks",
                    doc: "Shortest paths from so many landmarks only; chosen by rows and memory when not given",
                    ..OWN
                },
            ],
        ],
        fit_notes: "\
Scores are called isomap1, isomap2, ... Rows are joined to their neighbours, distances are those of shortest paths along this \
graph, and the coordinates keep them. A graph in several pieces is joined by its shortest bridges with a warning that names \
them; --disconnected separate embeds each piece and puts the column component in front of the scores. In tables of edges and in \
the account rows are counted from 1. 'doctor isomap' says how many neighbours to take.

Examples:
  eigenlift fit isomap roll.csv --target t --neighbors 8 --out flat.csv \\
      --model isomap.safetensors --plot flat.svg --plot graph=graph.svg
  eigenlift transform isomap.safetensors roll.csv --target t \\
      --out placed.csv
  eigenlift fit isomap digits.csv --target digit --landmarks 100 -k 3 \\
      --out digits.npy --json
  eigenlift fit isomap moons.csv --target class --neighbors 5 \\
      --disconnected separate --out apart.csv
  eigenlift fit isomap roll.csv --target t --cut --disconnected error \\
      | head -3",
        plan_notes: "\
Examples:
  eigenlift plan isomap digits.csv --target digit
  eigenlift plan isomap digits.csv --target digit --memory 20MB --json",
    },
    build: |settings| {
        let mut method = Isomap::new(settings.count("components").unwrap_or(2));
        if let Some(choice) = settings.text("disconnected") {
            method = method.disconnected(choice.parse()?);
        }
        if settings.flag("exact") {
            method = method.exact();
        }
        if let Some(count) = settings.count("landmarks") {
            method = method.landmarks(count);
        }
        if let Some(Value::Pairs(pairs)) = settings.get("cut") {
            method = method.cut(pairs.clone().map_or(Cut::Suspects, Cut::Edges));
        }
        Ok(Box::new(method))
    },
};
