//! A server on a loopback port, in a process of its own, so that it does not count as the client's work.

use crate::bench::Payload;
use crate::bench::echo_server::{Echo, EchoServer};
use crate::message;
use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

const VARIABLE: &str = "TONIC_GAX_BENCH_SERVER";

/// The process of a server; it ends with this.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The server runs for as long as this is open.
    stdin: Option<ChildStdin>,
    uri: String,
}

impl Server {
    /// Returns whether this process was started to be a server.
    #[must_use]
    pub fn is_asked_for() -> bool {
        std::env::var_os(VARIABLE).is_some()
    }

    /// Starts this program once more, as a server.
    ///
    /// # Errors
    ///
    /// It could not be started, or did not say where it listens.
    pub fn spawn() -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .env(VARIABLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take();
        let mut uri = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut uri)?;
        }
        Ok(Self { child, stdin, uri: uri.trim().to_owned() })
    }

    /// Where it listens.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Serves until standard input ends.
    ///
    /// # Errors
    ///
    /// There is no port to listen on.
    pub fn run() -> Result<(), Box<dyn Error>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(|| {
            let mut rest = Vec::new();
            let _ended = std::io::stdin().read_to_end(&mut rest);
            std::process::exit(0);
        });
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
            let mut stdout = std::io::stdout();
            writeln!(stdout, "http://{}", listener.local_addr()?)?;
            stdout.flush()?;
            tonic::transport::Server::builder()
                .tcp_nodelay(true)
                .add_service(echo_server())
                .serve_with_incoming(TcpListenerStream::new(listener))
                .await?;
            Ok(())
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _status = self.child.wait();
    }
}

/// The service that replies with a small message.
pub(crate) fn echo_server() -> EchoServer<impl Echo> {
    EchoServer::new(FixedReply { reply: message::payload(message::SMALL) })
}

#[derive(Debug)]
struct FixedReply {
    reply: Payload,
}

#[tonic::async_trait]
impl Echo for FixedReply {
    async fn send(&self, _: Request<Payload>) -> Result<Response<Payload>, Status> {
        Ok(Response::new(self.reply.clone()))
    }
}
