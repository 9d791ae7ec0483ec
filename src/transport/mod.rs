//! What both transports share about services and connections.

pub(crate) mod blame;
mod chain;
mod connect_problem;
mod shared_service;

pub(crate) use chain::chain;
pub(crate) use shared_service::SharedService;
