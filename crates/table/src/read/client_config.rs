//! A document's nodes to policies and definitions.

use super::named::{NamedMethod, NamedService};
use crate::document::{Located, Member, Node, Source};
use crate::model::TableFile;
use crate::values::Values;
use crate::{Dialect, TableError};
use std::sync::Arc;
use std::time::Duration;

/// The timeout of a call whose method has no `timeout_millis`, in Google's Node library.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads a client config. A method's `timeout_millis` limits the whole call and any one attempt, as in
/// Google's Node library; the four timeouts among the params have no effect there.
pub(crate) fn read_client_config(source: &Source, root: &Node) -> Result<TableFile, TableError> {
    let values = Values::new(source, Dialect::AsWritten);
    let [interfaces] = values.find(root, "a client config", ["interfaces"])?;
    let mut file = TableFile::default();
    for interface in values.members(interfaces, "interfaces")? {
        let names = ["retry_codes", "retry_params", "methods"];
        let [codes, params, methods] = values.find(&interface.value, "an interface", names)?;
        let mut service = NamedService::new(&values, interface.key.clone(), interface.key_span);
        for Member { key, value, .. } in values.members(codes, "retry_codes")? {
            service.add_codes(key.clone(), value.span, Some(value))?;
        }
        for Member { key, value, .. } in values.members(params, "retry_params")? {
            service.add_params(key.clone(), value)?;
        }
        for member in values.members(methods, "methods")? {
            file.entries.push(service.entry(&method(&values, member)?)?);
        }
        file.services.push(Arc::new(service.definitions));
    }
    file.findings = values.findings.take();
    Ok(file)
}

fn method(values: &Values<'_>, member: &Member) -> Result<NamedMethod, TableError> {
    let names = ["timeout_millis", "retry_codes_name", "retry_params_name", "bundling"];
    let [timeout, codes, params, bundling] = values.find(&member.value, "a method", names)?;
    if let Some(bundling) = bundling {
        let (message, help) = ("bundling has no effect on retries", "it is kept, but has no effect here");
        values.note("no-effect", bundling.span, message, help);
    }
    let timeout = timeout.map(|node| values.millis(node, "timeout_millis")).transpose()?;
    let timeout = timeout.filter(|timeout| !timeout.value.is_zero()).unwrap_or_else(|| {
        let message = format!("{} has no timeout_millis, so that its calls end after 30 s", member.key);
        let help = "write the time that a call may take";
        values.note("default-timeout", member.key_span, message, help);
        Located { value: DEFAULT_TIMEOUT, span: member.key_span }
    });
    Ok(NamedMethod {
        name: Located { value: member.key.clone(), span: member.key_span },
        span: member.key_span,
        codes: values.text(codes, "retry_codes_name")?,
        params: values.text(params, "retry_params_name")?,
        timeout: Some(timeout),
    })
}
