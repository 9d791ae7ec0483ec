//! A server that follows a script.

use crate::subscription::{Opening, OutgoingMessages};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Response, Status};

/// A step of one connection.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Message(u64),
    Wait(u64),
    Fail(Status),
    Hang,
    /// Waits for a message of the client's.
    Hear,
}

pub(super) use Act::{Fail, Hang, Hear, Message, Wait};

pub(super) fn down() -> Act {
    Fail(Status::unavailable("down"))
}

pub(super) fn lines(numbers: impl IntoIterator<Item = u64>, more: impl IntoIterator<Item = Act>) -> Vec<Act> {
    numbers.into_iter().map(Message).chain(more).collect()
}

type BoxStream = Pin<Box<dyn Stream<Item = Result<u64, Status>> + Send>>;
type BoxFuture = Pin<Box<dyn Future<Output = Result<Response<BoxStream>, Status>> + Send>>;

/// When a connection came, in milliseconds, and with what.
pub(super) type Opened = (u128, Vec<u64>);

/// Replies to each connection with the next script, and notes when it came and with what.
#[derive(Clone)]
pub(super) struct Server {
    scripts: Arc<Mutex<VecDeque<Vec<Act>>>>,
    opened: Arc<Mutex<Vec<Opened>>>,
    heard: Arc<Mutex<Vec<u64>>>,
    open: Arc<AtomicUsize>,
    pub(super) start: Instant,
}

struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Server {
    #[expect(clippy::disallowed_methods, reason = "a test's own clock")]
    pub(super) fn new(scripts: impl IntoIterator<Item = Vec<Act>>) -> Self {
        Self {
            scripts: Arc::new(Mutex::new(scripts.into_iter().collect())),
            opened: Arc::default(),
            heard: Arc::default(),
            open: Arc::default(),
            start: Instant::now(),
        }
    }

    pub(super) fn connect(&self, opening: Opening<Vec<u64>, u64>) -> BoxFuture {
        let opened = (self.start.elapsed().as_millis(), opening.request().clone());
        self.opened.lock().unwrap().push(opened);
        let script = self.scripts.lock().unwrap().pop_front();
        let (first, server) = (opening.request().len(), self.clone());
        let mut requests = opening.into_streaming_request().into_inner();
        Box::pin(async move {
            let mut script = script.ok_or_else(|| Status::internal("no connection beyond the script"))?;
            for _ in 0..first {
                requests.next().await;
            }
            while let Some(Wait(time)) = script.first() {
                sleep(Duration::from_millis(*time)).await;
                script.remove(0);
            }
            if let [Fail(status)] = &script[..] {
                return Err(status.clone());
            }
            server.open.fetch_add(1, Ordering::Relaxed);
            let open = Open(Arc::clone(&server.open));
            let (messages, stream) = tokio::sync::mpsc::channel(1);
            tokio::spawn(server.play(script, requests, messages, open));
            let mut response = Response::new(Box::pin(ReceiverStream::new(stream)) as BoxStream);
            response.metadata_mut().insert("x-first", first.into());
            Ok(response)
        })
    }

    async fn play(
        self,
        script: Vec<Act>,
        mut requests: OutgoingMessages<u64>,
        messages: tokio::sync::mpsc::Sender<Result<u64, Status>>,
        _open: Open,
    ) {
        for act in script {
            let sent = match act {
                Message(number) => messages.send(Ok(number)).await,
                Fail(status) => messages.send(Err(status)).await,
                Wait(time) => {
                    sleep(Duration::from_millis(time)).await;
                    Ok(())
                }
                Hear => {
                    // Zero is the end.
                    let said = requests.next().await.unwrap_or_default();
                    self.heard.lock().unwrap().push(said);
                    Ok(())
                }
                Hang => {
                    messages.closed().await;
                    Ok(())
                }
            };
            if sent.is_err() {
                return;
            }
        }
    }

    pub(super) fn opened(&self) -> Vec<Opened> {
        self.opened.lock().unwrap().clone()
    }

    pub(super) fn heard(&self) -> Vec<u64> {
        self.heard.lock().unwrap().clone()
    }

    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}
