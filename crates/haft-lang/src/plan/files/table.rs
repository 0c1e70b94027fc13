//! The table of known commands.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::getopt::OptionSyntax;
use super::{
    FileUses, OperandUse, archive, compress, copy, device, find, git, name, script_programs, search, transfer,
};
use crate::plan::step::{FileScope, FileUseMode, PlannedWord};
use FileUseMode::{Attributes, Delete, Read, Write};
use OperandUse::{AfterFirst, By, Each};

/// A command and the files it uses.
struct CommandFiles {
    /// Its names, separated by spaces.
    names: &'static str,
    syntax: OptionSyntax,
    /// Options whose value is a file.
    files: &'static [(&'static str, FileUseMode)],
    operands: OperandUse,
    /// Options with which directories are used recursively.
    tree: &'static str,
    /// Options whose effect on files is not described.
    partial: &'static str,
}

const fn command(
    names: &'static str,
    short: &'static str,
    long: &'static str,
    operands: OperandUse,
) -> CommandFiles {
    CommandFiles { names, syntax: OptionSyntax { short, long }, files: &[], operands, tree: "", partial: "" }
}

impl CommandFiles {
    const fn files(self, files: &'static [(&'static str, FileUseMode)]) -> Self {
        Self { files, ..self }
    }

    const fn tree(self, tree: &'static str) -> Self {
        Self { tree, ..self }
    }

    const fn partial(self, partial: &'static str) -> Self {
        Self { partial, ..self }
    }
}

/// Commands that use no files except those of redirections.
const FILELESS: &str = "arch basename clear dirname echo expr factor false free getconf groups hostid hostname id \
    kill killall logname nproc numfmt pathchk pgrep pkill printenv printf ps pwd reboot seq shutdown sleep tput true \
    tty uname uptime users uuidgen w who whoami yes halt poweroff";

/// Programs that run a script.
const INTERPRETERS: &str =
    "python python2 python3 perl ruby node deno bun php lua Rscript tclsh expect fish pwsh";

