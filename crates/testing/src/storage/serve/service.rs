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
use http::request::Parts;
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
        let session = route.id.as_ref().and_then(|id| state.sessions.get(id))?;
        route.bucket.clone_from(&session.upload.bucket);
        route.name.clone_from(&session.upload.name);
        Some(session.protocol == Protocol::Universal && matches!(session.stage, Stage::Active))
    });
    let (index, armed) = shared.arrive(&head, route.call, &route.name);
    let is_universal = is_universal.unwrap_or_default();
    let mut exchange = Exchange { shared, index, armed, is_universal };
    let reply = match exchange.before(&route, &mut body).await {
        Ok(()) => exchange.carry_out(&route, &head, &target, &mut body).await,
        Err(stop) => Err(stop),
    };
    let mut reply = match reply {
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
    let Exchange { shared, index, armed, .. } = exchange;
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
    async fn before(&mut self, route: &Route, body: &mut Incoming) -> Result<(), Stop> {
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
                    let session = route.id.as_ref().and_then(|id| state.sessions.get_mut(id));
                    session.map(|session| session.stage = Stage::Expired(*status))
                });
                Ok(())
            }
            Action::Overwrite(other) => {
                if !route.name.is_empty() {
                    let other = (**other).clone();
                    drop(
                        self.shared
                            .state
                            .change(|state| state.objects.put(&route.bucket, &route.name, other)),
                    );
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn carry_out(
        &mut self,
        route: &Route,
        head: &Parts,
        target: &Target,
        body: &mut Incoming,
    ) -> Result<Reply, Stop> {
        let Route { call, protocol, bucket, name, id } = route;
        let id = id.as_deref().unwrap_or_default();
        match (call, protocol) {
            (StorageCall::Insert, _) => return self.insert(head, target, body, route).await,
            (StorageCall::StartUpload, _) => return self.start(head, target, body, route).await,
            (StorageCall::Upload, Protocol::Resumable) => return self.upload(head, body, id).await,
            (StorageCall::Upload, Protocol::Universal) => return self.upload_universal(head, body, id).await,
            _ => self.drain(body).await?,
        }
        match call {
            StorageCall::QueryUpload => self.query(head, id, *protocol),
            StorageCall::CancelUpload => self.cancel(id, *protocol),
            StorageCall::Download => self.download(head, target, bucket, name),
            StorageCall::Get => self.get(target, bucket, name),
            StorageCall::List => self.list(target, bucket),
            StorageCall::Delete => self.delete(target, bucket, name),
            _ if *protocol == Protocol::Universal => {
                Err(Stop::error(400, "X-Goog-Upload-Command is missing, or no command."))
            }
            _ => Err(Stop::error(404, "Not Found")),
        }
    }
}
