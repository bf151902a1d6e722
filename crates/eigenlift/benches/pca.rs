//! Times principal components of a table, several fits in one process.
//!
//! ```text
//! cargo bench -p eigenlift --bench pca -- FILE ROWS COLUMNS COMPONENTS REPETITIONS
//! ```
//!
//! FILE holds ROWS × COLUMNS numbers in double precision, little-endian, row after row. Prints one line of JSON: seconds of each
//! fit, the first of which meets cold memory, the route, and the variances. `benchmarks/pca.py` sets them beside scikit-learn.

#![allow(missing_docs, clippy::print_stdout)]

use eigenlift::engine::Cpu;
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::Pca;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [file, n, d, k, repetitions] = words.as_slice() else {
        println!("{{}}");
        return Ok(());
    };
    let number = |text: &String| text.parse::<usize>().unwrap_or(1);
    let bytes = std::fs::read(file).map_err(|source| Error::Io {
        path: file.into(),
        doing: "reading the numbers",
        source,
    })?;
    let numbers = bytes.chunks_exact(8).filter_map(|b| b.try_into().ok().map(f64::from_le_bytes)).collect();
    drop(bytes);
    let x = Matrix::from_vec(numbers, number(n), number(d))?;
    let settings = Pca::new(number(k)).engine(Arc::new(Cpu::new(0)?));
    let (mut seconds, mut last) = (Vec::new(), None);
    for _ in 0..number(repetitions).max(1) {
        let start = Instant::now();
        let model = settings.fit(&x)?;
        seconds.push(start.elapsed().as_secs_f64());
        last = Some(model);
    }
    if let Some(model) = last {
        println!(
            "{{\"seconds\": {seconds:?}, \"route\": \"{}\", \"variances\": {:?}}}",
            model.plan().route,
            model.variances()
        );
    }
    Ok(())
}
