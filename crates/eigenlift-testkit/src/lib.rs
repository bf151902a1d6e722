//! What eigenlift's tests share: laws that every implementation must keep, slow and obvious references, problems whose
//! answer is known, rows cut into pieces, and an operator that counts.

pub mod counting;
pub mod denoising;
pub mod laws;
pub mod pieces;
pub mod problems;
pub mod reference;
