//! The guide's pages, so that their examples are compiled and run with the documentation tests.

#[doc = include_str!("../../docs/src/introduction.md")]
mod introduction {}

#[doc = include_str!("../../docs/src/concepts.md")]
mod concepts {}

#[doc = include_str!("../../docs/src/settings.md")]
mod settings {}

#[doc = include_str!("../../docs/src/tables.md")]
mod tables {}

#[doc = include_str!("../../docs/src/lint.md")]
mod lint {}

#[doc = include_str!("../../docs/src/convert.md")]
mod convert {}

#[doc = include_str!("../../docs/src/overriding.md")]
mod overriding {}

#[doc = include_str!("../../docs/src/layer.md")]
mod layer {}

#[doc = include_str!("../../docs/src/live.md")]
mod live {}

#[doc = include_str!("../../docs/src/long-running.md")]
mod long_running {}

#[doc = include_str!("../../docs/src/hedging.md")]
mod hedging {}

#[doc = include_str!("../../docs/src/interceptors.md")]
mod interceptors {}

#[doc = include_str!("../../docs/src/batching.md")]
mod batching {}

#[doc = include_str!("../../docs/src/closures.md")]
mod closures {}

#[doc = include_str!("../../docs/src/rest.md")]
mod rest {}

#[doc = include_str!("../../docs/src/http.md")]
mod http {}

#[doc = include_str!("../../docs/src/your-own-rest-api.md")]
mod your_own_rest_api {}

#[doc = include_str!("../../docs/src/transfers.md")]
mod transfers {}

#[doc = include_str!("../../docs/src/presets.md")]
mod presets {}

#[doc = include_str!("../../docs/src/errors.md")]
mod errors {}

#[doc = include_str!("../../docs/src/observers.md")]
mod observers {}

#[doc = include_str!("../../docs/src/command.md")]
mod command {}

#[doc = include_str!("../../docs/src/causes.md")]
mod causes {}

#[doc = include_str!("../../docs/src/deadlines.md")]
mod deadlines {}

#[doc = include_str!("../../docs/src/server-delays.md")]
mod server_delays {}

#[doc = include_str!("../../docs/src/budgets.md")]
mod budgets {}

#[doc = include_str!("../../docs/src/compatibility.md")]
mod compatibility {}

#[doc = include_str!("../../docs/src/performance.md")]
mod performance {}

#[doc = include_str!("../../docs/src/architecture.md")]
mod architecture {}

#[doc = include_str!("../../docs/src/mutants.md")]
mod mutants {}

#[doc = include_str!("../../docs/src/generator.md")]
mod generator {}

#[doc = include_str!("../../docs/src/embedded.md")]
mod embedded {}

#[doc = include_str!("../../docs/src/connecting.md")]
mod connecting {}

#[doc = include_str!("../../docs/src/observing.md")]
mod observing {}

#[doc = include_str!("../../docs/src/testing.md")]
mod testing {}

#[doc = include_str!("../../docs/src/from-gax-java.md")]
mod from_gax_java {}

#[doc = include_str!("../../docs/src/from-backon.md")]
mod from_backon {}

#[doc = include_str!("../../docs/src/from-tower-retry.md")]
mod from_tower_retry {}

#[doc = include_str!("../../docs/src/glossary.md")]
mod glossary {}

#[doc = include_str!("../../docs/src/features.md")]
mod features {}

#[doc = include_str!("../../docs/src/production.md")]
mod production {}

#[doc = include_str!("../../docs/src/comparison.md")]
mod comparison {}

#[doc = include_str!("../../docs/src/cookbook.md")]
mod cookbook {}

#[doc = include_str!("../../docs/src/streaming.md")]
mod streaming {}

#[doc = include_str!("../../docs/src/resuming.md")]
mod resuming {}

#[doc = include_str!("../../docs/src/subscriptions.md")]
mod subscriptions {}

#[doc = include_str!("../../docs/src/paging.md")]
mod paging {}

#[doc = include_str!("../../docs/src/troubleshooting.md")]
mod troubleshooting {}

#[doc = include_str!("../../docs/src/from-go.md")]
mod from_go {}

#[doc = include_str!("../../docs/src/from-python.md")]
mod from_python {}

#[doc = include_str!("../../docs/src/google-retry-documents.md")]
mod google_retry_documents {}
#[doc = include_str!("../../docs/src/from-reqwest-middleware.md")]
mod from_reqwest_middleware {}

#[doc = include_str!("../../docs/src/google-apis.md")]
mod google_apis {}

#[doc = include_str!("../../docs/src/credentials.md")]
mod credentials {}

#[doc = include_str!("../../docs/src/otlp.md")]
mod otlp {}

#[doc = include_str!("../../docs/src/misbehaviours.md")]
mod misbehaviours {}
