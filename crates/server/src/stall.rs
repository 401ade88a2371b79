//! A connection whose other side has to read.
//!
//! Always: what is written has to go at some speed. No pause may be longer than a little time; and
//! all pauses together not longer than that, and more for what was taken (of which the kernel takes
//! some by itself). Otherwise writing ends with an error, and so does the connection. Only waiting for
//! the other side counts.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How many bytes buy a second more.
const SLOWEST: u64 = 16 << 10;

/// A connection, and how long its other side has been waited for.
pub struct Stalling<S> {
    stream: S,
    grace: Duration,
    written: u64,
    waited: Duration,
    since: Option<Instant>,
    alarm: Pin<Box<Sleep>>,
}

impl<S> Stalling<S> {
    /// The connection; its other side may keep it waiting for so long, before what it takes counts.
    pub fn new(stream: S, grace: Duration) -> Stalling<S> {
        let (waited, alarm) = (Duration::ZERO, Box::pin(sleep(grace)));
        Stalling { stream, grace, written: 0, waited, since: None, alarm }
    }

    /// What an attempt to write came to, unless there were too many.
    fn judged(
        &mut self,
        attempt: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(result) = attempt {
            if let Some(since) = self.since.take() {
                self.waited += since.elapsed();
            }
            self.written += *result.as_ref().unwrap_or(&0) as u64;
            return Poll::Ready(result);
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        let earned = Duration::from_secs(self.written / SLOWEST);
        let left = (self.grace + earned).saturating_sub(self.waited);
        self.alarm.as_mut().reset(since + left.min(self.grace));
        match self.alarm.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalling<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalling<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judged(attempt, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.judged(attempt, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Writes so much to somebody who takes a piece after each pause, by a clock that runs by itself.
    fn written(bytes: usize, pause: u64, piece: usize) -> io::Result<()> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
            let (near, mut far) = tokio::io::duplex(1024);
            let mut near = Stalling::new(near, Duration::from_secs(30));
            tokio::spawn(async move {
                let mut taken = vec![0; piece];
                loop {
                    sleep(Duration::from_secs(pause)).await;
                    if far.read_exact(&mut taken).await.is_err() {
                        return;
                    }
                }
            });
            near.write_all(&vec![0; bytes]).await
        })
    }

    #[test]
    fn whoever_does_not_read_is_left() {
        assert!(written(1024, 1000, 1).is_ok(), "what fits needs nobody");
        let error = written(2000, 1000, 1000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        // Byte by byte is no way around it.
        assert!(written(2000, 1, 1).is_err());
        assert!(written(2000, 20, 1000).is_ok());
        assert!(written(3 << 20, 1, 32 << 10).is_ok());
    }
}
