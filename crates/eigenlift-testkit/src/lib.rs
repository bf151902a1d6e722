//! What eigenlift's tests share: laws that every implementation must keep, slow and obvious references, problems whose
//! answer is known, rows cut into pieces, an operator that counts, and the figures of simulation studies.

pub mod counting;
pub mod denoising;
pub mod laws;
pub mod pieces;
pub mod problems;
pub mod reference;
pub mod rows;
pub mod study;
