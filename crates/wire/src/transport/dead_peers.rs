//! How the system finds out that the other end of a connection is gone. Servers see nothing of it.

use hyper_util::client::legacy::connect::HttpConnector;
use std::time::Duration;

/// How long sent bytes may stay without an acknowledgement (gRPC's keep-alive timeout, which its C core and Java set it to).
pub const USER_TIMEOUT: Duration = Duration::from_secs(20);

/// After how much quiet time the other end is probed.
pub const KEEPALIVE: Duration = Duration::from_secs(60);

/// The time between two probes.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// After how many probes without a reply the connection ends.
pub const KEEPALIVE_RETRIES: u32 = 3;

/// Ends connections whose bytes are not acknowledged for so long, where the system can do that; `None`: when it likes.
#[cfg_attr(
    not(any(target_os = "android", target_os = "fuchsia", target_os = "linux")),
    expect(unused_variables, clippy::needless_pass_by_ref_mut, reason = "this system can't")
)]
pub fn set_user_timeout<R>(tcp: &mut HttpConnector<R>, timeout: Option<Duration>) {
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    tcp.set_tcp_user_timeout(timeout);
}
