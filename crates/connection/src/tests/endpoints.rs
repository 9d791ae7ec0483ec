//! Several endpoints: which of them a call goes to, and which are left.

use super::network::{
    Network, Server, call, call_within, error, milliseconds, now, pass, ready, reply, retry, settle, soon,
};
use crate::{Connection, ConnectionBuilder, Ejection, Picker};
use http_body::Body as _;
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// The servers of a connection, by their ports.
struct Servers {
    network: Network,
    connection: Connection,
    by_port: BTreeMap<u16, Server>,
}

impl Servers {
    /// Connected to all of them.
    async fn new(ports: &[u16], set: impl FnOnce(ConnectionBuilder) -> ConnectionBuilder) -> Self {
        let network = Network::new(ports);
        let connection = set(network.connection()).connect_lazy().unwrap();
        let mut this = Self { network, connection, by_port: BTreeMap::new() };
        let connecting = ready(&this.connection);
        for _ in ports {
            this.accept().await;
        }
        connecting.await.unwrap().unwrap();
        this.settle().await;
        this
    }

    async fn accept(&mut self) -> u16 {
        let server = self.network.server().await;
        let port = server.port;
        self.by_port.insert(port, server);
        port
    }

    async fn settle(&self) {
        pass(milliseconds(1)).await;
    }

    /// The port that a call went to, whose status it gets.
    async fn call(&mut self, status: &str) -> u16 {
        let calling = call(&self.connection);
        let port = self.respond(status).await;
        assert!(reply(calling).await.is_ok());
        self.settle().await;
        port
    }

    /// Responds to the next request, wherever it is.
    async fn respond(&mut self, status: &str) -> u16 {
        let (port, stream) = self.request().await;
        self.by_port.get_mut(&port).unwrap().refuse(stream, status).await;
        port
    }

    async fn request(&mut self) -> (u16, u32) {
        let requests = self
            .by_port
            .iter_mut()
            .map(|(port, server)| Box::pin(async move { (*port, server.request().await) }));
        let mut requests: Vec<_> = requests.collect();
        soon(poll_fn(|cx| {
            for request in &mut requests {
                if let Poll::Ready(found) = request.as_mut().poll(cx) {
                    return Poll::Ready(found);
                }
            }
            Poll::Pending
        }))
        .await
    }

    /// The ports that so many calls go to.
    async fn ports(&mut self, calls: usize) -> Vec<u16> {
        let mut ports = Vec::new();
        for _ in 0..calls {
            ports.push(self.call("0").await);
        }
        ports
    }
}

fn in_turn(connection: ConnectionBuilder) -> ConnectionBuilder {
    connection.picker(Picker::RoundRobin)
}

#[tokio::test(start_paused = true)]
async fn calls_go_to_the_endpoints_in_turn_and_past_one_that_has_no_connection() {
    let mut servers = Servers::new(&[1, 2, 3], in_turn).await;
    let ports = servers.ports(6).await;
    assert_eq!(ports[..3], ports[3..]);
    assert_eq!(BTreeSet::from_iter(ports), BTreeSet::from([1, 2, 3]));
    // However busy they are.
    let busy = call(&servers.connection);
    let (port, _) = servers.request().await;
    assert!(servers.ports(3).await.contains(&port));
    busy.abort();
    servers.network.refuse(&[2]);
    servers.by_port.remove(&2);
    servers.settle().await;
    assert_eq!(BTreeSet::from_iter(servers.ports(4).await), BTreeSet::from([1, 3]));
}

#[tokio::test(start_paused = true)]
async fn an_address_that_is_named_twice_is_one_endpoint() {
    let mut network = Network::new(&[1, 1]);
    let connection = network.connection().picker(Picker::RoundRobin).connect_lazy().unwrap();
    let connecting = ready(&connection);
    let _server = network.server().await;
    assert!(connecting.await.unwrap().is_ok());
    assert!(network.is_quiet(SECOND).await);
}

