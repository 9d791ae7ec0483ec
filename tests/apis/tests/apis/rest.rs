//! Google's asset API over HTTP and JSON, by the rules of its protos and its service YAML.

#[cfg(not(google_protos))]
#[test]
fn the_asset_api_is_called_over_rest() {
    tonic_gax_optional_data::skipped(
        &"there were no protos of Google's when this was built (see TONIC_GAX_SHARED)",
    );
}

#[cfg(google_protos)]
mod with_protos {
    #![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

    use http_body_util::{BodyExt as _, Full};
    use serde_json::{Value, json};
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll};
    use tonic::body::Body;
    use tonic_gax_api_tests::asset::google::cloud::asset::v1 as asset;
    use tonic_gax_api_tests::asset::google::r#type::Expr;
    use tower_service::Service;

    /// A server that takes requests apart by itself: verb, path, query, and JSON.
    #[derive(Clone, Default)]
    struct Cloud(Arc<Mutex<Vec<(String, Value)>>>);

    impl Cloud {
        fn reply(&self, line: &str, query: &BTreeMap<&str, &str>, body: &Value) -> (u16, Value) {
            let reply = match line {
                "GET /v1/projects/my-project/assets" if query.get("pageToken") == Some(&"two") => {
                    json!({"assets": [{"name": "//c"}]})
                }
                "GET /v1/projects/my-project/assets" => json!({
                    "readTime": "2026-11-23T10:00:00Z",
                    "assets": [
                        {"name": "//a", "resource": {"data": {"labels": {"x": [1, true, null]}}}},
                        {"name": "//b", "iamPolicy": {"version": 3, "etag": "AQI="}, "new": "field"},
                    ],
                    "nextPageToken": "two",
                }),
                "POST /v1/projects/my-project:exportAssets" => json!({
                    "name": "projects/1/operations/ExportAssets/RESOURCE/7",
                    "metadata": {"@type": "type.googleapis.com/google.cloud.asset.v1.ExportAssetsRequest", "parent": "p"},
                }),
                "GET /v1/projects/1/operations/ExportAssets/RESOURCE/7" => json!({
                    "name": "projects/1/operations/ExportAssets/RESOURCE/7",
                    "done": true,
                    "response": {
                        "@type": "type.googleapis.com/google.cloud.asset.v1.ExportAssetsResponse",
                        "outputResult": {"gcsResult": {"uris": ["gs://bucket/object"]}},
                    },
                }),
                "PATCH /v1/projects/1/feeds/f" => json!({"name": "projects/1/feeds/f", "contentType": 2}),
                "DELETE /v1/projects/1/feeds/f" => json!({}),
                "GET /v1/projects/1:analyzeIamPolicy" => {
                    let details =
                        json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "DENIED"}]);
                    return (403, json!({"error": {"code": 403, "message": "denied", "details": details}}));
                }
                other => return (404, json!({"error": {"message": format!("nothing at {other}")}})),
            };
            self.0.lock().unwrap().push((line.to_owned(), json!({"query": query, "body": body})));
            (200, reply)
        }
    }

    impl Service<http::Request<Body>> for Cloud {
        type Response = http::Response<Full<tonic::codegen::Bytes>>;
        type Error = Infallible;
        type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: http::Request<Body>) -> Self::Future {
            let cloud = self.clone();
            Box::pin(async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                assert_eq!(parts.uri.authority().unwrap(), "cloudasset.googleapis.com");
                assert_eq!(body.is_empty(), !parts.headers.contains_key("content-type"));
                let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
                let pairs = parts.uri.query().unwrap().split('&').map(|pair| pair.split_once('=').unwrap());
                let line = format!("{} {}", parts.method, parts.uri.path());
                let (status, reply) = cloud.reply(&line, &pairs.collect(), &body);
                let mut response = http::Response::new(Full::from(reply.to_string()));
                *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
                Ok(response)
            })
        }
    }

    /// The query that every request has.
    const ALT: (&str, &str) = ("$alt", "json%3Benum-encoding%3Dint");

    #[tokio::test(start_paused = true)]
    async fn the_asset_api_is_called_over_rest() {
        let cloud = Cloud::default();
        let client = asset::AssetServiceClient::rest(cloud.clone(), asset::AssetServiceSettings::default());

        let request = asset::ListAssetsRequest {
            parent: "projects/my-project".to_owned(),
            asset_types: vec!["a.googleapis.com/A".to_owned(), "b".to_owned()],
            content_type: asset::ContentType::Resource.into(),
            page_size: 2,
            ..asset::ListAssetsRequest::default()
        };
        let mut assets = client.list_assets_paged(request);
        let mut names = Vec::new();
        while let Some(asset) = assets.next().await.transpose().unwrap() {
            names.push(asset.name);
        }
        assert_eq!(names, ["//a", "//b", "//c"]);

        let export = asset::ExportAssetsRequest {
            parent: "projects/my-project".to_owned(),
            read_time: Some(prost_types::Timestamp { seconds: 1, nanos: 500_000_000 }),
            ..asset::ExportAssetsRequest::default()
        };
        let exported = client.export_assets_operation(export).await.unwrap();
        assert!(exported.output_result.is_some());

        let condition = Expr { expression: "a < \"ü\"".to_owned(), ..Expr::default() };
        let feed = asset::Feed {
            name: "projects/1/feeds/f".to_owned(),
            content_type: asset::ContentType::IamPolicy.into(),
            condition: Some(condition),
            ..asset::Feed::default()
        };
        let mask = prost_types::FieldMask { paths: vec!["content_type".to_owned(), "condition".to_owned()] };
        let request = asset::UpdateFeedRequest { feed: Some(feed), update_mask: Some(mask) };
        let updated = client.update_feed(request).await.unwrap().into_inner();
        assert_eq!(updated.content_type(), asset::ContentType::IamPolicy);
        client.delete_feed(asset::DeleteFeedRequest { name: "projects/1/feeds/f".to_owned() }).await.unwrap();

        let query = asset::IamPolicyAnalysisQuery {
            scope: "projects/1".to_owned(),
            ..asset::IamPolicyAnalysisQuery::default()
        };
        let request = asset::AnalyzeIamPolicyRequest {
            analysis_query: Some(query),
            ..asset::AnalyzeIamPolicyRequest::default()
        };
        let status = client.analyze_iam_policy(request).await.unwrap_err();
        assert_eq!((status.code(), status.message()), (tonic::Code::PermissionDenied, "denied"));
        assert!(!status.details().is_empty());

        let query =
            |pairs: &[(&str, &str)]| json!(pairs.iter().copied().chain([ALT]).collect::<BTreeMap<_, _>>());
        let list = [("assetTypes", "b"), ("contentType", "RESOURCE"), ("pageSize", "2")];
        let next: Vec<_> = list.iter().copied().chain([("pageToken", "two")]).collect();
        let feed = json!({
            "feed": {"contentType": "IAM_POLICY", "condition": {"expression": "a < \"ü\""}},
            "updateMask": "contentType,condition",
        });
        let expected = [
            ("GET /v1/projects/my-project/assets", query(&list), Value::Null),
            ("GET /v1/projects/my-project/assets", query(&next), Value::Null),
            (
                "POST /v1/projects/my-project:exportAssets",
                query(&[]),
                json!({"readTime": "1970-01-01T00:00:01.500Z"}),
            ),
            ("GET /v1/projects/1/operations/ExportAssets/RESOURCE/7", query(&[]), Value::Null),
            ("PATCH /v1/projects/1/feeds/f", query(&[]), feed),
            ("DELETE /v1/projects/1/feeds/f", query(&[]), Value::Null),
        ];
        let expected =
            expected.map(|(line, query, body)| (line.to_owned(), json!({"query": query, "body": body})));
        assert_eq!(*cloud.0.lock().unwrap(), expected);
    }
}
