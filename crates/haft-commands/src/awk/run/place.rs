//! Reads and assigns variables, fields and elements.

use haft_kernel::Bytes;

use super::input::RecordSeparator;
use super::{AwkRun, AwkStop, Evaluated, FieldMode, FrameSlot, SharedArray};
use crate::awk::field_widths::parse_widths;
use crate::awk::lexer::unescape;
use crate::awk::parse::special;
use crate::awk::record::FieldSplitter;
use crate::awk::tree::{ArithmeticOperator, AwkExpression, AwkPlace, SpecialVariable, VariableSlot};
use crate::awk::value::AwkValue;

/// The largest number of fields.
const MAX_FIELDS: f64 = 1e7;

impl AwkRun<'_, '_, '_> {
    pub(super) fn array(&self, variable: VariableSlot) -> Evaluated<SharedArray> {
        match variable {
            VariableSlot::Global(index) => Ok(self.arrays[index].clone()),
            VariableSlot::Local(index) => match &self.frames[self.base + index] {
                FrameSlot::Array(array) => Ok(array.clone()),
                FrameSlot::Scalar(_) => Err(AwkStop::Fatal("attempt to use scalar as an array".to_owned())),
            },
        }
    }

    /// The key of some subscripts.
    pub(super) fn subscript(&mut self, subscripts: &[AwkExpression]) -> Evaluated<Bytes> {
        if let [single] = subscripts {
            return self.text(single);
        }
        let mut key = Vec::new();
        for (index, subscript) in subscripts.iter().enumerate() {
            if index > 0 {
                key.extend_from_slice(&self.special.subsep);
            }
            key.extend_from_slice(&self.text(subscript)?);
        }
        Ok(key.into())
    }

    /// The index of a field.
    pub(super) fn field_index(&mut self, index: &AwkExpression) -> Evaluated<usize> {
        let number = self.number(index)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
        match number.trunc() {
            whole if whole < 0.0 => self.fatal(format!("attempt to access field {whole}")),
            whole if whole > MAX_FIELDS => self.fatal(format!("field {whole} is too large")),
            whole => Ok(whole as usize),
        }
    }

    pub(super) fn place_value(&mut self, place: &AwkPlace) -> Evaluated<AwkValue> {
        Ok(match place {
            AwkPlace::Variable(VariableSlot::Global(index)) => {
                if self.program.global_arrays[*index] {
                    let name = &self.program.globals[*index];
                    return self.fatal(format!("attempt to use array `{name}' in a scalar context"));
                }
                self.globals[*index].clone()
            }
            AwkPlace::Variable(VariableSlot::Local(index)) => match &self.frames[self.base + index] {
                FrameSlot::Scalar(value) => value.clone(),
                FrameSlot::Array(_) => return self.fatal("attempt to use array in a scalar context"),
            },
            AwkPlace::Special(special) => self.special_value(*special),
            AwkPlace::Field(index) => {
                let index = self.field_index(index)?;
                self.record.value(index)
            }
            AwkPlace::Element(array, subscripts) => {
                let key = self.subscript(subscripts)?;
                let array = self.array(*array)?;
                let mut array = array.borrow_mut();
                array.element(key).clone()
            }
        })
    }

    pub(super) fn assign(&mut self, place: &AwkPlace, value: AwkValue) -> Evaluated<()> {
        match place {
            AwkPlace::Variable(VariableSlot::Global(index)) => {
                if self.program.global_arrays[*index] {
                    let name = &self.program.globals[*index];
                    return self.fatal(format!("attempt to use array `{name}' in a scalar context"));
                }
                self.globals[*index] = value;
            }
            AwkPlace::Variable(VariableSlot::Local(index)) => {
                self.frames[self.base + index] = FrameSlot::Scalar(value);
            }
            AwkPlace::Special(special) => self.assign_special(*special, value)?,
            AwkPlace::Field(index) => {
                let index = self.field_index(index)?;
                match index {
                    0 => self.record.set_text(&value.to_text(&self.special.convfmt)),
                    _ => self.record.set_field(index, value, &self.special.ofs, &self.special.convfmt),
                }
            }
            AwkPlace::Element(array, subscripts) => {
                let key = self.subscript(subscripts)?;
                self.array(*array)?.borrow_mut().set(key, value);
            }
        }
        Ok(())
    }

    /// Changes a number in place and returns the new value.
    pub(super) fn update(
        &mut self,
        place: &AwkPlace,
        operator: ArithmeticOperator,
        value: &AwkExpression,
    ) -> Evaluated<f64> {
        let right = self.number(value)?;
        if let AwkPlace::Element(array, subscripts) = place {
            let key = self.subscript(subscripts)?;
            let array = self.array(*array)?;
            let mut array = array.borrow_mut();
            let element = array.element(key);
            let result = self.calculate(operator, element.to_number(), right)?;
            *element = AwkValue::Number(result);
            return Ok(result);
        }
        let left = self.place_value(place)?.to_number();
        let result = self.calculate(operator, left, right)?;
        self.assign(place, AwkValue::Number(result))?;
        Ok(result)
    }

    /// Adds to a number in place and returns the old value.
    pub(super) fn increment(&mut self, place: &AwkPlace, change: f64) -> Evaluated<f64> {
        if let AwkPlace::Element(array, subscripts) = place {
            let key = self.subscript(subscripts)?;
            let array = self.array(*array)?;
            let mut array = array.borrow_mut();
            let element = array.element(key);
            let old = element.to_number();
            *element = AwkValue::Number(old + change);
            return Ok(old);
        }
        let old = self.place_value(place)?.to_number();
        self.assign(place, AwkValue::Number(old + change))?;
        Ok(old)
    }

    fn special_value(&mut self, variable: SpecialVariable) -> AwkValue {
        let special = &self.special;
        let text = |text: &Bytes| AwkValue::Text(text.clone());
        match variable {
            #[expect(clippy::cast_precision_loss, reason = "the count is small")]
            SpecialVariable::Nf => AwkValue::Number(self.record.count() as f64),
            SpecialVariable::Nr => AwkValue::Number(special.nr),
            SpecialVariable::Fnr => AwkValue::Number(special.fnr),
            SpecialVariable::Fs => text(&special.fs),
            SpecialVariable::Rs => text(&special.rs),
            SpecialVariable::Ofs => text(&special.ofs),
            SpecialVariable::Ors => text(&special.ors),
            SpecialVariable::Subsep => text(&special.subsep),
            SpecialVariable::Convfmt => text(&special.convfmt),
            SpecialVariable::Ofmt => text(&special.ofmt),
            SpecialVariable::Rt => text(&special.rt),
            SpecialVariable::Rstart => AwkValue::Number(special.rstart),
            SpecialVariable::Rlength => AwkValue::Number(special.rlength),
            SpecialVariable::Filename => special.filename.clone(),
            SpecialVariable::Fpat => text(&special.fpat),
            SpecialVariable::Fieldwidths => text(&special.fieldwidths),
            SpecialVariable::Ignorecase => special.ignorecase.clone(),
        }
    }

    fn assign_special(&mut self, variable: SpecialVariable, value: AwkValue) -> Evaluated<()> {
        let text = value.to_text(&self.special.convfmt);
        let special = &mut self.special;
        match variable {
            SpecialVariable::Nf => {
                let count = value.to_number();
                if !(0.0..=MAX_FIELDS).contains(&count) {
                    return self.fatal("NF set to an invalid value");
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
                self.record.set_count(count as usize, &self.special.ofs, &self.special.convfmt);
            }
            SpecialVariable::Nr => special.nr = value.to_number(),
            SpecialVariable::Fnr => special.fnr = value.to_number(),
            SpecialVariable::Fs => {
                (special.fs, special.field_mode) = (text, FieldMode::Separator);
                self.set_splitter()?;
            }
            SpecialVariable::Fpat => {
                (special.fpat, special.field_mode) = (text, FieldMode::Pattern);
                self.set_splitter()?;
            }
            SpecialVariable::Fieldwidths => {
                (special.fieldwidths, special.field_mode) = (text, FieldMode::Widths);
                self.set_splitter()?;
            }
            SpecialVariable::Rs => {
                special.rs = text;
                self.set_record_separator()?;
                self.set_splitter()?;
            }
            SpecialVariable::Ignorecase => {
                special.ignorecase = value;
                self.regexes.clear();
                self.set_record_separator()?;
                self.set_splitter()?;
            }
            SpecialVariable::Ofs => special.ofs = text,
            SpecialVariable::Ors => special.ors = text,
            SpecialVariable::Subsep => special.subsep = text,
            SpecialVariable::Convfmt => special.convfmt = text,
            SpecialVariable::Ofmt => special.ofmt = text,
            SpecialVariable::Rt => special.rt = text,
            SpecialVariable::Rstart => special.rstart = value.to_number(),
            SpecialVariable::Rlength => special.rlength = value.to_number(),
            SpecialVariable::Filename => special.filename = value,
        }
        Ok(())
    }

    /// Sets how the next records are split.
    fn set_splitter(&mut self) -> Evaluated<()> {
        self.record.complete();
        self.record.splitter = match self.special.field_mode {
            FieldMode::Separator => {
                let fs = self.special.fs.clone();
                self.splitter(&fs, self.special.rs.is_empty())?
            }
            FieldMode::Pattern => {
                let fpat = self.special.fpat.clone();
                FieldSplitter::Pattern(self.regex(&fpat)?, self.encoding)
            }
            FieldMode::Widths => match parse_widths(&self.special.fieldwidths) {
                Ok(widths) => FieldSplitter::Widths(widths.into(), self.encoding),
                Err(message) => return self.fatal(message),
            },
        };
        Ok(())
    }

    fn set_record_separator(&mut self) -> Evaluated<()> {
        let rs = self.special.rs.clone();
        self.separator = match rs.as_bytes() {
            b"" => RecordSeparator::Paragraph,
            [byte] if !(byte.is_ascii_alphabetic() && self.ignores_case()) => RecordSeparator::Byte(*byte),
            pattern => RecordSeparator::Regex(self.regex(pattern)?),
        };
        Ok(())
    }

    /// Assigns a variable by name, as `-v` and operands do.
    pub(in crate::awk) fn assign_named(&mut self, name: &str, raw: &[u8]) -> Evaluated<()> {
        let value = AwkValue::Input(unescape(raw).0.into());
        if let Some(special) = special(name) {
            return self.assign_special(special, value);
        }
        if let Some(index) = self.global_index(name) {
            if self.program.global_arrays[index] {
                return self.fatal(format!("cannot use array `{name}' as a variable"));
            }
            self.globals[index] = value;
        }
        Ok(())
    }
}
