//! The Memorystore for Redis recipe: commands to a Redis server, retried with truncated exponential back-off.
//!
//! ```text
//! cargo run --example memorystore
//! ```
//!
//! It starts Debian's `redis-server` on a loopback port, makes it fail in the ways that are worth another try (no
//! server there, the server is loading its data, a script keeps it busy), and shows each wait:
//! min(2^n + random milliseconds, maximum back-off), for a maximum number of retries. Seconds are shortened to
//! 50 ms, so that all of it takes a moment. Where `redis-server` is not installed it says so and ends.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tonic_gax::{Backoff, Jitter, Limits, OperationReport, Recipe, Retryer};

/// What the document calls a second.
const SECOND: Duration = Duration::from_millis(50);
/// "Usually 32 or 64 seconds."
const MAXIMUM_BACKOFF: u32 = 32;
const MAXIMUM_RETRIES: u32 = 6;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Err(error) = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status() {
        println!(
            "redis-server is not installed ({error}): nothing to show. On Debian: apt install redis-server"
        );
        return Ok(());
    }
    // 2^n "seconds" and 0 to 1000 "milliseconds", the sum cut to the maximum.
    let backoff = Backoff::exponential(SECOND, 2.0, MAXIMUM_BACKOFF * SECOND)
        .with_jitter(Jitter::Added { unit: SECOND / 1000, most: 1000 });
    let recipe = Recipe::new(backoff, Limits::none().with_max_retries(MAXIMUM_RETRIES));
    let retryer = Retryer::with_recipe(&recipe, Failure::is_transient);
    let address = free_address().await?;

    println!("SET, while the server is still down:");
    let start = async {
        tokio::time::sleep(4 * SECOND).await;
        Server::start(address)
    };
    let set = retryer.clone().named("SET");
    let set = set.run(|| command(address, &["SET", "colour", "green"]));
    let (set, server) = tokio::join!(set, start);
    let mut server = server?;
    let set = set?;
    println!("{}\nthe server answered {}\n", set.report(), set.value());

    println!("GET, with the server up:");
    let get = retryer.clone().named("GET").run(|| command(address, &["GET", "colour"])).await?;
    println!("{}\nthe server answered {}\n", get.report(), get.value());

    println!("INCR of a word, which no retry can mend:");
    let incr = retryer.clone().named("INCR").run(|| command(address, &["INCR", "colour"])).await;
    show(incr.map(|reply| reply.report().clone()))?;

    println!("GET, while a script keeps the server busy:");
    let busy = tokio::spawn(command(address, &["EVAL", "while true do end", "0"]));
    tokio::time::sleep(Server::BUSY_AFTER * 3).await;
    let kill = async {
        tokio::time::sleep(3 * SECOND).await;
        command(address, &["SCRIPT", "KILL"]).await
    };
    let get = retryer.clone().named("GET");
    let get = get.run(|| command(address, &["GET", "colour"]));
    let (get, killed) = tokio::join!(get, kill);
    killed?;
    drop(busy.await?);
    show(get.map(|reply| reply.report().clone()))?;

    println!("PING, after the server has gone for good:");
    server.stop()?;
    let ping = retryer.clone().named("PING").run(|| command(address, &["PING"])).await;
    show(ping.map(|reply| reply.report().clone()))
}

/// Shows a report; for an operation that failed, what is logged after the last retry.
fn show(result: Result<OperationReport, tonic_gax::RetryError<Failure>>) -> Result<(), Box<dyn Error>> {
    match result {
        Ok(report) => println!("{report}\n"),
        Err(error) => {
            let last = error.last().ok_or("an attempt without a timeout ended without an error")?;
            println!("{}\nfailed: {error}; the last error: {last}\n", error.report());
        }
    }
    Ok(())
}

/// Why a command failed.
#[derive(Debug)]
enum Failure {
    /// The connection.
    Io(io::Error),
    /// An error that the server sent, which begins with its kind.
    Reply(String),
}

impl Failure {
    /// What may be gone a moment later: connections that don't come about or break, and the errors that Redis has
    /// for it. What is wrong with the command itself is not.
    fn is_transient(&self) -> bool {
        const TRANSIENT: [&str; 6] = ["LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY"];
        match self {
            Failure::Io(_) => true,
            Failure::Reply(text) => text.split(' ').next().is_some_and(|kind| TRANSIENT.contains(&kind)),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Io(error) => error.fmt(f),
            Failure::Reply(text) => f.write_str(text),
        }
    }
}

impl Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

/// Sends a command over a connection of its own, in Redis' protocol, and reads a reply of one line or one bulk
/// string.
async fn command(address: SocketAddr, words: &[&str]) -> Result<String, Failure> {
    let mut connection = BufReader::new(TcpStream::connect(address).await?);
    let mut request = format!("*{}\r\n", words.len());
    for word in words {
        request.extend(["$", &word.len().to_string(), "\r\n", word, "\r\n"]);
    }
    connection.write_all(request.as_bytes()).await?;
    let mut line = String::new();
    if connection.read_line(&mut line).await? == 0 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    let line = line.trim_end();
    match line.split_at_checked(1) {
        Some(("-", error)) => Err(Failure::Reply(error.to_owned())),
        Some(("$", "-1")) => Ok("nothing".to_owned()),
        Some(("$", length)) => {
            let length = length.parse().map_err(io::Error::other)?;
            let mut text = vec![0; length];
            connection.read_exact(&mut text).await?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        }
        _ => Ok(line.to_owned()),
    }
}

/// An address that nobody listens at.
async fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?.local_addr()
}

/// A Redis server of ours; it ends with the program.
struct Server(Child);

impl Server {
    /// From when on a script counts as one that keeps the server busy.
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
