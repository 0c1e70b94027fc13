//! Outputs and job logs as resources.

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
/// More of a resource is not sent in one message.
const MAX_RESOURCE_BYTES: usize = 8 << 20;

/// What there is.
pub(crate) fn list(state: &ServerState) -> ListResourcesResult {
    let job = |job: &std::sync::Arc<super::jobs::ScriptJob>| {
        Resource::new(job_uri(&job.id), format!("log of job {}", job.id))
            .with_description(job.title())
            .with_mime_type("text/plain")
    };
    let output = |kept: &super::outputs::RetainedOutput| {
        Resource::new(
            format!("{OUTPUT_URI_PREFIX}{}", kept.output.id()),
            format!("output {}", kept.output.id()),
        )
        .with_description(kept.origin.clone())
        .with_size(kept.output.total_bytes())
    };
    let jobs = state.jobs.list();
    let outputs = state.outputs.list();
    ListResourcesResult::with_all_items(jobs.iter().map(job).chain(outputs.iter().map(output)).collect())
}

/// The name of a job's log.
pub(crate) fn job_uri(id: &str) -> String {
    format!("{JOB_URI_PREFIX}{id}")
}

/// How they are named.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, words: &str| {
        ResourceTemplate::new(format!("{uri}{{id}}"), name).with_description(words)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(OUTPUT_URI_PREFIX, "output", "All that is kept of what a script wrote"),
        template(JOB_URI_PREFIX, "job log", "What a job has written so far, both streams"),
    ])
}

/// The bytes of one: as text, or as they are if they are no text. What is left out has a mark in its place, and `_meta`
/// says how much there is.
pub(crate) fn read(state: &ServerState, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || ErrorData::resource_not_found(format!("there is no resource \"{uri}\""), None);
    let outputs: Vec<Output> = if let Some(id) = uri.strip_prefix(OUTPUT_URI_PREFIX) {
        vec![state.outputs.get(id).ok_or_else(unknown)?]
    } else if let Some(id) = uri.strip_prefix(JOB_URI_PREFIX) {
        let job = state.jobs.get(id).map_err(|_| unknown())?;
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
    Ok(ReadResourceResult::new(vec![contents.with_meta(MetaObject(extent(&slices)))]))
}

/// How much there is, and how much of it is left out.
fn extent(slices: &[OutputSlice]) -> serde_json::Map<String, Value> {
    let total: u64 = slices.iter().map(|slice| slice.total_bytes).sum();
    let omitted: u64 =
        slices.iter().flat_map(|slice| &slice.omissions).map(|part| part.bytes.end - part.bytes.start).sum();
    let lost: u64 = slices.iter().map(|slice| slice.lost_bytes).sum();
    [("total_bytes", total), ("omitted_bytes", omitted), ("not_kept_bytes", lost)]
        .into_iter()
        .map(|(name, count)| (format!("haft/{name}"), count.into()))
        .collect()
}

/// Base64, as JSON carries bytes.
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
    fn bytes_are_encoded_as_the_standard_says() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in cases {
            assert_eq!(encode_base64(bytes.as_bytes()), text);
        }
        assert_eq!(encode_base64(&[0xff, 0xfe]), "//4=");
    }
}
