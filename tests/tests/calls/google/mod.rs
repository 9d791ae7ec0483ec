//! Headers, ids and credentials that Google's servers expect of every call.

mod batching;
mod client_headers;
mod credentials;
mod endpoints;
mod first_messages;
mod request_ids;
mod request_params;
mod shapes;
mod token_endpoints;
