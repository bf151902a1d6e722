//! Formulas in x1…xd and y1…yd: user-defined feature maps and kernels as arithmetic on numbers, nothing else.
//!
//! ```text
//! sum      := product (('+' | '-') product)*
//! product  := signed (('*' | '/') signed)*
//! signed   := ('-' | '+') signed | power
//! power    := value ['^' signed]                        -x1^2 = -(x1^2),  2^3^2 = 2^(3^2)
//! value    := number | pi | e | x1 | y1 | function '(' sum (',' sum)* ')' | '(' sum ')'
//! ```
//!
//! Why: evaluation is a short list of stack operations made once when the text is read. A formula comes from
//! a command line or a model file, so it is bounded in length and depth, and can do arithmetic only.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::kernel::token::{MAX_LENGTH, bad, clip};

mod compile;
use compile::Compiler;

/// Most intermediate values that an evaluation holds at once.
const MAX_STACK: usize = 64;

type Unary = (&'static str, fn(f64) -> f64);
type Binary = (&'static str, fn(f64, f64) -> f64);

/// Functions of one number. `log` is read as `ln`, the natural logarithm.
const UNARY: &[Unary] = &[
    ("sqrt", f64::sqrt),
    ("cbrt", f64::cbrt),
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("log2", f64::log2),
    ("log10", f64::log10),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("sinh", f64::sinh),
    ("cosh", f64::cosh),
    ("tanh", f64::tanh),
    ("abs", f64::abs),
    ("sign", |a| if a == 0.0 { 0.0 } else { a.signum() }),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("round", f64::round),
];

/// Functions of two numbers; `min` and `max` also take more, and a NaN among them gives NaN.
const BINARY: &[Binary] = &[
    ("min", |a, b| if a < b || a.is_nan() { a } else { b }),
    ("max", |a, b| if a > b || a.is_nan() { a } else { b }),
    ("pow", f64::powf),
    ("atan2", f64::atan2),
];

#[derive(Clone, Copy, Debug)]
enum Op {
    Constant(f64),
    X(usize),
    Y(usize),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    /// A small whole exponent, by multiplication.
    WholePower(i32),
    Call(fn(f64) -> f64),
    CallTwo(fn(f64, f64) -> f64),
}

/// A formula, e.g. `sqrt(2)*x1^2`, ready to be evaluated.
///
/// Two formulas are equal when their canonical texts are. Values are shared, so that a clone is cheap.
///
/// ```
/// use eigenlift::kernel::Formula;
/// let f = Formula::parse("1 + 2 * x1**2 * y1**2", true)?;
/// assert_eq!(f.to_string(), "1 + 2*x1^2*y1^2");
/// assert_eq!(f.eval(&[3.0], &[0.5]), 5.5);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Formula {
    text: Arc<str>,
    code: Arc<[Op]>,
    stack: usize,
    max_variable: usize,
    uses_y: bool,
}

impl Formula {
    /// Reads a formula in x1, x2, … and, where `allow_y` says so, y1, y2, ….
    ///
    /// # Errors
    /// The text is not a formula, names something unknown, is too long or nested too deeply, or has a
    /// constant part that is not finite.
    pub fn parse(text: &str, allow_y: bool) -> Result<Self> {
        check_length(text.len())?;
        let mut compiler = Compiler::new(text, allow_y);
        if compiler.cursor.peek()?.is_none() {
            return Err(bad(
                "a formula is empty",
                "a formula needs at least a number or a variable",
                "Write one, such as x1^2.",
            ));
        }
        compiler.sum()?;
        if let Some(token) = compiler.cursor.peek()? {
            return Err(compiler.misplaced(token));
        }
        check_length(compiler.out.len())?;
        let infinite = |op: &Op| matches!(op, Op::Constant(v) if !v.is_finite());
        if let Some(Op::Constant(value)) = compiler.code.iter().find(|op| infinite(op)) {
            return Err(bad(
                format!("a constant part of the formula '{}' is {value}", clip(text)),
                "every constant must be finite",
                "Look for a division by zero or a function outside its domain.",
            ));
        }
        Ok(Self {
            text: compiler.out.into(),
            code: compiler.code.into(),
            stack: compiler.deepest,
            max_variable: compiler.max_variable,
            uses_y: compiler.uses_y,
        })
    }

    /// Value at the points x and y; a variable beyond the end of its point is NaN.
    ///
    /// Cost: one step per operation, no allocation.
    pub fn eval(&self, x: &[f64], y: &[f64]) -> f64 {
        if self.stack <= 8 { self.run::<8>(x, y) } else { self.run::<MAX_STACK>(x, y) }
    }

    /// Largest index of a variable; 0 when there is none. A point needs at least this many features.
    pub fn max_variable(&self) -> usize {
        self.max_variable
    }

    /// Whether a variable of the second point is used.
    pub fn uses_y(&self) -> bool {
        self.uses_y
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The top of the stack is `top`; `stack` holds what lies below. The compiler saw to it that N is enough,
    /// and the remainder shows the same to the optimiser.
    fn run<const N: usize>(&self, x: &[f64], y: &[f64]) -> f64 {
        let mut stack = [0.0_f64; N];
        let (mut below, mut top) = (0_usize, 0.0_f64);
        for op in self.code.iter() {
            let pushed = match *op {
                Op::Constant(value) => value,
                Op::X(i) => x.get(i).copied().unwrap_or(f64::NAN),
                Op::Y(i) => y.get(i).copied().unwrap_or(f64::NAN),
                Op::Negate => {
                    top = -top;
                    continue;
                }
                Op::WholePower(n) => {
                    top = if n == 2 { top * top } else { top.powi(n) };
                    continue;
                }
                Op::Call(function) => {
                    top = function(top);
                    continue;
                }
                binary => {
                    below = below.wrapping_sub(1);
                    top = apply(binary, stack[below % N], top);
                    continue;
                }
            };
            stack[below % N] = top;
            below = below.wrapping_add(1);
            top = pushed;
        }
        top
    }
}

#[inline(always)]
fn apply(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Add => a + b,
        Op::Subtract => a - b,
        Op::Multiply => a * b,
        Op::Divide => a / b,
        Op::Power => a.powf(b),
        Op::CallTwo(function) => function(a, b),
        _ => f64::NAN,
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Formula {}

fn check_length(length: usize) -> Result<()> {
    if length <= MAX_LENGTH {
        return Ok(());
    }
    Err(bad(
        format!("a formula has {length} bytes"),
        format!("at most {MAX_LENGTH} are read"),
        "Shorten it, or compute the kernel matrix yourself and use precomputed.",
    ))
}

#[cfg(test)]
mod tests;
