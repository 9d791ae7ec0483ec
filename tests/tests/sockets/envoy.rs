//! A real Envoy, where there is one.

use gax_connection::Connection;
use std::ffi::OsString;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::task::JoinSet;
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

/// It ends connections after 50 requests.
fn config(port: u16, server: u16) -> String {
    let extensions = "type.googleapis.com/envoy.extensions";
    format!(
        r#"static_resources:
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
          route_config: {{virtual_hosts: [{{name: all, domains: ["*"], routes: [{{match: {{prefix: /}}, route: {{cluster: server}}}}]}}]}}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {{"@type": {extensions}.filters.http.router.v3.Router}}
  clusters:
  - name: server
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": {extensions}.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {{http2_protocol_options: {{}}}}
    load_assignment: {{cluster_name: server, endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {server}}}}}}}}}]}}]}}
"#
    )
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_s_limit_of_requests_costs_no_call() {
    let Some(program) = envoy() else { return };
    let router = tonic::transport::Server::builder().add_service(AssetServiceServer::new(Assets::default()));
    let server = SocketServer::grpc(SocketServer::ANY_PORT, router);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new(program);
    command.args(["--use-dynamic-base-id", "--concurrency", "1", "--config-yaml"]);
    command.arg(config(port, server.address().port())).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    let connection = loop {
        if let Ok(connection) = Connection::to(format!("http://127.0.0.1:{port}")).connect().await {
            break connection;
        }
        assert_eq!(running.0.try_wait().unwrap(), None, "Envoy has ended");
        tokio::time::sleep(ms(50)).await;
    };
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
