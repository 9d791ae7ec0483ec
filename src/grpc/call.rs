//! One call of any kind, with the request that a stock client wrote.

use super::access::Access;
use super::deadline::shorter;
use super::failure::unsent;
use super::inbound;
use super::incoming::Judge;
use super::intake::{Intake, Read};
use super::outgoing::path_of;
use super::passing::Passing;
use super::plan::MethodPlan;
use super::protocol::{GrpcProtocol, Reply};
use super::response_body::ResponseBody;
use super::stock::{Look, Stock};
use crate::operation::{Driver, Finished, Note, OperationReport};
use crate::settings::CallOptions;
use gax_retry::MethodKind;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tonic::Status;
use tonic::body::Body;

pin_project! {
    /// An operation, or a call of a method that no table knows.
    #[project = CallProj]
    pub(crate) enum Call<A: Access> {
        // The request could not be read.
        Failed { status: Option<Status> },
        Operating { #[pin] driver: Driver<GrpcProtocol<A, Stock>>, wants_report: bool },
        Passing { #[pin] call: Passing<A> },
    }
}

impl<A: Access> Call<A> {
    /// A call of a method that no table knows.
    #[inline]
    pub(crate) fn untouched(access: A, service: &mut A::Service, request: http::Request<Body>) -> Self {
        Self::Passing { call: Passing::new(access, service, request) }
    }

    /// A call that starts now: its request goes out at once if it is there and `service` takes it. `is_named` keeps
    /// tonic's description of the method, for others to see.
    ///
    /// What it returns is large to move, which the bench of instructions shows: it is made where it goes, and in the form
    /// that it has there.
    #[expect(
        clippy::inline_always,
        reason = "it is called in two places, and what it makes is large to move"
    )]
    #[inline(always)]
    pub(crate) fn start<F: From<Self>>(
        access: A,
        service: &mut A::Service,
        mut request: http::Request<Body>,
        plan: &Arc<MethodPlan>,
        kind: Option<MethodKind>,
        is_named: bool,
    ) -> F {
        let Look { options, timeout, usual } = Look::at(&request, is_named);
        let own_plan = plan.of_call(options);
        let bound = shorter(timeout, inbound::time_left());
        let wants_report = options.is_some_and(|options| options.report);
        if options.is_some() {
            // They are nobody else's.
            request.extensions_mut().remove::<CallOptions>();
        }
        let plan = own_plan.unwrap_or_else(|| Arc::clone(plan));
        if kind.is_some_and(MethodKind::streams_requests) {
            let stock = Stock::once(&request, Note::RequestIsAStream, bound);
            return Self::sent_once(access, service, request, plan, stock, wants_report).into();
        }
        let judge = Judge::of(kind, plan.policy.commit_point());
        let mut intake = Intake::of(std::mem::take(request.body_mut()), kind.is_some());
        // A stock client's one message is there at once. What is not is asked for again when the call is polled.
        match intake.poll(plan.limits.max_replay_bytes, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(Read::Whole)) => {
                let stock = Stock::new(&request, usual, intake.into_message(), bound);
                Self::sent(access, service, request, plan, stock, judge, wants_report).into()
            }
            Poll::Ready(Ok(Read::Stream(note))) => {
                let stock = Stock::once(&request, note, bound);
                *request.body_mut() = intake.into_body();
                let plan = Arc::new(plan.for_stream());
                Self::sent_once(access, service, request, plan, stock, wants_report).into()
            }
            Poll::Ready(Err(status)) => {
                Self::Failed { status: Some(unsent(status, path_of(request.uri()))) }.into()
            }
            Poll::Pending => {
                let stock = Stock::unread(request, usual, intake, bound);
                let driver = Driver::preparing(GrpcProtocol::new(access, stock, judge), plan);
                Self::Operating { driver, wants_report }.into()
            }
        }
    }

    /// A request that can't be sent again goes out at once, if the service takes it.
    #[cold]
    fn sent_once(
        access: A,
        service: &mut A::Service,
        request: http::Request<Body>,
        plan: Arc<MethodPlan>,
        stock: Stock,
        wants_report: bool,
    ) -> Self {
        Self::sent(access, service, request, plan, stock, Judge::Head, wants_report)
    }

    /// The first attempt goes out at once, if the service takes it.
    #[expect(clippy::inline_always, reason = "what it makes is large to move")]
    #[inline(always)]
    fn sent(
        access: A,
        service: &mut A::Service,
        request: http::Request<Body>,
        plan: Arc<MethodPlan>,
        stock: Stock,
        judge: Judge,
        wants_report: bool,
    ) -> Self {
        let driver = Driver::start(
            GrpcProtocol::new(access, stock, judge),
            plan,
            |protocol, plan, started, current| {
                protocol.send_now(service, plan, started, current, request, Stock::complete)
            },
        );
        Self::Operating { driver, wants_report }
    }
}

impl<A: Access> Future for Call<A> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            CallProj::Failed { status } => {
                status.take().map_or(Poll::Pending, |status| Poll::Ready(Err(status)))
            }
            CallProj::Operating { mut driver, wants_report } => {
                Poll::Ready(match ready!(driver.as_mut().poll(cx)) {
                    Finished::Reply(reply) => {
                        let report = (*wants_report || driver.has_news()).then(|| {
                            let name = driver.as_mut().protocol().name();
                            driver.report(None, name)
                        });
                        Ok(response(reply, report))
                    }
                    Finished::Failure(stop) => {
                        let name = driver.as_mut().protocol().name();
                        let report = driver.as_mut().report(Some(stop), name);
                        Err(driver.protocol().status(stop, report))
                    }
                })
            }
            CallProj::Passing { call } => call.poll(cx),
        }
    }
}

#[expect(clippy::inline_always, reason = "called in one place, and what it takes and makes is large to move")]
#[inline(always)]
fn response(
    Reply { incoming, tail }: Reply,
    report: Option<OperationReport>,
) -> http::Response<ResponseBody> {
    let mut parts = incoming.parts;
    if let Some(report) = report {
        parts.extensions.insert(report);
    }
    http::Response::from_parts(parts, ResponseBody::new(incoming.collected, tail))
}
