//! Moves runs of changed lines, so that runs join, and end as late as possible.

/// The flags of one file. Lines before the first and after the last are not changed.
struct ChangedLines<'a>(&'a mut [bool]);

impl ChangedLines<'_> {
    fn is_changed(&self, line: isize) -> bool {
        usize::try_from(line).ok().and_then(|line| self.0.get(line)).copied().unwrap_or(false)
    }

    fn set(&mut self, line: isize, is_changed: bool) {
        self.0[line.unsigned_abs()] = is_changed;
    }
}

/// A run of changed lines, and the line of the other file that it corresponds to.
struct Run {
    start: isize,
    end: isize,
    other: isize,
}

/// Moves the runs of both files.
pub(super) fn shift(changed: &mut [Vec<bool>; 2], classes: [&[usize]; 2]) {
    let [first, second] = changed;
    shift_file(first, second, classes[0]);
    shift_file(second, first, classes[1]);
}

fn shift_file(changed: &mut [bool], other: &mut [bool], classes: &[usize]) {
    let length = isize::try_from(classes.len()).unwrap_or(isize::MAX);
    let (mut changed, other) = (ChangedLines(changed), ChangedLines(other));
    let mut run = Run { start: 0, end: 0, other: 0 };
    loop {
        // Find the next run, and follow the unchanged lines of the other file.
        while run.end < length && !changed.is_changed(run.end) {
            while other.is_changed(run.other) {
                run.other += 1;
            }
            run.other += 1;
            run.end += 1;
        }
        if run.end >= length {
            return;
        }
        run.start = run.end;
        while changed.is_changed(run.end) {
            run.end += 1;
        }
        while other.is_changed(run.other) {
            run.other += 1;
        }
        run.slide(&mut changed, &other, classes, length);
    }
}

impl Run {
    /// Moves the run until it joins no more runs, then back to a run of the other file if there is one.
    fn slide(
        &mut self,
        changed: &mut ChangedLines<'_>,
        other: &ChangedLines<'_>,
        classes: &[usize],
        length: isize,
    ) {
        let class = |line: isize| classes[line.unsigned_abs()];
        let mut corresponding;
        loop {
            let size = self.end - self.start;
            while self.start > 0 && class(self.start - 1) == class(self.end - 1) {
                self.move_back(changed, other);
                while changed.is_changed(self.start - 1) {
                    self.start -= 1;
                }
            }
            corresponding = if other.is_changed(self.other - 1) { self.end } else { length };
            while self.end < length && class(self.start) == class(self.end) {
                changed.set(self.start, false);
                changed.set(self.end, true);
                self.start += 1;
                self.end += 1;
                while changed.is_changed(self.end) {
                    self.end += 1;
                }
                self.other += 1;
                while other.is_changed(self.other) {
                    corresponding = self.end;
                    self.other += 1;
                }
            }
            if size == self.end - self.start {
                break;
            }
        }
        while corresponding < self.end {
            self.move_back(changed, other);
        }
    }

    fn move_back(&mut self, changed: &mut ChangedLines<'_>, other: &ChangedLines<'_>) {
        self.start -= 1;
        self.end -= 1;
        changed.set(self.start, true);
        changed.set(self.end, false);
        self.other -= 1;
        while other.is_changed(self.other) {
            self.other -= 1;
        }
    }
}
