//! `mapfile` and `readarray`.

use std::sync::Arc;

use haft_text::Bytes;
use haft_text::quote;

use super::descriptor_reader::DescriptorReader;
use super::options::OptionFlag;
use super::{Context, options};
use crate::flow::{Flow, Unwind};
use crate::variables::{Attributes, IndexedArray, Variable, VariableError, VariableValue, is_name};

/// The parsed options.
struct MapfileOptions<'a> {
    delimiter: u8,
    /// The maximum number of lines; 0 means all.
    count: u64,
    origin: Option<u64>,
    skip: u64,
    trim: bool,
    descriptor: u32,
    callback: Option<&'a [u8]>,
    quantum: u64,
}

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "d:n:O:s:tu:C:c:") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let request = match parse(&flags) {
        Ok(request) => request,
        Err(message) => {
            context.error(message);
            return Ok(1);
        }
    };
    let name = operands.first().cloned().unwrap_or_else(|| "MAPFILE".into());
    if name.is_empty() {
        context.error("empty array variable name");
        return Ok(2);
    }
    if !is_name(&name) {
        context.error(VariableError::InvalidName(name));
        return Ok(1);
    }
    let Some(file) = context.file(request.descriptor) else {
        let number = request.descriptor;
        context.error(format_args!("{number}: invalid file descriptor: Bad file descriptor"));
        return Ok(1);
    };
    if let Some(status) = prepare(context, &name, request.origin.is_none())? {
        return Ok(status);
    }
    context.flush();
    let mut input = DescriptorReader::new(file, None, request.count == 0);
    let result = fill(context, &request, &name, &mut input);
    input.finish();
    result
}

fn parse<'a>(flags: &[OptionFlag<'a>]) -> Result<MapfileOptions<'a>, String> {
    let number = |flag: &OptionFlag<'_>, problem: &str| {
        let value = super::integer::parse_integer(flag.text()).and_then(|number| u64::try_from(number).ok());
        value.ok_or_else(|| format!("{}: {problem}", String::from_utf8_lossy(flag.text())))
    };
    let mut request = MapfileOptions {
        delimiter: b'\n',
        count: 0,
        origin: None,
        skip: 0,
        trim: false,
        descriptor: 0,
        callback: None,
        quantum: 5000,
    };
    for flag in flags {
        match flag.letter {
            b'd' => request.delimiter = flag.text().first().copied().unwrap_or(0),
            b'n' => request.count = number(flag, "invalid line count")?,
            b'O' => request.origin = Some(number(flag, "invalid array origin")?),
            b's' => request.skip = number(flag, "invalid line count")?,
            b't' => request.trim = true,
            b'u' => {
                let wanted = number(flag, "invalid file descriptor specification")?;
                request.descriptor = u32::try_from(wanted).unwrap_or(u32::MAX);
            }
            b'C' => request.callback = Some(flag.text()),
            _ => {
                let quantum = number(flag, "invalid callback quantum")?;
                request.quantum = if quantum == 0 {
                    return Err(format!(
                        "{}: invalid callback quantum",
                        String::from_utf8_lossy(flag.text())
                    ));
                } else {
                    quantum
                };
            }
        }
    }
    Ok(request)
}

/// Makes the variable an indexed array, empty if `clear` is set. Returns the exit status if that fails.
fn prepare(context: &mut Context<'_>, name: &Bytes, clear: bool) -> Result<Option<i32>, Unwind> {
    let target = match context.session().follow(name) {
        Ok(target) => target.name,
        Err(error) => {
            context.error(error);
            return Ok(Some(1));
        }
    };
    let variable = context.variables_mut().entry(&target);
    let problem = match &variable.value {
        _ if variable.is(Attributes::READONLY) => Some(VariableError::Readonly(name.clone()).to_string()),
        VariableValue::Associative(_) => Some(format!("{name}: not an indexed array")),
        _ => None,
    };
    if let Some(problem) = problem {
        context.error(problem);
        return Ok(Some(1));
    }
    let kept = match &variable.value {
        VariableValue::Scalar(value) if variable.is_set() => vec![value.clone()],
        _ => Vec::new(),
    };
    if clear || matches!(variable.value, VariableValue::Scalar(_)) {
        let kept = if clear { Vec::new() } else { kept };
        variable.value = VariableValue::Indexed(Arc::new(IndexedArray::from_values(kept)));
    }
    variable.attributes = variable.attributes.without(Attributes::UNSET);
    Ok(None)
}

fn fill(
    context: &mut Context<'_>,
    request: &MapfileOptions<'_>,
    name: &Bytes,
    input: &mut DescriptorReader,
) -> Flow {
    for _ in 0..request.skip {
        if line(context, input, request)?.is_none() {
            return Ok(0);
        }
    }
    let origin = request.origin.unwrap_or(0);
    let mut read = 0;
    while (request.count == 0 || read < request.count)
        && let Some(value) = line(context, input, request)?
    {
        let index = origin.saturating_add(read);
        read += 1;
        if let Some(callback) = request.callback.filter(|_| read % request.quantum == 0) {
            let text = [callback, format!(" {index} ").as_bytes(), &quote::single(&value)].concat();
            context.session_mut().run_text(&text, "mapfile")?;
        }
        if let Err(error) = store(context, name, index, value.into()) {
            context.error(error);
            return Ok(1);
        }
    }
    Ok(0)
}

/// Sets an element: directly if the array has no attributes.
fn store(context: &mut Context<'_>, name: &Bytes, index: u64, value: Bytes) -> Result<(), VariableError> {
    if let Some(Variable { value: VariableValue::Indexed(array), attributes: Attributes::NONE, .. }) =
        context.variables_mut().get_mut(name)
    {
        Arc::make_mut(array).set(index, value);
        return Ok(());
    }
    let subscript = index.to_string();
    let number = i64::try_from(index).unwrap_or(i64::MAX);
    context.session_mut().assign_index(name, subscript.as_bytes(), number, value, false)
}

/// Returns the next line, with its delimiter unless `-t` is given or the delimiter is a NUL byte.
fn line(
    context: &mut Context<'_>,
    input: &mut DescriptorReader,
    request: &MapfileOptions<'_>,
) -> Result<Option<Vec<u8>>, Unwind> {
    let mut bytes = Vec::new();
    let mut any = false;
    context.session().memory.note_growth(size_of::<Bytes>());
    loop {
        let Ok(available) = input.peek(context)? else { return Ok(any.then_some(bytes)) };
        any = true;
        let found = memchr::memchr(request.delimiter, available);
        let part = &available[..found.unwrap_or(available.len())];
        context.session().memory.note_growth(part.len());
        bytes.extend(part.iter().filter(|byte| **byte != 0));
        let length = part.len() + usize::from(found.is_some());
        input.consume(length);
        if found.is_some() {
            if !request.trim && request.delimiter != 0 {
                bytes.push(request.delimiter);
            }
            return Ok(Some(bytes));
        }
    }
}
