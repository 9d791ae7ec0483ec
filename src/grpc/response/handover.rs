//! The end of an operation whose response the caller continues reading.

use crate::grpc::methods::MethodConfig;
use crate::grpc::response::body::ResponseBody;
use crate::grpc::response::observed_stream::ObservedStream;
use gax_driver::__private::MessageCounter;
use gax_driver::protocol::{Driver, Protocol};
use std::pin::Pin;
use std::sync::Arc;

/// Hands a response over to the caller, who reads the rest of it: the operation ends with that.
pub fn hand_over<P: Protocol<Config = MethodConfig>>(
    mut driver: Pin<&mut Driver<P>>,
    response: &mut http::Response<ResponseBody>,
    is_stream: bool,
) {
    let has_all_the_time = driver.has_all_the_time();
    let observed = driver.as_mut().hand_over(response.extensions_mut());
    let report = response.extensions().get().filter(|_| response.body().is_open()).cloned();
    if observed.is_some() || report.is_some() {
        response.body_mut().observe(ObservedStream {
            observed,
            report: report.map(|report| (report, driver.clock())),
            messages: is_stream.then(MessageCounter::default),
            config: Arc::clone(driver.config()),
            has_all_the_time,
        });
    }
}
