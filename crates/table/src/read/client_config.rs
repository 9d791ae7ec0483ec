//! A document's nodes to policies and definitions.

use crate::diagnostics::Findings;
use crate::document::{Kind, Located, Member, Node, Source};
use crate::model::TableFile;
use crate::read::named::{NamedMethod, NamedService, read_codes, read_params, resolve_named};
use crate::values::Scalars;
use crate::{Dialect, TableError};
use std::sync::Arc;
use std::time::Duration;

/// The timeout of a call whose method has no `timeout_millis`, in Google's Node library.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads a client config. A method's `timeout_millis` limits the whole call and any one attempt, as in
/// Google's Node library; the four timeouts among the params have no effect there.
pub(crate) fn read_client_config(source: &Source, root: &Node) -> Result<TableFile, TableError> {
    let mut findings = Findings::default();
    let reader = Reader { source, scalars: Scalars::new(source, Dialect::AsWritten) };
    let [interfaces] = reader.scalars.find(root, "a client config", ["interfaces"], &mut findings)?;
    let mut file = TableFile::default();
    for interface in reader.members(interfaces, "interfaces")? {
        let service = reader.service(interface, &mut findings)?;
        let resolved = resolve_named(source, &service);
        if let Some(unusable) = resolved.unusable.into_iter().next() {
            return Err(unusable.error);
        }
        file.entries.extend(resolved.entries);
        file.services.push(Arc::new(resolved.definitions));
    }
    file.findings = findings.into_vec();
    Ok(file)
}

struct Reader<'a> {
    source: &'a Source,
    scalars: Scalars<'a>,
}

impl Reader<'_> {
    fn service(&self, interface: &Member, findings: &mut Findings) -> Result<NamedService, TableError> {
        let names = ["retry_codes", "retry_params", "methods"];
        let [codes, params, methods] =
            self.scalars.find(&interface.value, "an interface", names, findings)?;
        let mut service = NamedService {
            name: interface.key.clone(),
            name_span: interface.key_span,
            codes: Vec::new(),
            params: Vec::new(),
            methods: Vec::new(),
        };
        for member in self.members(codes, "retry_codes")? {
            let codes = Some(&member.value);
            let (name, span) = (member.key.clone(), member.value.span);
            service.codes.push(read_codes(self.source, name, span, codes, findings)?);
        }
        for member in self.members(params, "retry_params")? {
            service.params.push(read_params(self.source, member.key.clone(), &member.value, findings)?);
        }
        for member in self.members(methods, "methods")? {
            service.methods.push(self.method(member, findings)?);
        }
        Ok(service)
    }

    fn method(&self, member: &Member, findings: &mut Findings) -> Result<NamedMethod, TableError> {
        let names = ["timeout_millis", "retry_codes_name", "retry_params_name", "bundling"];
        let [timeout, codes, params, bundling] =
            self.scalars.find(&member.value, "a method", names, findings)?;
        let text = |node: Option<&Node>, field| {
            node.map(|node| self.scalars.string(node, field).map(|value| Located { value, span: node.span }))
                .transpose()
        };
        if let Some(bundling) = bundling {
            let (message, help) = ("bundling has no effect on retries", "it is kept, but has no effect here");
            findings.push(self.source.note("no-effect", bundling.span, message, help));
        }
        let timeout = timeout.map(|node| self.scalars.millis(node, "timeout_millis")).transpose()?;
        let timeout = timeout.filter(|timeout| !timeout.value.is_zero()).unwrap_or_else(|| {
            let message = format!("{} has no timeout_millis, so that its calls end after 30 s", member.key);
            let help = "write the time that a call may take";
            findings.push(self.source.note("default-timeout", member.key_span, message, help));
            Located { value: DEFAULT_TIMEOUT, span: member.key_span }
        });
        Ok(NamedMethod {
            name: member.key.clone(),
            name_span: member.key_span,
            span: member.key_span,
            codes_name: text(codes, "retry_codes_name")?,
            params_name: text(params, "retry_params_name")?,
            is_disabled: false,
            timeout: Some(timeout),
        })
    }

    fn members<'n>(&self, node: Option<&'n Node>, field: &str) -> Result<&'n [Member], TableError> {
        match node.map(|node| (&node.kind, node)) {
            None => Ok(&[]),
            Some((Kind::Object(members), _)) => Ok(members),
            Some((_, node)) => {
                let problem = format!("is {}, but {field} is an object", node.a_kind());
                Err(self.source.fault(node.span, &problem, "write an object"))
            }
        }
    }
}