const COMMANDS: &[CommandFiles] = &[
    // Commands that read files.
    command("cat", "AbeEnstTuv", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting", Each(Read)),
    command("tac", "brs:", "before regex separator=", Each(Read)),
    command("rev", "z", "zero", Each(Read)),
    command("head", "c:n:qvz0123456789", "bytes= lines= quiet silent verbose zero-terminated", Each(Read)),
    command(
        "tail",
        "c:fFn:qs:vz0123456789",
        "bytes= follow=? lines= max-unchanged-stats= pid= quiet silent retry sleep-interval= verbose zero-terminated",
        Each(Read),
    ),
    command("wc", "cmlLw", "bytes chars lines max-line-length words total= files0-from=", Each(Read))
        .files(&[("files0-from", Read)])
        .partial("files0-from"),
    command(
        "nl",
        "b:d:f:h:i:l:n:ps:v:w:",
        "body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment= join-blank-lines= \
         number-format= no-renumber number-separator= starting-line-number= number-width=",
        Each(Read),
    ),
    command("fold", "bsw:0123456789", "bytes spaces width=", Each(Read)),
    command("fmt", "cg:p:stuw:0123456789", "crown-margin goal= prefix= split-only tagged-paragraph uniform-spacing width=", Each(Read)),
    command("expand unexpand", "ait:0123456789", "all initial tabs= first-only", Each(Read)),
    command("cut", "b:c:d:f:nsz", "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated", Each(Read)),
    command("paste", "d:sz", "delimiters= serial zero-terminated", Each(Read)),
    command("comm", "123z", "check-order nocheck-order output-delimiter= total zero-terminated", Each(Read)),
    command("join", "a:e:i1:2:j:o:t:v:z", "ignore-case check-order nocheck-order header zero-terminated", Each(Read)),
    command("cmp", "bi:ln:s", "print-bytes ignore-initial= verbose bytes= quiet silent", By(search::cmp)),
    command(
        "diff",
        "abBcC:dD:eEF:hH:iI:lnNpqrsS:tTuU:vwW:x:X:yZ0123456789",
        "normal brief report-identical-files context=? unified=? ed rcs side-by-side width= left-column \
         suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= \
         suppress-blank-empty paginate recursive no-dereference new-file unidirectional-new-file ignore-file-name-case \
         no-ignore-file-name-case exclude= exclude-from= starting-file= from-file= to-file= ignore-case \
         ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines \
         ignore-matching-lines= text strip-trailing-cr ifdef= line-format= minimal horizon-lines= speed-large-files \
         color=? palette=",
        Each(Read),
    )
    .files(&[("X exclude-from", Read), ("from-file to-file", Read)])
    .tree("r recursive"),
    command("od", "A:j:N:S:t:vw::abcdfhilosx", "address-radix= endian= skip-bytes= read-bytes= strings=? format= output-duplicates width=? traditional", Each(Read)),
    command("hexdump hd", "bcCde:f:n:os:vxL::", "canonical length= skip= no-squeezing", Each(Read)).files(&[("f", Read)]),
    command("strings", "adfn:oe:tT:Us:wi0123456789", "all bytes= radix= print-file-name encoding=", Each(Read)),
    command(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum",
        "a:bcl:rstwz",
        "algorithm= binary check length= tag text zero ignore-missing quiet status strict warn sysv raw base64 untagged",
        Each(Read),
    )
    .partial("c check"),
    command("base64 base32 basenc", "diw:", "decode ignore-garbage wrap= base64 base64url base32 base32hex base16 base2msbf base2lsbf z85", Each(Read)),
    command("tr", "cCdst", "complement delete squeeze-repeats truncate-set1", OperandUse::None),
    command(
        "ls dir vdir",
        "aAbBcCdDfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ1",
        "all almost-all author escape block-size= ignore-backups color=? directory dired classify=? file-type format= \
         full-time no-group group-directories-first human-readable si dereference-command-line \
         dereference-command-line-symlink-to-dir hide= hyperlink=? indicator-style= inode ignore= kibibytes dereference \
         numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size \
         sort= time= time-style= tabsize= width= context zero",
        By(search::ls),
    ),
    command("tree", "adfilL:P:I:noqNQpughDsFrtxJXCcHTvU", "noreport filelimit= timefmt= gitignore dirsfirst prune du si sort=? filesfirst charset=", By(search::read_tree)),
    command("stat", "c:fLt", "dereference file-system cached= format= printf= terse", Each(Read)),
    command("file", "bcdEf:F:hik0LlNnpPrsSvzZm:e:", "brief mime mime-type mime-encoding dereference no-dereference files-from= separator=", Each(Read)).files(&[("f files-from m", Read)]),
    command("du", "0aBbcdDHhkLlmPSst:xX:d:B:", "all apparent-size block-size= bytes total dereference-args max-depth= files0-from= human-readable inodes dereference count-links no-dereference null separate-dirs si summarize threshold= time=? time-style= exclude-from= exclude= one-file-system", By(search::read_tree)).files(&[("X exclude-from files0-from", Read)]),
    command("df", "aB:hHiklmPt:Tx:v", "all block-size= human-readable si inodes local no-sync output=? portability sync total type= print-type exclude-type=", OperandUse::None),
    command("readlink realpath", "femnqsvzLP", "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero logical physical relative-to= relative-base= strip no-symlinks", OperandUse::None),
    command("date", "d:f:I::r:Rs:u", "date= debug file= iso-8601=? resolution rfc-email rfc-3339= reference= set= utc universal", OperandUse::None).files(&[("f file r reference", Read)]),
    command("less more zless", "aAbBcCdeEfFgGiIJKLmMnNqQrRsSuUVwWX~0123456789", "quit-if-one-screen RAW-CONTROL-CHARS chop-long-lines", Each(Read)),
    command("zcat bzcat xzcat zstdcat lzcat gzcat", "fqvh", "force quiet verbose", Each(Read)),
    command(
        "grep egrep fgrep zgrep",
        "A:abB:cC:d:D:Ee:FGPf:hHiIlLm:noqrRsTuUVvwxyZz0123456789",
        "extended-regexp fixed-strings basic-regexp perl-regexp regexp= file= ignore-case no-ignore-case word-regexp \
         line-regexp null-data no-messages invert-match max-count= byte-offset line-number line-buffered with-filename \
         no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive \
         dereference-recursive include= exclude= exclude-from= exclude-dir= files-without-match files-with-matches count \
         initial-tab null before-context= after-context= context= group-separator= no-group-separator color=? colour=? binary",
        By(search::grep),
    )
    .files(&[("f file exclude-from", Read)]),
    command(
        "rg",
        "A:B:C:E:M:T:ae:Ff:g:hHiIj:LlLm:noNpPqr:sSt:uUvVwxz0c",
        "after-context= before-context= context= color= colors= count count-matches regexp= file= files \
         files-with-matches files-without-match fixed-strings glob= iglob= heading no-heading hidden no-hidden \
         ignore-case invert-match json line-number no-line-number max-columns= max-count= max-depth= multiline no-ignore \
         no-ignore-vcs no-messages only-matching passthru pcre2 pretty quiet replace= smart-case case-sensitive sort= \
         stats text threads= trim type= type-not= type-list unrestricted vimgrep with-filename no-filename word-regexp \
         line-regexp null follow column no-column byte-offset",
        By(search::rg),
    )
    .files(&[("f file", Read)]),
    command("jq", "", "", By(script_programs::jq)),
    command("test [", "+", "", OperandUse::None),
    // Commands that write files.
    command(
        "sort",
        "bcCdfghik:mMno:rRsS:t:T:uVz",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort \
         human-numeric-sort numeric-sort random-sort random-source= reverse sort= version-sort batch-size= check=? \
         compress-program= debug files0-from= key= merge output= stable buffer-size= field-separator= \
         temporary-directory= parallel= unique zero-terminated",
        Each(Read),
    )
    .files(&[("o output", Write), ("files0-from random-source", Read)])
    .partial("files0-from"),
    command("uniq", "cdDf:is:uw:z0123456789", "count repeated all-repeated=? group=? skip-fields= ignore-case skip-chars= unique zero-terminated check-chars=", By(copy::uniq)),
    command("shuf", "ei:n:o:rz", "echo input-range= head-count= output= random-source= repeat zero-terminated", By(copy::shuf)).files(&[("o output", Write), ("random-source", Read)]),
    command("tee", "aip", "append ignore-interrupts output-error=?", By(copy::tee)),
    command("sponge", "a", "", Each(Write)),
    command("touch", "acd:fhmr:t:", "date= no-create no-dereference reference= time=", By(name::touch)).files(&[("r reference", Read)]),
    command("truncate", "cor:s:", "no-create io-blocks reference= size=", Each(Write)).files(&[("r reference", Read)]),
    command("fallocate", "cdil:no:pvzx", "collapse-range dig-holes insert-range length= keep-size offset= punch-hole verbose zero-range posix", Each(Write)),
    command("shred", "fn:s:uvxz", "force iterations= random-source= size= remove=? verbose exact zero", By(name::shred)).files(&[("random-source", Read)]),
    command("mkdir", "m:pvZ", "mode= parents verbose context=?", By(name::mkdir)),
    command("rmdir", "pv", "ignore-fail-on-non-empty parents verbose", By(name::rmdir)),
    command("rm", "dfiIrRv", "force interactive=? one-file-system no-preserve-root preserve-root=? recursive dir verbose", Each(Delete)).tree("r R recursive"),
    command("unlink", "", "", Each(Delete)),
    command("trash trash-put gio-trash", "", "", Each(Delete)),
    command("mktemp", "dp::qtuV", "directory dry-run quiet suffix= tmpdir=?", By(name::mktemp)),
    command("mkfifo mknod", "m:Z", "mode= context=?", By(name::mkfifo)),
    command(
        "chmod",
        "cfRvrwxXstugoa",
        "changes no-preserve-root preserve-root quiet silent verbose reference= recursive",
        By(name::chmod),
    )
    .files(&[("reference", Read)]),
    command(
        "chown chgrp",
        "cfhHLPRv",
        "changes dereference no-dereference from= no-preserve-root preserve-root quiet silent reference= recursive verbose",
        AfterFirst(Attributes, "reference"),
    )
    .files(&[("reference", Read)])
    .tree("R recursive"),
    command("setfacl", "bkm:x:M:X:Rdn", "modify= remove= remove-all remove-default recursive default", Each(Attributes)).tree("R recursive"),
    command("chattr", "RVf", "", By(name::chattr)),
    command(
        "cp",
        "abdfHilLnPprRsS:t:TuvxZ",
        "archive attributes-only backup=? copy-contents debug force interactive link dereference no-clobber \
         no-dereference preserve=? no-preserve= parents recursive reflink=? remove-destination sparse= \
         strip-trailing-slashes symbolic-link suffix= target-directory= no-target-directory update=? verbose \
         one-file-system context=? keep-directory-symlink",
        By(copy::cp),
    )
    .partial("b backup S suffix parents"),
    command(
        "mv",
        "bfinS:t:TuvZ",
        "backup=? debug force interactive no-clobber no-copy strip-trailing-slashes suffix= target-directory= \
         no-target-directory update=? verbose context exchange",
        By(copy::mv),
    )
    .partial("b backup S suffix exchange"),
    command(
        "ln",
        "bdFfiLnPrsS:t:Tv",
        "backup=? directory force interactive logical no-dereference physical relative symbolic suffix= \
         target-directory= no-target-directory verbose",
        By(copy::ln),
    )
    .partial("b backup S suffix"),
    command(
        "install",
        "bcCdDg:m:o:psS:t:TvZ",
        "backup=? compare directory group= mode= owner= preserve-timestamps strip strip-program= suffix= \
         target-directory= no-target-directory verbose preserve-context context=? debug",
        By(copy::install),
    )
    .partial("b backup S suffix strip-program"),
    command("link", "", "", By(copy::ln)),
    command("dd", "", "", By(device::dd)),
    command("split", "a:b:C:den:l:t:ux0123456789", "suffix-length= additional-suffix= bytes= line-bytes= numeric-suffixes=? hex-suffixes=? elide-empty-files filter= lines= number= separator= unbuffered verbose", By(compress::split)),
    command("csplit", "b:f:kn:qsz", "suffix-format= prefix= keep-files suppress-matched digits= quiet silent elide-empty-files", By(compress::csplit)),
    command(
        "patch",
        "bB:cd:D:eEF:fg:i:lnNo:p:r:RstTuvV:x:Y:z:Z",
        "backup prefix= context directory= ifdef= ed remove-empty-files fuzz= force input= ignore-whitespace normal \
         forward output= strip= reject-file= reverse quiet silent batch set-time unified verbose dry-run posix \
         backup-if-mismatch no-backup-if-mismatch binary follow-symlinks merge=? read-only=",
        By(copy::patch),
    )
    .files(&[("i input", Read), ("o output r reject-file", Write)])
    .partial("b backup B prefix"),
    // Commands with their own language.
    command(
        "sed gsed",
        "nEbe:f:i::l:rsuz",
        "quiet silent expression= file= in-context=? line-length= posix regexp-extended separate sandbox unbuffered \
         null-data zero-terminated debug follow-symlinks binary",
        By(script_programs::sed),
    )
    .files(&[("f file", Read)]),
    command("awk gawk mawk nawk", "+F:f:v:i:e:E:l:bcChMnNOPrsSt", "field-separator= file= assign= include= source= posix re-interval", By(script_programs::awk)),
    // Archives and compression.
    command("tar bsdtar", archive::TAR_SHORT, archive::TAR_LONG, By(archive::tar)),
    command("zip", archive::ZIP_SHORT, archive::ZIP_LONG, By(archive::zip)),
    command("unzip", "aAbBcCd:DefFhjKlLmMnNoOpP:qrsTtuUvVWx:X:zZ", "", By(archive::unzip)),
    command("gzip gunzip pigz unpigz", "acdfhkLlNnqrS:tvV123456789p:", "stdout to-stdout decompress uncompress force keep list name no-name quiet recursive suffix= synchronous test verbose fast best rsyncable", By(compress::gzip)),
    command("bzip2 bunzip2", "dzkftcqvsLV123456789", "decompress compress keep force test stdout quiet verbose small fast best", By(compress::bzip2)),
    command("xz unxz lzma unlzma", "zdtlkfcS:0123456789eT:qvQM:C:F:", "compress decompress uncompress test list keep force stdout to-stdout suffix= extreme threads= quiet verbose check= format= files=? memory= memlimit= no-sparse fast best", By(compress::xz)),
    command("zstd unzstd pzstd", "0123456789dzo:fcD:kqvrtlbT:M:h", "decompress compress force stdout keep rm quiet verbose test list fast=? ultra long=? threads= adapt rsyncable format= output-dir-flat= output-dir-mirror= sparse no-sparse check no-check exclude-compressed stream-size= train maxdict= dictID=", By(compress::zstd)).files(&[("D", Read)]).partial("r output-dir-flat output-dir-mirror train"),
    // find and git.
    command("find", "", "", By(find::find)),
    command("git", "+C:c:pPhv", "git-dir= work-tree= namespace= exec-path=? html-path no-pager paginate bare no-replace-objects literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks config-env= list-cmds=", By(git::git)),
    // Network transfers.
    command("curl", transfer::CURL_SHORT, transfer::CURL_LONG, By(transfer::curl)).files(transfer::CURL_FILES),
    command("wget", transfer::WGET_SHORT, transfer::WGET_LONG, By(transfer::wget)).files(transfer::WGET_FILES),
    command("rsync", transfer::RSYNC_SHORT, transfer::RSYNC_LONG, By(transfer::rsync)).files(transfer::RSYNC_FILES),
    command("scp", "346ABCc:D:F:i:J:l:o:OP:pqrRS:TvX:", "", By(transfer::scp)).files(&[("F i", Read)]).tree("r"),
    // Disks.
    command("wipefs", "abfhiJno:O:pqt:", "all backup=? force noheadings json no-act offset= output= parsable quiet types= lock=?", By(device::wipefs)),
    command("fdisk", "b:BC:c::H:lL::no:S:su::t:w:W:x", "sector-size= protect-boot compatibility=? color=? list list-details noauto-pt output= getsz units=? cylinders= heads= sectors= wipe= wipe-partitions= bytes lock=?", By(device::fdisk)),
    command("sfdisk", "aAbdFfgGJlLno:qrsTuVvwWX:N:Y:", "append backup bytes force no-act no-reread dump json list list-free part-type part-uuid part-label part-attrs reorder show-geometry show-size list-types verify activate delete backup-pt-sectors disk-id discard-free move-data=? relocate wipe= wipe-partitions= label= label-nested= partno=", By(device::fdisk)),
    command("parted", "hlmsva:jf", "list machine script version align= json fix", By(device::parted)),
    command("sgdisk", "a:A:b:c:C:d:DeEfFgG::hiIj:k:l:LmM:n:N:oOpPr:Rs:S:t:T:u:U:vVxzZ", "zap zap-all clear print list-types new= delete= typecode= info= backup= load-backup= largest-new= mbrtogpt randomize-guids change-name= replicate= sort verify move-second-header pretend", By(device::sgdisk)),
    command("blkdiscard", "fl:o:p:svz", "force length= offset= step= secure verbose zeroout quiet", Each(Write)),
    command("cryptsetup", "c:h:y:d:S:s:b:o:p:rqt:T:i:vh:", "type= key-file= cipher= key-size= hash= batch-mode force-password use-random verify-passphrase iter-time= pbkdf= label= uuid=", By(device::cryptsetup)).files(&[("d key-file", Read)]),
    command("badblocks", "b:c:d:e:fi:no:p:st:vwX", "", By(device::badblocks)).files(&[("i", Read), ("o", Write)]),
    command("mkswap", "cfL:p:U:v:e:o:s:F", "check force label= pagesize= uuid= swapversion= verbose lock=? endianness= offset= size= file", Each(Write)),
    // Wrappers. The command they run is a separate step.
    command("xargs", "+0a:d:E:e::I:i::L:l::n:oP:prs:tx", "null arg-file= delimiter= eof=? replace=? max-lines=? max-args= open-tty max-procs= process-slot-var= interactive no-run-if-empty max-chars= show-limits verbose exit", OperandUse::None).files(&[("a arg-file", Read)]),
    command("time", "+apvqf:o:", "append portability verbose quiet format= output=", OperandUse::None).files(&[("o output", Write)]),
    command("strace", "+cCdDfFhiknqrtTvVwxyYzZa:b:e:E:I:o:O:p:P:s:S:u:U:X:", "", OperandUse::None).files(&[("o", Write)]),
    command("flock", "+esxnuoFw:E:c:", "shared exclusive nonblock unlock wait= timeout= conflict-exit-code= close no-fork verbose command=", By(name::flock)),
    command("script", "aefqI:O:B:T:o:E:m:c:t::", "append command= return flush force quiet log-in= log-out= log-io= log-timing= output-limit= echo= logging-format= timing=?", By(name::script)).files(&[("I O B T log-in log-out log-io log-timing", Write)]),
    command("command exec env nohup nice ionice timeout stdbuf setsid sudo doas builtin chrt taskset unbuffer", "+", "", By(name::wrapper)),
    command("crontab", "u:lreis", "", Each(Read)),
    command("history", "cd:anrwps", "", By(name::history)),
    command("mount umount", "", "", By(name::undescribed)),
    command("logger", "", "", OperandUse::None),
];

/// Returns the entry of a command.
fn find(name: &[u8]) -> Option<&'static CommandFiles> {
    static BY_NAME: OnceLock<HashMap<&[u8], &CommandFiles>> = OnceLock::new();
    let by_name = || {
        let names = |command: &'static CommandFiles| {
            command.names.split(' ').map(move |name| (name.as_bytes(), command))
        };
        COMMANDS.iter().flat_map(names).collect()
    };
    BY_NAME.get_or_init(by_name).get(name).copied()
}

