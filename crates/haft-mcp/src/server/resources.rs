//! MCP resources: outputs and job logs.

use haft_process::capture::{Output, OutputSlice, OutputView};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, MetaObject, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::Value;

use super::server_state::ServerState;

const OUTPUT_URI_PREFIX: &str = "haft://output/";
const JOB_URI_PREFIX: &str = "haft://job/";
/// Longer resources are truncated in the middle.
const MAX_RESOURCE_BYTES: usize = 8 << 20;

/// The reply to `resources/list`.
pub(crate) fn list(state: &ServerState, owner: u64) -> ListResourcesResult {
    let job = |job: &std::sync::Arc<super::jobs::ScriptJob>| {
        Resource::new(job_uri(&job.id), format!("log of job {}", job.id))
            .with_description(job.title())
            .with_mime_type("text/plain")
    };
    let output = |kept: &super::outputs::RetainedOutput| {
        Resource::new(output_uri(kept.output.id().as_str()), format!("output {}", kept.output.id()))
            .with_description(kept.origin.clone())
            .with_size(kept.output.total_bytes())
    };
    let jobs = state.jobs.list(owner);
    let outputs = state.outputs.list(owner);
    ListResourcesResult::with_all_items(jobs.iter().map(job).chain(outputs.iter().map(output)).collect())
}

/// The URI of an output.
pub(crate) fn output_uri(id: &str) -> String {
    format!("{OUTPUT_URI_PREFIX}{id}")
}

/// The URI of a job log.
pub(crate) fn job_uri(id: &str) -> String {
    format!("{JOB_URI_PREFIX}{id}")
}

/// The reply to `resources/templates/list`.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, description: &str| {
        ResourceTemplate::new(format!("{uri}{{id}}"), name).with_description(description)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(OUTPUT_URI_PREFIX, "output", "The retained output of a script"),
        template(JOB_URI_PREFIX, "job log", "The output of a job so far, standard output and standard error"),
    ])
}

/// The reply to `resources/read`: text, or base64 if it is not UTF-8. A marker replaces omitted bytes, and `_meta`
/// holds their number.
pub(crate) fn read(state: &ServerState, owner: u64, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || {
        let data = serde_json::json!({ "uri": uri });
        ErrorData::resource_not_found(format!("unknown resource '{uri}'"), Some(data))
    };
    let outputs: Vec<Output> = if let Some(id) = uri.strip_prefix(OUTPUT_URI_PREFIX) {
        vec![state.outputs.get(owner, id).ok_or_else(unknown)?]
    } else if let Some(id) = uri.strip_prefix(JOB_URI_PREFIX) {
        let job = state.jobs.get(owner, id).map_err(|_| unknown())?;
        job.streams().into_iter().map(|(_, output)| output).collect()
    } else {
        return Err(unknown());
    };
    let failed = |error: haft_process::capture::Error| ErrorData::internal_error(error.to_string(), None);
    let slices: Vec<_> = outputs
        .iter()
        .map(|output| output.slice(&OutputView::HeadAndTail, MAX_RESOURCE_BYTES))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    let bytes = slices.iter().flat_map(OutputSlice::to_marked_bytes).collect();
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type("text/plain"),
        Err(error) => ResourceContents::blob(encode_base64(error.as_bytes()), uri)
            .with_mime_type("application/octet-stream"),
    };
    Ok(ReadResourceResult::new(vec![contents.with_meta(MetaObject(byte_counts(&slices)))]))
}

/// The `_meta` fields: total, omitted and lost bytes.
fn byte_counts(slices: &[OutputSlice]) -> serde_json::Map<String, Value> {
    let total: u64 = slices.iter().map(|slice| slice.total_bytes).sum();
    let omitted: u64 =
        slices.iter().flat_map(|slice| &slice.omissions).map(|part| part.bytes.end - part.bytes.start).sum();
    let lost: u64 = slices.iter().map(|slice| slice.lost_bytes).sum();
    [("total_bytes", total), ("omitted_bytes", omitted), ("not_kept_bytes", lost)]
        .into_iter()
        .map(|(name, count)| (format!("haft/{name}"), count.into()))
        .collect()
}

/// Encodes bytes as base64, as the protocol requires for binary contents.
fn encode_base64(bytes: &[u8]) -> String {
    const BASE64_ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let number =
            chunk.iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = BASE64_ALPHABET[(number >> (18 - 6 * place)) as usize & 63];
            text.push(if place > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_follows_rfc_4648() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in cases {
            assert_eq!(encode_base64(bytes.as_bytes()), text);
        }
        assert_eq!(encode_base64(&[0xff, 0xfe]), "//4=");
    }
}
