//! Routes, shown to a real Envoy.

use super::forms::{ENVOY, TABLE};
use super::read;
use crate::tests::corpus::corpus;
use crate::tests::optional_data::skipped;
use crate::{ConversionTarget, Dialect, RetryTable};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::Command;

/// The Envoy to ask: `GAX_ENVOY`, else the one in `PATH`.
fn envoy() -> Option<OsString> {
    let program = std::env::var_os("GAX_ENVOY").unwrap_or_else(|| "envoy".into());
    let runs = Command::new(&program).arg("--version").output();
    if runs.is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    skipped(&"no Envoy to check routes with (set GAX_ENVOY to its path)");
    None
}

/// A configuration of Envoy with a listener for each set of routes.
fn bootstrap(all_routes: &[String]) -> String {
    let mut text = "static_resources:\n  listeners:\n".to_owned();
    for (port, routes) in (10_000..).zip(all_routes) {
        let routes = routes.trim_end().replace('\n', "\n            ");
        let _infallible = write!(
            text,
            "  - name: listener_{port}
    address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: test
          route_config:
            {routes}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
"
        );
    }
    text + "  clusters:\n  - name: backend\n    connect_timeout: 1s\n"
}

/// Envoy's messages about a configuration, and whether it takes it.
fn validate(program: &OsString, name: &str, config: &str) -> (bool, String) {
    let file = std::env::temp_dir().join(format!("gax-envoy-{name}-{}.yaml", std::process::id()));
    std::fs::write(&file, config).unwrap();
    let output = Command::new(program).args(["--mode", "validate", "-c"]).arg(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn envoy_takes_its_routes() {
    let Some(program) = envoy() else { return };
    let (taken, said) = validate(&program, "one", &bootstrap(&[ENVOY.to_owned()]));
    assert!(taken, "{said}");
    // An unknown word in retry_on is a warning only.
    assert!(!said.contains("[warning]"), "{said}");
    let wrong = ENVOY.replace("max_interval: \"10s\"", "max_interval: \"0.01s\"");
    assert!(!validate(&program, "wrong", &bootstrap(&[wrong])).0);
}

#[cfg(feature = "toml")]
#[test]
fn envoy_takes_hedges_and_tries() {
    let Some(program) = envoy() else { return };
    let table = read(
        Dialect::AsWritten,
        r#"
[[entry]]
for = ["a.B/Hedged"]
hedging = { max_attempts = 3, delay = "500ms", non_fatal_codes = ["UNAVAILABLE", "ABORTED"] }

[[entry]]
for = ["a.B"]
total_timeout = "60s"
initial_rpc_timeout = "2s"
codes = ["DEADLINE_EXCEEDED"]
initial_retry_delay = "10us"
max_retry_delay = "20us"
"#,
    );
    let routes = table.convert(ConversionTarget::Envoy).text().to_owned();
    let (taken, said) = validate(&program, "hedges", &bootstrap(&[routes]));
    assert!(taken && !said.contains("[warning]"), "{said}");
}

#[test]
fn envoy_takes_the_routes_of_all_of_the_corpus() {
    let (Some(program), Some(paths)) = (envoy(), corpus()) else { return };
    let mut routes = vec![read(Dialect::AsWritten, TABLE).convert(ConversionTarget::Envoy).text().to_owned()];
    for path in paths {
        let table = RetryTable::from_path(&path).unwrap();
        routes.push(table.convert(ConversionTarget::Envoy).text().to_owned());
    }
    let (taken, said) = validate(&program, "corpus", &bootstrap(&routes));
    assert!(taken && !said.contains("[warning]"), "{said}");
}
