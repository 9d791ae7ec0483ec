//! The table of the Cloud Storage documentation ("Retry strategy", section "Idempotency of operations").

use super::{IdempotencyRule, OperationClass, Precondition};
use std::borrow::Cow;

/// The beginning of the JSON API's paths.
pub(super) const PREFIXES: [&str; 6] = [
    "/storage/v1",
    "/upload/storage/v1",
    "/resumable/upload/storage/v1",
    "/download/storage/v1",
    "/upload",
    "/download",
];

#[derive(Clone, Copy)]
enum Class {
    Always,
    If(&'static [Precondition]),
    /// Safe by the id of an upload's session, and never to run twice at once.
    Session,
    Never,
}

use Class::{Always, If, Never, Session};

const fn query(name: &'static str) -> Precondition {
    Precondition::Query(Cow::Borrowed(name))
}

const IF_MATCH: Precondition = Precondition::Header(Cow::Borrowed("If-Match"));
const ETAG: Precondition = Precondition::BodyField(Cow::Borrowed("etag"));

const GENERATION: &[Precondition] = &[query("ifGenerationMatch")];
const VERSION: &[Precondition] = &[query("ifGenerationMatch"), query("generation")];
const METAGENERATION: &[Precondition] = &[query("ifMetagenerationMatch"), IF_MATCH, ETAG];
const POLICY: &[Precondition] = &[IF_MATCH, ETAG];
const SESSION: Precondition = query("upload_id");

type Row = (&'static str, &'static str, &'static str, Class);

const ROWS: &[Row] = &[
    ("storage.buckets.list", "GET", "/b", Always),
    ("storage.buckets.insert", "POST", "/b", Always),
    ("storage.buckets.get", "GET", "/b/{bucket}", Always),
    ("storage.buckets.delete", "DELETE", "/b/{bucket}", Always),
    ("storage.buckets.patch", "PATCH", "/b/{bucket}", If(METAGENERATION)),
    ("storage.buckets.update", "PUT", "/b/{bucket}", If(METAGENERATION)),
    ("storage.buckets.getIamPolicy", "GET", "/b/{bucket}/iam", Always),
    ("storage.buckets.setIamPolicy", "PUT", "/b/{bucket}/iam", If(POLICY)),
    ("storage.buckets.testIamPermissions", "GET", "/b/{bucket}/iam/testPermissions", Always),
    ("storage.buckets.lockRetentionPolicy", "POST", "/b/{bucket}/lockRetentionPolicy", Always),
    ("storage.buckets.restore", "POST", "/b/{bucket}/restore", If(VERSION)),
    ("storage.bucket_acl.list", "GET", "/b/{bucket}/acl", Always),
    ("storage.bucket_acl.get", "GET", "/b/{bucket}/acl/{entity}", Always),
    ("storage.bucket_acl.insert", "POST", "/b/{bucket}/acl", Never),
    ("storage.bucket_acl.delete", "DELETE", "/b/{bucket}/acl/{entity}", Never),
    ("storage.bucket_acl.patch", "PATCH", "/b/{bucket}/acl/{entity}", Never),
    ("storage.bucket_acl.update", "PUT", "/b/{bucket}/acl/{entity}", Never),
    ("storage.default_object_acl.list", "GET", "/b/{bucket}/defaultObjectAcl", Always),
    ("storage.default_object_acl.get", "GET", "/b/{bucket}/defaultObjectAcl/{entity}", Always),
    ("storage.default_object_acl.insert", "POST", "/b/{bucket}/defaultObjectAcl", Never),
    ("storage.default_object_acl.delete", "DELETE", "/b/{bucket}/defaultObjectAcl/{entity}", Never),
    ("storage.default_object_acl.patch", "PATCH", "/b/{bucket}/defaultObjectAcl/{entity}", Never),
    ("storage.default_object_acl.update", "PUT", "/b/{bucket}/defaultObjectAcl/{entity}", Never),
    ("storage.notifications.list", "GET", "/b/{bucket}/notificationConfigs", Always),
    ("storage.notifications.get", "GET", "/b/{bucket}/notificationConfigs/{notification}", Always),
    ("storage.notifications.insert", "POST", "/b/{bucket}/notificationConfigs", Never),
    ("storage.notifications.delete", "DELETE", "/b/{bucket}/notificationConfigs/{notification}", Always),
    ("storage.objects.list", "GET", "/b/{bucket}/o", Always),
    ("storage.objects.insert", "POST", "/b/{bucket}/o", If(GENERATION)),
    ("storage.objects.insert (resumable upload)", "PUT", "/b/{bucket}/o", Session),
    ("storage.objects.insert (resumable upload, cancel)", "DELETE", "/b/{bucket}/o", Session),
    ("storage.objects.get", "GET", "/b/{bucket}/o/{object}", Always),
    ("storage.objects.delete", "DELETE", "/b/{bucket}/o/{object}", If(VERSION)),
    ("storage.objects.patch", "PATCH", "/b/{bucket}/o/{object}", If(METAGENERATION)),
    ("storage.objects.update", "PUT", "/b/{bucket}/o/{object}", If(METAGENERATION)),
    ("storage.objects.setIamPolicy", "PUT", "/b/{bucket}/o/{object}/iam", If(POLICY)),
    ("storage.objects.watchAll", "POST", "/b/{bucket}/o/watch", Never),
    ("storage.channels.stop", "POST", "/channels/stop", Never),
    ("storage.objects.compose", "POST", "/b/{bucket}/o/{object}/compose", If(GENERATION)),
    ("storage.objects.copy", "POST", "/b/{bucket}/o/{object}/copyTo/b/{to_bucket}/o/{to}", If(GENERATION)),
    (
        "storage.objects.rewrite",
        "POST",
        "/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to}",
        If(GENERATION),
    ),
    ("storage.objects.move", "POST", "/b/{bucket}/o/{object}/moveTo/o/{to}", If(VERSION)),
    ("storage.objects.restore", "POST", "/b/{bucket}/o/{object}/restore", If(VERSION)),
    ("storage.object_acl.list", "GET", "/b/{bucket}/o/{object}/acl", Always),
    ("storage.object_acl.get", "GET", "/b/{bucket}/o/{object}/acl/{entity}", Always),
    ("storage.object_acl.insert", "POST", "/b/{bucket}/o/{object}/acl", Never),
    ("storage.object_acl.delete", "DELETE", "/b/{bucket}/o/{object}/acl/{entity}", Never),
    ("storage.object_acl.patch", "PATCH", "/b/{bucket}/o/{object}/acl/{entity}", Never),
    ("storage.object_acl.update", "PUT", "/b/{bucket}/o/{object}/acl/{entity}", Never),
    ("storage.hmacKey.list", "GET", "/projects/{project}/hmacKeys", Always),
    ("storage.hmacKey.get", "GET", "/projects/{project}/hmacKeys/{access_id}", Always),
    ("storage.hmacKey.create", "POST", "/projects/{project}/hmacKeys", Never),
    ("storage.hmacKey.delete", "DELETE", "/projects/{project}/hmacKeys/{access_id}", Always),
    ("storage.hmacKey.update", "PUT", "/projects/{project}/hmacKeys/{access_id}", If(POLICY)),
    ("storage.serviceaccount.get", "GET", "/projects/{project}/serviceAccount", Always),
    ("storage (any other get or list)", "GET", "/**", Always),
    ("storage (any head)", "HEAD", "/**", Always),
];

const METHODS: &[Row] = &[
    ("GET", "GET", "/**", Always),
    ("HEAD", "HEAD", "/**", Always),
    ("OPTIONS", "OPTIONS", "/**", Always),
    ("TRACE", "TRACE", "/**", Always),
    ("PUT", "PUT", "/**", Always),
    ("DELETE", "DELETE", "/**", Always),
    ("POST", "POST", "/**", Never),
    ("PATCH", "PATCH", "/**", Never),
];

pub(super) fn rules() -> impl Iterator<Item = IdempotencyRule> {
    ROWS.iter().map(rule).map(IdempotencyRule::of_storage)
}

pub(super) fn by_method() -> impl Iterator<Item = IdempotencyRule> {
    METHODS.iter().map(rule)
}

fn rule(row: &Row) -> IdempotencyRule {
    let &(name, method, path, class) = row;
    let class = match class {
        Always => OperationClass::Always,
        Never => OperationClass::Never,
        Session => OperationClass::conditional([SESSION]),
        If(preconditions) => OperationClass::conditional(preconditions.iter().cloned()),
    };
    let rule = IdempotencyRule::new(name, method, path, class);
    let rule = rule.expect("the rows above hold valid patterns only");
    if matches!(row.3, Session) { rule.hedgeable(false) } else { rule }
}
