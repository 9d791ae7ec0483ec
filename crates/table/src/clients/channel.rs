//! The settings of a table for all calls of a channel.

use super::fields::{Fix, Reader, WRITE, removal_of};
use super::rules::Client;
use crate::document::{Kind, Node};

impl Reader<'_> {
    pub(super) fn throttling(&mut self, root: &Node) {
        if self.options.has(self.client, "option.retries") && self.is("option.retries-off", "unchecked") {
            return;
        }
        let Some(node) = self.field(root, "retryThrottling") else { return };
        let Some(throttling) = self.object(node, "retryThrottling") else { return };
        let is_whole = self.is("throttling.tokens", "whole");
        let read = move |client: Client, node: &Node| {
            if is_whole { client.integer(node) } else { client.float(node) }
        };
        let tokens = self.required(throttling, "maxTokens", read);
        let most = self.client.number::<f64>("throttling.most").unwrap_or(f64::INFINITY);
        let is_above = tokens.is_some_and(|(tokens, _)| tokens > most);
        let right = if is_above { Fix::Write("1000".to_owned()) } else { WRITE };
        let is_fine = |tokens: &f64| *tokens > 0.0 && *tokens <= most;
        self.check(tokens, is_fine, "maxTokens is not between 0 and 1000", right);
        let Some((ratio, span)) = self.required(throttling, "tokenRatio", Client::float) else { return };
        let text = self.source.excerpt(span);
        let rule = self.client.rule("throttling.ratio");
        let is_number = |text: &str| {
            text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if self.is("throttling.ratio-form", "digits") && !is_number(text.trim_matches('"')) {
            let right = Fix::Write(format!("{ratio}"));
            self.refuse(span, format!("tokenRatio {text} is not a number as digits"), right);
        }
        let is_cut = rule != "exact" && ratio < if rule == "rounded" { 0.0005 } else { 0.001 };
        let thousandth = Fix::Write("0.001".to_owned());
        let has_point = text.contains(['.', 'e', 'E']);
        if ratio <= 0.0 || is_cut && rule.ends_with("refused") {
            let right = if ratio > 0.0 { thousandth } else { WRITE };
            self.refuse(span, format!("tokenRatio {text} is not above 0"), right);
        } else if is_cut {
            let message = format!("tokenRatio {text} is read as 0: tokens never come back");
            self.changed(span, message, thousandth);
        } else if !has_point && self.is("throttling.ratio-without-point", "a thousandth") {
            let right = Fix::Write(format!("{}.0", text.trim_matches('"')));
            self.changed(span, format!("tokenRatio {text} is read as a thousandth of it"), right);
        }
        let tokens = tokens.map(|(tokens, _)| tokens);
        self.throttle = tokens.map(|tokens| (tokens, if is_cut { 0.0 } else { ratio }));
    }

    pub(super) fn load_balancing(&mut self, root: &Node) {
        let known = self.client.rule("load-balancing.known");
        let is_known = |name: &str| known.split(' ').any(|known| known == name);
        if let Some(node) = self.field(root, "loadBalancingPolicy") {
            match &node.kind {
                Kind::String(text)
                    if self.is("load-balancing.policy", "any") || is_known(&text.to_lowercase()) => {}
                Kind::String(_) => self.refuse(node.span, "this load balancing policy is not known", WRITE),
                _ => self.refuse(node.span, "loadBalancingPolicy is not a string", WRITE),
            }
        }
        let Some(node) = self.field(root, "loadBalancingConfig") else { return };
        let Some(list) = self.array(node, "loadBalancingConfig") else { return };
        let mut names = list.iter().filter_map(|policy| {
            if let [only] = policy.members() {
                return Some(&only.key);
            }
            let message = "an element of loadBalancingConfig is an object with one key";
            self.refuse(policy.span, message, WRITE);
            None
        });
        let is_served =
            names.any(|name| is_known(name)) || list.is_empty() && self.is("load-balancing.list", "take");
        if is_served {
            return;
        }
        let remove = removal_of(root, node);
        let message = "no load balancing policy that this client knows";
        match self.client.rule("load-balancing.unknown") {
            "refuse" => self.refuse(node.span, message, remove),
            _ => self.note_failing("UNAVAILABLE", node.span, format!("{message}: every call fails"), remove),
        }
    }

    pub(super) fn health_check(&mut self, root: &Node) {
        let rule = self.client.rule("health-check");
        if rule == "ignored" {
            return;
        }
        let Some(node) = self.field(root, "healthCheckConfig") else { return };
        let Some(config) = self.object(node, "healthCheckConfig") else { return };
        if rule == "checked"
            && let Some(name) = self.field(config, "serviceName")
            && !matches!(name.kind, Kind::String(_))
        {
            self.refuse(name.span, "serviceName is not a string", WRITE);
        }
    }
}
