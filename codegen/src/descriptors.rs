//! The compiled protos, as far as retries care.

use crate::message_fields::MessageFields;
use crate::paging::{PageShape, is_paged, page_shape};
use gax_retry::MethodKind;
pub(crate) use gax_table::descriptors::full_name;
use heck::{ToSnakeCase, ToUpperCamelCase};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto,
    ServiceDescriptorProto,
};
use std::collections::{HashMap, HashSet};

/// The services of a set of files, and what else their packages hold.
#[derive(Debug)]
pub(crate) struct Descriptors {
    /// Every service, in the order of the files.
    pub(crate) services: Vec<ProtoService>,
    /// Per package its messages and enums, as Rust spells them.
    types: HashMap<String, HashSet<String>>,
    /// Per package the modules of its messages, in which nested types are.
    nesting: HashMap<String, HashSet<String>>,
    packages: HashSet<String>,
}

/// A service.
#[derive(Debug)]
pub(crate) struct ProtoService {
    /// The file that defines it.
    pub(crate) file: String,
    pub(crate) package: String,
    pub(crate) name: String,
    /// Such as `google.cloud.asset.v1.AssetService`.
    pub(crate) full_name: String,
    /// In the order of the file.
    pub(crate) methods: Vec<ProtoMethod>,
}

/// An RPC.
#[derive(Debug)]
pub(crate) struct ProtoMethod {
    pub(crate) name: String,
    pub(crate) kind: MethodKind,
    /// `true` if it returns a `google.longrunning.Operation`.
    pub(crate) returns_operation: bool,
    /// The full name of its response, with a leading dot.
    pub(crate) response: String,
    /// The fields that its pages are about; `None`: it isn't paged, or not in a way that Rust can read.
    pub(crate) pages: Option<PageShape>,
    pub(crate) request_fields: MessageFields,
    pub(crate) response_fields: MessageFields,
}

impl Descriptors {
    pub(crate) fn new(set: &FileDescriptorSet) -> Self {
        let messages = messages(set);
        let (types, nesting, packages) = (HashMap::new(), HashMap::new(), HashSet::new());
        let mut descriptors = Self { services: Vec::new(), types, nesting, packages };
        for file in &set.file {
            descriptors.packages.insert(file.package().to_owned());
            let types = descriptors.types.entry(file.package().to_owned()).or_default();
            let names = file.message_type.iter().map(DescriptorProto::name);
            types.extend(
                names
                    .chain(file.enum_type.iter().map(EnumDescriptorProto::name))
                    .map(ToUpperCamelCase::to_upper_camel_case),
            );
            let nests = |message: &&DescriptorProto| {
                let has_oneof = message.field.iter().any(|field| field.oneof_index.is_some());
                has_oneof || !message.nested_type.is_empty() || !message.enum_type.is_empty()
            };
            let nesting =
                file.message_type.iter().filter(nests).map(|message| message.name().to_snake_case());
            descriptors.nesting.entry(file.package().to_owned()).or_default().extend(nesting);
            let services = file.service.iter().map(|service| ProtoService::new(file, service, &messages));
            descriptors.services.extend(services);
        }
        descriptors
    }

    /// The messages and enums of a package, as Rust spells them.
    pub(crate) fn types(&self, package: &str) -> HashSet<String> {
        self.types.get(package).cloned().unwrap_or_default()
    }

    /// The modules inside a package's module: one for each subpackage, and one for each of its types,
    /// which may have nested ones.
    pub(crate) fn modules(&self, package: &str) -> HashSet<String> {
        let types = self.types.get(package).into_iter().flatten();
        self.subpackages(package).chain(types.map(|name| name.to_snake_case())).collect()
    }

    /// Those of them that there are.
    pub(crate) fn modules_in_use(&self, package: &str) -> HashSet<String> {
        self.subpackages(package).chain(self.nesting.get(package).into_iter().flatten().cloned()).collect()
    }

    fn subpackages(&self, package: &str) -> impl Iterator<Item = String> {
        let prefix = if package.is_empty() { String::new() } else { format!("{package}.") };
        let packages = self.packages.iter().filter_map(move |other| other.strip_prefix(&prefix));
        packages
            .filter(|rest| !rest.is_empty())
            .filter_map(|rest| rest.split('.').next())
            .map(ToSnakeCase::to_snake_case)
    }
}

impl ProtoService {
    fn new(
        file: &FileDescriptorProto,
        service: &ServiceDescriptorProto,
        messages: &HashMap<String, &DescriptorProto>,
    ) -> Self {
        let methods = service.method.iter().map(|method| {
            let request = messages.get(method.input_type()).copied();
            let response = messages.get(method.output_type()).copied();
            let kind = method_kind(file.package(), method, request, response);
            let is_paged = kind == MethodKind::Paged;
            ProtoMethod {
                name: method.name().to_owned(),
                kind,
                returns_operation: method.output_type() == ".google.longrunning.Operation",
                response: method.output_type().to_owned(),
                pages: is_paged.then(|| page_shape(file.package(), request, response)).flatten(),
                request_fields: MessageFields::of(request),
                response_fields: MessageFields::of(response),
            }
        });
        Self {
            file: file.name().to_owned(),
            package: file.package().to_owned(),
            name: service.name().to_owned(),
            full_name: full_name(file.package(), service.name()),
            methods: methods.collect(),
        }
    }
}

