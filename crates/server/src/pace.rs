//! A body that has to come at some speed.
//!
//! Always: a body is given a little time, and more for what has come; one that comes more slowly
//! ends with [`TooSlow`]. Only waiting for its sender counts: the server's own pauses do not.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

/// How long to wait for any body.
const GRACE: Duration = Duration::from_secs(20);
/// How many bytes buy a second more.
const SLOWEST: u64 = 16 << 10;

/// Its sender took too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the body comes too slowly")]
pub struct TooSlow;

/// Whether an error comes from a body that was too slow, whatever others have wrapped around it.
pub fn was_too_slow(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(<dyn Error>::is::<TooSlow>)
}

/// A body, and how long it has been waited for.
pub struct Paced {
    body: Body,
    grace: Duration,
    seen: u64,
    waited: Duration,
    since: Option<Instant>,
    alarm: Pin<Box<Sleep>>,
}

impl Paced {
    /// The body, which has to keep the pace. One that has nothing in it is left as it is.
    pub fn of(body: Body) -> Body {
        if body.is_end_stream() { body } else { Body::new(Paced::with_grace(body, GRACE)) }
    }

    fn with_grace(body: Body, grace: Duration) -> Paced {
        let alarm = Box::pin(sleep(grace));
        Paced { body, grace, seen: 0, waited: Duration::ZERO, since: None, alarm }
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            if let Some(since) = this.since.take() {
                this.waited += since.elapsed();
            }
            if let Some(Ok(data)) = frame.as_ref().map(|frame| frame.as_ref().map(Frame::data_ref))
            {
                this.seen += data.map_or(0, |data| data.len() as u64);
            }
            return Poll::Ready(frame);
        }
        let since = *this.since.get_or_insert_with(Instant::now);
        let allowed = this.grace + Duration::from_secs(this.seen / SLOWEST);
        this.alarm.as_mut().reset(since + allowed.saturating_sub(this.waited));
        match this.alarm.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(axum::Error::new(TooSlow)))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces, each after a pause.
    struct Pieces(Vec<(Duration, usize)>, Option<Pin<Box<Sleep>>>);

    impl HttpBody for Pieces {
        type Data = Bytes;
        type Error = axum::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
            let Some(&(pause, size)) = self.0.first() else { return Poll::Ready(None) };
            let pause = self.1.get_or_insert_with(|| Box::pin(sleep(pause)));
            if pause.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.1 = None;
            self.0.remove(0);
            Poll::Ready(Some(Ok(Frame::data(vec![0; size].into()))))
        }
    }

    /// How many bytes came, or that it was too slow; by a clock that runs by itself.
    fn read(pieces: &[(u64, usize)]) -> Result<usize, TooSlow> {
        let seconds = |&(pause, size): &(u64, usize)| (Duration::from_secs(pause), size);
        let pieces = Pieces(pieces.iter().map(seconds).collect(), None);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
            let body = Body::new(Paced::with_grace(Body::new(pieces), Duration::from_secs(20)));
            let read = axum::body::to_bytes(body, usize::MAX).await;
            read.map(|data| data.len()).map_err(|error| {
                assert!(was_too_slow(&error), "{error}");
                TooSlow
            })
        })
    }

    #[test]
    fn whoever_sends_a_little_has_a_little_time() {
        assert_eq!(read(&[(19, 5000)]), Ok(5000));
        assert_eq!(read(&[(21, 5000)]), Err(TooSlow));
        // Byte by byte is no way around it.
        assert_eq!(read(&[(1, 1); 30]), Err(TooSlow));
    }

    #[test]
    fn whoever_sends_much_has_more() {
        assert_eq!(read(&[(1, 32 << 10); 100]), Ok(3_276_800));
        assert_eq!(read(&[(2, 16 << 10); 100]), Err(TooSlow));
    }
}
