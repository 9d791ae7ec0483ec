use super::ServiceYaml;
use crate::{MethodDescription, ServiceDescription};
use gax_retry::MethodKind;

const LOCATIONS: &str = "google.cloud.location.Locations";
const OPERATIONS: &str = "google.longrunning.Operations";
const POLICY: &str = "google.iam.v1.IAMPolicy";

fn service(name: &str, methods: &[&str]) -> ServiceDescription {
    methods.iter().fold(ServiceDescription::new(name), |service, method| {
        service.with_method(MethodDescription::new(*method, MethodKind::Unary))
    })
}

fn mixed(yaml: &str, services: Vec<ServiceDescription>) -> Vec<String> {
    let services = ServiceYaml::parse(yaml).unwrap().mix_in(services);
    let rows = services.iter().flat_map(|service| {
        service.methods().iter().map(move |method| {
            let own = method.own_service().map_or_else(String::new, |own| format!(" of {own}"));
            format!("{}/{}{own}", service.name(), method.name())
        })
    });
    rows.collect()
}

fn yaml(apis: &[&str], selectors: &[&str]) -> String {
    let list = |items: &[&str], key: &str| {
        let items: Vec<String> = items.iter().map(|item| format!("  - {key}: {item}\n")).collect();
        items.concat()
    };
    format!("apis:\n{}http:\n  rules:\n{}", list(apis, "name"), list(selectors, "selector"))
}

#[test]
fn mixins_come_last_and_in_their_order() {
    let all = yaml(
        &[POLICY, LOCATIONS, OPERATIONS],
        &[
            "google.iam.v1.IAMPolicy.SetIamPolicy",
            "google.cloud.location.Locations.GetLocation",
            "google.longrunning.Operations.GetOperation",
        ],
    );
    let services = vec![
        service("a.v1.B", &["Get"]),
        service(POLICY, &["SetIamPolicy"]),
        service(LOCATIONS, &["ListLocations", "GetLocation"]),
        service(OPERATIONS, &["GetOperation"]),
    ];
    assert_eq!(
        mixed(&all, services),
        [
            "a.v1.B/Get",
            "a.v1.B/GetOperation of google.longrunning.Operations",
            "a.v1.B/GetLocation of google.cloud.location.Locations",
            "a.v1.B/SetIamPolicy of google.iam.v1.IAMPolicy",
        ]
    );
}

#[test]
fn a_mixin_needs_its_name_its_selector_its_proto_and_no_method_of_that_name() {
    let selector = "google.cloud.location.Locations.GetLocation";
    let with_proto = || vec![service("a.v1.B", &["Get"]), service(LOCATIONS, &["GetLocation"])];
    assert_eq!(mixed(&yaml(&[], &[selector]), with_proto()), ["a.v1.B/Get"]);
    assert_eq!(mixed(&yaml(&[LOCATIONS], &[]), with_proto()), ["a.v1.B/Get"]);
    let without_proto = vec![service("a.v1.B", &["Get"])];
    assert_eq!(mixed(&yaml(&[LOCATIONS], &[selector]), without_proto), ["a.v1.B/Get"]);
    let with_own = vec![
        service("a.v1.B", &["Get"]),
        service("a.v1.C", &["GetLocation"]),
        service(LOCATIONS, &["GetLocation"]),
    ];
    assert_eq!(mixed(&yaml(&[LOCATIONS], &[selector]), with_own), ["a.v1.B/Get", "a.v1.C/GetLocation"]);
}

#[test]
fn a_mixin_by_itself_is_a_service() {
    let alone = vec![service(LOCATIONS, &["GetLocation"])];
    assert_eq!(mixed("name: x", alone), ["google.cloud.location.Locations/GetLocation"]);
}

#[test]
fn where_methods_are_selected_the_others_have_no_row() {
    let yaml = "
publishing:
  library_settings:
  - version: a.v1
    java_settings:
      common:
        selective_gapic_generation:
          methods:
          - a.v1.B.Get
";
    let services = vec![service("a.v1.B", &["Get", "List"]), service("a.v1.C", &["Get"])];
    assert_eq!(mixed(yaml, services), ["a.v1.B/Get"]);
}

#[test]
fn a_service_without_methods_of_its_own_is_none() {
    let all = yaml(&[LOCATIONS], &["google.cloud.location.Locations.GetLocation"]);
    let services = || {
        vec![service("a.v1.B", &["Get"]), service("a.v1.Empty", &[]), service(LOCATIONS, &["GetLocation"])]
    };
    assert_eq!(
        mixed(&all, services()),
        ["a.v1.B/Get", "a.v1.B/GetLocation of google.cloud.location.Locations"]
    );
    assert_eq!(ServiceYaml::default().mix_in(vec![service("a.v1.Empty", &[])]), []);
}

/// Google's own service YAML of the cloudfunctions APIs is written so.
#[test]
fn a_quoted_text_may_go_on_at_the_left_margin() {
    for quote in ['\'', '"'] {
        let text = format!(
            "documentation:\n  overview: {quote}Manages user-provided functions executed in response to\nevents.{quote}\n  \
             rules:\n  - selector: x\n{}",
            yaml(&[LOCATIONS], &["google.cloud.location.Locations.GetLocation"])
        );
        let services = vec![service("a.v1.B", &["Get"]), service(LOCATIONS, &["GetLocation"])];
        assert_eq!(
            mixed(&text, services),
            ["a.v1.B/Get", "a.v1.B/GetLocation of google.cloud.location.Locations"]
        );
    }
}

#[test]
fn what_is_no_object_is_refused() {
    let error = ServiceYaml::parse("[1, 2]").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1, column 1: [1, 2] is not a service YAML; write apis and http below it"
    );
}

#[test]
fn rules_say_how_methods_are_reached_over_http() {
    let yaml = ServiceYaml::parse(
        "
http:
  rules:
  - selector: google.longrunning.Operations.GetOperation
    get: '/v1/{name=*/*/operations/*/**}'
    additional_bindings:
    - custom: {kind: HEAD, path: '/v1/{name=**}'}
  - selector: example.v1.Library.AddBook
    post: '/v1/{parent=shelves/*}/books'
    body: book
    response_body: name
  - selector: example.v1.Library.Nowhere
",
    )
    .unwrap();
    let rule = yaml.http_rule("google.longrunning.Operations", "GetOperation").unwrap();
    assert_eq!((&*rule.verb, &*rule.path), ("GET", "/v1/{name=*/*/operations/*/**}"));
    let other = &rule.additional_bindings[0];
    assert_eq!((&*other.verb, &*other.path, &*other.body), ("HEAD", "/v1/{name=**}", ""));
    let rule = yaml.http_rule("example.v1.Library", "AddBook").unwrap();
    assert_eq!((&*rule.verb, &*rule.body, &*rule.response_body), ("POST", "book", "name"));
    assert_eq!(yaml.http_rule("example.v1.Library", "Nowhere"), None);
}
