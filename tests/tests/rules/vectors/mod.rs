//! gRFC A6, with the layer.

mod calls;
mod rows;
mod statistics;
mod validation;