/// The kind of an RPC with that request and response.
pub(crate) fn method_kind(
    package: &str,
    method: &MethodDescriptorProto,
    request: Option<&DescriptorProto>,
    response: Option<&DescriptorProto>,
) -> MethodKind {
    match (method.client_streaming(), method.server_streaming()) {
        (true, true) => MethodKind::BidiStreaming,
        (true, false) => MethodKind::ClientStreaming,
        (false, true) => MethodKind::ServerStreaming,
        (false, false) if is_paged(package, request, response) => MethodKind::Paged,
        (false, false) => MethodKind::Unary,
    }
}

/// Returns whether Rust types exist elsewhere for a package or type, by prefixes such as `.google.cloud`.
pub(crate) fn is_extern(prefixes: &[String], name: &str) -> bool {
    let path = format!(".{name}");
    prefixes.iter().any(|prefix| {
        let rest = path.strip_prefix(prefix.as_str());
        prefix == "." || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Every message by its full name with a leading dot, as descriptors refer to it.
pub(crate) fn messages(set: &FileDescriptorSet) -> HashMap<String, &DescriptorProto> {
    let mut found = HashMap::new();
    for file in &set.file {
        let scope = if file.package().is_empty() { String::new() } else { format!(".{}", file.package()) };
        collect(&scope, &file.message_type, &mut found);
    }
    found
}

fn collect<'a>(
    scope: &str,
    messages: &'a [DescriptorProto],
    found: &mut HashMap<String, &'a DescriptorProto>,
) {
    for message in messages {
        let name = format!("{scope}.{}", message.name());
        collect(&name, &message.nested_type, found);
        found.insert(name, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_types::FieldDescriptorProto;
    use prost_types::field_descriptor_proto::Label;
    use protox::file::File;

    fn set(protos: &[&str]) -> FileDescriptorSet {
        let files = protos.iter().enumerate().map(|(index, proto)| {
            let file = File::from_source(&format!("{index}.proto"), proto).unwrap();
            file.file_descriptor_proto().clone()
        });
        FileDescriptorSet { file: files.collect() }
    }

    #[test]
    fn subpackages_and_types_are_modules() {
        let descriptors = Descriptors::new(&set(&[
            "syntax = 'proto3'; package a.b; message HTTPRule {} enum Kind { NONE = 0; }",
            "syntax = 'proto3'; package a.b.cD.e;",
            "syntax = 'proto3'; package a.bc;",
        ]));
        let modules = descriptors.modules("a.b");
        assert_eq!(modules, ["http_rule", "kind", "c_d"].map(str::to_owned).into());
        assert_eq!(descriptors.types("a.b"), ["HttpRule", "Kind"].map(str::to_owned).into());
        assert_eq!(descriptors.modules("a.bc"), HashSet::new());
    }

    #[test]
    fn a_service_without_a_package_is_named_by_itself() {
        assert_eq!(full_name("", "Echo"), "Echo");
        assert_eq!(full_name("a.b", "Echo"), "a.b.Echo");
    }

    fn message(fields: &[&str]) -> DescriptorProto {
        let field = fields.iter().map(|name| FieldDescriptorProto {
            name: Some((*name).to_owned()),
            ..FieldDescriptorProto::default()
        });
        DescriptorProto { field: field.collect(), ..DescriptorProto::default() }
    }

    fn kind(client: bool, server: bool, request: &[&str], response: &[&str]) -> MethodKind {
        let method = MethodDescriptorProto {
            client_streaming: Some(client),
            server_streaming: Some(server),
            ..MethodDescriptorProto::default()
        };
        method_kind("a.b", &method, Some(&message(request)), Some(&message(response)))
    }

    #[test]
    fn streams_come_before_pages() {
        let request = ["page_size", "page_token"];
        let response = ["items", "next_page_token"];
        assert_eq!(kind(false, false, &request, &response), MethodKind::Paged);
        assert_eq!(kind(false, true, &request, &response), MethodKind::ServerStreaming);
        assert_eq!(kind(true, false, &request, &response), MethodKind::ClientStreaming);
        assert_eq!(kind(true, true, &request, &response), MethodKind::BidiStreaming);
    }

    #[test]
    fn all_three_fields_make_a_page() {
        assert_eq!(kind(false, false, &["page_token"], &["next_page_token"]), MethodKind::Unary);
        assert_eq!(kind(false, false, &["page_size"], &["next_page_token"]), MethodKind::Unary);
        assert_eq!(kind(false, false, &["page_size", "page_token"], &["results"]), MethodKind::Unary);
        assert_eq!(kind(false, false, &["pageSize", "page_token"], &["next_page_token"]), MethodKind::Unary);
    }

    #[test]
    fn a_repeated_token_is_no_page_token() {
        let mut response = message(&["next_page_token"]);
        response.field[0].label = Some(Label::Repeated.into());
        let request = message(&["page_size", "page_token"]);
        let method = MethodDescriptorProto::default();
        assert_eq!(method_kind("a.b", &method, Some(&request), Some(&response)), MethodKind::Unary);
    }

    #[test]
    fn max_results_are_a_page_size_in_some_packages() {
        let request = message(&["max_results", "page_token"]);
        let response = message(&["next_page_token"]);
        let method = MethodDescriptorProto::default();
        for (package, kind) in [
            ("google.cloud.compute.v1", MethodKind::Paged),
            ("google.cloud.bigquery.v2", MethodKind::Paged),
            ("google.cloud.bigquery.v3", MethodKind::Unary),
            ("a.b", MethodKind::Unary),
        ] {
            assert_eq!(method_kind(package, &method, Some(&request), Some(&response)), kind, "{package}");
        }
    }
}
