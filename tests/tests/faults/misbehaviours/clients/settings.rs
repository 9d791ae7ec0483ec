//! The settings of all clients.

use crate::faults::misbehaviours::clients::connector::Connector;
use gax_client::CallSettings;
use gax_table::RetryTable;
use std::time::Duration;
use tonic_gax::{Code, CodeSet, OperationOptions, RetryLayer, RetrySettings};
use tonic_gax_tests::generated::test::talk::v1::{TalkSettings, TalkStubSettings};
use tonic_gax_tests::ms;

/// The codes of all these faults.
pub(crate) const CODES: [Code; 5] =
    [Code::Unavailable, Code::DeadlineExceeded, Code::Cancelled, Code::Internal, Code::ResourceExhausted];

/// The longest that an attempt and the delay before it take.
pub(crate) const UNIT: Duration = ms(1500);
/// The longest that connecting and a ping take.
pub(crate) const CONNECT: Duration = ms(1000);
/// The time between pings.
pub(crate) const PING: Duration = ms(2000);
/// Longer than any outage.
pub(crate) const TOTAL: Duration = ms(120_000);

/// Attempts of half a second, a second apart at most.
pub(crate) fn settings() -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(ms(50))
        .retry_delay_multiplier(1.5)
        .max_retry_delay(ms(1000))
        .initial_rpc_timeout(ms(500))
        .max_rpc_timeout(ms(500))
        .total_timeout(TOTAL)
        .build()
        .unwrap()
}

pub(crate) fn layer(connector: &Connector) -> RetryLayer {
    let table = RetryTable::builder().method("/test.talk.v1.Talk/Ask", settings(), CODES).method(
        "/test.talk.v1.Talk/Guess",
        settings(),
        CodeSet::EMPTY,
    );
    RetryLayer::new(table.build().unwrap()).options(connector.options())
}

pub(crate) fn talk(options: OperationOptions, listen: impl FnOnce(&mut CallSettings)) -> TalkSettings {
    let mut stub = TalkStubSettings::builder();
    stub.ask().set_retry_settings(settings()).set_retryable_codes(CODES);
    stub.guess().set_retry_settings(settings()).set_retryable_codes(CodeSet::EMPTY).set_hedging(None);
    listen(stub.listen());
    TalkSettings::create(stub.build().unwrap()).with_options(options)
}
