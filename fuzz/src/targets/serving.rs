//! Scripts, and the bytes of clients that a scripted server reads.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_testing::{ConnectionFault, FaultProxy, Pipes, RawFrame, RawServer, Script, VirtualServer, When};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Builder;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A script, or an error with a place. Each reply says what it is, and is played to whatever client.
pub(super) fn scripts(data: &[u8]) {
    let (text, frames) = data.split_at(data.iter().position(|byte| *byte == 0).unwrap_or(data.len()));
    match String::from_utf8_lossy(text).parse::<Script>() {
        Ok(script) => {
            for attempt in 0..5 {
                let methods = script.methods().into_iter().chain(["a.B/C".to_owned()]);
                for step in methods.filter_map(|method| script.reply_to(&method, attempt)) {
                    assert!(!step.to_string().is_empty());
                }
            }
            play(script, frames.get(1..).unwrap_or_default());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Frames that a client sends, to each kind of server.
pub(super) fn frames(data: &[u8]) {
    play(Script::new(), data);
}

fn play(script: Script, data: &[u8]) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let server = VirtualServer::start(script);
        let raw =
            RawServer::counting_pings([vec![RawFrame::Headers, RawFrame::ReadAll, RawFrame::Trailers(0)]]);
        let (proxy, through) = FaultProxy::in_memory(server.connector());
        proxy.always([ConnectionFault::TinyFrames(1), ConnectionFault::StreamLimit(When::Requests(1), 1)]);
        for pipes in [server.connector(), raw.connector(), through] {
            send(&pipes, data).await;
        }
    });
}

/// Sends it, and reads replies until none comes.
async fn send(pipes: &Pipes, data: &[u8]) {
    let Ok(io) = pipes.connect() else { return };
    let mut io = io.into_inner();
    for part in [PREFACE, data] {
        if io.write_all(part).await.is_err() {
            return;
        }
    }
    let mut buffer = [0; 1024];
    while let Ok(Ok(1..)) = tokio::time::timeout(Duration::from_secs(60), io.read(&mut buffer)).await {}
}
