//! The Memorystore for Redis recipe: commands to a Redis server, retried with truncated exponential back-off.
//!
//! ```text
//! cargo run --example memorystore
//! ```
//!
//! It starts Debian's `redis-server` on a loopback port, makes it fail in the ways that are worth another attempt (no
//! server there, the server is loading its data, a script keeps it busy, it is frozen), and shows each wait:
//! min(2^n + random milliseconds, maximum back-off), for a maximum number of retries. Seconds are shortened to 50 ms, so
//! that all of it takes a moment. If `redis-server` is not installed, it prints that and ends.
//!
//! Two things are easily forgotten and matter most:
//!
//! * Every attempt has a timeout. A server that takes a command and never replies would hang the program.
//! * A command that may have been carried out is sent again only if it is safe to retry. After a reply that got
//!   lost, a second `GET` does no harm, while a second `INCR` counts twice.

use gax_driver::closure::{RetryOutcome, Retryable};
use gax_driver::strategy::{Backoff, BackoffStrategy, Jitter, Limits};
use gax_driver::{RetryError, Retryer};
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tonic_gax::settings::Policy;
use tonic_gax::{Code, CodeSet, OperationReport};

/// A second of the document.
const SECOND: Duration = Duration::from_millis(50);
/// "Usually 32 or 64 seconds."
const MAXIMUM_BACKOFF: u32 = 32;
const MAXIMUM_RETRIES: u32 = 6;
/// How long an attempt may take, and how much of that to connect.
const ATTEMPT_TIMEOUT: Duration = Duration::from_millis(400);
const CONNECT_TIMEOUT: Duration = Duration::from_millis(200);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Err(error) = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status() {
        println!(
            "redis-server is not installed ({error}): nothing to show. On Debian: apt install redis-server"
        );
        return Ok(());
    }
    let address = free_address().await?;
    let redis = Redis::new(address, SECOND);

    println!("SET, while the server is still down:");
    let start = async {
        tokio::time::sleep(4 * SECOND).await;
        Server::start(address)
    };
    let (set, server) = tokio::join!(redis.call(&["SET", "colour", "green"]), start);
    let mut server = server?;
    show(set);

    println!("GET, with the server up:");
    show(redis.call(&["GET", "colour"]).await);

    println!("INCR of a word, which no retry can mend:");
    show(redis.call(&["INCR", "colour"]).await);

    println!("GET, while a script keeps the server busy:");
    let busy = tokio::spawn(send(address, ["EVAL", "while true do end", "0"].map(str::to_owned).to_vec()));
    tokio::time::sleep(Server::BUSY_AFTER * 3).await;
    let kill = async {
        tokio::time::sleep(3 * SECOND).await;
        redis.call(&["SCRIPT", "KILL"]).await
    };
    let (get, killed) = tokio::join!(redis.call(&["GET", "colour"]), kill);
    killed?;
    // The reply reports that the script was killed.
    drop(busy.await?);
    show(get);

    println!("GET, while the server is frozen for a moment:");
    server.signal("-STOP")?;
    let thaw = async {
        tokio::time::sleep(ATTEMPT_TIMEOUT + SECOND / 2).await;
        server.signal("-CONT")
    };
    let (get, thawed) = tokio::join!(redis.call(&["GET", "colour"]), thaw);
    thawed?;
    show(get);

    println!(
        "INCR, while the server is frozen: nobody knows whether it will be carried out, so it is sent once:"
    );
    server.signal("-STOP")?;
    let incr = redis.call(&["INCR", "number"]).await;
    server.signal("-CONT")?;
    show(incr);

    println!("PING, after the server has gone for good:");
    server.stop()?;
    show(redis.call(&["PING"]).await);
    Ok(())
}

/// Prints the result of an operation; for a failed one, what is logged after the last retry.
fn show(result: Result<RetryOutcome<String>, RetryError<Failure>>) {
    let report = |report: &OperationReport| println!("{report}");
    match result {
        Ok(reply) => {
            report(reply.report());
            println!("the server replied {}\n", reply.value());
        }
        Err(error) => {
            report(error.report());
            match error.last() {
                Some(last) => println!("failed: {error}; the last error: {last}\n"),
                None => println!("failed: {error}\n"),
            }
        }
    }
}

/// A client that retries by the recipe.
pub(crate) struct Redis {
    address: SocketAddr,
    policy: Policy,
}

impl Redis {
    /// A client of the server there. `second` is what the document calls a second.
    pub(crate) fn new(address: SocketAddr, second: Duration) -> Self {
        // 2^n "seconds" and 0 to 1000 "milliseconds", the sum cut to the maximum.
        let backoff = Backoff::exponential(second, 2.0, MAXIMUM_BACKOFF * second)
            .with_jitter(Jitter::Added { unit: second / 1000, most: 1000 });
        let strategy = BackoffStrategy::new(backoff, Limits::none().with_max_retries(MAXIMUM_RETRIES));
        let policy = Policy::from_strategy(&strategy, CodeSet::EMPTY).with_attempt_timeout(ATTEMPT_TIMEOUT);
        Self { address, policy }
    }

