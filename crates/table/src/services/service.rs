//! Services as far as retries care.

use gax_retry::MethodKind;

/// A service and its methods, in the order of its proto file, with mixins last.
///
/// It is made from descriptors, which this crate reads with the feature `descriptors`.
///
/// # Examples
///
/// ```
/// use gax_retry::MethodKind;
/// use gax_table::{MethodDescription, ServiceDescription};
///
/// let service = ServiceDescription::new("example.v1.Library")
///     .with_method(MethodDescription::new("ListBooks", MethodKind::Paged))
///     .with_method(MethodDescription::new("Reindex", MethodKind::Unary).long_running())
///     .with_method(
///         MethodDescription::new("GetLocation", MethodKind::Unary).mixed_in_from("google.cloud.location.Locations"),
///     );
/// assert_eq!(service.methods()[2].own_service(), Some("google.cloud.location.Locations"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ServiceDescription {
    name: String,
    methods: Vec<MethodDescription>,
}

impl ServiceDescription {
    /// A service by its full name, without methods.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), methods: Vec::new() }
    }

    /// The service with one method more.
    pub fn with_method(mut self, method: MethodDescription) -> Self {
        self.methods.push(method);
        self
    }

    gax_text::getters! { self:
        /// The full name, such as `google.cloud.asset.v1.AssetService`.
        pub name: &str = &self.name;

        /// The methods, in the order in which they were added.
        pub methods: &[MethodDescription] = &self.methods;
    }
}

/// A method of a [`ServiceDescription`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct MethodDescription {
    name: String,
    kind: MethodKind,
    long_running: bool,
    returns_operation: bool,
    own_service: Option<String>,
    http_verb: Option<String>,
    idempotency: IdempotencyLevel,
}

/// The `idempotency_level` of a method in its proto.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum IdempotencyLevel {
    /// Nothing.
    #[default]
    Unknown,
    /// It changes nothing.
    NoSideEffects,
    /// Doing it twice is the same as doing it once.
    Idempotent,
}

impl IdempotencyLevel {
    /// The level with this number in descriptors; any number except 1 and 2 is unknown.
    #[must_use]
    pub fn from_number(number: i32) -> Self {
        match number {
            1 => Self::NoSideEffects,
            2 => Self::Idempotent,
            _ => Self::Unknown,
        }
    }
}

impl MethodDescription {
    /// A method by its name in the proto file.
    pub fn new(name: impl Into<String>, kind: MethodKind) -> Self {
        Self {
            name: name.into(),
            kind,
            long_running: false,
            returns_operation: false,
            own_service: None,
            http_verb: None,
            idempotency: IdempotencyLevel::Unknown,
        }
    }

    /// The method, starting a long-running operation that clients poll: it returns a
    /// `google.longrunning.Operation` and has `google.longrunning.operation_info`.
    pub fn long_running(mut self) -> Self {
        self.long_running = true;
        self.returning_operation()
    }

    /// The method, returning a `google.longrunning.Operation`.
    pub fn returning_operation(mut self) -> Self {
        self.returns_operation = true;
        self
    }

    gax_text::setters! { self:
        /// The method as one of another service that is mixed into this one, such as
        /// `google.cloud.location.Locations`. A table knows it under the host's name.
        pub mixed_in_from(service: impl Into<String>) => self.own_service = Some(service.into());

        /// The method with the verb under which it can be called over HTTP, such as `GET`: that of its
        /// `google.api.http`.
        pub with_http_verb(verb: impl Into<String>) => self.http_verb = Some(verb.into());

        /// The method with the `idempotency_level` of its proto.
        pub with_idempotency(level: IdempotencyLevel) => self.idempotency = level;
    }

    /// Returns whether its proto says that it is idempotent: by its `idempotency_level`, or by `google.api.http`, if it is a
    /// `GET`, `PUT` or `DELETE`.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        match self.idempotency {
            IdempotencyLevel::NoSideEffects | IdempotencyLevel::Idempotent => true,
            IdempotencyLevel::Unknown => {
                matches!(self.http_verb.as_deref(), Some("GET" | "PUT" | "DELETE")) && !self.returns_operation
            }
        }
    }

    /// Returns whether its proto says that it changes nothing: by its `idempotency_level`, or by `google.api.http`, if it is a `GET`.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        match self.idempotency {
            IdempotencyLevel::NoSideEffects => true,
            IdempotencyLevel::Idempotent => false,
            IdempotencyLevel::Unknown => self.http_verb.as_deref() == Some("GET"),
        }
    }

    gax_text::getters! { self:
        /// The name, such as `ListAssets`.
        pub name: &str = self.name.as_str();

        /// How it is called.
        pub kind: MethodKind = self.kind;

        /// Returns whether it starts a long-running operation that clients poll.
        pub is_long_running: bool = self.long_running;

        /// Returns whether it returns a `google.longrunning.Operation`: one that it starts or, as `GetOperation` does, one
        /// that was started before.
        pub returns_operation: bool = self.returns_operation;

        /// The service that the method belongs to, if it is mixed in.
        pub own_service: Option<&str> = self.own_service.as_deref();

        /// The verb under which it can be called over HTTP, such as `GET`.
        pub http_verb: Option<&str> = self.http_verb.as_deref();

        /// The `idempotency_level` of its proto.
        pub idempotency: IdempotencyLevel = self.idempotency;
    }
}
