//! The flags of `gax serve`.

use crate::command::Format;
use crate::command::table::ProtoFlags;
use crate::value;
use clap::Args;
use gax_retry::Code;
use gax_table::Dialect;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Start a server that fails as told, to see what a client in any language does
///
/// Every method of every service gets a reply: an empty message, or what --fail and its neighbours or a script say.
/// Prints each attempt when it arrives, and a table of each call at the end: after Ctrl-C, after --calls or --time, or when
/// COMMAND has ended. With server reflection, so that grpcurl needs no files.
///
/// With --compare, each call is compared with what a retry table leads to, and the exit status is 1 if one differs.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// How many attempts of each call fail
    #[arg(
        long, value_name = "NUMBER", value_parser = value::failures, allow_hyphen_values = true, default_value = "2",
        help_heading = "Faults"
    )]
    pub(super) fail: usize,

    /// The code that they fail with
    #[arg(long, value_name = "CODE", value_parser = value::failure_code, default_value = "UNAVAILABLE", help_heading = "Faults")]
    pub(super) code: Code,

    /// How long each of them takes
    #[arg(
        long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true, default_value = "0s",
        help_heading = "Faults"
    )]
    pub(super) delay: Duration,

    /// The milliseconds that they ask to wait for (grpc-retry-pushback-ms); a negative number means never
    #[arg(long, value_name = "MILLISECONDS", allow_hyphen_values = true, help_heading = "Faults")]
    pub(super) pushback: Option<i32>,

    /// A script in TOML instead: what is done with each attempt, for each method; - is standard input
    #[arg(
        long, value_name = "FILE", conflicts_with_all = ["fail", "code", "delay", "pushback"], help_heading = "Faults"
    )]
    pub(super) script: Option<PathBuf>,

    #[command(flatten)]
    pub(super) protos: ProtoFlags,

    /// A retry table: compare what the client does with what it says
    #[arg(long, value_name = "TABLE", help_heading = "Comparison")]
    pub(super) compare: Option<PathBuf>,

    /// Which client's interpretation of the table to use
    #[arg(long, value_parser = value::dialect(), default_value_t = Dialect::Grpc, requires = "compare", help_heading = "Comparison")]
    pub(super) dialect: Dialect,

    /// How much later than the table says an attempt may arrive
    #[arg(
        long, value_name = "DURATION", value_parser = value::duration, default_value = "100ms", requires = "compare",
        help_heading = "Comparison"
    )]
    pub(super) slack: Duration,

    /// Where to listen; port 0 is a free one
    #[arg(long, value_name = "ADDRESS", value_parser = value::address, default_value = "127.0.0.1:50051")]
    pub(super) listen: SocketAddr,

    /// End after this many calls: a call is over after a good reply, or if no attempt has followed for 5 s
    #[arg(long, value_name = "NUMBER", value_parser = value::attempts, allow_hyphen_values = true)]
    pub(super) calls: Option<u32>,

    /// End after this time
    #[arg(long, value_name = "DURATION", value_parser = value::duration, default_value = "1h")]
    pub(super) time: Duration,

    /// Output format; JSON is printed once, at the end
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,

    /// A client to run, and its arguments, in which {target} is the server's address; ends when it has ended
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  gax serve --fail 2 --code UNAVAILABLE --delay 300ms --pushback 600
  gax serve --compare service_config.json --calls 1
  gax serve --compare service_config.json -- go run ./client {target}
  gax serve --script outage.toml --proto-path proto --proto library.proto

A script has a table for each attempt of a call; what comes after the last gets [then], or an empty message:
  [[attempt]]
  code = \"UNAVAILABLE\"
  delay = \"300ms\"
  [[method.\"pkg.Service/Watch\"]]
  messages = 3
  reset = \"INTERNAL_ERROR\"

Keys of an attempt:
  delay = DURATION            before anything else
  headers = true              headers come first, so that a status is in trailers
  messages = NUMBER           so many empty messages come first; every = DURATION: a pause before each
  code = CODE                 a status, with message, details (base64), retry_info, pushback, metadata
  reset, goaway = ERROR       an error code of HTTP/2; goaway with last_stream = \"this\" or \"previous\"
  close, silence = true       the connection breaks; nothing more comes
  http = STATUS               a response that is not gRPC, with content_type, metadata
  refuse = DURATION           all connections break, and others are refused for that time

JSON:
  {\"calls\":[{\"call\":1,\"method\":..,\"attempts\":[{\"attempt\":1,\"at_ms\":..,\"gap_ms\":..,\"grpc_timeout\":..,
    \"previous_attempts\":..,\"reply\":..,\"end_ms\":..,\"cancelled\":false,\"expected_gap_ms\":[..,..]},..],
    \"differences\":[..]},..]}
  null: gap_ms of the first attempt, a header that is missing, end_ms while there is no reply,
  expected_gap_ms without --compare.";
