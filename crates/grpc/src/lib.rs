#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attempt;
mod call;
mod failure;
mod interceptor;
mod metadata;
mod operation;
mod protocol;
mod request;
mod streams;

pub use call::RetriedCall;
pub use interceptor::RetryInterceptor;
pub use streams::{RetryRecvStream, RetrySendStream};
