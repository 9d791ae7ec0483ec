//! Keep-alive pings, and servers that find them too many.

use super::network::{Network, Server, call, now, pass, soon};
use crate::Http2;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10);

/// How a server ends a connection on which a call is in flight.
#[derive(Debug, Clone, Copy)]
enum End {
    /// By a `GOAWAY` with that reason and these data; then it closes the connection.
    GoAway(u32, &'static str),
    /// By such a one; then it resets the connection, which is all that its task hears of.
    GoAwayAndReset(u32, &'static str),
    /// By resetting each stream with that reason, and closing the connection.
    ResetStreams(u32),
}

/// The keep-alive interval of the next connection.
async fn interval_after(ends: &[End]) -> u64 {
    let mut network = Network::new(&[1]);
    let http2 = Http2::default().keep_alive_interval(INTERVAL);
    let connection = network.connection().http2(http2).wait_for_ready(true).connect_lazy().unwrap();
    for end in ends {
        let calls = [call(&connection), call(&connection)];
        let mut server = network.server().await;
        let streams = [server.request().await, server.request().await];
        match *end {
            End::GoAway(reason, data) => server.goaway(0, reason, data).await,
            End::GoAwayAndReset(reason, data) => {
                server.goaway(0, reason, data).await;
                server.crash();
                for call in calls {
                    drop(soon(call).await.unwrap().unwrap_err());
                }
                continue;
            }
            End::ResetStreams(reason) => {
                for stream in streams {
                    server.reset_stream(stream, reason).await;
                }
            }
        }
        for call in calls {
            drop(soon(call).await.unwrap().unwrap_err());
        }
    }
    let calling = call(&connection);
    let mut server: Server = network.server().await;
    server.request().await;
    let start = now();
    server.ping().await;
    let interval = (now() - start).as_secs();
    calling.abort();
    pass(Duration::ZERO).await;
    interval
}

#[tokio::test(start_paused = true)]
async fn the_interval_is_doubled_for_each_connection_whose_server_found_too_many_pings() {
    let pings = End::GoAway(11, "too_many_pings");
    for (ends, expected) in [
        (&[][..], 10),
        (&[pings], 20),
        (&[pings, pings, End::GoAway(11, "")], 80),
        // Its task hears of the reset alone, its calls of the pings.
        (&[End::GoAwayAndReset(11, "too_many_pings")], 20),
        (&[End::GoAway(11, "too many requests")], 10),
        (&[End::GoAway(2, "too_many_pings")], 10),
        (&[End::ResetStreams(11)], 10),
    ] {
        assert_eq!(interval_after(ends).await, expected, "{ends:?}");
    }
}
