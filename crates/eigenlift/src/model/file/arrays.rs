//! Named arrays and their bytes.

use super::{ArrayInfo, shown};
use crate::data::SharedBuffer;
use crate::error::{Error, Result};
use safetensors::Dtype;
use std::borrow::Cow;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

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
    /// The numbers of an array, if they are of this type.
    fn slice<'a>(numbers: &'a Numbers<'_>) -> Option<&'a [Self]>;
    /// The memory itself, if it belongs to someone else and holds this type.
    fn shared(numbers: &Numbers<'_>) -> Option<Arc<dyn SharedBuffer<Self>>>;
}

macro_rules! number {
    ($($t:ty, $dtype:ident, $sound:expr, [$($lent:ident)?];)*) => {$(
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
            fn slice<'a>(numbers: &'a Numbers<'_>) -> Option<&'a [Self]> {
                match numbers {
                    Numbers::$dtype(x) => Some(x),
                    $(Numbers::$lent(x) => Some(x.numbers()),)?
                    _ => None,
                }
            }
            fn shared(numbers: &Numbers<'_>) -> Option<Arc<dyn SharedBuffer<Self>>> {
                match numbers {
                    $(Numbers::$lent(x) => Some(x.clone()),)?
                    _ => None,
                }
            }
        }
    )*};
}

number! {
    f32, F32, f32::is_finite, [SharedF32];
    f64, F64, f64::is_finite, [SharedF64];
    u32, U32, |_| true, [];
    u64, U64, |_| true, [];
}

/// Numbers of an array.
#[derive(Clone)]
pub enum Numbers<'a> {
    /// Single precision.
    F32(Cow<'a, [f32]>),
    /// Double precision.
    F64(Cow<'a, [f64]>),
    /// Columns.
    U32(Cow<'a, [u32]>),
    /// Places.
    U64(Cow<'a, [u64]>),
    /// Single precision, in memory that a model may go on using.
    SharedF32(Arc<dyn SharedBuffer<f32>>),
    /// Double precision, in memory that a model may go on using.
    SharedF64(Arc<dyn SharedBuffer<f64>>),
}

impl Debug for Numbers<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} numbers", self.len())
    }
}

/// Applies `$work` to the slice of numbers, whatever their type.
macro_rules! each_type {
    ($numbers:expr, $x:ident => $work:expr) => {
        match $numbers {
            Numbers::F32($x) => $work,
            Numbers::F64($x) => $work,
            Numbers::U32($x) => $work,
            Numbers::U64($x) => $work,
            Numbers::SharedF32(lent) => {
                let $x = lent.numbers();
                $work
            }
            Numbers::SharedF64(lent) => {
                let $x = lent.numbers();
                $work
            }
        }
    };
}

impl Numbers<'_> {
    pub(super) fn len(&self) -> usize {
        each_type!(self, x => x.len())
    }
}

/// A named array of a model.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its numbers, row after row.
    pub numbers: Numbers<'a>,
}

impl<'a> Array<'a> {
    /// An array of this name and shape.
    pub fn new(name: impl Into<Cow<'a, str>>, shape: &[usize], numbers: Numbers<'a>) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), numbers }
    }

    /// Numbers in double precision, row after row.
    #[cfg(test)]
    pub(super) fn f64(name: &'static str, shape: &[usize], numbers: &'a [f64]) -> Self {
        Self::new(name, shape, Numbers::F64(numbers.into()))
    }

    pub(super) fn dtype(&self) -> Dtype {
        match self.numbers {
            Numbers::F32(_) | Numbers::SharedF32(_) => Dtype::F32,
            Numbers::F64(_) | Numbers::SharedF64(_) => Dtype::F64,
            Numbers::U32(_) => Dtype::U32,
            Numbers::U64(_) => Dtype::U64,
        }
    }

    pub(super) fn info(&self) -> ArrayInfo {
        ArrayInfo { name: self.name.to_string(), dtype: self.dtype().to_string(), shape: self.shape.clone() }
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.numbers.len() * self.dtype().bitsize() / 8
    }

    /// Hands the bytes over, a chunk at a time.
    pub(super) fn each_chunk(&self, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        each_type!(&self.numbers, x => chunks(x, take))
    }

    /// Refuses numbers that are not finite or not as many as the shape says, as reading would.
    pub(super) fn check(&self) -> Result<()> {
        let wanted = self.shape.iter().try_fold(1usize, |size, n| size.checked_mul(*n));
        if wanted != Some(self.numbers.len()) {
            return Err(Error::model(
                format!(
                    "array \"{}\" of shape {:?} with {} numbers",
                    shown(&self.name),
                    self.shape,
                    self.numbers.len()
                ),
                "the shape says how many there are",
                "Fit and save the model again",
            ));
        }
        each_type!(&self.numbers, x => check_numbers(&self.name, &self.shape, x))
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
