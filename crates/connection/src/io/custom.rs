//! Connections that a program makes itself.

use crate::resolver::Address;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// Anything that bytes go over.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

pub(crate) type BoxIo = Box<dyn Io>;

type Dialing = Pin<Box<dyn Future<Output = io::Result<BoxIo>> + Send>>;

/// A function of the program that connects.
#[derive(Clone)]
pub(crate) struct Custom(Arc<dyn Fn(Address) -> Dialing + Send + Sync>);

impl Custom {
    pub(crate) fn new<F, T>(connect: impl Fn(Address) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self(Arc::new(move |address| {
            let connecting = connect(address);
            Box::pin(async move { connecting.await.map(|io| Box::new(io) as BoxIo) })
        }))
    }

    pub(super) fn dial(&self, address: Address) -> Dialing {
        (self.0)(address)
    }
}
