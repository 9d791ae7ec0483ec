//! From a request to its reply.

use super::exchange::{Exchange, Stop};
use super::route::Route;
use crate::network::wait;
use crate::storage::StorageCall;
use crate::storage::fault::Action;
use crate::storage::reply_body::{Broken, ReplyBody};
use crate::storage::shared::Shared;
use crate::storage::state::{Protocol, Stage};
use crate::storage::wire::{Reply, Target};
use http::StatusCode;
use hyper::body::Incoming;
use std::sync::Arc;

/// Serves a request.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    request: http::Request<Incoming>,
) -> Result<http::Response<ReplyBody>, Broken> {
    let (head, mut body) = request.into_parts();
    let target = Target::of(&head.uri);
    let mut route = Route::of(&head, &target);
    let is_universal = shared.state.change(|state| {
        let session = state.sessions.get(&route.id)?;
        route.bucket.clone_from(&session.upload.bucket);
        route.name.clone_from(&session.upload.name);
        Some(session.protocol == Protocol::Universal && session.is_open())
    });
    let (index, armed) = shared.arrive(&head, route.call, &route.name);
    let is_universal = is_universal.unwrap_or_default();
    let mut exchange = Exchange { shared, index, armed, head, target, route, is_universal };
    let mut reply = match exchange.carry_out(&mut body).await {
        Ok(reply) => reply,
        Err(Stop::Reply(reply)) => *reply,
        Err(Stop::Broken) => return Err(Broken),
    };
    let mut cut = None;
    match exchange.action() {
        Some(Action::LostReply) => return Err(Broken),
        Some(Action::CutReply(bytes)) => cut = Some(*bytes),
        Some(Action::Header(name, Some(value))) => drop(reply.headers.insert(name, value.clone())),
        Some(Action::Header(name, None)) => drop(reply.headers.remove(name)),
        _ => {}
    }
    let Exchange { shared, index, armed, route, .. } = exchange;
    let is_empty = reply.body.is_empty();
    shared.note(index, |arrival| {
        arrival.status = Some(reply.status);
        arrival.is_whole = is_empty && cut.is_none();
    });
    let mut response = http::Response::new(());
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = std::mem::take(&mut reply.headers);
    let body = ReplyBody::new(shared, index, route.call, armed, reply);
    Ok(response.map(|()| match cut {
        Some(bytes) => body.cut_after(bytes),
        None => body,
    }))
}

impl Exchange {
    /// The fault that happens to a request before it is carried out.
    async fn before(&mut self, body: &mut Incoming) -> Result<(), Stop> {
        let Some(fault) = self.armed.at_once.clone() else { return Ok(()) };
        match &fault.action {
            Action::Reset => Err(Stop::Broken),
            Action::Stall => self.stall().await,
            Action::Delay(time) => {
                wait(*time).await;
                Ok(())
            }
            Action::Status(status) => {
                if !fault.is_early {
                    self.drain(body).await?;
                }
                Err(Stop::Reply(Box::new(self.reply_of(&fault, *status))))
            }
            Action::Expired(status) => {
                self.shared.state.change(|state| {
                    let session = state.sessions.get_mut(&self.route.id);
                    session.map(|session| session.stage = Stage::Expired(*status))
                });
                Ok(())
            }
            Action::Overwrite(other) => {
                let Route { bucket, name, .. } = &self.route;
                if !name.is_empty() {
                    let other = (**other).clone();
                    drop(self.shared.state.change(|state| state.objects.put(bucket, name, other)));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn carry_out(&mut self, body: &mut Incoming) -> Result<Reply, Stop> {
        self.before(body).await?;
        let (call, protocol) = (self.route.call, self.route.protocol);
        match (call, protocol) {
            (StorageCall::Insert, _) => return self.insert(body).await,
            (StorageCall::StartUpload, _) => return self.start(body).await,
            (StorageCall::Upload, Protocol::Resumable) => return self.upload(body).await,
            (StorageCall::Upload, Protocol::Universal) => return self.upload_universal(body).await,
            _ => self.drain(body).await?,
        }
        match call {
            StorageCall::QueryUpload => self.query(),
            StorageCall::CancelUpload => self.cancel(),
            StorageCall::Download => self.download(),
            StorageCall::Get => self.get(),
            StorageCall::List => self.list(),
            StorageCall::Delete => self.delete(),
            _ if protocol == Protocol::Universal => {
                Err(Stop::error(400, "X-Goog-Upload-Command is missing, or no command."))
            }
            _ => Err(Stop::error(404, "Not Found")),
        }
    }
}
