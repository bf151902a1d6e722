//! A model file taken apart, to be changed and put together again with checksums that hold.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A model file in its parts.
#[derive(Clone)]
pub(crate) struct Crafted {
    pub(crate) header: Value,
    pub(crate) arrays: Vec<Piece>,
}

#[derive(Clone)]
pub(crate) struct Piece {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn digest(sum: Sha256) -> String {
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A safetensors file with this table and these bytes.
pub(crate) fn raw_file(table: &str, data: &[u8]) -> Vec<u8> {
    let mut out = (table.len() as u64).to_le_bytes().to_vec();
    out.extend_from_slice(table.as_bytes());
    out.extend_from_slice(data);
    out
}

impl Crafted {
    pub(crate) fn from(bytes: &[u8]) -> Self {
        let (_, table) = safetensors::SafeTensors::read_metadata(bytes).unwrap();
        let header = serde_json::from_str(&table.metadata().as_ref().unwrap()["eigenlift"]).unwrap();
        let mut arrays: Vec<Piece> = safetensors::SafeTensors::deserialize(bytes)
            .unwrap()
            .tensors()
            .into_iter()
            .map(|(name, view)| Piece {
                name,
                dtype: view.dtype().to_string(),
                shape: view.shape().to_vec(),
                bytes: view.data().to_vec(),
            })
            .collect();
        arrays.sort_by(|a, b| a.name.cmp(&b.name));
        Self { header, arrays }
    }

    pub(crate) fn array(&mut self, name: &str) -> &mut Piece {
        self.arrays.iter_mut().find(|piece| piece.name == name).unwrap()
    }

    pub(crate) fn put(&mut self, name: &str, at: usize, value: f64) {
        self.array(name).bytes[at * 8..][..8].copy_from_slice(&value.to_le_bytes());
    }

    /// The header's text, with the checksum of the arrays and its own.
    pub(crate) fn header_text(&self) -> String {
        let mut sum = Sha256::new();
        let mut arrays = self.arrays.clone();
        arrays.sort_by(|a, b| a.name.cmp(&b.name));
        for Piece { name, dtype, shape, bytes } in &arrays {
            sum.update(format!("{name}\0{dtype}\0{shape:?}\0"));
            sum.update(bytes);
        }
        let mut header = self.header.clone();
        if let Some(fields) = header.as_object_mut() {
            fields.remove("header_sha256");
            if fields.contains_key("sha256") {
                fields["sha256"] = digest(sum).into();
            }
        }
        let text = header.to_string();
        let open = format!("{},\"header_sha256\":\"", text.strip_suffix('}').unwrap_or(&text));
        let own = digest(Sha256::new().chain_update(&open).chain_update("\"}"));
        format!("{open}{own}\"}}")
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        self.file_with(&self.header_text())
    }

    pub(crate) fn file_with(&self, header: &str) -> Vec<u8> {
        let mut table = json!({"__metadata__": {"eigenlift": header}});
        let mut data = Vec::new();
        for Piece { name, dtype, shape, bytes } in &self.arrays {
            let from = data.len();
            data.extend_from_slice(bytes);
            table[name] = json!({"dtype": dtype, "shape": shape, "data_offsets": [from, data.len()]});
        }
        raw_file(&table.to_string(), &data)
    }
}
