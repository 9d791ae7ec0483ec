//! Setters of builders that work in a `static`.

/// One setter for each field, in the form `field(argument: Type) = value;`.
macro_rules! const_setters {
    ($($(#[$doc:meta])* $field:ident($value:ident: $kind:ty) = $set:expr;)*) => {
        $($(#[$doc])*
        pub const fn $field(mut self, $value: $kind) -> Self {
            self.0.$field = $set;
            self
        })*
    };
}

pub(crate) use const_setters;
