//! The flags of `gax plan`.

use crate::command::Format;
use crate::value::{self, Codes};
use clap::Args;
use clap::builder::TypedValueParser;
use gax_retry::{Compatibility, Response};
use gax_table::Dialect;
use gax_table::clients::Client;
use std::path::PathBuf;
use std::time::Duration;

/// Print the attempts that retry settings lead to
///
/// Prints each attempt's RPC timeout, the delay before it, when it is invoked and when it ends, the
/// attempt that a limit prevents, and why the operation ended. Nothing is sent anywhere.
///
/// The settings come from flags, or from a retry table and a method, or from both: a flag then
/// replaces what the table says. Unless set, there is no limit, timeouts don't grow, and delays are
/// 100ms x 1.3 up to 60s (with --compat gax-java: no delay).
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(super) settings: SettingsFlags,

    /// The retryable codes: names in any case, or numbers, separated by commas
    ///
    /// Without a table the default is `DEADLINE_EXCEEDED,UNAVAILABLE`. An empty value means none.
    #[arg(long, value_name = "CODES", value_parser = value::codes, allow_hyphen_values = true, help_heading = "Settings")]
    pub(super) retryable_codes: Option<Codes>,

    #[command(flatten)]
    pub(super) hedging: HedgingFlags,

    /// Take settings and codes from a retry table; - is standard input
    #[arg(long, value_name = "FILE", help_heading = "Table")]
    pub(super) table: Option<PathBuf>,

    /// The method in the table: pkg.Service/Method, or just Method if only one has that name
    #[arg(long, value_name = "METHOD", help_heading = "Table")]
    pub(super) method: Option<String>,

    /// Which client's interpretation of the table to use
    #[arg(long, value_parser = value::dialect(), help_heading = "Table")]
    pub(super) dialect: Option<Dialect>,

    /// Print the attempts of another gRPC client instead: grpc-go, grpc-java, grpcio or grpc-js
    #[arg(
        long, value_name = "CLIENT", value_parser = value::parsed::<Client>, requires = "table", help_heading = "Table",
        conflicts_with_all = ["dialect", "outcome", "jitter", "svg"]
    )]
    pub(super) client: Option<Client>,

    /// The server's reply to an attempt; repeat the flag for further attempts
    ///
    /// 300ms:UNAVAILABLE is a reply after 300 ms, UNAVAILABLE an immediate reply, hang no reply. A reply that would
    /// come at the RPC timeout or later is too late. In place of a code, lost means that the connection breaks before
    /// the request is sent, and refused that the server rejects it before processing. Such a request is sent again
    /// immediately, which is not an attempt, and takes the next outcome. stream:5s:UNAVAILABLE is a stream of
    /// responses that has delivered messages when it breaks: it is resumed after them, with back-off and a number of
    /// attempts that start again. RPC timeouts don't apply to a stream (with --compat gax-java they do). Attempts
    /// after the last outcome run into their timeouts.
    #[arg(long, value_name = "OUTCOME", value_parser = value::outcome, allow_hyphen_values = true)]
    pub(super) outcome: Vec<Response>,

    /// Which rules turn settings into attempts [default: grpc for a table in that dialect, else documented]
    #[arg(long, value_parser = compat())]
    compat: Option<Compatibility>,

    /// Draw random waits, as clients do; without it every wait is the full delay
    #[arg(long, help_heading = "Jitter")]
    pub(super) jitter: bool,

    /// Seed of the random waits: the same seed draws the same waits
    #[arg(
        long, value_name = "NUMBER", value_parser = value::seed, allow_hyphen_values = true,
        help_heading = "Jitter"
    )]
    pub(super) seed: Option<u64>,

    /// Simulate this many operations and print the range of each value
    #[arg(
        long, value_name = "NUMBER", conflicts_with = "svg",
        value_parser = value::samples, allow_hyphen_values = true, help_heading = "Jitter"
    )]
    pub(super) samples: Option<u32>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub(super) format: Format,

    /// Also draw the timeline as SVG; - prints only the SVG
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) svg: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  gax plan --total-timeout 10s --initial-rpc-timeout 1500ms --rpc-timeout-multiplier 2 \\
           --max-rpc-timeout 3s --initial-retry-delay 200ms --retry-delay-multiplier 2 \\
           --max-retry-delay 500ms
  gax plan --table cloudasset_grpc_service_config.json --method ListAssets --total-timeout 10s
  gax plan --max-attempts 4 --initial-retry-delay 1s --outcome 20ms:UNAVAILABLE --outcome 30ms:OK
  gax plan --max-attempts 3 --outcome stream:5s:UNAVAILABLE --outcome UNAVAILABLE --outcome 1s:OK

