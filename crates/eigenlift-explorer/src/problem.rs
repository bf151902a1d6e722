//! Why a request was not answered as asked.

/// What went wrong, in words for the person at the page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// What was asked for cannot be done as it stands.
    #[error("{0}")]
    Request(String),
    /// There is no such thing, or not any more.
    #[error("{0}")]
    Missing(String),
    /// An upload is larger than allowed.
    #[error("{0}")]
    TooLarge(String),
    /// A request did not come to its end.
    #[error("{0}")]
    TooSlow(String),
    /// The machine failed.
    #[error("{0}")]
    Machine(String),
    /// The person at the page stopped it.
    #[error("cancelled")]
    Cancelled,
}

impl Problem {
    /// The status of the answer.
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Request(_) => 400,
            Self::Missing(_) => 404,
            Self::TooSlow(_) => 408,
            Self::Cancelled => 409,
            Self::TooLarge(_) => 413,
            Self::Machine(_) => 500,
        }
    }
}
