//! Settings from a program's own file, which override those of the retry table: `cargo run --example settings_from_file`

use gax_client::CallSettings;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;
use tonic_gax::{CallOptions, Code, RetryBudget};

/// The program's file. Any format of serde works.
const FILE: &str = r#"{
    "address": "http://localhost:50051",
    "budget": { "max_tokens": 10, "token_ratio": 0.1 },
    "nightly_export": { "without_timeout": true, "max_attempts": 10 },
    "retries": {
        "GetBook": {
            "total_timeout": "30s",
            "initial_retry_delay": "200ms",
            "retry_delay_multiplier": 2,
            "max_retry_delay": "5s",
            "codes": ["UNAVAILABLE", "ABORTED"]
        },
        "Search": {
            "total_timeout": "2s",
            "codes": [],
            "hedging": { "max_attempts": 2, "delay": "300ms", "non_fatal_codes": ["UNAVAILABLE"] }
        }
    }
}"#;

#[derive(Deserialize)]
struct Config {
    address: String,
    budget: RetryBudget,
    nightly_export: CallOptions,
    retries: BTreeMap<String, CallSettings>,
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let config: Config = serde_json::from_str(FILE)?;
    let get = config.retries.get("GetBook").ok_or("the file says nothing of GetBook")?;
    assert!(get.retryable_codes().contains(Code::Aborted));
    assert_eq!(get.retry_settings().initial_retry_delay(), Some(Duration::from_millis(200)));
    println!("{}: GetBook {}", config.address, serde_json::to_string(get)?);

    // One budget for the clients of the server, and the options of single calls.
    assert_eq!(serde_json::to_string(&config.budget)?, r#"{"max_tokens":10.0,"token_ratio":0.1}"#);
    assert_eq!(config.nightly_export, CallOptions::new().without_timeout().max_attempts(10));

    // Invalid settings are rejected with the reason.
    let error = serde_json::from_str::<CallSettings>(r#"{"total_timeout": "30"}"#).err();
    println!("{}", error.ok_or("a duration needs a unit")?);
    Ok(())
}
