//! Table and descriptors together: what each RPC of a service starts with.

use gax_retry::{BatchingSettings, CodeSet, Hedging, MethodKind, RetrySettings};
use gax_table::{
    BatchDescriptor, HedgingPolicy, MethodDescription, MethodPolicy, RetryTable, RowKind, ServiceDescription,
    SourceLocation, StubTable,
};
use std::time::Duration;

/// The names of the definitions of a method that the table has no entry for.
const NO_CODES: &str = "no_retry_codes";
const NO_PARAMS: &str = "no_retry_params";

/// A service with what the table says of each RPC.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JoinedService {
    table: StubTable,
    /// In the order of the proto, those that are mixed in last.
    pub(crate) methods: Vec<JoinedMethod>,
}

/// An RPC with its policy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JoinedMethod {
    /// The full name of the service that defines it.
    pub(crate) service: String,
    pub(crate) name: String,
    pub(crate) kind: MethodKind,
    pub(crate) codes: Definition<CodeSet>,
    pub(crate) params: Definition<RetrySettings>,
    /// How requests are batched; `None`: not at all.
    pub(crate) batching: Option<BatchingSettings>,
    /// How requests are merged into one, if they are batched and the messages have the fields.
    pub(crate) batch_descriptor: Option<BatchDescriptor>,
    /// How the operations that it starts are polled; `None`: it starts none.
    pub(crate) polling: Option<RetrySettings>,
    /// How it is hedged, as the table says.
    pub(crate) hedging: Option<Hedging>,
    /// `Some(true)` if its calls wait for a connection, as the table says.
    pub(crate) wait_for_ready: Option<bool>,
    /// How long its streams of responses may keep their callers waiting, as the table says.
    pub(crate) wait_timeout: Option<Duration>,
    /// How long callers may leave its streams of responses alone, as the table says.
    pub(crate) idle_timeout: Option<Duration>,
    /// `true` if the table or, if it does not say, the protos say that it may be carried out twice.
    pub(crate) is_idempotent: bool,
    pub(crate) is_read_only: bool,
    /// Where the table's entry stands; `None`: the table has none.
    pub(crate) origin: Option<SourceLocation>,
}

/// A named value, and its place among the service's definitions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition<T> {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) value: T,
}

/// Joins services with a table.
pub(crate) fn join(table: &RetryTable, services: &[ServiceDescription]) -> Vec<JoinedService> {
    let stubs = table.stub_tables(services);
    let joined = services.iter().zip(stubs).map(|(service, stub)| {
        let methods = service.methods().iter().map(|method| join_method(table, service, method, &stub));
        JoinedService { methods: methods.collect(), table: stub }
    });
    joined.collect()
}

fn join_method(
    table: &RetryTable,
    service: &ServiceDescription,
    method: &MethodDescription,
    stub: &StubTable,
) -> JoinedMethod {
    let policy = table.lookup(service.name(), method.name());
    let word = table.idempotent(service.name(), method.name());
    let codes_key = policy.as_ref().map_or(NO_CODES, MethodPolicy::codes_key);
    let params_key = policy.as_ref().map_or(NO_PARAMS, MethodPolicy::params_key);
    let own_service = method.own_service().unwrap_or(service.name());
    let full_name = format!("{own_service}/{}", method.name());
    let row = |kind| stub.rows().iter().find(|row| row.kind() == kind && row.full_method() == full_name);
    let streams = method.kind() == MethodKind::ServerStreaming;
    let batching = row(RowKind::Batching).and_then(|row| row.batching()).cloned();
    JoinedMethod {
        service: own_service.to_owned(),
        name: method.name().to_owned(),
        kind: if batching.is_some() { MethodKind::Batching } else { method.kind() },
        codes: definition(stub.code_definitions(), codes_key),
        params: definition(stub.param_definitions(), params_key),
        batch_descriptor: batching
            .as_ref()
            .and_then(|_| table.batch_descriptor(service.name(), method.name()).cloned()),
        batching,
        polling: row(RowKind::OperationPolling).and_then(|row| row.settings()).cloned(),
        hedging: policy.and_then(|policy| policy.hedging()).map(HedgingPolicy::to_hedging),
        wait_for_ready: policy.and_then(|policy| policy.wait_for_ready()),
        wait_timeout: policy.filter(|_| streams).and_then(|policy| policy.wait_timeout()),
        idle_timeout: policy.filter(|_| streams).and_then(|policy| policy.idle_timeout()),
        is_idempotent: word.unwrap_or_else(|| method.is_idempotent()),
        is_read_only: method.is_read_only(),
        origin: policy.and_then(|policy| policy.origin().cloned()),
    }
}

fn definition<T: Clone>(definitions: &[(String, T)], wanted: &str) -> Definition<T> {
    let mut numbered = definitions.iter().enumerate();
    let (index, (name, value)) =
        numbered.find(|(_, (name, _))| name == wanted).expect("a stub table defines what its methods use");
    Definition { index, name: name.clone(), value: value.clone() }
}

impl JoinedService {
    gax_text::getters! { self:
        /// The service's full name.
        pub(crate) name: &str = self.table.service();

        /// The sets of codes by name, in the order of first use.
        pub(crate) code_definitions: &[(String, CodeSet)] = self.table.code_definitions();

        /// The settings by name, in the order of first use.
        pub(crate) param_definitions: &[(String, RetrySettings)] = self.table.param_definitions();
    }
}
