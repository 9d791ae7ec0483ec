//! One connection: requests are read and replied to.

use super::message::{Message, Response, until_closed};
use super::{HttpArrival, HttpReply, HttpScript};
use crate::network::{Pipes, wait};
use bytes::Bytes;
use http::HeaderMap;
use std::io;
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, copy_bidirectional,
};
use tokio::net::TcpStream;

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// As the client wants it.
    Closed,
    /// As the script wants it.
    Reset,
}

/// Serves a connection; `note` gets each request.
pub(super) async fn serve<T: AsyncRead + AsyncWrite + Unpin>(
    io: &mut T,
    script: &HttpScript,
    origin: Option<&Pipes>,
    note: impl Fn(HttpArrival) -> HttpArrival,
) -> io::Result<End> {
    let mut io = BufReader::new(io);
    loop {
        if let Some((time, reply)) = script.when_idle() {
            let is_idle = tokio::select! {
                biased;
                begun = io.fill_buf() => begun.map(|_| false)?,
                () = wait(time) => true,
            };
            if is_idle {
                if let Some(reply) = reply {
                    send(&mut io, reply, None, None).await?;
                }
                return Ok(End::Closed);
            }
        }
        let message = Message::read(&mut io, false, true).await?;
        let Some(message) = message else { return Ok(End::Closed) };
        if message.is_cut {
            if let Some(origin) = origin {
                message.send(&mut origin.connect()?.into_inner()).await?;
            }
            return Ok(End::Closed);
        }
        let mut words = message.start.split(' ').map(str::to_owned);
        let arrival = note(HttpArrival {
            at: Duration::ZERO,
            method: words.next().unwrap_or_default(),
            target: words.next().unwrap_or_default(),
            headers: message.headers.clone(),
            body: message.body.clone(),
        });
        if let Some(end) = send(&mut io, script.next(&arrival), origin, Some(&message)).await? {
            return Ok(end);
        }
    }
}

/// Replies to a request, or without one. `None`: another request may follow.
async fn send<T: AsyncRead + AsyncWrite + Unpin>(
    io: &mut BufReader<T>,
    reply: HttpReply,
    origin: Option<&Pipes>,
    request: Option<&Message>,
) -> io::Result<Option<End>> {
    let is_head = request.is_some_and(|request| request.start.starts_with("HEAD "));
    let part = |status, body, announced, stalls| Response {
        announced: Some(announced),
        stalls,
        ..Response::new(status, HeaderMap::new(), body)
    };
    let hello = Bytes::from_static(b"hello");
    let response = match reply {
        HttpReply::Reply { status, headers, body } => {
            let pairs =
                headers.iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
            Response::new(status, pairs.collect(), body.into())
        }
        HttpReply::Forward(changes) => {
            let mut response = match origin.zip(request) {
                Some((origin, request)) => forward(origin, request, !is_head).await?,
                None => Response::new(200, HeaderMap::new(), Bytes::new()),
            };
            for change in &changes {
                response.change(change);
            }
            response
        }
        HttpReply::Truncate => part(200, hello, 100, false),
        HttpReply::StallInBody(status) => part(status, hello, 100, true),
        HttpReply::TruncateAfter(length) => part(200, vec![b'a'; length].into(), length + 1, false),
        HttpReply::StallAfter(length) => part(200, vec![b'a'; length].into(), length + 1, true),
        HttpReply::Slow(pieces) => {
            let length: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
            part(200, Bytes::new(), length, false).send(io, is_head).await?;
            for (pause, piece) in pieces {
                wait(pause).await;
                io.write_all(piece.as_bytes()).await?;
                io.flush().await?;
            }
            return Ok(None);
        }
        HttpReply::Raw(bytes) => {
            io.write_all(&bytes).await?;
            io.flush().await?;
            until_closed(io).await?;
            return Ok(Some(End::Closed));
        }
        HttpReply::Tunnel(address) => {
            let mut server = TcpStream::connect(address).await?;
            io.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
            io.flush().await?;
            copy_bidirectional(io, &mut server).await?;
            return Ok(Some(End::Closed));
        }
        HttpReply::Reset => return Ok(Some(End::Reset)),
        HttpReply::Stall | HttpReply::Once(..) => {
            until_closed(io).await?;
            return Ok(Some(End::Closed));
        }
    };
    Ok((!response.send(io, is_head).await?).then_some(End::Closed))
}

/// The origin's reply.
async fn forward(origin: &Pipes, request: &Message, has_body: bool) -> io::Result<Response> {
    let mut io = BufReader::new(origin.connect()?.into_inner());
    request.send(&mut io).await?;
    let response = Message::read(&mut io, true, has_body).await?;
    Response::of(response.ok_or(io::ErrorKind::UnexpectedEof)?)
}
