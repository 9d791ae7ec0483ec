//! The address that a server listens on.

use std::net::SocketAddr;

/// An IP address and a port.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.trim()
        .parse()
        .map_err(|_| "is not an IP address with a port; write one such as 127.0.0.1:50051".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port() {
        assert_eq!(address("[::1]:50051").map(|address| address.port()), Ok(50051));
        for wrong in ["50051", "127.0.0.1", "localhost:50051", ""] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
