//! An HTTP/1.1 server that misbehaves.

use super::faults::{Fault, Faults};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// A server with a runtime of its own.
#[derive(Debug)]
pub(super) struct HttpServer {
    runtime: Option<Runtime>,
    pub(super) address: SocketAddr,
    pub(super) arrived: Arc<AtomicU64>,
}

impl HttpServer {
    pub(super) fn start(seed: u64) -> Self {
        let builder = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = builder.unwrap();
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let (faults, arrived) = (Faults::new(seed), Arc::<AtomicU64>::default());
        let count = Arc::clone(&arrived);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, faults.clone(), Arc::clone(&count)));
            }
        });
        Self { runtime: Some(runtime), address, arrived }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Replies to the requests of a connection until it ends, by one side or the other.
async fn serve(mut stream: TcpStream, faults: Faults, arrived: Arc<AtomicU64>) {
    let mut read = Vec::new();
    while let Some(length) = request(&mut stream, &mut read).await {
        arrived.fetch_add(1, Ordering::Relaxed);
        read.drain(..length);
        let (status, header) = match faults.next() {
            Fault::None => ("200 OK", String::new()),
            Fault::Slow(time) => {
                tokio::time::sleep(time).await;
                ("200 OK", String::new())
            }
            Fault::Refused => ("503 Service Unavailable", String::new()),
            Fault::RefusedUntil(wait) => {
                let seconds = wait.map_or(3600, |wait| wait.as_secs());
                ("503 Service Unavailable", format!("retry-after: {seconds}\r\n"))
            }
            Fault::Broken => ("500 Internal Server Error", String::new()),
            // It closes the connection without a word.
            Fault::Foreign => return,
            Fault::Silent => return tokio::time::sleep(Duration::from_secs(5)).await,
        };
        let reply = format!("HTTP/1.1 {status}\r\ncontent-length: 4\r\n{header}\r\nsoak");
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads until a request is there whole, and returns its length.
async fn request(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<usize> {
    loop {
        if let Some(head) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&read[..head]).to_ascii_lowercase();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
            let whole = head + 4 + length.map_or(0, |length| length.trim().parse().unwrap());
            if read.len() >= whole {
                return Some(whole);
            }
        }
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
}
