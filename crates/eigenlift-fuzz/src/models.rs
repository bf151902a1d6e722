//! Model files.

use crate::tables::file;
use eigenlift::features::{LowRank, Rank};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{
    AnyModel, ClassicalMds, DiffusionMap, Isomap, KernelCca, KernelDiscriminant, KernelKMeans, KernelPca,
    LaplacianEigenmaps, LocallyLinear, Pca, Whitening, WhiteningMethod,
};
use eigenlift::progress::Watch;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

pub(crate) const WORDS: [&str; 16] = [
    "null",
    "true",
    "[]",
    "{}",
    "\\\"",
    "\"F64\"",
    "\"F32\"",
    "\"U32\"",
    "[0,0]",
    "1e400",
    "-1",
    "kpca",
    "pca",
    "isomap",
    "\"dtype\":",
    "\"shape\":",
];
/// Columns up to which a model that was accepted is used.
const MOST_COLUMNS: usize = 4096;

/// A model that is accepted, as it is or with checksums that hold, takes rows or refuses them.
pub(crate) fn model(folder: &Path, data: &[u8]) -> bool {
    let mut accepted = load(folder, data);
    if let Some(repaired) = repaired(data) {
        accepted |= load(folder, &repaired);
    }
    accepted
}

fn load(folder: &Path, data: &[u8]) -> bool {
    let Some(path) = file(folder, "input.safetensors", data) else { return false };
    let model = match AnyModel::load(&path) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let (fitted, watch) = (model.fitted(), Watch::default());
    let columns = fitted.n_features();
    if columns <= MOST_COLUMNS {
        let x = Matrix::from_fn(3, columns, |i, j| (i as f64 - 1.0) * 0.3 + 0.1 * j as f64);
        if let Ok(scores) = fitted.project((&x).into(), &watch) {
            assert_eq!((scores.n_rows(), scores.n_cols()), (3, fitted.n_outputs()));
            let _ = fitted.invert(&scores, &watch);
        }
        let _ = fitted.labels_on(&**fitted.engine(), (&x).into(), &watch);
    }
    // What was read can be written and read again.
    let again = fitted.bytes().ok().and_then(|bytes| file(folder, "again.safetensors", &bytes));
    assert!(
        again.is_none_or(|path| AnyModel::load(&path).is_ok()),
        "a model that was read cannot be read again"
    );
    true
}

/// The same file with a length and checksums that hold; nothing where its table cannot be made out.
fn repaired(data: &[u8]) -> Option<Vec<u8>> {
    let after = data.get(8..)?;
    let mut values = serde_json::Deserializer::from_slice(after).into_iter::<Value>();
    let mut table = values.next()?.ok()?;
    // Blanks fill the table up to the length that stands before it; what is no such length is left out of account.
    let (read, claimed) = (values.byte_offset(), u64::from_le_bytes(*data.first_chunk()?) as usize);
    let filled = after.get(read..claimed).is_some_and(|blanks| blanks.iter().all(|byte| *byte == b' '));
    let arrays = &after[if filled { claimed } else { read }..];
    let text = table.get("__metadata__")?.get("eigenlift")?.as_str()?;
    let mut header: Value = serde_json::from_str(text).ok()?;
    let mut sum = Sha256::new();
    let mut names: Vec<String> =
        table.as_object()?.keys().filter(|name| *name != "__metadata__").cloned().collect();
    names.sort();
    for name in &names {
        let entry = &table[name.as_str()];
        let place = |at: usize| entry["data_offsets"][at].as_u64().map_or(0, |at| at as usize);
        let shape: Vec<u64> =
            entry["shape"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let dtype = entry["dtype"].as_str().unwrap_or_default();
        sum.update(format!("{name}\0{dtype}\0{shape:?}\0"));
        sum.update(arrays.get(place(0)..place(1)).unwrap_or_default());
    }
    let fields = header.as_object_mut()?;
    fields.remove("header_sha256");
    if fields.contains_key("sha256") {
        fields.insert("sha256".into(), digest(sum).into());
    }
    let text = header.to_string();
    let open = format!("{},\"header_sha256\":\"", text.strip_suffix('}')?);
    let own = digest(Sha256::new().chain_update(&open).chain_update("\"}"));
    table["__metadata__"]["eigenlift"] = json!(format!("{open}{own}\"}}"));
    let table = table.to_string();
    let mut out = (table.len() as u64).to_le_bytes().to_vec();
    out.extend_from_slice(table.as_bytes());
    out.extend_from_slice(arrays);
    Some(out)
}

fn digest(sum: Sha256) -> String {
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A small model of each kind.
pub(crate) fn seeds(_: &Path) -> Vec<Vec<u8>> {
    let x = || Matrix::from_fn(12, 2, |i, j| ((i * (j + 2) + 1) as f64 * 1.7).sin() + j as f64);
    let rbf = || "rbf(gamma=0.5)".parse().ok();
    let manifolds = [
        Isomap::new(2).neighbors(4).fit(x()),
        ClassicalMds::new(2).fit(x()),
        LaplacianEigenmaps::new(2).neighbors(4).fit(x()),
        LocallyLinear::new(1).neighbors(4).fit(x()),
        DiffusionMap::new(2).fit(x()),
    ];
    let classes: Vec<u32> = (0..12).map(|i| i % 3).collect();
    let views = [x().into(), Matrix::from_fn(12, 3, |i, j| ((i + 1) as f64 * (j as f64 + 0.7)).cos()).into()];
    let others = [
        rbf().and_then(|kernel| KernelPca::new(2).kernel(kernel).fit(x()).ok()).map(AnyModel::from),
        Pca::new(2).fit(x()).ok().map(AnyModel::from),
        Whitening::new(WhiteningMethod::Zca).fit(x()).ok().map(AnyModel::from),
        rbf()
            .and_then(|kernel| KernelKMeans::new(2).kernel(kernel).fit(&x().into()).ok())
            .map(AnyModel::from),
        rbf()
            .and_then(|kernel| {
                KernelPca::new(2).kernel(kernel).low_rank(LowRank::uniform(Rank::Exactly(5))).fit(x()).ok()
            })
            .map(AnyModel::from),
        KernelCca::new(1).fit(&views).ok().map(AnyModel::from),
        KernelDiscriminant::new().fit(&x().into(), &classes).ok().map(AnyModel::from),
    ];
    let manifolds = manifolds.into_iter().flatten().map(AnyModel::from);
    others.into_iter().flatten().chain(manifolds).filter_map(|model| model.fitted().bytes().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_array_is_refused_for_its_checksum_and_read_when_that_is_repaired() {
        let folder = tempfile::tempdir().unwrap();
        let seeds = seeds(folder.path());
        assert_eq!(seeds.len(), 12);
        let mut read = 0;
        for bytes in &seeds {
            assert!(load(folder.path(), bytes) && load(folder.path(), &repaired(bytes).unwrap()));
            let mut changed = bytes.clone();
            *changed.last_mut().unwrap() ^= 1;
            assert!(!load(folder.path(), &changed));
            read += usize::from(load(folder.path(), &repaired(&changed).unwrap()));
        }
        assert!(read > 0);
    }
}
