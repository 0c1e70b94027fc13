//! Limits of a script, from the call and from the server.

use std::time::Duration;

use haft_kernel::run::{Run, ScopeLimits};
use haft_process::DiskMeter;
use haft_process::capture::CaptureLimits;
use schemars::JsonSchema;
use serde::Deserialize;

/// The argument `limits` of the tool `run`. The result reports each limit in `limits`: what was asked, what enforces it, and
/// whether it was hit.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitArguments {
    /// Bytes of memory for the script and its programs together.
    #[serde(default)]
    memory: Option<u64>,
    /// Seconds of CPU time of each program.
    #[serde(default)]
    cpu: Option<f64>,
    /// Processes and threads at once.
    #[serde(default)]
    processes: Option<u64>,
    /// Bytes of changed files in the overlay.
    #[serde(default)]
    disk: Option<u64>,
    /// Bytes of each output to store; more is counted, and only the last 64 KiB are kept.
    #[serde(default)]
    output: Option<u64>,
    /// Refuse to start unless the kernel enforces each limit for all processes together.
    #[serde(default)]
    strict: bool,
}

/// Checks the limits of a call, and combines them with those of the server: the lower one holds.
///
/// # Errors
/// If a value is invalid.
pub(crate) fn resolve(asked: &LimitArguments, server: &ScopeLimits) -> Result<ScriptLimits, String> {
    let invalid = |seconds| format!("invalid 'limits.cpu': {seconds} (expected a number of seconds)");
    let cpu = asked.cpu.map(|cpu| Duration::try_from_secs_f64(cpu).map_err(|_| invalid(cpu))).transpose()?;
    Ok(ScriptLimits {
        scope: ScopeLimits {
            memory: lower(asked.memory, server.memory),
            cpu: lower(cpu, server.cpu),
            processes: lower(asked.processes, server.processes),
            disk: lower(asked.disk, server.disk),
            strict: asked.strict || server.strict,
            ..*server
        },
        needs_overlay: asked.disk.is_some(),
        capture: asked.output.map_or_else(CaptureLimits::default, CaptureLimits::capped),
    })
}

fn lower<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The limits of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScriptLimits {
    scope: ScopeLimits,
    capture: CaptureLimits,
    /// Whether the call limits the space of an overlay.
    needs_overlay: bool,
}

impl ScriptLimits {
    /// Sets the limits of a run. `meter` measures the overlay of the run, and returns `None` if there is none. Then the
    /// server's limit on the space of overlays does not apply.
    ///
    /// # Errors
    /// If the call limits the space of an overlay, and there is none or it cannot be measured.
    pub(crate) fn apply(
        self,
        run: Run,
        meter: impl FnOnce() -> Result<Option<DiskMeter>, String>,
    ) -> Result<Run, String> {
        let meter = if self.scope.disk.is_some() { meter()? } else { None };
        if meter.is_none() && self.needs_overlay {
            return Err("'limits.disk' needs 'overlay'".to_owned());
        }
        let scope = ScopeLimits { disk: self.scope.disk.filter(|_| meter.is_some()), ..self.scope };
        let run = run.scope_limits(scope).capture_limits(self.capture);
        Ok(match meter {
            Some(meter) => run.disk_meter(meter),
            None => run,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_limit_of_call_and_server_holds() {
        let asked = LimitArguments { memory: Some(100), processes: Some(9), ..LimitArguments::default() };
        let server =
            ScopeLimits { memory: Some(50), cpu: Some(Duration::from_secs(3)), ..ScopeLimits::default() };
        let scope = resolve(&asked, &server).unwrap().scope;
        assert_eq!((scope.memory, scope.processes, scope.cpu), (Some(50), Some(9), server.cpu));
    }

    #[test]
    fn negative_times_are_refused() {
        let asked = LimitArguments { cpu: Some(-1.0), ..LimitArguments::default() };
        assert!(resolve(&asked, &ScopeLimits::default()).unwrap_err().contains("limits.cpu"));
    }
}
