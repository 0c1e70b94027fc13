//! Sends spans, if haft was built with the feature `telemetry`.

#[cfg(not(feature = "telemetry"))]
pub(super) use absent::SpanSink;
#[cfg(feature = "telemetry")]
pub(super) use present::SpanSink;

#[cfg(feature = "telemetry")]
mod present {
    use std::time::Duration;

    use haft_telemetry::{Attribute, AttributeValue, CollectorSettings, Span, SpanExporter};

    use crate::failure::print_message;
    use crate::process_context::ProcessContext;
    use crate::records::settings::TelemetrySettings;

    const VERSION: &str = env!("CARGO_PKG_VERSION");
    /// The collector on this machine.
    const DEFAULT_ENDPOINT: &str = "http://localhost:4318";
    /// The path for traces below an endpoint.
    const TRACES_PATH: &str = "/v1/traces";
    const DEFAULT_TIMEOUT: Duration = Duration::from_secs(2);

    /// Sends spans to the configured collector.
    #[derive(Debug)]
    pub(in crate::records) struct SpanSink(SpanExporter);

    impl SpanSink {
        /// Returns `None` if telemetry is switched off, or with a message if the settings are invalid.
        pub(in crate::records) fn open(
            settings: &TelemetrySettings,
            process: &ProcessContext,
        ) -> Option<SpanSink> {
            if !settings.enabled {
                return None;
            }
            let exporter = SpanExporter::new(CollectorSettings {
                url: url(settings, process),
                headers: headers(settings, process),
                timeout: settings.request_timeout.unwrap_or(DEFAULT_TIMEOUT),
                resource: resource(process),
                version: VERSION.to_owned(),
            });
            exporter
                .map(SpanSink)
                .inspect_err(|error| print_message(format_args!("no spans are sent: {error}")))
                .ok()
        }

        pub(in crate::records) fn send(&self, span: Span) {
            self.0.export(span);
        }

        /// Waits until all spans are sent, and prints whether some were lost.
        pub(in crate::records) fn finish(&self) {
            self.0.flush();
            if let Some((lost, reason)) = self.0.failure() {
                let lost = crate::units::count(lost, "span");
                print_message(format_args!("{lost} lost: {reason}"));
            }
        }
    }

    fn variable(process: &ProcessContext, name: &str) -> Option<String> {
        let value = process.variable(name)?.to_str()?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The URL: the setting, else OpenTelemetry's variables, else the collector on this machine.
    fn url(settings: &TelemetrySettings, process: &ProcessContext) -> String {
        if settings.endpoint.is_none()
            && let Some(url) = variable(process, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        {
            return url;
        }
        let endpoint = settings.endpoint.clone().or_else(|| variable(process, "OTEL_EXPORTER_OTLP_ENDPOINT"));
        let endpoint = endpoint.unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned());
        let endpoint = endpoint.trim_end_matches('/');
        let path = if endpoint.ends_with(TRACES_PATH) { "" } else { TRACES_PATH };
        format!("{endpoint}{path}")
    }

    /// The headers: those of OpenTelemetry's variable, `name=value` separated by commas, and the settings.
    fn headers(settings: &TelemetrySettings, process: &ProcessContext) -> Vec<(String, String)> {
        let listed = variable(process, "OTEL_EXPORTER_OTLP_HEADERS").filter(|_| settings.endpoint.is_none());
        let listed = listed.unwrap_or_default();
        let pairs = listed.split(',').filter_map(|pair| pair.split_once('='));
        let pairs = pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        pairs.chain(settings.headers.clone()).collect()
    }

    fn resource(process: &ProcessContext) -> Vec<Attribute> {
        let text = |name, value: String| (name, AttributeValue::Text(value));
        let host = rustix::system::uname();
        vec![
            text("service.name", variable(process, "OTEL_SERVICE_NAME").unwrap_or_else(|| "haft".to_owned())),
            text("service.version", VERSION.to_owned()),
            text("host.name", host.nodename().to_string_lossy().into_owned()),
            ("process.pid", AttributeValue::Integer(std::process::id().into())),
            text("telemetry.sdk.name", "haft".to_owned()),
            text("telemetry.sdk.language", "rust".to_owned()),
            text("telemetry.sdk.version", VERSION.to_owned()),
        ]
    }
}

#[cfg(not(feature = "telemetry"))]
mod absent {
    use std::convert::Infallible;

    use haft_telemetry::Span;

    use crate::failure::print_message;
    use crate::process_context::ProcessContext;
    use crate::records::settings::TelemetrySettings;

    /// Never exists.
    #[derive(Debug)]
    pub(in crate::records) struct SpanSink(Infallible);

    impl SpanSink {
        /// Prints a message if telemetry is switched on.
        pub(in crate::records) fn open(settings: &TelemetrySettings, _: &ProcessContext) -> Option<SpanSink> {
            if settings.enabled {
                print_message("no spans are sent: this haft was built without the feature 'telemetry'");
            }
            None
        }

        pub(in crate::records) fn send(&self, _: Span) {
            match self.0 {}
        }

        pub(in crate::records) fn finish(&self) {
            match self.0 {}
        }
    }
}
