//! Model files taken apart, changed and put together again.

pub(crate) use super::parts::{Crafted, Piece, raw_file};
use super::{rows, sparse, spec};
use eigenlift::data::Samples;
use eigenlift::error::Error;
use eigenlift::kernel::Kernel;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use serde_json::Value;

pub(crate) fn small() -> FittedKernelPca {
    KernelPca::new(2).kernel(spec("rbf(gamma=0.5)")).fit(rows(5, 2)).unwrap()
}

pub(crate) fn small_sparse() -> FittedKernelPca {
    KernelPca::new(2).kernel(spec("linear")).fit(Samples::from(sparse(8, 4))).unwrap()
}

pub(crate) fn small_precomputed() -> FittedKernelPca {
    let x = rows(6, 2);
    let gram = Kernel::new(&spec("linear"), 2).unwrap().matrix((&x).into(), (&x).into());
    KernelPca::new(2).kernel(spec("precomputed")).fit(gram).unwrap()
}

/// The small model after a change, with checksums that hold.
pub(crate) fn changed(model: &FittedKernelPca, change: impl FnOnce(&mut Crafted)) -> Vec<u8> {
    let mut crafted = Crafted::from(&model.to_bytes().unwrap());
    change(&mut crafted);
    crafted.file()
}

pub(crate) fn assert_refused(what: &str, bytes: &[u8], parts: &[&str]) {
    let error = FittedKernelPca::from_bytes(bytes).expect_err(what);
    assert!(matches!(error, Error::Model { .. }), "{what}: {error:?}");
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{what}: \"{part}\" is not in \"{message}\"");
    }
    assert!(message.contains("; ") && message.contains(". "), "{what}: three parts in \"{message}\"");
    assert!(message.len() < 700 && !message.contains(char::is_control), "{what}: {message}");
}

/// Changes a value in passing.
pub(crate) trait Tap: Sized {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
impl Tap for Vec<u8> {}

/// Changes a field in the header and in its plan.
pub(crate) fn both(header: &mut Value, field: &str, value: Value) {
    header["plan"][field] = value.clone();
    header[field] = value;
}

impl Piece {
    pub(crate) fn renamed(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }
}