#[tokio::test(start_paused = true)]
async fn calls_go_to_the_endpoint_with_fewer_in_flight_and_to_any_if_they_are_equal() {
    let least = |connection: ConnectionBuilder| connection.picker(Picker::LeastInFlight);
    let mut servers = Servers::new(&[1, 2], least).await;
    assert_eq!(BTreeSet::from_iter(servers.ports(64).await), BTreeSet::from([1, 2]));
    let mut servers = Servers::new(&[1, 2, 3], least).await;
    assert_eq!(BTreeSet::from_iter(servers.ports(64).await), BTreeSet::from([1, 2, 3]));
    let busy = call(&servers.connection);
    let (port, _) = servers.request().await;
    let others: BTreeSet<_> = [1, 2, 3].into_iter().filter(|other| *other != port).collect();
    assert_eq!(BTreeSet::from_iter(servers.ports(64).await), others);
    busy.abort();
}

#[tokio::test(start_paused = true)]
async fn the_first_of_the_addresses_that_takes_a_connection_gets_all_calls() {
    let mut network = Network::new(&[1, 2, 3]);
    network.refuse(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let calls = [call(&connection), call(&connection)];
    let mut server = network.server().await;
    assert_eq!(server.port, 2);
    for call in calls {
        server.serve().await;
        assert!(reply(call).await.is_ok());
    }
    assert!(network.is_quiet(10 * SECOND).await);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_two_lists_in_a_row_leave_out_drains() {
    let every = |connection| in_turn(connection).resolve_every(10 * SECOND);
    let mut servers = Servers::new(&[1, 2], every).await;
    let both = BTreeSet::from([1, 2]);
    // Once, and once more after a list that names it.
    for list in [&[1][..], &[1, 2], &[1]] {
        servers.network.resolve_to(list);
        pass(10 * SECOND).await;
        assert_eq!(BTreeSet::from_iter(servers.ports(4).await), both);
    }
    servers.network.events();
    pass(10 * SECOND).await;
    assert_eq!(servers.ports(4).await, [1; 4]);
    assert_eq!(servers.network.events(), ["2 lost: removed"]);
    servers.by_port.get_mut(&2).unwrap().closed().await;
}

#[tokio::test(start_paused = true)]
async fn the_resolver_is_asked_again_if_its_list_leaves_out_an_endpoint() {
    let mut servers = Servers::new(&[1, 2, 3], in_turn).await;
    assert_eq!(servers.network.resolved(), 1);
    // It is asked since a connection is lost.
    servers.by_port.remove(&3);
    servers.settle().await;
    servers.ports(2).await;
    servers.accept().await;
    pass(100 * SECOND).await;
    assert_eq!(servers.network.resolved(), 1, "nothing is missing");
    servers.network.resolve_to(&[1, 3]);
    servers.by_port.remove(&3);
    servers.settle().await;
    servers.ports(2).await;
    servers.accept().await;
    pass(29 * SECOND).await;
    assert_eq!(BTreeSet::from_iter(servers.ports(6).await), BTreeSet::from([1, 2, 3]));
    servers.network.resolved();
    pass(3 * SECOND).await;
    assert_eq!(BTreeSet::from_iter(servers.ports(6).await), BTreeSet::from([1, 3]));
    pass(100 * SECOND).await;
    assert_eq!(servers.network.resolved(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_drains_at_once_if_the_change_is_announced_or_if_it_has_no_connection() {
    let mut servers = Servers::new(&[1, 2], in_turn).await;
    servers.network.resolve_to(&[1]);
    servers.network.announce();
    pass(SECOND).await;
    assert_eq!(servers.ports(4).await, [1; 4]);

    let network = Network::new(&[1, 2]);
    network.refuse(&[1, 2]);
    let connection = in_turn(network.connection()).resolve_every(10 * SECOND);
    let connection = connection.wait_for_ready(true).connect_lazy().unwrap();
    let waiting = call(&connection);
    pass(SECOND).await;
    network.resolve_to(&[1]);
    pass(10 * SECOND).await;
    network.events();
    pass(1000 * SECOND).await;
    let events = network.events();
    assert!(events.len() > 5 && events.iter().all(|event| event.starts_with("1 ")), "{events:?}");
    waiting.abort();
}

/// Calls go there until another endpoint has a connection, and it gets no more of its own.
#[tokio::test(start_paused = true)]
async fn an_endpoint_that_drains_is_used_until_another_one_is_connected() {
    for picker in [Picker::First, Picker::RoundRobin] {
        let mut servers = Servers::new(&[1], |connection| connection.picker(picker)).await;
        servers.network.refuse(&[2]);
        servers.network.resolve_to(&[2]);
        servers.network.announce();
        pass(SECOND).await;
        assert_eq!(servers.ports(3).await, [1; 3]);
        let open = call(&servers.connection);
        let (_, stream) = servers.request().await;
        servers.network.refuse(&[]);
        assert_eq!(servers.accept().await, 2);
        servers.settle().await;
        assert_eq!(servers.ports(3).await, [2; 3]);
        let old = servers.by_port.get_mut(&1).unwrap();
        old.refuse(stream, "0").await;
        assert!(reply(open).await.is_ok(), "its calls continue");
        servers.by_port.get_mut(&1).unwrap().closed().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_drains_is_not_connected_again() {
    for picker in [Picker::First, Picker::RoundRobin] {
        let mut servers = Servers::new(&[1], |connection| connection.picker(picker)).await;
        servers.network.refuse(&[2]);
        servers.network.resolve_to(&[2]);
        servers.network.announce();
        pass(SECOND).await;
        servers.by_port.remove(&1);
        servers.settle().await;
        assert!(error(call(&servers.connection)).await.contains("refused"));
        servers.network.events();
        pass(10 * SECOND).await;
        assert!(servers.network.events().iter().all(|event| event.starts_with("2 failed")));
    }
}

/// One connection is kept whose address is still named, wherever it stands, and another one made if it isn't.
#[tokio::test(start_paused = true)]
async fn the_connection_of_the_first_address_stays_while_its_address_is_named() {
    let mut servers = Servers::new(&[1], |connection| connection).await;
    for list in [&[2, 1][..], &[3, 1, 2]] {
        servers.network.resolve_to(list);
        servers.network.announce();
        pass(SECOND).await;
        assert_eq!(servers.ports(2).await, [1, 1]);
    }
    servers.network.resolve_to(&[3, 2]);
    servers.network.announce();
    pass(SECOND).await;
    assert_eq!(servers.ports(1).await, [1], "it is used until there is another one");
    assert_eq!(servers.accept().await, 3);
    servers.settle().await;
    assert_eq!(servers.ports(2).await, [3, 3]);
}

#[tokio::test(start_paused = true)]
async fn the_first_endpoint_stays_if_one_list_leaves_it_out() {
    let mut servers = Servers::new(&[1], |connection| connection.resolve_every(10 * SECOND)).await;
    for list in [&[2][..], &[1], &[2]] {
        servers.network.resolve_to(list);
        pass(10 * SECOND).await;
        assert_eq!(servers.ports(2).await, [1, 1]);
    }
    pass(10 * SECOND).await;
    assert_eq!(servers.ports(1).await, [1], "it is used until there is another one");
    assert_eq!(servers.accept().await, 2);
    servers.settle().await;
    assert_eq!(servers.ports(2).await, [2, 2]);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_calls_fail_at_in_a_row_is_avoided_for_a_while() {
    let eject = |connection| in_turn(connection).eject(Ejection::default().after(2).time(30 * SECOND));
    let mut servers = Servers::new(&[1, 2], eject).await;
    let bad = servers.call("14").await;
    let good = servers.call("0").await;
    // A call that is good for it resets the count.
    assert_eq!((servers.call("0").await, servers.call("0").await), (bad, good));
    servers.network.events();
    assert_eq!((servers.call("14").await, servers.call("0").await), (bad, good));
    assert!(servers.network.events().is_empty());
    assert_eq!(servers.call("2").await, bad);
    assert_eq!(servers.network.events(), [format!("{bad} ejected for 30s")]);
    assert_eq!(servers.ports(4).await, [good; 4]);
    // Not more than half of them.
    assert_eq!([servers.call("14").await, servers.call("14").await, servers.call("14").await], [good; 3]);
    assert!(servers.network.events().is_empty());
    pass(31 * SECOND).await;
    assert_eq!(BTreeSet::from_iter(servers.ports(4).await), BTreeSet::from([1, 2]));
}

#[tokio::test(start_paused = true)]
async fn as_many_endpoints_are_ejected_as_their_share_allows() {
    for (percent, expected) in [(32, 0), (33, 1), (65, 1), (66, 2), (99, 2), (100, 3)] {
        let ejection = Ejection::default().after(1).max_percent(percent);
        let mut servers = Servers::new(&[1, 2, 3], |connection| in_turn(connection).eject(ejection)).await;
        servers.network.events();
        for _ in 0..9 {
            servers.call("14").await;
        }
        let events = BTreeSet::from_iter(servers.network.events());
        assert_eq!(events.len(), expected, "{percent} %: {events:?}");
    }
}

/// The head says nothing yet, and the end everything.
#[tokio::test(start_paused = true)]
async fn an_endpoint_fails_a_call_by_its_trailers_its_break_its_reset_and_its_silence() {
    for how in ["trailers", "good trailers", "break", "reset", "silence", "open"] {
        let eject = |connection| in_turn(connection).eject(Ejection::default().after(2));
        let mut servers = Servers::new(&[1, 2, 3], eject).await;
        // A failure before, everywhere.
        for _ in 0..3 {
            servers.call("14").await;
        }
        servers.network.events();
        let connection = servers.connection.clone();
        let calling = tokio::spawn(async move { call_within(&connection, 100, 100).await });
        let (port, stream) = servers.request().await;
        let mut server = servers.by_port.remove(&port).unwrap();
        if how == "silence" {
            assert!(calling.await.unwrap().is_none());
        } else if how == "reset" {
            server.reset_stream(stream, 2).await;
            assert!(calling.await.unwrap().unwrap().is_err());
        } else {
            server.respond(stream, &[("content-type", "application/grpc")]).await;
            let mut body = calling.await.unwrap().unwrap().unwrap().into_body();
            server.message(stream, b"ab").await;
            match how {
                "break" => server.crash(),
                "trailers" => server.end(stream, "14").await,
                "good trailers" => server.end(stream, "0").await,
                _ => body = tonic::body::Body::empty(),
            }
            let mut frame = async || soon(poll_fn(|cx| Pin::new(&mut body).poll_frame(cx))).await;
            while let Some(Ok(_)) = frame().await {}
        }
        settle().await;
        let is_ejected = servers.network.events().iter().any(|event| event.contains("ejected"));
        assert_eq!(is_ejected, !["open", "good trailers"].contains(&how), "{how}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_without_an_address_is_a_failure_of_the_resolver() {
    for picker in [Picker::First, Picker::RoundRobin] {
        let mut network = Network::new(&[]);
        let connection = network.connection().picker(picker).connect_lazy().unwrap();
        let text = error(call(&connection)).await;
        assert!(text.contains("the resolver found no address"), "{text}");
        network.resolve_to_error("the control plane is down");
        pass(2 * SECOND).await;
        let text = error(call(&connection)).await;
        assert!(text.contains("the control plane is down"), "{text}");
        network.resolve_to(&[1]);
        let start = now();
        let connecting = tokio::spawn({
            let connection = connection.clone();
            async move {
                while connection.ready().await.is_err() {
                    pass(milliseconds(100)).await;
                }
            }
        });
        let _server = network.server().await;
        soon(connecting).await.unwrap();
        assert!(now() - start < 4 * SECOND, "it is asked again by the back-off");
        // Those that it has found stay.
        network.resolve_to(&[]);
        network.announce();
        pass(100 * SECOND).await;
        assert!(ready(&connection).await.unwrap().is_ok());
        assert_eq!(network.events(), ["1 ready"]);
    }
}

/// Those that don't retry fail at once, and one whose time is up before it doesn't wait either.
#[tokio::test(start_paused = true)]
async fn a_retry_waits_for_the_next_attempt_to_connect_of_each_endpoint() {
    let mut network = Network::new(&[1]);
    network.refuse(&[1]);
    let backoff = crate::ConnectBackoff::default().initial(10 * SECOND).max(10 * SECOND);
    let connection = network.connection().connect_backoff(backoff).connect_lazy().unwrap();
    assert!(error(call(&connection)).await.contains("refused"));
    // The next two come soon.
    pass(SECOND).await;
    let start = now();
    assert!(error(retry(&connection, SECOND, SECOND)).await.contains("refused"));
    assert!(error(call(&connection)).await.contains("refused"));
    assert_eq!(now(), start);
    let waiting = retry(&connection, SECOND, 100 * SECOND);
    assert!(error(waiting).await.contains("refused"));
    let time = now() - start;
    assert!(time > 7 * SECOND && time < 13 * SECOND, "{time:?}");
    let waiting = retry(&connection, SECOND, 100 * SECOND);
    network.refuse(&[]);
    let mut server = network.server().await;
    server.serve().await;
    assert!(reply(waiting).await.is_ok());
}
