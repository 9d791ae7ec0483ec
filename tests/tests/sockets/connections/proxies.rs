//! Connections through HTTP proxies, by the method CONNECT, over real sockets.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_connection::{Address, AddressList, Connection};
use gax_wire::ConnectProblem;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use tonic_gax_tests::{
    Assets, Log, Reply, Script, Scripted, Setup, SocketServer, Stack, report_of, settings,
};

/// A proxy that connects to one server, whatever it is asked for.
struct Proxy {
    address: SocketAddr,
    /// The heads of the requests that it got.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// It replies so, and connects if that is a success.
    async fn start(server: SocketAddr, reply: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, heads) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.unwrap());
                }
                seen.lock().unwrap().push(String::from_utf8(head).unwrap());
                tokio::spawn(forward(client, server, reply));
            }
        });
        Self { address, heads }
    }

    fn uri(&self) -> String {
        format!("http://{}", self.address)
    }

    fn requests(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        heads.iter().map(|head| head.lines().next().unwrap().to_owned()).collect()
    }
}

/// The server speaks first: its first bytes come in one packet with the proxy's reply.
async fn forward(mut client: TcpStream, server: SocketAddr, reply: &'static str) {
    if !reply.contains("HTTP/1.1 200 Connection") {
        client.write_all(reply.as_bytes()).await.unwrap();
        return;
    }
    let mut server = TcpStream::connect(server).await.unwrap();
    let mut first = vec![0; 1 << 10];
    let count = server.read(&mut first).await.unwrap();
    first.truncate(count);
    client.write_all(&[reply.as_bytes(), &first].concat()).await.unwrap();
    tokio::io::copy_bidirectional(&mut client, &mut server).await.ok();
}

const MADE: &str = "HTTP/1.1 200 Connection established\r\nVia: a proxy\r\n\r\n";

fn server() -> SocketServer {
    let script = Script::always(Reply::Serve);
    let service = Scripted::new(AssetServiceServer::new(Assets::default()), script, Log::default());
    SocketServer::grpc(SocketServer::ANY_PORT, tonic::transport::Server::builder().add_service(service))
}

async fn call(connection: Connection) {
    AssetServiceClient::new(connection).list_assets(ListAssetsRequest::default()).await.unwrap();
}

/// The proxy looks the name up: nobody else knows it.
#[tokio::test]
async fn a_name_is_looked_up_by_the_proxy() {
    let server = server();
    let proxy = Proxy::start(server.address(), MADE).await;
    let uri = format!("http://Aladdin:open%20sesame@{}", proxy.address);
    let connection =
        Connection::to("dns:///assets.nowhere.invalid:50051").proxy(&*uri).connect().await.unwrap();
    call(connection).await;
    assert_eq!(
        *proxy.heads.lock().unwrap(),
        ["CONNECT assets.nowhere.invalid:50051 HTTP/1.1\r\nHost: assets.nowhere.invalid:50051\r\n\
          Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"]
    );
}

#[tokio::test]
async fn addresses_of_a_resolver_are_connected_to_by_the_proxy() {
    let server = server();
    let proxy = Proxy::start(server.address(), MADE).await;
    let list = AddressList::new([Address::from(SocketAddr::from(([192, 0, 2, 1], 7)))]);
    let connection = Connection::to("http://assets").resolver(list).proxy(&*proxy.uri());
    call(connection.connect().await.unwrap()).await;
    assert_eq!(proxy.requests(), ["CONNECT 192.0.2.1:7 HTTP/1.1"]);
    let target = format!("ipv4:{}", server.address());
    call(Connection::to(target).proxy(&*proxy.uri()).connect().await.unwrap()).await;
    assert_eq!(proxy.requests().len(), 2);
}

