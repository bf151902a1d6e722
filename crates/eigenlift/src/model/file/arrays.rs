//! Named arrays and their bytes.

use super::shown;
use crate::error::{Error, Result};
use safetensors::Dtype;
use std::borrow::Cow;

/// Numbers turned into bytes, or back, at a time.
pub(super) const CHUNK: usize = 8192;

/// A number that a model file can hold.
pub(crate) trait Number: Copy {
    /// Its type in the file.
    const DTYPE: Dtype;
    /// Bytes of one.
    const WIDTH: usize;
    /// Appends it to `out`.
    fn put(self, out: &mut Vec<u8>);
    /// From exactly [`Number::WIDTH`] bytes; `None` for another length.
    fn take(bytes: &[u8]) -> Option<Self>;
    /// Whether it may stand in a model.
    fn sound(self) -> bool;
}

macro_rules! number {
    ($($t:ty, $dtype:ident, $sound:expr;)*) => {$(
        impl Number for $t {
            const DTYPE: Dtype = Dtype::$dtype;
            const WIDTH: usize = size_of::<$t>();
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(<$t>::from_le_bytes)
            }
            fn sound(self) -> bool {
                let sound: fn($t) -> bool = $sound;
                sound(self)
            }
        }
    )*};
}

number! {
    f32, F32, f32::is_finite;
    f64, F64, f64::is_finite;
    u32, U32, |_| true;
    u64, U64, |_| true;
}

/// Numbers of an array.
#[derive(Debug)]
pub(crate) enum Numbers<'a> {
    F32(Cow<'a, [f32]>),
    F64(Cow<'a, [f64]>),
    U32(Cow<'a, [u32]>),
    U64(Cow<'a, [u64]>),
}

/// An array to be written.
#[derive(Debug)]
pub(crate) struct Array<'a> {
    pub(super) name: &'static str,
    pub(super) shape: Vec<usize>,
    numbers: Numbers<'a>,
}

impl<'a> Array<'a> {
    /// An array of this name and shape.
    pub(crate) fn new(name: &'static str, shape: &[usize], numbers: Numbers<'a>) -> Self {
        Self { name, shape: shape.to_vec(), numbers }
    }

    /// Numbers in double precision, row after row.
    pub(crate) fn f64(name: &'static str, shape: &[usize], numbers: &'a [f64]) -> Self {
        Self::new(name, shape, Numbers::F64(numbers.into()))
    }

    pub(super) fn dtype(&self) -> Dtype {
        match self.numbers {
            Numbers::F32(_) => Dtype::F32,
            Numbers::F64(_) => Dtype::F64,
            Numbers::U32(_) => Dtype::U32,
            Numbers::U64(_) => Dtype::U64,
        }
    }

    pub(super) fn n_bytes(&self) -> usize {
        match &self.numbers {
            Numbers::F32(x) => x.len() * 4,
            Numbers::F64(x) => x.len() * 8,
            Numbers::U32(x) => x.len() * 4,
            Numbers::U64(x) => x.len() * 8,
        }
    }

    /// Hands the bytes over, a chunk at a time.
    pub(super) fn each_chunk(&self, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match &self.numbers {
            Numbers::F32(x) => chunks(x, take),
            Numbers::F64(x) => chunks(x, take),
            Numbers::U32(x) => chunks(x, take),
            Numbers::U64(x) => chunks(x, take),
        }
    }

    /// Refuses numbers that are not finite, as reading would.
    pub(super) fn check(&self) -> Result<()> {
        match &self.numbers {
            Numbers::F32(x) => check_numbers(self.name, &self.shape, x),
            Numbers::F64(x) => check_numbers(self.name, &self.shape, x),
            Numbers::U32(_) | Numbers::U64(_) => Ok(()),
        }
    }
}

fn chunks<N: Number>(numbers: &[N], take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut bytes = Vec::with_capacity(CHUNK.min(numbers.len()) * N::WIDTH);
    for chunk in numbers.chunks(CHUNK) {
        bytes.clear();
        chunk.iter().for_each(|number| number.put(&mut bytes));
        take(&bytes)?;
    }
    Ok(())
}

/// Names the first number that is not finite.
pub(super) fn check_numbers<N: Number + std::fmt::Display>(
    name: &str,
    shape: &[usize],
    numbers: &[N],
) -> Result<()> {
    let Some(at) = numbers.iter().position(|number| !number.sound()) else { return Ok(()) };
    let place = match shape {
        [_, columns] => format!("{}, {}", at / (*columns).max(1), at % (*columns).max(1)),
        _ => at.to_string(),
    };
    Err(Error::model(
        format!("{}[{place}] is {} (counted from 0)", shown(name), numbers[at]),
        "every number of a model must be finite",
        "Fit and save the model again",
    ))
}
