//! One connection: requests are read and met with acts.

use super::{HttpAct, HttpArrival, TEST_ID};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::io;
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As the client wants it.
    Closed,
    /// As the script wants it.
    Reset,
}

/// Serves a connection; `meet` gets each request and names the act.
pub(crate) async fn serve<T: AsyncRead + AsyncWrite + Unpin>(
    io: &mut T,
    mut meet: impl FnMut(HttpArrival) -> HttpAct,
) -> io::Result<End> {
    let mut io = BufReader::new(io);
    while let Some(arrival) = read(&mut io).await? {
        let is_head = arrival.method == "HEAD";
        match meet(arrival) {
            HttpAct::Reply { status, headers, body } => {
                let mut head = format!("HTTP/1.1 {status} -\r\ncontent-length: {}\r\n", body.len());
                for (name, value) in headers {
                    head.extend([name, ": ", &*value, "\r\n"]);
                }
                head.push_str("\r\n");
                io.write_all(head.as_bytes()).await?;
                if !is_head {
                    io.write_all(&body).await?;
                }
                io.flush().await?;
            }
            HttpAct::Reset => return Ok(End::Reset),
            HttpAct::Truncate => {
                io.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello").await?;
                io.flush().await?;
                return Ok(End::Closed);
            }
            HttpAct::StallInBody(status) => {
                let head = format!("HTTP/1.1 {status} -\r\ncontent-length: 100\r\n\r\nhello");
                io.write_all(head.as_bytes()).await?;
                io.flush().await?;
                until_closed(&mut io).await?;
                return Ok(End::Closed);
            }
            act @ (HttpAct::TruncateAfter(length) | HttpAct::StallAfter(length)) => {
                let head = format!("HTTP/1.1 200 -\r\ncontent-length: {}\r\n\r\n", length + 1);
                io.write_all(head.as_bytes()).await?;
                io.write_all(&vec![b'a'; length]).await?;
                io.flush().await?;
                if act == HttpAct::StallAfter(length) {
                    until_closed(&mut io).await?;
                }
                return Ok(End::Closed);
            }
            HttpAct::Slow(pieces) => {
                let length: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
                let head = format!("HTTP/1.1 200 -\r\ncontent-length: {length}\r\n\r\n");
                io.write_all(head.as_bytes()).await?;
                io.flush().await?;
                for (pause, piece) in pieces {
                    tokio::time::sleep(pause).await;
                    io.write_all(piece.as_bytes()).await?;
                    io.flush().await?;
                }
            }
            HttpAct::Raw(bytes) => {
                io.write_all(&bytes).await?;
                io.flush().await?;
                until_closed(&mut io).await?;
                return Ok(End::Closed);
            }
            HttpAct::Stall | HttpAct::Once(..) => {
                until_closed(&mut io).await?;
                return Ok(End::Closed);
            }
        }
    }
    Ok(End::Closed)
}

async fn until_closed(io: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut byte = [0];
    while io.read(&mut byte).await? > 0 {}
    Ok(())
}

/// The next request; `None` once the client has closed the connection.
async fn read<T: AsyncRead + Unpin>(io: &mut BufReader<T>) -> io::Result<Option<HttpArrival>> {
    let Some(start) = line(io).await? else { return Ok(None) };
    let mut words = start.split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default().to_owned();
    let mut headers = HeaderMap::new();
    while let Some(text) = line(io).await?.filter(|text| !text.is_empty()) {
        let (name, value) = text.split_once(':').unwrap();
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_str(value.trim()).unwrap(),
        );
    }
    let length = headers.get("content-length").map(|length| length.to_str().unwrap().parse().unwrap());
    let mut body = vec![0; length.unwrap_or(0)];
    io.read_exact(&mut body).await?;
    if headers.contains_key("transfer-encoding") {
        loop {
            let size = line(io).await?.unwrap_or_default();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let begin = body.len();
            body.resize(begin + size, 0);
            io.read_exact(&mut body[begin..]).await?;
            line(io).await?;
            if size == 0 {
                break;
            }
        }
    }
    Ok(Some(HttpArrival { at: Duration::ZERO, method, target, headers, body: body.into() }))
}

async fn line<T: AsyncRead + Unpin>(io: &mut BufReader<T>) -> io::Result<Option<String>> {
    let mut line = String::new();
    if io.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The test id of a request.
pub(super) fn test_id(arrival: &HttpArrival) -> Option<&str> {
    arrival.header(TEST_ID)
}
