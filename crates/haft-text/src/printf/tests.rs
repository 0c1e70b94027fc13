//! Expectations are the output of bash 5.2.

use super::*;

struct FixedClock;

impl PrintfHost for FixedClock {
    fn local_time(&mut self, time: PrintfTime) -> LocalTime {
        let epoch = match time {
            PrintfTime::Now => 1_700_000_000,
            PrintfTime::Start => 1_600_000_000,
            PrintfTime::At(epoch) => epoch,
        };
        time_zone::LocalZone::load(Some(b""), &|_| None).local_time(epoch)
    }

    fn encoding(&self) -> crate::encoding::Encoding {
        crate::encoding::Encoding::Utf8
    }

    fn reserve(&mut self, _: usize) -> bool {
        true
    }

    fn is_cancelled(&mut self) -> bool {
        false
    }
}

fn run(format: &str, arguments: &[&str]) -> (String, i32) {
    let arguments: Vec<Bytes> = arguments.iter().map(|argument| (*argument).into()).collect();
    let printed = print(format.as_bytes(), &arguments, &mut FixedClock);
    assert_eq!(printed.status != 0, printed.errors.iter().any(|text| !text.starts_with(b"warning")));
    (String::from_utf8_lossy(&printed.output).into_owned(), printed.status)
}

#[track_caller]
fn check(format: &str, arguments: &[&str], expected: &str) {
    assert_eq!(run(format, arguments), (expected.to_owned(), 0), "{format} {arguments:?}");
}

#[test]
fn text_conversions() {
    check("[%5s|%-5s|%.2s|%5.1s|%05s]", &["a", "b", "abc", "xyz", "q"], "[    a|b    |ab|    x|    q]");
    check("[%5s]", &["é"], "[   é]");
    check("%s\\n", &[], "\n");
    check("%s %s\\n", &["a", "b", "c"], "a b\nc \n");
    check("%b", &["a\\cb", "x"], "a");
    check("a\\cb", &[], "a\\cb");
    check("%q [%10q] [%.3q] [%.3Q]", &["a b", "a b", "a bcd", "a bcd"], "a\\ b [      a\\ b] [a\\ ] [a\\ b]");
    check("%.*s|%*s|%-*s|", &["2", "abc", "3", "x", "3", "y"], "ab|  x|y  |");
    check("%c%c", &["abc", ""], "a\0");
    check("%%|\\x41\\101", &[], "%|AA");
    check("%s", &["a", "b"], "ab");
    check("plain", &["a", "b"], "plain");
}

#[test]
fn integer_conversions() {
    check("%d %i %u", &["-5", "0x1f", "-1"], "-5 31 18446744073709551615");
    check("%x %X %o %#x %#o", &["255", "255", "8", "255", "8"], "ff FF 10 0xff 010");
    check("%+d % d %05d %-5d|", &["1", "2", "3", "4"], "+1  2 00003 4    |");
    check("%.3d %+.3d %8.3d|%08.3d|", &["5", "5", "-5", "5"], "005 +005     -005|     005|");
    check("%d %d %d %d", &["'a", "'é", "\"b", "'"], "97 233 98 0");
    check("%d %d %d", &["", " 5", "+5"], "0 5 5");
    check("%ld %lld %hd %'d", &["1", "2", "300", "1234567"], "1 2 300 1234567");
    check("%d", &["99999999999999999999"], "9223372036854775807");
    check("%x %u", &["-1", "99999999999999999999"], "ffffffffffffffff 18446744073709551615");
    check("%d %s\\n", &["1"], "1 \n");
}

