//! The long-running operations of a generated client.

use crate::client::core::Client;
use crate::client::lro::google::longrunning::{
    CancelOperationRequest, DeleteOperationRequest, GetOperationRequest, Operation, WaitOperationRequest,
};
use crate::client::lro::{BoxCall, First, LongRunning, LongRunningMethods, OperationsServer, resume, start};
use crate::client::methods::Methods;
use crate::google::X_GOOG_REQUEST_PARAMS;
use gax_driver::CallOptions;
use prost::Message;
use std::time::Duration;
use tokio::time::Instant;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response};
use tonic_gax::__private::GRPC_TIMEOUT;
use tonic_gax::GrpcTransport;

/// The service's methods, by their place in its proto.
const GET: usize = 1;
const DELETE: usize = 2;
const CANCEL: usize = 3;
const WAIT: usize = 4;

impl<T: GrpcTransport> Client<T> {
    /// Calls an RPC that starts an operation, when the handle is first polled. The indices are those of the method, and of
    /// the method among those that start operations.
    pub fn long_running<Req, R, M>(
        &self,
        (index, operation): (usize, usize),
        request: Request<Req>,
        (response, metadata): (&'static str, &'static str),
    ) -> LongRunning<R, M>
    where
        Req: Message + Send + Sync + 'static,
        R: Message + Default,
        M: Message + Default,
    {
        let server = RemoteServer {
            client: self.with_methods(|own| own.operations.clone()),
            metadata: polling_metadata(request.metadata()),
            options: request.extensions().get::<CallOptions>().cloned(),
        };
        let starting = self.with_methods(|own| own.starts.clone());
        let call = move |deadline| -> BoxCall<Operation> {
            let call = starting.unary_until(index, request, deadline);
            Box::pin(async move { call.await.map(Response::into_inner) })
        };
        let config = self.own().polling(operation, First::Start);
        start(Box::new(server), Box::new(call), config).typed_as(response, metadata)
    }

    /// Resumes an operation by its name, also one that another process started. The index is that of the method among those that start
    /// operations.
    pub fn resume_long_running<R, M>(
        &self,
        operation: usize,
        name: String,
        (response, metadata): (&'static str, &'static str),
    ) -> LongRunning<R, M>
    where
        R: Message + Default,
        M: Message + Default,
    {
        let client = self.with_methods(|own| own.operations.clone());
        let server = RemoteServer { client, metadata: MetadataMap::new(), options: None };
        let config = self.own().polling(operation, First::Poll);
        resume(Box::new(server), name, config).typed_as(response, metadata)
    }

    fn own(&self) -> &LongRunningMethods {
        self.long_running.as_ref().expect("generated code starts operations of services that have some")
    }

    /// The client with other methods.
    fn with_methods(&self, methods: impl FnOnce(&LongRunningMethods) -> Methods) -> Self {
        Self { channel: self.channel.clone(), methods: methods(self.own()), long_running: None }
    }
}

/// The metadata of polls: that of the call, except for what is said of that call alone.
fn polling_metadata(call: &MetadataMap) -> MetadataMap {
    let mut headers = call.clone().into_headers();
    headers.remove(GRPC_TIMEOUT);
    // It names another resource in each call.
    headers.remove(X_GOOG_REQUEST_PARAMS);
    MetadataMap::from_headers(headers)
}

/// The server of a generated client.
struct RemoteServer<T> {
    /// Of `google.longrunning.Operations`.
    client: Client<T>,
    metadata: MetadataMap,
    options: Option<CallOptions>,
}

impl<T: GrpcTransport> RemoteServer<T> {
    fn call<Req, Res>(&self, index: usize, message: Req, deadline: Option<Instant>) -> BoxCall<Res>
    where
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        let mut request = Request::new(message);
        request.metadata_mut().clone_from(&self.metadata);
        if let Some(options) = &self.options {
            request.extensions_mut().insert(options.clone());
        }
        let call = self.client.unary_until(index, request, deadline);
        Box::pin(async move { call.await.map(Response::into_inner) })
    }
}

impl<T: GrpcTransport> OperationsServer for RemoteServer<T> {
    fn get(&mut self, name: &str, deadline: Option<Instant>) -> BoxCall<Operation> {
        self.call(GET, GetOperationRequest { name: name.to_owned() }, deadline)
    }

    fn wait(&mut self, name: &str, time: Duration, deadline: Option<Instant>) -> BoxCall<Operation> {
        let timeout = prost_types::Duration::try_from(time).ok();
        self.call(WAIT, WaitOperationRequest { name: name.to_owned(), timeout }, deadline)
    }

    fn cancel(&mut self, name: &str, deadline: Option<Instant>) -> BoxCall<()> {
        self.call(CANCEL, CancelOperationRequest { name: name.to_owned() }, deadline)
    }

    fn delete(&mut self, name: &str) -> BoxCall<()> {
        self.call(DELETE, DeleteOperationRequest { name: name.to_owned() }, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::lro::google::longrunning::OperationsStubSettings;

    #[test]
    fn methods_stand_where_they_are_called() {
        let methods = OperationsStubSettings::methods();
        let names: Vec<&str> = [GET, DELETE, CANCEL, WAIT]
            .iter()
            .filter_map(|index| Some(methods.get(*index)?.name()))
            .collect();
        assert_eq!(names, ["GetOperation", "DeleteOperation", "CancelOperation", "WaitOperation"]);
    }

    #[test]
    fn polls_bring_the_metadata_of_the_call_but_for_its_own() {
        let mut call = MetadataMap::new();
        for (name, value) in
            [("authorization", "token"), ("grpc-timeout", "1S"), ("x-goog-request-params", "parent=a")]
        {
            call.insert(name, value.parse().unwrap());
        }
        let kept: Vec<_> = polling_metadata(&call).into_headers().keys().map(ToString::to_string).collect();
        assert_eq!(kept, ["authorization"]);
    }
}
