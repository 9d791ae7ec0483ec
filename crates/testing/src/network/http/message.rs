//! HTTP/1.1 messages, byte by byte.

use super::HttpChange;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::io;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};

/// A request or a response.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) start: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The connection ended before the body did.
    pub(super) is_cut: bool,
}

/// A response, with what a script makes of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) announced: Option<usize>,
    pub(super) sent: Option<usize>,
    pub(super) stalls: bool,
    pub(super) is_twice: bool,
    pub(super) is_lost: bool,
}

fn malformed(problem: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

impl Message {
    /// The next one; `None` once the other side has closed the connection. A response without a length has a body up to the end of
    /// the connection, unless `has_body` says that it has none.
    pub(super) async fn read(
        io: &mut (impl AsyncBufRead + Unpin),
        is_response: bool,
        has_body: bool,
    ) -> io::Result<Option<Self>> {
        let Some(start) = line(io).await? else { return Ok(None) };
        let mut headers = HeaderMap::new();
        while let Some(text) = line(io).await?.filter(|text| !text.is_empty()) {
            let (name, value) = text.split_once(':').ok_or_else(|| malformed("a header without a colon"))?;
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(io::Error::other)?;
            headers.append(name, HeaderValue::from_str(value.trim()).map_err(io::Error::other)?);
        }
        let mut body = Vec::new();
        let length = headers.get("content-length").map(|length| length.to_str().unwrap_or_default());
        let has_no_body = ["1", "204", "304"].iter().any(|status| {
            is_response && start.split(' ').nth(1).is_some_and(|found| found.starts_with(status))
        });
        let mut is_cut = false;
        if !has_body || has_no_body {
        } else if headers.contains_key("transfer-encoding") {
            loop {
                let Some(size) = line(io).await? else { break is_cut = true };
                let size = u64::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
                is_cut = !read(io, &mut body, size).await?;
                if is_cut || line(io).await?.is_none() || size == 0 {
                    break;
                }
            }
        } else if let Some(length) = length {
            is_cut = !read(io, &mut body, length.parse().map_err(io::Error::other)?).await?;
        } else if is_response {
            io.read_to_end(&mut body).await?;
        }
        Ok(Some(Self { start, headers, body: body.into(), is_cut }))
    }

    /// Sends it as a request.
    pub(super) async fn send(&self, io: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let mut headers = self.headers.clone();
        headers.insert("connection", HeaderValue::from_static("close"));
        if headers.remove("transfer-encoding").is_some() {
            headers.insert("content-length", (self.body.len() + usize::from(self.is_cut)).into());
        }
        io.write_all(&head(&self.start, &headers)).await?;
        io.write_all(&self.body).await?;
        io.flush().await
    }
}

impl Response {
    pub(super) fn new(status: u16, headers: HeaderMap, body: Bytes) -> Self {
        Self { status, headers, body, ..Self::default() }
    }

    /// An origin's response, as it was read.
    pub(super) fn of(mut message: Message) -> io::Result<Self> {
        let status = message.start.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| malformed("a status line without a status"))?;
        for name in ["connection", "transfer-encoding"] {
            message.headers.remove(name);
        }
        let length = message.body.len();
        let cut = message.is_cut.then_some(length);
        Ok(Self {
            sent: cut,
            announced: cut.map(|_| length + 1),
            ..Self::new(status, message.headers, message.body)
        })
    }

    pub(super) fn change(&mut self, change: &HttpChange) {
        match change {
            HttpChange::Status(status) => self.status = *status,
            HttpChange::Set(name, value) => {
                if let Ok(value) = HeaderValue::from_str(value) {
                    self.headers.insert(*name, value);
                }
            }
            HttpChange::Remove(name) => drop(self.headers.remove(*name)),
            HttpChange::Body(body) => (self.body, self.announced, self.sent) = (body.clone(), None, None),
            HttpChange::Announce(length) => self.announced = Some(*length),
            HttpChange::Cut(length) => (self.sent, self.stalls) = (Some(*length), false),
            HttpChange::Stall(length) => (self.sent, self.stalls) = (Some(*length), true),
            HttpChange::Twice => self.is_twice = true,
            HttpChange::Lose => self.is_lost = true,
        }
    }

    /// Sends it, without its body in reply to `HEAD`; whether another request may follow.
    pub(super) async fn send(
        &self,
        io: &mut (impl AsyncRead + AsyncWrite + Unpin),
        is_head: bool,
    ) -> io::Result<bool> {
        if self.is_lost {
            return Ok(false);
        }
        let mut headers = self.headers.clone();
        let length = self.announced.unwrap_or(self.body.len());
        if self.status == 204 || self.status == 304 {
            headers.remove("content-length");
        } else if !is_head || !headers.contains_key("content-length") {
            headers.insert("content-length", length.into());
        }
        let sent = self.body.get(..self.sent.unwrap_or(usize::MAX)).unwrap_or(&self.body);
        for _ in 0..=u8::from(self.is_twice) {
            io.write_all(&head(&format!("HTTP/1.1 {} -", self.status), &headers)).await?;
            if !is_head {
                io.write_all(sent).await?;
            }
            io.flush().await?;
        }
        if self.stalls {
            until_closed(io).await?;
        }
        let closes = headers.get("connection").is_some_and(|value| value == "close");
        Ok(!closes && self.sent.is_none() && length == self.body.len())
    }
}

fn head(start: &str, headers: &HeaderMap) -> Vec<u8> {
    let mut head = format!("{start}\r\n").into_bytes();
    for (name, value) in headers {
        head.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    head.extend(b"\r\n");
    head
}

/// Reads so many bytes; whether they were all there.
async fn read(io: &mut (impl AsyncRead + Unpin), body: &mut Vec<u8>, length: u64) -> io::Result<bool> {
    let end = body.len() + usize::try_from(length).unwrap_or_default();
    io.take(length).read_to_end(body).await?;
    Ok(body.len() == end)
}

async fn line(io: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let mut line = String::new();
    if io.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
}

pub(super) async fn until_closed(io: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut byte = [0];
    while io.read(&mut byte).await? > 0 {}
    Ok(())
}