    /// Runs a command as an operation.
    pub(crate) async fn call(&self, words: &[&str]) -> Result<RetryOutcome<String>, RetryError<Failure>> {
        let name = words.first().map_or_else(String::new, |&name| name.to_owned());
        Retryer::with_policy(self.policy.clone(), Safety::of(&name))
            .named(name)
            .run(|_| send(self.address, words.iter().map(|&word| word.to_owned()).collect()))
            .await
    }
}

/// Says whether a command that may have been carried out may be sent again.
#[derive(Debug, Clone, Copy)]
enum Safety {
    Repeatable,
    OnceOnly,
}

impl Safety {
    /// Commands that read, and those that have the same effect however often they are carried out. All others are
    /// treated as not repeatable, such as `INCR`, `LPUSH` and scripts.
    fn of(command: &str) -> Self {
        match command {
            "GET" | "MGET" | "EXISTS" | "TTL" | "PING" | "SET" | "MSET" | "HSET" => Safety::Repeatable,
            _ => Safety::OnceOnly,
        }
    }
}

/// A command is retried if it was certainly not carried out; a repeatable command also if that is unknown.
impl Retryable<Failure> for Safety {
    fn code(&self, failure: &Failure) -> Code {
        match failure {
            Failure::Connect(_) => Code::Unavailable,
            Failure::Reply(_) if failure.is_refusal() => Code::Unavailable,
            Failure::Reply(_) => Code::FailedPrecondition,
            Failure::Lost(_) => Code::Aborted,
        }
    }

    /// An attempt that times out fails with `DEADLINE_EXCEEDED`.
    fn codes(&self) -> CodeSet {
        match self {
            Safety::Repeatable => CodeSet::from([Code::Unavailable, Code::Aborted, Code::DeadlineExceeded]),
            Safety::OnceOnly => CodeSet::from(Code::Unavailable),
        }
    }
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// There was no connection: nothing was sent.
    Connect(io::Error),
    /// The connection broke later, or the reply is incomplete: the command may have been carried out.
    Lost(io::Error),
    /// An error that the server sent, which begins with its kind.
    Reply(String),
}

impl Failure {
    /// Returns whether the server refused the command for a reason that may be gone a moment later, without carrying it
    /// out. What is wrong with the command itself is not of that kind.
    fn is_refusal(&self) -> bool {
        const REFUSALS: [&str; 6] = ["LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY"];
        match self {
            Failure::Connect(_) | Failure::Lost(_) => false,
            Failure::Reply(text) => text.split(' ').next().is_some_and(|kind| REFUSALS.contains(&kind)),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Connect(error) => write!(f, "no connection: {error}"),
            Failure::Lost(error) => write!(f, "no reply: {error}"),
            Failure::Reply(text) => f.write_str(text),
        }
    }
}

impl Error for Failure {}

/// Sends a command over a new connection, in Redis' protocol, and reads the reply.
async fn send(address: SocketAddr, words: Vec<String>) -> Result<String, Failure> {
    let connect = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
    let connection = connect.unwrap_or_else(|late| Err(late.into())).map_err(Failure::Connect)?;
    let mut request = format!("*{}\r\n", words.len());
    for word in words {
        request.extend(["$", &word.len().to_string(), "\r\n", &word, "\r\n"]);
    }
    match exchange(connection, request.as_bytes()).await {
        Ok(reply) => reply.map_err(Failure::Reply),
        Err(error) => Err(Failure::Lost(error)),
    }
}

/// Sends a request and reads a reply of one line or one bulk string; within, the error that the server sent.
async fn exchange(connection: TcpStream, request: &[u8]) -> io::Result<Result<String, String>> {
    let mut connection = BufReader::new(connection);
    connection.write_all(request).await?;
    let mut line = String::new();
    connection.read_line(&mut line).await?;
    // A line without its end is a truncated one: ":12" may be the beginning of ":123".
    let line = line.strip_suffix("\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(match line.split_at_checked(1) {
        Some(("-", error)) => Err(error.to_owned()),
        Some(("$", "-1")) => Ok("nothing".to_owned()),
        Some(("$", length)) => {
            let length: u64 = length.parse().map_err(io::Error::other)?;
            let mut text = Vec::new();
            if connection.take(length).read_to_end(&mut text).await? as u64 != length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(String::from_utf8_lossy(&text).into_owned())
        }
        _ => Ok(line.to_owned()),
    })
}

/// An address without a server.
async fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?.local_addr()
}

/// A Redis server that ends with the program.
struct Server(Child);

impl Server {
    /// The time after which a script keeps the server busy.
    const BUSY_AFTER: Duration = Duration::from_millis(20);

    fn start(address: SocketAddr) -> io::Result<Self> {
        let child = Command::new("redis-server")
            .args(["--bind", &address.ip().to_string(), "--port", &address.port().to_string()])
            .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
            .args(["--lua-time-limit", &Self::BUSY_AFTER.as_millis().to_string()])
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }

    /// Sends a signal to the server, like `kill`.
    fn signal(&self, signal: &str) -> io::Result<()> {
        Command::new("kill").args([signal, &self.0.id().to_string()]).status().map(drop)
    }

    fn stop(&mut self) -> io::Result<()> {
        self.0.kill()?;
        self.0.wait().map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been stopped already.
        drop(self.stop());
    }
}
