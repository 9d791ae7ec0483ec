//! Functions of generated clients that need a feature of this crate: without it they are left out.

/// For generated code alone: the functions of a client for the long-running operations of its RPCs.
#[cfg(feature = "longrunning")]
#[doc(hidden)]
#[macro_export]
macro_rules! __long_running {
    (impl $client:ident {
        $(
            $(#[$start_attribute:meta])*
            fn $start:ident($argument:ident: $request:ty $(,)?) -> ($response:ty, $metadata:ty $(,)?) {
                ($index:literal, $operation:literal, $response_name:literal, $metadata_name:literal $(,)?)
            }
            $(#[$resume_attribute:meta])*
            fn $resume:ident() {}
        )*
    }) => {
        impl<T: $crate::GrpcTransport> $client<T> {
            $(
                $(#[$start_attribute])*
                pub fn $start(
                    &self,
                    request: impl ::tonic::IntoRequest<$request>,
                ) -> $crate::longrunning::LongRunning<$response, $metadata> {
                    let types = ($response_name, $metadata_name);
                    self.inner.long_running(($index, $operation), request.into_request(), types)
                }

                $(#[$resume_attribute])*
                pub fn $resume(
                    &self,
                    name: impl ::core::convert::Into<::std::string::String>,
                ) -> $crate::longrunning::LongRunning<$response, $metadata> {
                    self.inner.resume_long_running($operation, name.into(), ($response_name, $metadata_name))
                }
            )*
        }
    };
}

/// For generated code alone: without the feature `longrunning` a client has no such functions.
#[cfg(not(feature = "longrunning"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __long_running {
    ($($functions:tt)*) => {};
}
