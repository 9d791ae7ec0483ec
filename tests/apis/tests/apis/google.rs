//! Calls through clients that are generated from Google's own protos and retry tables.

#[cfg(not(google_protos))]
#[test]
fn google_apis_are_compiled_and_called() {
    tonic_gax_optional_data::skipped(
        &"there were no protos of Google's when this was built (see TONIC_GAX_SHARED)",
    );
}

#[cfg(google_protos)]
mod with_protos {
    use googleapis_tonic_google_cloud_asset_v1::google::cloud::asset::v1 as published_types;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tonic::{Request, Response, Status};
    use tonic_gax::{Code, CodeSet, OperationReport};
    use tonic_gax_api_tests::asset::google::cloud::asset::v1 as asset;
    use tonic_gax_api_tests::published::google::cloud::asset::v1 as published;
    use tonic_gax_api_tests::redis::google::cloud::redis::v1 as redis;

    /// A server that is down for the first call.
    #[derive(Clone, Default)]
    struct Outage(Arc<AtomicU32>);

    impl Outage {
        fn reply<T>(&self, response: T) -> Result<Response<T>, Status> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 => Err(Status::unavailable("down")),
                _ => Ok(Response::new(response)),
            }
        }
    }

    #[tonic::async_trait]
    impl asset::asset_service_server::AssetService for Outage {
        async fn search_all_resources(
            &self,
            request: Request<asset::SearchAllResourcesRequest>,
        ) -> Result<Response<asset::SearchAllResourcesResponse>, Status> {
            let next_page_token = request.into_inner().scope;
            self.reply(asset::SearchAllResourcesResponse {
                next_page_token,
                ..asset::SearchAllResourcesResponse::default()
            })
        }
    }

    #[tonic::async_trait]
    impl redis::cloud_redis_server::CloudRedis for Outage {
        async fn get_instance(
            &self,
            request: Request<redis::GetInstanceRequest>,
        ) -> Result<Response<redis::Instance>, Status> {
            let name = request.into_inner().name;
            self.reply(redis::Instance { name, ..redis::Instance::default() })
        }
    }

    fn assets() -> asset::asset_service_server::AssetServiceServer<Outage> {
        asset::asset_service_server::AssetServiceServer::new(Outage::default())
    }

    #[tokio::test(start_paused = true)]
    async fn the_asset_api_is_called() {
        let request =
            asset::SearchAllResourcesRequest { scope: "projects/1".to_owned(), ..Default::default() };
        let response = asset::AssetServiceClient::new(assets()).search_all_resources(request).await.unwrap();
        assert_eq!(response.get_ref().next_page_token, "projects/1");
        assert_eq!(response.extensions().get::<OperationReport>().unwrap().attempts().len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_asset_api_is_called_over_published_messages() {
        let request = published_types::SearchAllResourcesRequest {
            scope: "projects/1".to_owned(),
            ..Default::default()
        };
        let response =
            published::AssetServiceClient::new(assets()).search_all_resources(request).await.unwrap();
        assert_eq!(response.get_ref().next_page_token, "projects/1");
        assert_eq!(response.extensions().get::<OperationReport>().unwrap().attempts().len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_redis_api_is_called() {
        // Its table retries nothing; its user does.
        let mut settings = redis::CloudRedisStubSettings::builder();
        settings.get_instance().set_retryable_codes([Code::Unavailable]);
        let server = redis::cloud_redis_server::CloudRedisServer::new(Outage::default());
        let settings = redis::CloudRedisSettings::create(settings.build().unwrap());
        let client = redis::CloudRedisClient::with_settings(server, settings);
        let request = redis::GetInstanceRequest { name: "instances/1".to_owned() };
        assert_eq!(client.get_instance(request).await.unwrap().get_ref().name, "instances/1");
    }

    #[test]
    fn definitions_are_those_of_the_java_client() {
        let codes = asset::AssetServiceStubSettings::retryable_code_definitions();
        let names: Vec<&str> = codes.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            [
                "no_retry_0_codes",
                "retry_policy_1_codes",
                "retry_policy_2_codes",
                "retry_policy_3_codes",
                "no_retry_codes",
                "retry_policy_4_codes",
                "retry_policy_6_codes",
            ]
        );
        assert_eq!(codes[1].1, CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]));
        assert_eq!(
            redis::CloudRedisStubSettings::retryable_code_definitions()[0],
            ("no_retry_0_codes", CodeSet::EMPTY)
        );
    }
}
