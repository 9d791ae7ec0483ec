//! Generated code whose protos have awkward names.

use tonic_gax::Code;
use tonic_gax::settings::MethodKind;
use tonic_gax_api_tests::names::edge::v1 as edge;

#[test]
fn rpcs_with_taken_names_have_another() {
    let mut settings = edge::EdgesStubSettings::builder();
    settings.new_rpc().set_retryable_codes([Code::Aborted]);
    settings.build_rpc().set_retryable_codes([Code::Aborted]);
    settings.r#type().set_retryable_codes([Code::Aborted]);
    settings.self_().set_retryable_codes([Code::Aborted]);
    settings.ping().set_retryable_codes([Code::Aborted]);
    let settings = settings.clone().build().unwrap();
    for call in
        [settings.new_rpc(), settings.build_rpc(), settings.r#type(), settings.self_(), settings.ping()]
    {
        assert!(call.retryable_codes().contains(Code::Aborted));
    }
    assert!(settings.clone_rpc().retryable_codes().is_empty());
    assert!(settings.methods_rpc().retryable_codes().is_empty());
}

/// Messages are named as prost has it, services as their proto has it.
#[test]
fn a_message_and_a_client_that_differ_in_case_are_both_there() {
    let message = edge::IamPolicyClient::default();
    assert_eq!(message, edge::IamPolicyClient {});
    let client = std::any::type_name::<edge::IAMPolicyClient<()>>();
    assert!(client.ends_with("::iam_policy_gax::IAMPolicyClient<()>"), "{client}");
    assert_eq!(edge::IAMPolicyStubSettings::methods()[0].path(), "/edge.v1.IAMPolicy/Get");
}

#[test]
fn every_kind_is_distinguished() {
    let kinds: Vec<MethodKind> =
        edge::EdgesStubSettings::methods().iter().take(5).map(gax_client::MethodInfo::kind).collect();
    assert_eq!(
        kinds,
        [
            MethodKind::Unary,
            MethodKind::Paged,
            MethodKind::ServerStreaming,
            MethodKind::ClientStreaming,
            MethodKind::BidiStreaming
        ]
    );
}

#[test]
fn the_entry_for_everything_is_for_what_no_other_entry_has() {
    let names: Vec<&str> =
        edge::EdgesStubSettings::methods().iter().take(6).map(gax_client::MethodInfo::codes_key).collect();
    assert_eq!(
        names,
        [
            "no_retry_0_codes",
            "retry_policy_1_codes",
            "retry_policy_1_codes",
            "retry_policy_1_codes",
            "no_retry_0_codes",
            "no_retry_codes"
        ]
    );
}
