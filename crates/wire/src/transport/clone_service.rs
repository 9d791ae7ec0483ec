//! The services that a retry layer can be put over.

/// A service that a retry layer can be put over: anything that is `Clone`, since each attempt may need a separate service.
///
/// It is implemented for everything that qualifies, so you never implement it yourself. A service that isn't `Clone` becomes one
/// in a [buffer](https://docs.rs/tower/latest/tower/buffer/) between it and the layer.
#[diagnostic::on_unimplemented(
    message = "a retry layer can't be put over `{Self}`, which is not `Clone`",
    label = "not `Clone`",
    note = "each attempt may need its own service: put a `tower::buffer::Buffer` between this one and the layer"
)]
pub trait CloneService: Clone {}

#[diagnostic::do_not_recommend]
impl<S: Clone> CloneService for S {}