/// Adds the files that a command uses. `base` is the base name of `name`.
pub(super) fn uses(base: &[u8], name: &[u8], arguments: &[PlannedWord], uses: &mut FileUses) {
    if let Some(command) = find(base) {
        command.uses(base, arguments, uses);
    } else if base == name && crate::resolve::is_builtin(name) && !matches!(name, b"source" | b".") {
        // Builtins only open redirections.
    } else if is_interpreter(base) {
        script_programs::interpreter(arguments, uses);
    } else if crate::plan::shell::is_shell(base) {
        script_programs::shell(arguments, uses);
    } else if base.starts_with(b"mkfs") || matches!(base, b"mke2fs" | b"mkdosfs" | b"mkntfs" | b"mkreiserfs")
    {
        device::mkfs(arguments, uses);
    } else if matches!(name, b"source" | b".") {
        arguments.first().into_iter().for_each(|file| uses.read(file));
        uses.incomplete();
    } else if !is_named(FILELESS, base) {
        uses.incomplete();
        if base != name {
            uses.read(&crate::plan::words::known(name));
        }
    }
}

/// Whether a program is an interpreter other than a shell. The name may include a version.
pub(crate) fn is_interpreter(name: &[u8]) -> bool {
    is_named(INTERPRETERS, script_programs::without_version(name))
}

