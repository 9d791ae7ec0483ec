//! Every shape of binding that the comments of google/api/http.proto show.

use gax_rest::{HttpRule, RestOptions, RestTransport};
use tonic::{Code, Status};
use tonic_gax::Compatibility;
use tonic_gax_tests::generated::rest_shapes::DESCRIPTORS;
use tonic_gax_tests::generated::rest_shapes::google::api::HttpBody;
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::get_revision_request::SubMessage;
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_gax::{
    MessagingClient, MessagingSettings,
};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::{
    File, GetByUserRequest, GetNamedRequest, GetRevisionRequest, ListReply, Message, UpdateFieldRequest,
};
use tonic_gax_tests::{RestReply, RestServer};

const ORIGIN: &str = "http://example.com/api";

type Client = MessagingClient<RestTransport<RestServer>>;

fn options() -> RestOptions {
    RestOptions::new().origin(ORIGIN.parse().unwrap())
}

fn client(server: &RestServer, options: RestOptions) -> Client {
    MessagingClient::rest_with_options(server.clone(), MessagingSettings::default(), options).unwrap()
}

fn text(value: &str) -> String {
    value.to_owned()
}

fn message(text: &str) -> Message {
    Message { text: text.to_owned(), ..Message::default() }
}

/// The requests of a call that succeeds.
async fn sent<T, F: Future<Output = Result<tonic::Response<T>, Status>>>(
    call: impl FnOnce(Client) -> F,
) -> Vec<String> {
    let server = RestServer::new([]);
    call(client(&server, options())).await.unwrap();
    server.lines()
}

#[tokio::test]
async fn a_variable_of_several_segments_keeps_its_slash() {
    let request = GetNamedRequest { name: text("messages/1 2%é"), force: false };
    let lines = sent(|client| async move { client.get_named(request).await }).await;
    assert_eq!(lines, ["GET /api/v1/messages/1%202%25%C3%A9"]);
}

#[tokio::test]
async fn a_variable_of_one_segment_encodes_all_and_the_rest_is_the_query() {
    let sub = SubMessage { subfield: text("foo"), labels: vec![text("a&b"), text("c d")] };
    let request = GetRevisionRequest { message_id: text("12/3-4_5.6~7"), revision: 2, sub: Some(sub) };
    let lines = sent(|client| async move { client.get_revision(request).await }).await;
    let query = "revision=2&sub.subfield=foo&sub.labels=a%26b&sub.labels=c%20d";
    assert_eq!(lines, [format!("GET /api/v1/messages/12%2F3-4_5.6~7?{query}")]);
}

