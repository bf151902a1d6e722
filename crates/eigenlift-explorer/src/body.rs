//! The body of a request: bounded, and not waited for for ever.

use crate::Problem;
use axum::body::{Body, HttpBody};
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::timeout;

/// The longest pause between two pieces.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// All of a body of at most so many bytes.
pub(crate) async fn received(mut body: Body, most: usize) -> Result<Vec<u8>, Problem> {
    let too_large = || {
        Problem::TooLarge(format!(
            "the table is larger than {most} bytes, which is what the page takes; put it into the folder of the explorer and open \
             it there, or start with --most-upload."
        ))
    };
    // What says that it is too large need not be waited for.
    if body.size_hint().lower() > most as u64 {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    loop {
        let next = timeout(LONGEST_PAUSE, poll_fn(|context| Pin::new(&mut body).poll_frame(context))).await;
        let next = next.map_err(|_| {
            let seconds = LONGEST_PAUSE.as_secs();
            Problem::TooSlow(format!("nothing more came for {seconds} s; the request was given up."))
        })?;
        let Some(piece) = next else { return Ok(bytes) };
        let piece = piece.map_err(|error| Problem::Request(format!("the request ended early ({error}).")))?;
        let Ok(data) = piece.into_data() else { continue };
        if data.len() > most - bytes.len() {
            return Err(too_large());
        }
        bytes.extend_from_slice(&data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(work)
    }

    #[test]
    fn a_body_is_taken_whole_or_refused() {
        assert_eq!(now(received(Body::empty(), 0)), Ok(vec![]));
        assert_eq!(now(received(Body::from("abc"), 3)), Ok(b"abc".to_vec()));
        assert!(matches!(now(received(Body::from("abcd"), 3)), Err(Problem::TooLarge(_))));
    }
}
