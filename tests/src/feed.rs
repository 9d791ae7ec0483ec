//! A server whose streams follow a script.

use crate::clock::{VirtualClock, ms};
use crate::generated::test::talk::v1::Line;
use crate::generated::test::talk::v1::talk_server::Talk;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::time::sleep;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status, Streaming};

/// A step of one stream.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Act {
    /// A message with that number.
    Line(u32),
    /// So many milliseconds pass.
    Wait(u64),
    /// The stream ends with that status; a stream whose script ends without one ends well.
    Fail(Status),
    /// Nothing more comes.
    Hang,
}

/// Replies to each call of `Listen` with the next script, and notes when it came and behind which number it goes on.
#[derive(Debug, Clone)]
pub struct Feed {
    scripts: Arc<Mutex<VecDeque<Vec<Act>>>>,
    asked: Arc<Mutex<Vec<(u64, u32)>>>,
    clock: VirtualClock,
    open: Arc<AtomicUsize>,
}

impl Feed {
    /// A feed with a script for each call.
    #[must_use]
    pub fn new(scripts: impl IntoIterator<Item = Vec<Act>>) -> Self {
        let scripts = Arc::new(Mutex::new(scripts.into_iter().collect()));
        Self { scripts, asked: Arc::default(), clock: VirtualClock::start(), open: Arc::default() }
    }

    /// How many streams are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// When each call came, in milliseconds, and its number.
    #[must_use]
    pub fn asked(&self) -> Vec<(u64, u32)> {
        self.asked.lock().unwrap().clone()
    }
}

/// A stream that is open.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(open))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The message with that number.
#[must_use]
pub fn line(number: u32) -> Line {
    Line { text: format!("line {number}"), count: number }
}

#[tonic::async_trait]
impl Talk for Feed {
    async fn ask(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("ask"))
    }

    async fn guess(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("guess"))
    }

    async fn listen(&self, request: Request<Line>) -> Result<Response<BoxStream<Line>>, Status> {
        let at = u64::try_from(self.clock.elapsed().as_millis()).unwrap();
        self.asked.lock().unwrap().push((at, request.get_ref().count));
        let script = self.scripts.lock().unwrap().pop_front();
        let Some(script) = script else { return Err(Status::internal("no call beyond the script")) };
        if let [Act::Fail(status)] = &script[..] {
            return Err(status.clone());
        }
        let open = Open::new(&self.open);
        let (lines, stream) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            let _open = open;
            for act in script {
                let sent = match act {
                    Act::Line(number) => lines.send(Ok(line(number))).await,
                    Act::Fail(status) => lines.send(Err(status)).await,
                    Act::Wait(time) => {
                        sleep(ms(time)).await;
                        Ok(())
                    }
                    Act::Hang => {
                        lines.closed().await;
                        Ok(())
                    }
                };
                if sent.is_err() {
                    return;
                }
            }
        });
        let mut response =
            Response::new(Box::pin(tokio_stream::wrappers::ReceiverStream::new(stream)) as BoxStream<Line>);
        let number = self.asked.lock().unwrap().len();
        response.metadata_mut().insert("x-connection", number.to_string().parse().unwrap());
        Ok(response)
    }

    async fn tell(&self, _: Request<Streaming<Line>>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("tell"))
    }

    async fn chat(&self, _: Request<Streaming<Line>>) -> Result<Response<BoxStream<Line>>, Status> {
        Err(Status::unimplemented("chat"))
    }
}