#[test]
fn invalid_numbers_are_reported() {
    for (format, argument, output) in [
        ("%d", "abc", "0"),
        ("%d", "08", "0"),
        ("%d", "0xg", "0"),
        ("%d", "5 ", "5"),
        ("%d", "5x", "5"),
        ("%d", "1.5", "1"),
        ("%f", "1.5x", "1.500000"),
        ("%f", "1e", "1.000000"),
        ("%f", ".", "0.000000"),
    ] {
        assert_eq!(run(format, &[argument]), (output.to_owned(), 1), "{argument}");
    }
    for format in ["%", "%5", "%z", "%y", "%5%", "a%ya"] {
        assert_eq!(run(format, &["1"]).1, 1, "{format}");
    }
}

#[test]
fn floating_point_conversions() {
    check("%f %.2f %.0f %.0f %.0f", &["1", "2.675", "0.5", "1.5", "2.5"], "1.000000 2.67 0 2 2");
    check("%.20f", &["0.1"], "0.10000000000000000000");
    check(
        "%e %E %g %G",
        &["12345.678", "0.00001", "0.00001", "1e20"],
        "1.234568e+04 1.000000E-05 1e-05 1E+20",
    );
    check(
        "%g %g %g %g %g",
        &["1e-5", "0.0001", "123456", "1234567", "0"],
        "1e-05 0.0001 123456 1.23457e+06 0",
    );
    check("%#f %#.0f %#g %#.3g", &["1", "1", "1000000", "1"], "1.000000 1. 1.00000e+06 1.00");
    check("%.0e %.0g %#.0e", &["15", "15", "15"], "2e+01 2e+01 2.e+01");
    check("%10.3e|%-12g|%+g|% g|", &["1234.5", "1.5", "2", "3"], " 1.234e+03|1.5         |+2| 3|");
    check("%012.3f|%+012.3f", &["-3.14159", "2.5"], "-0000003.142|+0000002.500");
    check("%f %F %f %05f|", &["inf", "-inf", "nan", "inf"], "inf -INF nan   inf|");
    check("%f %f %f %f", &["0x1.8p3", "0x10", ".5", "5."], "12.000000 16.000000 0.500000 5.000000");
    check(
        "%a %A %a %a %a",
        &["1", "10.5", "0", "0.1", "-2.5"],
        "0x8p-3 0XA.8P+0 0x0p+0 0xc.ccccccccccccccdp-7 -0xap-2",
    );
    check("%.3a %.10a %.0a", &["1.999", "1", "1.5"], "0xf.fdfp-3 0x8.0000000000p-3 0xcp-3");
    check("%f", &["'a"], "97.000000");
    let (huge, _) = run("%f", &["1e400"]);
    assert!(huge.starts_with("10000000000000000000281880683947586514586453433629052038625910693539685534"));
    assert_eq!(run("%f", &["1e99999999999999999999"]).0, "inf");
}

#[test]
fn time_conversions_and_byte_counts() {
    check("%(%Y-%m-%d)T %(%F)T %(%s)T", &["0", "-2", "-1"], "1970-01-01 2020-09-13 1700000000");
    check("%(%Y)T", &[], "2023");
    check("[%8(%Y)T] %()T", &["0", "0"], "[    1970] 00:00:00");
    let printed = print(b"abc%ndef", &["foo".into()], &mut FixedClock);
    assert_eq!((printed.output.as_slice(), printed.counts), (&b"abcdef"[..], vec![("foo".into(), 3)]));
}

#[test]
fn hostile_formats_are_limited() {
    let (output, _) = run("%.400000f", &["1e-300"]);
    assert_eq!(output.len(), 400_002);
    let long = "9".repeat(30_000);
    assert_eq!(run("%.0e", &[&long]).0, "inf");
    assert_eq!(run("%.1e", &[&format!("0.{}1", "0".repeat(3000))]).0, "1.0e-3001");
}

#[test]
fn subnormal_numbers_have_fewer_digits() {
    check("%e %.25g", &["3.3e-4950", "1e-4940"], "3.280680e-4950 9.999999999960532520011857e-4941");
    assert_eq!(run("%e", &["1e-5000"]).0, "0.000000e+00");
}
