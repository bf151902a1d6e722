//! What breaks a rule, and where.

use std::fmt;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Path from the root of the workspace, with `/`.
    pub(crate) file: String,
    /// Line, counted from 1.
    pub(crate) line: usize,
    /// What is wrong and what is required.
    pub(crate) message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}
