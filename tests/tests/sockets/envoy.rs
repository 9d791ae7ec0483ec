//! A real Envoy, where there is one.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails a test")]

use gax_connection::Connection;
use gax_table::{ConversionTarget, RetryTable};
use gax_testing::{Break, Log, Reply, Script, Scripted};
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::task::JoinSet;
use tonic::Code;
use tonic_gax_optional_data::skipped;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use tonic_gax_tests::{Assets, Setup, SocketServer, Stack, lasting, ms};

/// The Envoy to run: `GAX_ENVOY`, else the one in `PATH`.
fn envoy() -> Option<OsString> {
    let program = std::env::var_os("GAX_ENVOY").unwrap_or_else(|| "envoy".into());
    let runs = Command::new(&program).arg("--version").output();
    if runs.is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    skipped(&"no Envoy to call a server through (set GAX_ENVOY to its path)");
    None
}

/// Routes to the cluster `backend`, whose server has that port. Connections end after 50 requests.
fn config(port: u16, admin: u16, server: u16, routes: &str) -> String {
    let extensions = "type.googleapis.com/envoy.extensions";
    let routes = routes.trim_end().replace('\n', "\n            ");
    format!(
        r#"admin: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {admin}}}}}}}
static_resources:
  listeners:
  - address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": {extensions}.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: test
          codec_type: HTTP2
          common_http_protocol_options: {{max_requests_per_connection: 50}}
          route_config:
            {routes}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {{"@type": {extensions}.filters.http.router.v3.Router}}
  clusters:
  - name: backend
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": {extensions}.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {{http2_protocol_options: {{}}}}
    load_assignment: {{cluster_name: backend, endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {server}}}}}}}}}]}}]}}
"#
    )
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

struct Running {
    process: Child,
    admin: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl Running {
    /// Envoy with that configuration, once it takes connections.
    async fn start(program: OsString, server: u16, routes: &str) -> (Self, Connection) {
        let (port, admin) = (free_port(), free_port());
        let mut command = Command::new(program);
        command.args(["--use-dynamic-base-id", "--concurrency", "1", "--config-yaml"]);
        command.arg(config(port, admin, server, routes)).stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = Self { process: command.spawn().unwrap(), admin };
        loop {
            if let Ok(connection) = Connection::to(format!("http://127.0.0.1:{port}")).connect().await {
                return (running, connection);
            }
            assert_eq!(running.process.try_wait().unwrap(), None, "Envoy has ended");
            tokio::time::sleep(ms(50)).await;
        }
    }

    /// How often it has retried a request.
    fn retries(&self) -> u64 {
        let mut admin = TcpStream::connect(("127.0.0.1", self.admin)).unwrap();
        admin.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        admin.write_all(b"GET /stats?filter=cluster.backend.upstream_rq_retry$ HTTP/1.0\r\n\r\n").unwrap();
        let mut reply = String::new();
        admin.read_to_string(&mut reply).unwrap();
        let count = reply.lines().find_map(|line| line.strip_prefix("cluster.backend.upstream_rq_retry: "));
        count.unwrap_or_else(|| panic!("{reply}")).trim().parse().unwrap()
    }
}

/// The code of a call through Envoy to that port, by the routes of a table with four attempts of a second in all.
async fn through(program: OsString, port: u16) -> (Option<Code>, u64) {
    let table = r#"{"methodConfig": [{"name": [{"service": "google.cloud.asset.v1.AssetService"}], "timeout": "1s",
        "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.01s", "maxBackoff": "0.02s", "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;
    let table = RetryTable::parse(table).unwrap();
    let routes = table.convert(ConversionTarget::Envoy).text().to_owned();
    let (running, connection) = Running::start(program, port, &routes).await;
    let setup = Setup::new(lasting(30_000)).without_retries();
    let call = Stack::Layer.list(connection, &setup);
    let result = tokio::time::timeout(Duration::from_secs(30), call).await.unwrap();
    (result.err().map(|status| status.code()), running.retries())
}

#[tokio::test]
async fn converted_routes_retry_a_closed_port() {
    let Some(program) = envoy() else { return };
    assert_eq!(through(program, free_port()).await, (Some(Code::Unavailable), 3));
}

#[tokio::test]
async fn converted_routes_retry_what_was_not_processed_and_end_late_replies() {
    let Some(program) = envoy() else { return };
    for (reply, expected) in [
        (Reply::Break(Break::Reset(7)), (None, 1)),
        // A reset after the request was sent: the server may have done something.
        (Reply::Break(Break::Reset(2)), (Some(Code::Unavailable), 0)),
        (Reply::unavailable(), (None, 1)),
        (Reply::Hang, (Some(Code::DeadlineExceeded), 0)),
    ] {
        let scripted = Scripted::empty(Script::of([reply.clone()]), Log::default());
        let server = gax_testing::SocketServer::start(SocketServer::ANY_PORT, scripted).unwrap();
        assert_eq!(through(program.clone(), server.address().port()).await, expected, "{reply:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_s_limit_of_requests_costs_no_call() {
    let Some(program) = envoy() else { return };
    let assets = tonic::transport::Server::builder().add_service(AssetServiceServer::new(Assets::default()));
    let server = SocketServer::grpc(SocketServer::ANY_PORT, assets);
    let routes = "{virtual_hosts: [{name: all, domains: [\"*\"], routes: [{match: {prefix: /}, route: {cluster: backend}}]}]}";
    let (_running, connection) = Running::start(program, server.address().port(), routes).await;
    let mut calls = JoinSet::new();
    let mut every = tokio::time::interval(Duration::from_secs(1) / 70);
    for _ in 0..1000 {
        every.tick().await;
        let connection = connection.clone();
        calls.spawn(
            async move { Stack::Layer.list(connection, &Setup::new(lasting(60_000))).await.map(drop) },
        );
    }
    for result in calls.join_all().await {
        result.unwrap();
    }
}
