//! Metrics: a layer that counts attempts, and a function that counts operations.
//!
//! ```text
//! cargo run --example metrics
//! ```

mod library;

use library::v1::{GetBookRequest, LibraryServiceClient};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tonic::{Response, Status};
use tonic_gax::{OperationError, OperationReport};
use tower_service::Service;

/// Where the numbers go; in a program, the counters of your metrics library.
#[derive(Debug, Default)]
struct Counters {
    attempts: AtomicU64,
    operations: AtomicU64,
    retried: AtomicU64,
    failed: AtomicU64,
}

/// Counts every request that passes: inside of the retries, every attempt.
#[derive(Clone)]
struct Counted<S> {
    inner: S,
    counters: Arc<Counters>,
}

impl<B, S: Service<http::Request<B>>> Service<http::Request<B>> for Counted<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<B>) -> S::Future {
        // The path is `/package.Service/Method`: a good label.
        println!("an attempt of {}", request.uri().path());
        self.counters.attempts.fetch_add(1, Ordering::Relaxed);
        self.inner.call(request)
    }
}

impl Counters {
    /// Counts an operation by its report, which a response has in its extensions and an error as its source.
    fn operation<T>(&self, result: &Result<Response<T>, Status>) {
        let report = match result {
            Ok(response) => response.extensions().get::<OperationReport>(),
            Err(status) => OperationError::of(status).map(OperationError::report),
        };
        self.operations.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(result.is_err().into(), Ordering::Relaxed);
        let attempts = report.map_or(1, OperationReport::attempt_count);
        self.retried.fetch_add((attempts > 1).into(), Ordering::Relaxed);
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = library::serve(2).await?; // a server that refuses two calls

    let counters = Arc::new(Counters::default());
    let channel = tonic_gax::client::connect(url).await?;
    let channel = Counted { inner: channel, counters: Arc::clone(&counters) };
    let client = LibraryServiceClient::new(channel);

    for _ in 0..2 {
        let result = client.get_book(GetBookRequest { name: "shelves/1/books/1".to_owned() }).await;
        counters.operation(&result);
    }
    println!("{counters:?}");
    let counts = [&counters.attempts, &counters.operations, &counters.retried, &counters.failed];
    assert_eq!(counts.map(|count| count.load(Ordering::Relaxed)), [4, 2, 1, 0]);
    Ok(())
}
