//! The scenes of the demo: which RPC, with which settings, against which outage.

use super::turn::Turn;
use gax_retry::{Code, CodeSet, Hedging, RetrySettings, SettingsError};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// An RPC of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rpc {
    ListAssets,
    ExportAssets,
}

impl Rpc {
    pub(super) fn name(self) -> &'static str {
        match self {
            Rpc::ListAssets => "ListAssets",
            Rpc::ExportAssets => "ExportAssets",
        }
    }
}

/// One operation and the bad time that its server has.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) title: &'static str,
    pub(super) rpc: Rpc,
    /// The program's settings; `None`: those of the retry table.
    pub(super) settings: Option<(RetrySettings, CodeSet)>,
    /// How the call is hedged, instead of being retried.
    pub(super) hedging: Option<Hedging>,
    pub(super) turns: Vec<Turn>,
    /// How it ends.
    pub(super) code: Code,
    /// The sentence that says, once all is over, what was to be seen.
    pub(super) lesson: &'static str,
}

/// All scenes, in order. Together they take some eight seconds.
pub(super) fn all() -> Result<[Scene; 4], SettingsError> {
    let unavailable = Turn::Reply(Duration::ZERO, Code::Unavailable);
    let both = CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]);
    let quick = RetrySettings::builder()
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(400 * MS)
        .initial_rpc_timeout(300 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(600 * MS)
        .total_timeout(3000 * MS)
        .build()?;
    // Neither the table nor the protos say that ListAssets is idempotent; it only reads.
    let hedging = Hedging::new(3).delay(300 * MS).non_fatal_codes([Code::Unavailable]).allow_non_idempotent();
    // The documentation's second table.
    let documented = RetrySettings::builder()
        .initial_retry_delay(200 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(500 * MS)
        .initial_rpc_timeout(1500 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(3000 * MS)
        .total_timeout(5000 * MS)
        .jittered(false)
        .build()?;
    Ok([
        Scene {
            title: "The service is unavailable, and the retry table's settings outlast it",
            rpc: Rpc::ListAssets,
            settings: None,
            hedging: None,
            turns: vec![unavailable, unavailable, Turn::Reply(400 * MS, Code::Ok)],
            code: Code::Ok,
            lesson: "Two rejected attempts are not an error for the caller: the retry table lists UNAVAILABLE.",
        },
        Scene {
            title: "The service hangs, and the program has set short RPC timeouts",
            rpc: Rpc::ListAssets,
            settings: Some((quick, both)),
            hedging: None,
            turns: vec![Turn::Hang, unavailable, Turn::Reply(250 * MS, Code::Ok)],
            code: Code::Ok,
            lesson: "An attempt that hangs costs its RPC timeout, not the call: it is cancelled, and the next one is sent.",
        },
        Scene {
            title: "The service is slow now and then, and the program hedges",
            rpc: Rpc::ListAssets,
            settings: Some((RetrySettings::logical_timeout(5000 * MS), CodeSet::EMPTY)),
            hedging: Some(hedging),
            turns: vec![
                Turn::Reply(3000 * MS, Code::Ok),
                Turn::Reply(1000 * MS, Code::Ok),
                Turn::Reply(3000 * MS, Code::Ok),
            ],
            code: Code::Ok,
            lesson: "The reply came from the hedge; the others were reset at the server.",
        },
        Scene {
            title: "The service hangs for good, and the total timeout ends the operation",
            rpc: Rpc::ExportAssets,
            settings: Some((documented, CodeSet::from(Code::DeadlineExceeded))),
            hedging: None,
            turns: vec![Turn::Hang],
            code: Code::DeadlineExceeded,
            lesson: "The next attempt would have come too late, so the caller got the error early, with the reason.",
        },
    ])
}
