//! Calls of generated clients over HTTP and JSON.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::attempts::{Attempts, ONE_MESSAGE, Running, exempt, passes};
use bytes::Bytes;
use gax_driver::credentials::CredentialsService;
use gax_rest::{RestOptions, RestTransport};
use gax_table::RetryTable;
use gax_testing::{Reported as _, SuitePart, TestedTransport, Trial};
use http::Response;
use http_body_util::Full;
use std::io;
use tonic_gax::RetryLayer;
use tonic_gax_tests::generated::rest_shapes::DESCRIPTORS;
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::GetByUserRequest;
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_client::MessagingClient;

struct Rest;

const EXEMPT: &[(SuitePart, &str)] =
    &[(SuitePart::Hedging, "it is hedged as over gRPC, by the layer"), (SuitePart::Commit, ONE_MESSAGE)];

impl TestedTransport for Rest {
    fn run(&self, trial: Trial) -> Running {
        let attempts = Attempts::of(&trial);
        let service = tower::service_fn(move |_: http::Request<tonic::body::Body>| {
            let end = attempts.next_http();
            async move {
                let response =
                    Response::builder().status(end.await).header("content-type", "application/json");
                Ok::<_, io::Error>(response.body(Full::<Bytes>::from("{}")).unwrap())
            }
        });
        let http = CredentialsService::new(service, trial.credentials());
        let options = RestOptions::new().origin(http::Uri::from_static("http://localhost"));
        let transport = RestTransport::new(http, DESCRIPTORS, options).unwrap();
        let table = RetryTable::builder()
            .service("rest.messaging.v1.Messaging", trial.settings().clone(), trial.codes())
            .build()
            .unwrap();
        let mut client =
            MessagingClient::new(RetryLayer::new(table).options(trial.options()).layer(transport));
        Box::pin(async move {
            let request = GetByUserRequest { message_id: "1".to_owned(), ..GetByUserRequest::default() };
            client.get_by_user(request).await.operation_report().unwrap()
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        exempt(part, EXEMPT)
    }
}

#[tokio::test(start_paused = true)]
async fn calls_over_rest_pass() {
    passes(Rest, EXEMPT).await;
}