#[tokio::test]
async fn one_field_is_the_body_and_others_are_the_query() {
    let request =
        UpdateFieldRequest { message_id: text("123456"), message: Some(message("Hi!")), dry_run: true };
    let lines = sent(|client| async move { client.update_field(request).await }).await;
    assert_eq!(lines, [r#"PATCH /api/v1/messages/123456?dryRun=true {"text":"Hi!"}"#]);
    let bare = UpdateFieldRequest { message_id: text("1"), ..UpdateFieldRequest::default() };
    let lines = sent(|client| async move { client.update_field(bare).await }).await;
    assert_eq!(lines, ["PATCH /api/v1/messages/1 {}"]);
}

#[tokio::test]
async fn all_but_the_path_is_the_body() {
    let request = Message { message_id: text("123456"), ..message("Hi!") };
    let lines = sent(|client| async move { client.update_all(request).await }).await;
    assert_eq!(lines, [r#"PATCH /api/v1/messages/123456 {"text":"Hi!"}"#]);
    // Of a field in a message, the message stays.
    let moved = Message { number: Some(-7), ..message("x") };
    let request = UpdateFieldRequest { message: Some(moved), ..UpdateFieldRequest::default() };
    let lines = sent(|client| async move { client.r#move(request).await }).await;
    assert_eq!(lines, [r#"POST /api/v1/messages/-7:move {"message":{"text":"x"}}"#]);
}

#[tokio::test]
async fn the_first_binding_that_fits_counts() {
    for (user, id, expected) in [
        ("me", "1", "GET /api/v1/users/me/messages/1"),
        ("", "1", "GET /api/v1/messages/1"),
        ("me", "", r#"POST /api/v1/messages:find {"userId":"me"}"#),
    ] {
        let request = GetByUserRequest { user_id: text(user), message_id: text(id) };
        let lines = sent(|client| async move { client.get_by_user(request).await }).await;
        assert_eq!(lines, [expected]);
    }
}

#[tokio::test]
async fn any_number_of_segments_may_stand_before_a_verb() {
    for (name, expected) in [
        ("rooms/1/messages/2", "POST /api/v1/rooms/1/messages/2:cancel {}"),
        ("one", "POST /api/v1/one:cancel {}"),
        ("", "POST /api/v1/:cancel {}"),
    ] {
        let request = GetNamedRequest { name: text(name), force: false };
        let lines = sent(|client| async move { client.cancel(request).await }).await;
        assert_eq!(lines, [expected]);
    }
}

#[tokio::test]
async fn a_field_in_a_message_may_be_in_the_path() {
    for (name, path) in
        [("rooms/a/messages/b/c", "rooms/a/messages/b/c"), ("rooms/a/messages", "rooms/a/messages")]
    {
        let named = Message { name: text(name), ..message("x") };
        let request =
            UpdateFieldRequest { message: Some(named), dry_run: true, ..UpdateFieldRequest::default() };
        let lines = sent(|client| async move { client.rename(request).await }).await;
        // The body is the whole field, as Java's clients send it.
        assert_eq!(lines, [format!(r#"PUT /api/v1/{path}?dryRun=true {{"text":"x","name":"{name}"}}"#)]);
    }
}

#[tokio::test]
async fn verbs_without_a_body_have_none() {
    let request = GetRevisionRequest { message_id: text("5"), revision: 3, sub: None };
    let (one, other) = (request.clone(), request);
    let touch = sent(|client| async move { client.touch(one).await }).await;
    assert_eq!(touch, ["POST /api/v1/messages/5:touch?revision=3"]);
    let delete = sent(|client| async move { client.delete(other).await }).await;
    assert_eq!(delete, ["DELETE /api/v1/messages/5?revision=3"]);
    let lock = GetNamedRequest { name: text("messages/5"), force: true };
    let lock = sent(|client| async move { client.lock(lock).await }).await;
    assert_eq!(lock, ["LOCK /api/v1/messages/5?force=true"]);
}

#[tokio::test]
async fn a_field_of_the_response_may_be_its_body_and_a_list_the_requests() {
    let server = RestServer::new([RestReply::ok(r#"[{"text":"a"},{"text":"b"}]"#)]);
    let client = client(&server, options());
    let request = GetByUserRequest { user_id: text("me"), ..GetByUserRequest::default() };
    let list = client.list(request).await.unwrap().into_inner();
    assert_eq!(list.messages, [message("a"), message("b")]);
    client.import(list).await.unwrap();
    client.import(ListReply::default()).await.unwrap();
    let expected = [
        "GET /api/v1/users/me/messages",
        r#"POST /api/v1/messages:import [{"text":"a"},{"text":"b"}]"#,
        "POST /api/v1/messages:import []",
    ];
    assert_eq!(server.lines(), expected);
}

/// The requests of a call by that rule in place of the proto's.
async fn sent_by<T, F: Future<Output = Result<tonic::Response<T>, Status>>>(
    method: &str,
    rule: HttpRule,
    call: impl FnOnce(Client) -> F,
) -> Vec<String> {
    let server = RestServer::by(|request| {
        // The response to a HEAD has no body.
        RestReply::ok(if request.method == http::Method::HEAD { "" } else { "{}" })
    });
    let options = options().rule(format!("rest.messaging.v1.Messaging.{method}"), rule);
    call(client(&server, options)).await.unwrap();
    server.lines()
}

fn revision() -> GetRevisionRequest {
    let sub = SubMessage { subfield: text("foo"), labels: Vec::new() };
    GetRevisionRequest { message_id: text("123456"), revision: 2, sub: Some(sub) }
}

#[tokio::test]
async fn the_comments_rule_of_a_service_yaml_has_a_nested_field_in_its_path() {
    let rule = HttpRule::get("/v1/messages/{message_id}/{sub.subfield}");
    let call = |client: Client| async move { client.get_revision(revision()).await };
    assert_eq!(sent_by("GetRevision", rule, call).await, ["GET /api/v1/messages/123456/foo?revision=2"]);
}

#[tokio::test]
async fn the_comments_additional_binding_counts_where_the_first_does_not_fit() {
    let rule = HttpRule::get("/v1/messages/{message_id}");
    let rule =
        rule.or(HttpRule::get("/v1/users/{user_id}/messages/{message_id}")).or(HttpRule::get("/v1/messages"));
    for (user, id, expected) in [
        ("", "123456", "GET /api/v1/messages/123456"),
        // A server takes the user from the query, too.
        ("me", "123456", "GET /api/v1/messages/123456?userId=me"),
        ("me", "", "GET /api/v1/messages?userId=me"),
    ] {
        let request = GetByUserRequest { user_id: text(user), message_id: text(id) };
        let call = |client: Client| async move { client.get_by_user(request).await };
        assert_eq!(sent_by("GetByUser", rule.clone(), call).await, [expected]);
    }
}

#[tokio::test]
async fn a_head_has_no_body_and_neither_has_its_response() {
    let rule = HttpRule::new("HEAD", "/v1/messages/{message_id}");
    let call = |client: Client| async move { client.get_revision(revision()).await };
    let query = "revision=2&sub.subfield=foo";
    assert_eq!(sent_by("GetRevision", rule, call).await, [format!("HEAD /api/v1/messages/123456?{query}")]);
}

#[tokio::test]
async fn a_verb_that_is_left_open_goes_by_the_body() {
    let (get, post) = (HttpRule::new("*", "/v1/{name}"), HttpRule::new("*", "/v1/{name}").body("*"));
    for (rule, expected) in [(get, "GET /api/v1/a?force=true"), (post, r#"POST /api/v1/a {"force":true}"#)] {
        let request = GetNamedRequest { name: text("a"), force: true };
        let call = |client: Client| async move { client.get_named(request).await };
        assert_eq!(sent_by("GetNamed", rule, call).await, [expected]);
    }
}

#[tokio::test]
async fn literals_are_encoded_where_a_path_cannot_have_them() {
    let rule = HttpRule::get("/v1/a b?#%2F[é]/$discovery;x@/{name}");
    let request = GetNamedRequest { name: text("n"), force: false };
    let call = |client: Client| async move { client.get_named(request).await };
    assert_eq!(
        sent_by("GetNamed", rule, call).await,
        ["GET /api/v1/a%20b%3F%23%252F%5B%C3%A9%5D/$discovery;x@/n"]
    );
}

#[tokio::test]
async fn a_verb_that_takes_a_body_and_has_none_says_so() {
    let server = RestServer::new([]);
    let client = client(&server, options());
    client.touch(revision()).await.unwrap();
    client.get_revision(revision()).await.unwrap();
    client.delete(revision()).await.unwrap();
    client.update_all(Message { message_id: text("1"), ..message("a") }).await.unwrap();
    let requests = server.requests();
    let lengths: Vec<_> = requests.iter().map(|request| request.header("content-length")).collect();
    // That of a body is the HTTP client's part.
    assert_eq!(lengths, [Some("0"), None, None, None]);
    assert_eq!(requests[0].header("content-type"), None);
}

/// The status of a call, and how many requests were sent.
async fn refused<T, F: Future<Output = Result<tonic::Response<T>, Status>>>(
    options: RestOptions,
    call: impl FnOnce(Client) -> F,
) -> (Code, String, usize) {
    let server = RestServer::new([]);
    let Err(status) = call(client(&server, options)).await else {
        panic!("it was sent: {:?}", server.lines())
    };
    (status.code(), status.message().to_owned(), server.requests().len())
}

#[tokio::test]
async fn what_fits_no_binding_is_not_sent() {
    for (name, problem) in [
        ("", "name is empty, where the path needs messages/*"),
        ("messages/", "name is \"messages/\", which is not messages/*"),
        ("messages/a/b", "name is \"messages/a/b\", which is not messages/*"),
        ("/messages/a", "name is \"/messages/a\", which is not messages/*"),
        ("messages/..", "name is \"messages/..\", which has a segment of only dots"),
    ] {
        let request = GetNamedRequest { name: text(name), force: false };
        let result = refused(options(), |client| async move { client.get_named(request).await }).await;
        let message = "the request fits no google.api.http binding of rest.messaging.v1.Messaging.GetNamed";
        assert_eq!(result, (Code::InvalidArgument, format!("{message}: {problem}"), 0));
    }
}

#[tokio::test]
async fn java_sends_what_fits_no_binding_by_the_first() {
    let server = RestServer::new([]);
    let client = client(&server, options().compatibility(Compatibility::GaxJava));
    client.get_named(GetNamedRequest { name: text("a/b"), force: true }).await.unwrap();
    assert_eq!(server.lines(), ["GET /api/v1/a/b?force=true"]);
}

#[tokio::test]
async fn what_rest_has_no_form_for_is_unimplemented_and_not_sent() {
    let result =
        refused(options(), |client| async move { client.send(tokio_stream::iter([message("a")])).await })
            .await;
    let stream = "rest.messaging.v1.Messaging.Send takes a stream of requests, which REST does not support";
    assert_eq!(result, (Code::Unimplemented, stream.to_owned(), 0));
    let result = refused(options(), |client| async move { client.hidden(message("a")).await }).await;
    let hidden =
        "rest.messaging.v1.Messaging.Hidden has no google.api.http rule, so it can't be called over REST";
    assert_eq!(result, (Code::Unimplemented, hidden.to_owned(), 0));
    let compressed = |client: Client| async move {
        let client = client.send_compressed(tonic::codec::CompressionEncoding::Gzip);
        client.update_all(Message { message_id: text("1"), ..message("a") }).await
    };
    let (code, _, count) = refused(options(), compressed).await;
    assert_eq!((code, count), (Code::Unimplemented, 0));
}

#[tokio::test]
async fn a_request_needs_an_origin_and_the_clients_own_goes_first() {
    let named = || GetNamedRequest { name: text("messages/1"), force: false };
    let (code, message, count) =
        refused(RestOptions::new(), |client| async move { client.get_named(named()).await }).await;
    assert_eq!((code, count), (Code::InvalidArgument, 0));
    assert!(message.starts_with("the request has no origin"), "{message}");
    let server = RestServer::new([]);
    let client = client(&server, options()).with_origin(&"https://other.example:1/x/y/".parse().unwrap());
    client.get_named(named()).await.unwrap();
    assert_eq!(server.requests()[0].uri, "https://other.example:1/x/y/v1/messages/1");
}

#[test]
fn an_origin_has_a_scheme_and_a_host() {
    for (origin, problem) in [
        ("localhost:8080", "has no scheme: write http://localhost:8080 or https://localhost:8080"),
        ("/v1", "has no host: write it as https://api.example.com"),
    ] {
        let options = RestOptions::new().origin(origin.parse().unwrap());
        let server = RestServer::new([]);
        let error = RestTransport::new(server.clone(), DESCRIPTORS, options.clone()).unwrap_err().to_string();
        assert_eq!(error, format!("the origin {origin:?} {problem}"));
        let made = MessagingClient::rest_with_options(server, MessagingSettings::default(), options);
        assert_eq!(made.err().map(|made| made.to_string()), Some(error));
    }
}

#[tokio::test]
async fn a_request_that_no_uri_can_hold_is_not_sent() {
    let request = GetByUserRequest { user_id: "é".repeat(20_000), message_id: text("1") };
    let result = refused(options(), |client| async move { client.get_by_user(request).await }).await;
    let problem = "the request has no valid URI by rest.messaging.v1.Messaging.GetByUser: uri too long";
    assert_eq!(result, (Code::InvalidArgument, problem.to_owned(), 0));
}

#[tokio::test]
async fn patch_may_be_sent_as_post() {
    let server = RestServer::new([]);
    let client = client(&server, options().patch_by_override(true));
    client.update_all(Message { message_id: text("1"), ..message("a") }).await.unwrap();
    client.get_named(GetNamedRequest { name: text("messages/1"), force: false }).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].line(), r#"POST /api/v1/messages/1 {"text":"a"}"#);
    assert_eq!(requests[0].header("x-http-method-override"), Some("PATCH"));
    assert_eq!(
        (&requests[1].method, requests[1].header("x-http-method-override")),
        (&http::Method::GET, None)
    );
}

#[tokio::test]
async fn rules_of_the_program_go_over_those_of_the_protos() {
    let server = RestServer::new([]);
    let rule = HttpRule::post("/v2/{name=messages/*}:get").body("*").or(HttpRule::get("/v2/any"));
    let options = options().rule("rest.messaging.v1.Messaging.GetNamed", rule);
    let client = client(&server, options);
    client.get_named(GetNamedRequest { name: text("messages/1"), force: true }).await.unwrap();
    client.get_named(GetNamedRequest { name: text("x"), force: false }).await.unwrap();
    assert_eq!(server.lines(), [r#"POST /api/v2/messages/1:get {"force":true}"#, "GET /api/v2/any?name=x"]);
}

#[test]
fn rules_that_cannot_be_used_say_why() {
    let error = |method: &str, rule: HttpRule| {
        let options = options().rule(format!("rest.messaging.v1.Messaging.{method}"), rule);
        let server = RestServer::new([]);
        let made = MessagingClient::rest_with_options(server, MessagingSettings::default(), options);
        made.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let name = "rest.messaging.v1.Messaging.GetNamed";
    for (rule, problem) in [
        (HttpRule::get("v1"), "the path template \"v1\" does not begin with a slash (character 1)"),
        (HttpRule::get("/v1/*"), "its path has a * without a field, so that requests have no value for it"),
        (
            HttpRule::get("/v1/{nome}"),
            "its path has the variable \"nome\", but rest.messaging.v1.GetNamedRequest has no field \"nome\"",
        ),
        (HttpRule::get("/v1").body("*"), "a GET has no body, but the rule has one"),
        (
            HttpRule::post("/v1").body("nome"),
            "its body is \"nome\", a field that rest.messaging.v1.GetNamedRequest has not",
        ),
        (
            HttpRule::post("/v1").response_body("nome"),
            "its response_body is \"nome\", a field that rest.messaging.v1.Message has not",
        ),
        (HttpRule::new("GE T", "/v1"), "\"GE T\" is not an HTTP method"),
    ] {
        let expected = format!("the google.api.http rule of {name} can't be used: {problem}");
        assert_eq!(error("GetNamed", rule), expected);
    }
    let path = error("UpdateField", HttpRule::get("/v1/{message}"));
    assert!(path.ends_with("its path has the variable \"message\", but that is a message"), "{path}");
    let path = error("Import", HttpRule::get("/v1/{messages}"));
    assert!(path.ends_with("its path has the variable \"messages\", but \"messages\" is repeated"), "{path}");
    assert!(error("Nothing", HttpRule::get("/v1")).ends_with("the descriptors have no RPC of that name"));
}

#[tokio::test]
async fn bytes_are_sent_and_read_as_they_are() {
    let bytes = |content_type: &str, data: &[u8]| HttpBody {
        content_type: text(content_type),
        data: data.to_vec(),
        ..HttpBody::default()
    };
    let reply = || RestReply::ok(&b"\xff{"[..]).header("content-type", "image/png");
    let server = RestServer::new([reply(), reply(), RestReply::ok("")]);
    let client = client(&server, options());
    let request = File { name: text("files/1"), content: Some(bytes("text/csv", b"a,b")) };
    let converted = client.convert(request).await.unwrap().into_inner();
    assert_eq!(converted, bytes("image/png", b"\xff{"));
    let stored = client.store(bytes("", b"\"")).await.unwrap().into_inner();
    assert_eq!(stored, File { name: text(""), content: Some(bytes("image/png", b"\xff{")) });
    let empty = client.convert(File { name: text("files/2"), content: None }).await.unwrap().into_inner();
    assert_eq!(empty, bytes("application/json", b""));
    let seen: Vec<_> = server
        .requests()
        .iter()
        .map(|request| (request.line(), request.header("content-type").map(str::to_owned)))
        .collect();
    let octets = Some(text("application/octet-stream"));
    assert_eq!(
        seen,
        [
            (text("POST /api/v1/files/1:convert a,b"), Some(text("text/csv"))),
            (text("POST /api/v1/files \""), octets.clone()),
            (text("POST /api/v1/files/2:convert"), octets),
        ]
    );
    let status = client.store(bytes("a\nb", b"")).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("content_type: "), "{status}");
}