fn is_named(names: &str, name: &[u8]) -> bool {
    names.split_ascii_whitespace().any(|known| known.as_bytes() == name)
}

impl CommandFiles {
    fn uses(&self, name: &[u8], items: &[PlannedWord], uses: &mut FileUses) {
        let syntax = self.syntax;
        let mut arguments = match name {
            b"tar" | b"bsdtar" => syntax.read_old_style(items),
            b"dd" | b"find" | b"jq" => super::getopt::operands_only(items),
            _ => syntax.read(items),
        };
        arguments.command = name.to_vec();
        if arguments.has("help version") {
            return;
        }
        uses.complete &= !arguments.unknown && (self.partial.is_empty() || !arguments.has(self.partial));
        for (options, mode) in self.files {
            let files: Vec<PlannedWord> = arguments.values(options).cloned().collect();
            files.iter().for_each(|file| uses.add(*mode, file, FileScope::Exact));
        }
        let tree = !self.tree.is_empty() && arguments.has(self.tree);
        let scope = if tree { FileScope::Tree } else { FileScope::Exact };
        match self.operands {
            OperandUse::None => {}
            Each(mode) => arguments.operands().for_each(|file| uses.add(mode, file, scope)),
            AfterFirst(mode, options) => {
                let skipped = usize::from(!arguments.has(options));
                arguments.operands().skip(skipped).for_each(|file| uses.add(mode, file, scope));
            }
            By(function) => function(&arguments, uses),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::COMMANDS;

    #[test]
    fn commands_are_unique_and_listed_options_exist() {
        let mut names: Vec<&str> = COMMANDS.iter().flat_map(|command| command.names.split(' ')).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        for command in COMMANDS {
            let lists =
                command.files.iter().map(|(options, _)| *options).chain([command.tree, command.partial]);
            for option in lists.flat_map(str::split_ascii_whitespace) {
                assert!(command.syntax.knows(option), "{} {option}", command.names);
            }
        }
    }
}
