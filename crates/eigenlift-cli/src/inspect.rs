//! `eigenlift inspect`: what is in a model file.

use crate::args::InspectArgs;
use crate::exit::Failure;
use crate::method;
use crate::model::Model;
use crate::outputs;
use crate::saved;
use crate::words::{aligned_with_text, indented};
use eigenlift::model::{Header, read_header};
use eigenlift_io::printable_line;
use serde_json::{Value, json};

/// Column names shown.
const SHOWN_NAMES: usize = 12;

/// Reads the header, loads the arrays (which checks them against it), prints what is there.
pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let header = read_header(&args.model).map_err(Failure::loading)?;
    let model = method::model(saved::load(&args.model)?)?;
    if args.json {
        let mut facts = json!({
            "command": "inspect",
            "version": env!("CARGO_PKG_VERSION"),
            "model": args.model,
            "header": header,
        });
        if let Some(facts) = facts.as_object_mut() {
            facts.extend(model.found()?);
        }
        return outputs::print_json(&facts);
    }
    outputs::print(&text(&header, &*model))
}

fn text(header: &Header, model: &dyn Model) -> String {
    let shown = header.column_names.len().min(SHOWN_NAMES);
    let more = header.column_names.len() - shown;
    let names: Vec<_> = header.column_names[..shown].iter().map(|name| printable_line(name)).collect();
    let mut names = names.join(", ");
    if more > 0 {
        names += &format!(" and {more} more");
    }
    let kernel =
        header.record.get("kernel").and_then(Value::as_str).map(|kernel| ("kernel", kernel.to_owned()));
    let mut facts = vec![("method", header.method.clone())];
    facts.extend(kernel);
    facts.extend([
        ("samples", format!("{} × {} ({})", header.n_samples, header.n_features, header.precision)),
        ("components", header.n_components.to_string()),
        ("columns", if names.is_empty() { "without names".into() } else { names }),
        ("written by", format!("eigenlift {}, format {}", header.eigenlift_version, header.format_version)),
        ("sha256", format!("{} (checked)", header.sha256)),
    ]);
    let facts: Vec<String> = facts.iter().map(|(name, value)| format!("{name:<12} {value}")).collect();
    let arrays: Vec<Vec<String>> = header
        .arrays
        .iter()
        .map(|array| {
            let shape: Vec<String> = array.shape.iter().map(usize::to_string).collect();
            vec![array.name.clone(), array.dtype.clone(), shape.join(" × ")]
        })
        .collect();
    let warnings: String = model.warnings().iter().map(|warning| format!("warning: {warning}\n")).collect();
    format!(
        "{warnings}{}\n\n{}\n\n{}\n\nplan of the fit:\n{}",
        facts.join("\n"),
        model.words().join("\n"),
        aligned_with_text(&["array", "type", "shape"], &arrays, &[0, 1, 2]),
        indented(&model.plan())
    )
}
