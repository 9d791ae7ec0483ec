//! The program `examples/published_client.rs`, run as it stands.

#[path = "../../examples/published_client.rs"]
mod published_client;

#[test]
fn a_published_client_is_retried_by_the_api_s_table() {
    published_client::main().unwrap();
}
