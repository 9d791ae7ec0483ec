//! Table and descriptors together: what each RPC of a service starts with.

use crate::descriptors::ProtoService;
use gax_retry::{CodeSet, MethodKind, RetrySettings};
use gax_table::{MethodDescription, MethodPolicy, Origin, RetryTable, ServiceDescription, StubTable};

/// The names of the definitions of a method that the table has nothing for.
const NO_CODES: &str = "no_retry_codes";
const NO_PARAMS: &str = "no_retry_params";

/// A service with what the table says of each RPC.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JoinedService {
    table: StubTable,
    pub(crate) methods: Vec<JoinedMethod>,
}

/// An RPC with its policy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JoinedMethod {
    pub(crate) name: String,
    pub(crate) kind: MethodKind,
    pub(crate) codes: Definition<CodeSet>,
    pub(crate) params: Definition<RetrySettings>,
    /// Where the table's entry stands; `None`: the table has none.
    pub(crate) origin: Option<Origin>,
}

/// A named value, and its place among the service's definitions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition<T> {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) value: T,
}

/// Joins services with a table.
pub(crate) fn join(table: &RetryTable, services: &[&ProtoService]) -> Vec<JoinedService> {
    let descriptions: Vec<ServiceDescription> = services.iter().map(|service| describe(service)).collect();
    let stubs = table.stub_tables(&descriptions);
    services.iter().zip(stubs).map(|(service, stub)| join_one(table, service, stub)).collect()
}

/// A service in the words of retry tables.
pub(crate) fn describe(service: &ProtoService) -> ServiceDescription {
    service.methods.iter().fold(ServiceDescription::new(&service.full_name), |description, method| {
        description.with_method(MethodDescription::new(&method.name, method.kind))
    })
}

fn join_one(table: &RetryTable, service: &ProtoService, stub: StubTable) -> JoinedService {
    let methods = service.methods.iter().map(|method| {
        let policy = table.lookup(&service.full_name, &method.name);
        let codes_key = policy.as_ref().map_or(NO_CODES, MethodPolicy::codes_key);
        let params_key = policy.as_ref().map_or(NO_PARAMS, MethodPolicy::params_key);
        JoinedMethod {
            name: method.name.clone(),
            kind: method.kind,
            codes: definition(stub.code_definitions(), codes_key),
            params: definition(stub.param_definitions(), params_key),
            origin: policy.and_then(|policy| policy.origin().cloned()),
        }
    });
    JoinedService { methods: methods.collect(), table: stub }
}

fn definition<T: Clone>(definitions: &[(String, T)], wanted: &str) -> Definition<T> {
    let mut numbered = definitions.iter().enumerate();
    let (index, (name, value)) =
        numbered.find(|(_, (name, _))| name == wanted).expect("a stub table defines what its methods use");
    Definition { index, name: name.clone(), value: value.clone() }
}

impl JoinedService {
    /// The sets of codes by name, in the order of first use.
    pub(crate) fn code_definitions(&self) -> &[(String, CodeSet)] {
        self.table.code_definitions()
    }

    /// The settings by name, in the order of first use.
    pub(crate) fn param_definitions(&self) -> &[(String, RetrySettings)] {
        self.table.param_definitions()
    }
}
