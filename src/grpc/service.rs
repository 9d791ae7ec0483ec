//! The service that the layer makes.

use super::access::OnDemand;
use super::course::{Judge, Terms};
use super::deadline::shorter;
use super::engine::Operation;
use super::inbound;
use super::intake::{Intake, Read};
use super::methods::{Found, Methods};
use super::passing::Passing;
use super::response_body::ResponseBody;
use super::response_future::{Reading, ResponseFuture, State, Taken};
use super::stock::{Look, Stock};
use super::transport::{Transport, is_bare_channel};
use crate::operation::{Note, Spare};
use crate::settings::CallOptions;
use gax_retry::MethodKind;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// Runs every call as an operation; made by [`RetryLayer`](crate::RetryLayer).
///
/// An operation starts when the service is called, and goes on when its future is polled.
///
/// # Cancel safety
///
/// To drop a call's future stops it at once: no attempt, wait or timer outlives it. The server sees the
/// stream reset.
#[derive(Debug, Clone)]
pub struct RetryService<S> {
    inner: S,
    spare: Spare<S>,
    methods: Arc<Methods>,
}

impl<S: Clone> RetryService<S> {
    pub(crate) fn new(inner: S, methods: Arc<Methods>) -> Self {
        Self { spare: Spare::of(&inner), inner, methods }
    }
}

impl<S: Transport> Service<http::Request<Body>> for RetryService<S> {
    type Response = http::Response<ResponseBody>;
    type Error = Status;
    type Future = ResponseFuture<S>;

    /// Always ready: whether the service below is, belongs to each attempt, under its clock.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let access = OnDemand::new(self.spare.clone());
        let path = request.uri().path();
        let found = match self.methods.find(path) {
            None if changes_settings(&request) => Some(self.methods.unlisted(path)),
            found => found,
        };
        let Some(Found { plan, kind }) = found else {
            let call = Passing::untouched(access, &mut self.inner, request);
            return State::Passing { call }.into();
        };
        let Look { options, timeout, usual } = Look::at(&request, !is_bare_channel::<S>());
        let own_plan = plan.of_call(options, shorter(timeout, inbound::time_left()));
        let wants_report = options.is_some_and(|options| options.report);
        if options.is_some() {
            // They are nobody else's.
            request.extensions_mut().remove::<CallOptions>();
        }
        let plan = own_plan.unwrap_or_else(|| Arc::clone(plan));
        if kind.is_some_and(|kind| !kind.is_unary()) {
            let note = kind.is_some_and(MethodKind::streams_requests).then_some(Note::RequestIsAStream);
            let call = Passing::watched(access, &mut self.inner, request, &plan, note, wants_report);
            return State::Passing { call }.into();
        }
        let terms =
            Terms { judge: if kind.is_some() { Judge::Whole } else { Judge::FirstMessage }, wants_report };
        let mut intake = Intake::of(std::mem::take(request.body_mut()));
        // A stock client's unary request is there at once. What is not is asked for again when the future is
        // polled.
        // Each future is made where it is returned, since it is large to move.
        match intake.poll(terms.judge, plan.limits, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(Read::Whole)) => {
                let outgoing = Stock::new(plan, &request, usual, intake.into_message());
                let operation = Operation::start(access, &mut self.inner, outgoing, request, terms);
                State::Operating { operation }.into()
            }
            read => {
                let call = Taken { access, plan, request, usual, intake, terms };
                match read {
                    Poll::Pending => State::Reading { reading: Some(Box::new(Reading::of(call))) },
                    Poll::Ready(read) => call.ended(read),
                }
                .into()
            }
        }
    }
}

fn changes_settings<B>(request: &http::Request<B>) -> bool {
    request.extensions().get().is_some_and(CallOptions::changes_settings)
}
