//! A stream of requests that is buffered as it is sent, so that another attempt can be sent it again (gRFC A6).

mod attempt_body;
mod request_stream;
mod shared;
#[cfg(test)]
mod tests;

pub(crate) use request_stream::RequestStream;
