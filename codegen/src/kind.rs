//! How an RPC is called, by its descriptors.

use crate::paging::is_paged;
use gax_retry::MethodKind;
use prost_types::{DescriptorProto, MethodDescriptorProto};

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

#[cfg(test)]
mod tests {
    use super::*;
    use prost_types::FieldDescriptorProto;
    use prost_types::field_descriptor_proto::Label;

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
