//! The spans and events that `tracing` gets from this library.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Writes down what comes from this library, a line a thing.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    /// The only numbers of which `tracing-opentelemetry` makes numbers.
    fn record_i64(&mut self, field: &Field, value: i64) {
        write!(self.0, " {}={value}i64", field.name()).unwrap();
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Lines {
    fn push(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Returns whether a span or an event is one of the workspace's crates.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    ["gax_", "tonic_gax::"].iter().any(|start| metadata.target().starts_with(start))
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        if is_ours(span.metadata()) {
            let parent = span.parent().map_or("nothing", |parent| parent.metadata().name());
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            self.push(format!("{} in {parent}:{}", span.name(), fields.0));
        }
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        record.record(&mut fields);
        self.push(format!("{}:{}", context.span(id).unwrap().name(), fields.0));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if is_ours(event.metadata()) {
            let mut fields = Fields::default();
            event.record(&mut fields);
            let span = context.event_span(event).map_or("nothing", |span| span.metadata().name());
            self.push(format!("{} in {span}:{}", event.metadata().level(), fields.0));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        if is_ours(span.metadata()) {
            self.push(format!("{} closes", span.name()));
        }
    }
}
