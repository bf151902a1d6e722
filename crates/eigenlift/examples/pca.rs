//! Principal components of the irises: variances, what is lost, which columns matter, rows in pieces, and whitening.
#![allow(clippy::print_stdout)]

use eigenlift::data::iris;
use eigenlift::error::Result;
use eigenlift::methods::{Pca, Whitening, WhiteningMethod};

fn main() -> Result<()> {
    let set = iris()?;
    let model = Pca::new(2).standardize().column_names(set.columns.clone()).fit(set.samples.clone())?;
    println!("{}", model.plan());
    println!("variances {:?}", model.variances());
    println!("error of rows put together from two components: {:.6}", model.residual_error());

    let contributions = model.loadings().contributions;
    for (i, name) in set.columns.iter().enumerate() {
        println!("{name:<14} {:5.1} % of pca1", 100.0 * contributions[(i, 0)]);
    }

    // The same from pieces of rows.
    let mut stream = Pca::new(2).standardize().stream(set.columns.len())?;
    for from in (0..150).step_by(40) {
        stream.partial_fit(set.samples.points().rows(from..(from + 40).min(150)))?;
    }
    let apart = (stream.finish()?.variances()[0] - model.variances()[0]).abs();
    println!("in pieces: variances differ by {apart:.1e}");

    // How many components: seven rules and what they agree on.
    let chosen = Pca::auto().standardize().fit(set.samples.clone())?;
    for rule in chosen.choice().iter().flat_map(|choice| &choice.rules) {
        println!("{:<20} {:?}", rule.name, rule.n_components);
    }
    println!("components kept: {}", chosen.n_components());

    let white = Whitening::new(WhiteningMethod::Zca).fit(set.samples.clone())?;
    println!("whitening: {}; rows moved by {:.4} in mean square", white.statement(), white.distance());
    Ok(())
}
