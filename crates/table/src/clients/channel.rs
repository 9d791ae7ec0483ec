//! The settings of a table for all calls of a channel.

use super::fields::{Fix, Reader, WRITE, removal_of};
use super::report::Verdict;
use super::rules::Client;
use crate::document::{Kind, Node};

impl Reader<'_> {
    pub(super) fn throttling(&mut self, root: &Node) {
        if self.options.has(self.client, "option.retries") && self.is("option.retries-off", "unchecked") {
            return;
        }
        let Some(node) = self.field(root, "retryThrottling") else { return };
        let Some(throttling) = self.object(node, "retryThrottling") else { return };
        let read = if self.is("throttling.tokens", "whole") { Client::integer } else { Client::float };
        let tokens = self.required(throttling, "maxTokens", read);
        let most = self.client.number::<f64>("throttling.most").unwrap_or(f64::INFINITY);
        let right = match tokens {
            Some((tokens, _)) if tokens > most => Fix::Write("1000".to_owned()),
            _ => WRITE,
        };
        let is_fine = |tokens: &f64| *tokens > 0.0 && *tokens <= most;
        self.check(tokens, is_fine, "maxTokens is not between 0 and 1000", right);
        let Some((ratio, span)) = self.required(throttling, "tokenRatio", Client::float) else { return };
        let text = self.source.excerpt(span);
        let is_number = |text: &str| {
            text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if self.is("throttling.ratio-form", "digits") && !is_number(text.trim_matches(['"', ' ', '+'])) {
            self.refuse(span, format!("tokenRatio {text} is not a number as digits"), format!("{ratio}"));
        }
        let (least, is_refused) = match self.client.rule("throttling.ratio") {
            "exact" => (0.0, true),
            "rounded" => (0.0005, false),
            rule => (0.001, rule.ends_with("refused")),
        };
        let is_cut = ratio < least;
        let mut read_as = if is_cut { 0.0 } else { ratio };
        let right = if ratio > 0.0 { Fix::Write("0.001".to_owned()) } else { WRITE };
        if ratio <= 0.0 || is_cut && is_refused {
            self.refuse(span, format!("tokenRatio {text} is not above 0"), right);
        } else if is_cut {
            self.changed(span, format!("tokenRatio {text} is read as 0: tokens never come back"), right);
        } else if !text.contains(['.', 'e', 'E']) && self.is("throttling.ratio-without-point", "a thousandth")
        {
            let right = format!("{}.0", text.trim_matches('"'));
            self.changed(span, format!("tokenRatio {text} is read as a thousandth of it"), right);
            read_as /= 1000.0;
        }
        self.throttle = tokens.map(|(tokens, _)| (tokens.min(1e9), read_as));
    }

    pub(super) fn load_balancing(&mut self, root: &Node) {
        let known = self.client.rule("load-balancing.known");
        let is_known = |name: &str| known.split(' ').any(|known| known == name);
        if let Some(node) = self.field(root, "loadBalancingPolicy")
            && let Some(name) = self.kind(node, "loadBalancingPolicy", "a string").and_then(Node::text)
            && !(self.is("load-balancing.policy", "any") || is_known(&name.to_lowercase()))
        {
            self.refuse(node.span, "this load balancing policy is not known", WRITE);
        }
        let Some(node) = self.field(root, "loadBalancingConfig") else { return };
        let Some(list) = self.array(node, "loadBalancingConfig") else { return };
        let mut is_served = list.is_empty() && self.is("load-balancing.list", "take");
        for policy in list {
            let [only] = policy.members() else {
                self.refuse(policy.span, "a load balancing policy is an object with one key", WRITE);
                continue;
            };
            let rule = self.client.rule("load-balancing.settings");
            if rule == "objects" || *rule == *only.key && only.value.kind != Kind::Null {
                self.object(&only.value, &only.key);
            }
            if let Some(child) = only.value.member("childPolicy") {
                self.note(Verdict::Unknown, None, child.span, "no rule is about child policies", WRITE);
                is_served = true;
            }
            if is_known(&only.key) {
                is_served = true;
                if let (Some(shuffle), true) = (only.value.member("shuffleAddressList"), rule != "any") {
                    self.kind(shuffle, "shuffleAddressList", "a boolean");
                }
                if self.is("load-balancing.behind", "unread") {
                    break;
                }
            }
        }
        if !is_served {
            let message = "no load balancing policy that this client knows".to_owned();
            let remove = removal_of(root, node);
            match self.client.rule("load-balancing.unknown") {
                "refuse" => self.refuse(node.span, message, remove),
                _ => self.note(Verdict::AsWritten, None, node.span, message + ": pick_first is used", remove),
            }
        }
    }

    pub(super) fn health_check(&mut self, root: &Node) {
        let rule = self.client.rule("health-check");
        if rule != "ignored"
            && let Some(node) = self.field(root, "healthCheckConfig")
            && let Some(config) = self.object(node, "healthCheckConfig")
            && rule == "checked"
            && let Some(name) = self.field(config, "serviceName")
        {
            self.kind(name, "serviceName", "a string");
        }
    }
}