#[tokio::test]
async fn a_proxy_that_refuses_says_why() {
    for (reply, expected) in [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            "407 Proxy Authentication Required to CONNECT a:1: it requires credentials",
        ),
        (
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
            "replied HTTP/1.1 403 Forbidden to CONNECT a:1",
        ),
        ("SSH-2.0-OpenSSH_9.6\r\n", "doesn't speak HTTP"),
        ("HTTP/1.1 200 OK\r\n", "it closed the connection"),
        ("", "it closed the connection"),
    ] {
        let proxy = Proxy::start(SocketAddr::from(([127, 0, 0, 1], 1)), reply).await;
        let error = Connection::to("a:1").proxy(&*proxy.uri()).connect().await.unwrap_err().to_string();
        assert!(
            error.contains(&format!("the proxy {}", proxy.address)) && error.contains(expected),
            "{error}"
        );
    }
    let error = Connection::to("a:1").proxy("socks5://a:1").connect_lazy().unwrap_err();
    assert!(error.to_string().contains("only proxies of plain HTTP can be used"), "{error}");
}

#[tokio::test]
async fn a_refusal_of_a_proxy_is_final() {
    let long: &str = Box::leak(format!("HTTP/1.1 200 OK\r\nVia: {}", "a".repeat(9_000)).into_boxed_str());
    for (reply, problem) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", ConnectProblem::RefusedByProxy),
        ("HTTP/1.1 403 Forbidden\r\n\r\n", ConnectProblem::RefusedByProxy),
        ("HTTP/1.1 405 Method Not Allowed\r\n\r\n", ConnectProblem::RefusedByProxy),
        ("\x05\x00", ConnectProblem::UnusableProxy),
        ("SSH-2.0-OpenSSH_9.6\r\n", ConnectProblem::UnusableProxy),
        (long, ConnectProblem::UnusableProxy),
    ] {
        let proxy = Proxy::start(SocketAddr::from(([127, 0, 0, 1], 1)), reply).await;
        let connection = Connection::to("a:1").proxy(&*proxy.uri()).connect_lazy().unwrap();
        let report = report_of(&Stack::Layer.list(connection, &Setup::new(settings()).reporting()).await);
        assert_eq!(report.notes(), [problem.note()], "{report}");
        assert_eq!((report.attempt_count(), proxy.requests().len()), (1, 1));
    }
}

/// Responses before the final one say nothing.
#[tokio::test]
async fn a_proxy_may_announce_its_response() {
    let server = server();
    for before in
        ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 102 Processing\r\nA: b\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n"]
    {
        let reply = Box::leak(format!("{before}{MADE}").into_boxed_str());
        let proxy = Proxy::start(server.address(), reply).await;
        call(Connection::to("assets.nowhere.invalid:1").proxy(&*proxy.uri()).connect().await.unwrap()).await;
    }
}

/// Set in [`the_environment_names_the_proxy`], which runs this test in a process of its own.
const CHILD: &str = "TONIC_GAX_TEST_PROXY";

#[tokio::test]
async fn in_the_environment() {
    let Ok(server) = std::env::var(CHILD) else { return };
    let connect = |target: &str| Connection::to(target).connect();
    call(connect("http://assets.nowhere.invalid:50051").await.unwrap()).await;
    call(connect("ipv4:192.0.2.1:7").await.unwrap()).await;
    // Those below are exempt.
    call(connect(&format!("http://{server}")).await.unwrap()).await;
    connect("dns:///exempt.invalid:1").await.unwrap_err();
    Connection::to("dns:///assets.nowhere.invalid:1").proxy(None).connect().await.unwrap_err();
}

#[tokio::test]
async fn the_environment_names_the_proxy() {
    let server = server();
    let proxy = Proxy::start(server.address(), MADE).await;
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    let name = format!("{}::in_the_environment", module_path!().split_once("::").unwrap().1);
    child.args([&*name, "--exact"]).env(CHILD, server.address().to_string());
    child.env("HTTPS_PROXY", proxy.uri()).env("NO_PROXY", "exempt.invalid,10.0.0.0/8");
    for variable in ["grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy"] {
        child.env_remove(variable);
    }
    let output = child.output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    let expected = ["CONNECT assets.nowhere.invalid:50051 HTTP/1.1", "CONNECT 192.0.2.1:7 HTTP/1.1"];
    assert_eq!(proxy.requests(), expected);
}
