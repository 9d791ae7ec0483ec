//! A server that is busy at first.

use std::io;
use std::net::Ipv4Addr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Replies to that many requests with 503, and then with 200, on a port of this machine; its URL.
pub(crate) async fn serve(busy: u32) -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        for request in 0.. {
            let (mut connection, _) = listener.accept().await?;
            // The request of an example fits into one packet.
            let mut packet = [0; 8192];
            let _length = connection.read(&mut packet).await?;
            let head = if request < busy { "503 Service Unavailable" } else { "200 OK" };
            let body = r#"{"items":[]}"#;
            let reply = format!(
                "HTTP/1.1 {head}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            connection.write_all(reply.as_bytes()).await?;
        }
        Ok::<(), io::Error>(())
    });
    Ok(url)
}