JSON:
  {\"attempts\":[{\"attempt\":1,\"rpc_timeout_ms\":1500,\"retry_delay_ms\":0,\"start_ms\":0,\"end_ms\":1500,
    \"code\":\"DEADLINE_EXCEEDED\"},..],\"not_attempted\":{\"attempt\":3,\"retry_delay_ms\":400},
    \"stop_reason\":\"TOTAL_TIMEOUT\",\"end_ms\":4700}
  Numbers may have fractions. null: rpc_timeout_ms if there is no deadline, end_ms and code if
  an attempt never ends, not_attempted if no attempt was skipped, stop_reason on success. An attempt
  whose request was sent again at once has \"transparent_retries\":COUNT. If more than 10000
  attempts would follow, the rest is left out and \"truncated\":true says so.
  With --samples, where NAME is a stop reason, SUCCESS, NEVER_ENDS or TRUNCATED:
  {\"samples\":..,\"seed\":..,\"attempts\":[{\"attempt\":1,\"made\":..,
    \"rpc_timeout_ms\":{\"min\":..,\"max\":..},\"retry_delay_ms\":{..},\"start_ms\":{..},\"end_ms\":{..},
    \"codes\":{CODE:ATTEMPTS}},..],\"attempt_counts\":{ATTEMPTS:OPERATIONS},
    \"stop_reasons\":{NAME:OPERATIONS},
    \"end_ms\":{\"min\":..,\"p50\":..,\"p90\":..,\"p99\":..,\"max\":..},\"load\":..,
    \"throttled\":{\"load\":..,\"stopped\":OPERATIONS}}
  load is the average number of attempts of an operation. throttled: the same operations, one after the
  other, with the table's retry throttling; null if the table has none.";

/// The flags of hedging.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hedging")]
pub(super) struct HedgingFlags {
    /// Send up to this many attempts without waiting for earlier ones to end; the first good reply wins
    ///
    /// A hedged call isn't retried: --max-attempts, --retryable-codes and the flags of the retry delay can't be given.
    #[arg(long, value_name = "NUMBER", value_parser = value::attempts, allow_hyphen_values = true)]
    pub(super) hedging_max_attempts: Option<u32>,

    /// The time between two attempts while none has a reply [default: 0s, all at once]
    #[arg(
        long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true,
        requires = "hedging_max_attempts"
    )]
    pub(super) hedging_delay: Option<Duration>,

    /// The codes after which the next attempt is sent immediately; any other ends the operation
    #[arg(
        long, value_name = "CODES", value_parser = value::codes, allow_hyphen_values = true,
        requires = "hedging_max_attempts"
    )]
    pub(super) non_fatal_codes: Option<Codes>,
}

/// The flags that are named like the settings.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings")]
pub(super) struct SettingsFlags {
    /// Limit of the whole operation: all attempts and waits
    #[arg(long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true)]
    pub(super) total_timeout: Option<Duration>,

    /// The delay before the second attempt; 0s: immediately [default: 100ms, or the longest delay; with --compat gax-java
    /// 0s]
    #[arg(long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true)]
    pub(super) initial_retry_delay: Option<Duration>,

    /// Factor from one delay to the next [default: 1.3; with --compat gax-java 1]
    #[arg(long, value_name = "NUMBER", value_parser = value::multiplier, allow_hyphen_values = true)]
    pub(super) retry_delay_multiplier: Option<f64>,

    /// Upper limit of the delay [default: 60s; with --compat gax-java none]
    #[arg(long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true)]
    pub(super) max_retry_delay: Option<Duration>,

    /// The number of attempts, including the first
    #[arg(long, value_name = "NUMBER", value_parser = value::attempts, allow_hyphen_values = true)]
    pub(super) max_attempts: Option<u32>,

    /// The timeout of the first attempt
    #[arg(long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true)]
    pub(super) initial_rpc_timeout: Option<Duration>,

    /// Factor from one attempt's timeout to the next one's
    #[arg(long, value_name = "NUMBER", value_parser = value::multiplier, allow_hyphen_values = true)]
    pub(super) rpc_timeout_multiplier: Option<f64>,

    /// Upper limit of an attempt's timeout
    #[arg(long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true)]
    pub(super) max_rpc_timeout: Option<Duration>,

    /// One attempt that may take the whole time (with --compat gax-java: no limit on attempts)
    #[arg(
        long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true,
        conflicts_with_all = ["total_timeout", "initial_rpc_timeout", "rpc_timeout_multiplier", "max_rpc_timeout"]
    )]
    pub(super) logical_timeout: Option<Duration>,
}

fn compat() -> impl TypedValueParser<Value = Compatibility> {
    value::named([
        ("documented", "The documentation of Google's client libraries"),
        ("gax-java", "As gax-java does, attempt for attempt"),
        ("grpc", "As gRPC itself does with a service config (gRFC A6)"),
    ])
}

impl PlanArgs {
    /// A flag that was given and is of retries only.
    pub(super) fn of_retries(&self) -> Option<&'static str> {
        let flags = &self.settings;
        let given = [
            ("--max-attempts", flags.max_attempts.is_some()),
            ("--retryable-codes", self.retryable_codes.is_some()),
            ("--initial-retry-delay", flags.initial_retry_delay.is_some()),
            ("--retry-delay-multiplier", flags.retry_delay_multiplier.is_some()),
            ("--max-retry-delay", flags.max_retry_delay.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// The rules to plan by.
    pub(super) fn compat(&self) -> Compatibility {
        self.compat.unwrap_or(self.dialect.unwrap_or_default().default_compatibility())
    }
}
