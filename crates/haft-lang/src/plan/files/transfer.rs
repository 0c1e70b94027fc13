//! Programs that transfer files over the network: curl, wget, rsync, scp.

use super::FileUses;
use super::getopt::{ParsedArgument, ParsedArguments};
use super::path::{base_name, chosen, concat, join};
use crate::plan::builtin::without_prefix;
use crate::plan::step::{Expansion, FileScope, FileUseMode, PlannedWord, WordPiece};
use crate::plan::words::known;

pub(super) const CURL_SHORT: &str =
    "012346aA:b:Bc:C:d:D:e:E:fF:gGhH:iIjJkK:lLm:MnNo:OpP:qQ:r:RsSt:T:u:U:vVw:x:X:y:Y:z:Z#:";
pub(super) const CURL_LONG: &str = "abstract-unix-socket= alt-svc= anyauth append basic cacert= capath= cert= \
    cert-type= ciphers= compressed config= connect-timeout= connect-to= continue-at= cookie= cookie-jar= create-dirs \
    crlf crlfile= data= data-ascii= data-binary= data-raw= data-urlencode= digest disable dns-servers= doh-url= \
    dump-header= etag-compare= etag-save= expect100-timeout= fail fail-early fail-with-body form= form-string= \
    ftp-pasv get globoff haproxy-protocol head header= http1.0 http1.1 http2 http2-prior-knowledge http3 \
    ignore-content-length include insecure interface= ipv4 ipv6 json= junk-session-cookies keepalive-time= key= \
    key-type= libcurl= limit-rate= list-only local-port= location location-trusted max-filesize= max-redirs= max-time= \
    negotiate netrc netrc-file= netrc-optional next no-alpn no-buffer no-keepalive no-progress-meter no-sessionid \
    noproxy= ntlm oauth2-bearer= output= output-dir= parallel parallel-immediate parallel-max= pass= path-as-is \
    pinnedpubkey= post301 post302 post303 progress-bar proto= proto-default= proto-redir= proxy= proxy-header= \
    proxy-user= range= rate= raw referer= remote-header-name remote-name remote-name-all remote-time remove-on-error \
    request= request-target= resolve= retry= retry-all-errors retry-connrefused retry-delay= retry-max-time= show-error \
    silent socks4= socks5= socks5-hostname= speed-limit= speed-time= ssl ssl-reqd sslv3 stderr= tcp-fastopen \
    tcp-nodelay time-cond= tls-max= tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 trace= trace-ascii= trace-time \
    unix-socket= upload-file= url= url-query= use-ascii user= user-agent= verbose write-out= xattr";
pub(super) const CURL_FILES: &[(&str, FileUseMode)] = &[
    ("c cookie-jar D dump-header etag-save stderr trace trace-ascii libcurl", FileUseMode::Write),
    ("K config T upload-file cacert crlfile E cert key netrc-file etag-compare", FileUseMode::Read),
];

pub(super) fn curl(arguments: &ParsedArguments, uses: &mut FileUses) {
    uses.complete &= !arguments.has("K config remote-name-all J remote-header-name");
    let here = known(b".");
    let directory = arguments.value("output-dir").unwrap_or(&here);
    arguments.values("o output").filter(|file| file.literal() != Some(b"-")).for_each(|file| {
        uses.write(&join(directory, file));
    });
    if arguments.has("create-dirs") {
        arguments.values("o output").for_each(|file| super::name::parents(file, FileUseMode::Write, uses));
    }
    if arguments.has("O remote-name remote-name-all") {
        arguments.operands().for_each(|url| uses.write(&join(directory, &remote_name(url))));
    }
    for value in arguments.values("d data data-ascii data-binary data-urlencode json") {
        if value.prefix().starts_with(b"@") {
            uses.read(&without_prefix(value, 1));
        }
    }
    for form in arguments.values("F form") {
        let at =
            memchr::memmem::find(form.prefix(), b"=@").or_else(|| memchr::memmem::find(form.prefix(), b"=<"));
        at.into_iter().for_each(|at| uses.read(&before_semicolon(&without_prefix(form, at + 2))));
    }
    let is_file = |value: &&PlannedWord| !value.prefix().contains(&b'=') && !value.prefix().is_empty();
    arguments.values("b cookie").filter(is_file).for_each(|file| uses.read(file));
}

/// Returns the file in `name=@file;type=text/plain`.
fn before_semicolon(item: &PlannedWord) -> PlannedWord {
    match item.literal() {
        Some(text) => known(text.split(|byte| *byte == b';').next().unwrap_or(text)),
        None => item.clone(),
    }
}

/// Returns the text of a URL. A `?` in it is parsed as a glob, but matches no file.
fn url_text(url: &PlannedWord) -> Option<Vec<u8>> {
    let piece = |piece: &WordPiece| match piece {
        WordPiece::Literal(text) | WordPiece::Dynamic { by: Expansion::Glob, source: text } => {
            Some(text.to_vec())
        }
        WordPiece::Dynamic { .. } => None,
    };
    let pieces: Option<Vec<Vec<u8>>> = url.pieces.iter().map(piece).collect();
    pieces.map(|pieces| pieces.concat())
}

/// Returns the file name in the path of a URL.
fn remote_name(url: &PlannedWord) -> PlannedWord {
    let unknown = || concat([chosen(b"remote name")]);
    match url_text(url) {
        Some(text) => {
            let path = text.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or(&text);
            let after = memchr::memmem::find(path, b"://").map_or(path, |at| &path[at + 3..]);
            match memchr::memrchr(b'/', after).map(|at| &after[at + 1..]) {
                Some(name) if !name.is_empty() => known(name),
                _ => unknown(),
            }
        }
        None => base_name(url).unwrap_or_else(unknown),
    }
}

pub(super) const WGET_SHORT: &str = "46a:A:bB:cdD:e:EFhHi:I:kKl:LmnN:o:O:pP:qQ:rR:St:T:U:vVw:xX:";
pub(super) const WGET_LONG: &str = "append-output= accept= background base= continue debug domains= execute= \
    adjust-extension force-html span-hosts input-file= include-directories= convert-links backup-converted level= \
    relative mirror no-clobber no-verbose timestamping output-file= output-document= page-requisites \
    directory-prefix= quiet quota= recursive reject= server-response tries= timeout= user-agent= verbose wait= \
    force-directories exclude-directories= no-check-certificate no-parent no-directories no-host-directories \
    cut-dirs= show-progress progress= header= post-data= post-file= body-data= body-file= method= user= password= \
    ask-password load-cookies= save-cookies= keep-session-cookies content-disposition trust-server-names spider \
    limit-rate= retry-connrefused waitretry= dns-timeout= connect-timeout= read-timeout= max-redirect= no-proxy \
    no-cache no-cookies ca-certificate= ca-directory= certificate= private-key= secure-protocol= https-only no-hsts \
    inet4-only inet6-only random-wait no-dns-cache no-glob no-passive-ftp restrict-file-names= referer= \
    no-http-keep-alive http-user= http-password= default-page= protocol-directories delete-after no-config config= \
    compression= no-use-server-timestamps rejected-log= no-iri bind-address= retry-on-http-error= unlink";
pub(super) const WGET_FILES: &[(&str, FileUseMode)] = &[
    ("o output-file save-cookies rejected-log", FileUseMode::Write),
    ("a append-output", FileUseMode::Append),
    (
        "i input-file post-file body-file load-cookies ca-certificate certificate private-key config",
        FileUseMode::Read,
    ),
];

pub(super) fn wget(arguments: &ParsedArguments, uses: &mut FileUses) {
    uses.complete &= !arguments.has("i input-file content-disposition e execute config");
    if arguments.has("spider") {
        return;
    }
    if let Some(file) = arguments.value("O output-document") {
        return uses.write(file);
    }
    let here = known(b".");
    let directory = arguments.value("P directory-prefix").unwrap_or(&here);
    if arguments.has("r m p x recursive mirror page-requisites force-directories i input-file") {
        return uses.add(FileUseMode::Write, directory, FileScope::Tree);
    }
    for url in arguments.operands() {
        let name = remote_name(url);
        let unknown = matches!(name.pieces.first(), Some(WordPiece::Dynamic { .. }));
        let is_query = url.prefix().contains(&b'?');
        match unknown || is_query {
            true => uses.add(FileUseMode::Write, directory, FileScope::Inside),
            false => uses.write(&join(directory, &name)),
        }
    }
}

pub(super) const RSYNC_SHORT: &str = "046abB:cCdDe:f:FgHhiIkKlLmM:nNopP@:qrRsStT:uUvVWwxXyzAEOJ";
pub(super) const RSYNC_LONG: &str = "verbose quiet no-motd checksum archive recursive relative no-implied-dirs backup \
    backup-dir= suffix= update inplace append append-verify dirs old-dirs mkpath links copy-links copy-unsafe-links \
    safe-links munge-links copy-dirlinks keep-dirlinks hard-links perms executability chmod= acls xattrs owner group \
    devices copy-devices specials times atimes open-noatime crtimes omit-dir-times omit-link-times super fake-super \
    sparse preallocate dry-run whole-file checksum-choice= one-file-system block-size= rsh= rsync-path= existing \
    ignore-existing remove-source-files delete delete-before delete-during delete-delay delete-after delete-excluded \
    delete-missing-args ignore-missing-args ignore-errors force max-delete= max-size= min-size= partial partial-dir= \
    delay-updates prune-empty-dirs numeric-ids usermap= groupmap= chown= timeout= contimeout= ignore-times size-only \
    modify-window= temp-dir= fuzzy compare-dest= copy-dest= link-dest= compress compress-choice= compress-level= \
    skip-compress= cvs-exclude filter= exclude= exclude-from= include= include-from= files-from= from0 protect-args \
    address= port= sockopts= blocking-io outbuf= stats 8-bit-output human-readable progress itemize-changes \
    remote-option= out-format= log-file= log-file-format= password-file= list-only bwlimit= stop-after= write-batch= \
    only-write-batch= read-batch= protocol= iconv= ipv4 ipv6 info= debug= no-perms no-owner no-group no-times \
    no-whole-file no-inc-recursive no-o no-g no-p";
pub(super) const RSYNC_FILES: &[(&str, FileUseMode)] = &[
    ("exclude-from include-from files-from password-file read-batch", FileUseMode::Read),
    ("log-file write-batch only-write-batch", FileUseMode::Write),
];

pub(super) fn rsync(arguments: &ParsedArguments, uses: &mut FileUses) {
    let operands: Vec<&PlannedWord> = arguments.operands().collect();
    let lists = arguments.has("n dry-run list-only only-write-batch") || operands.len() < 2;
    let (target, sources) = match operands.split_last() {
        Some((target, sources)) if !lists => (Some(*target), sources),
        _ => (None, &operands[..]),
    };
    for source in sources.iter().filter(|source| !is_remote(source)) {
        uses.add(FileUseMode::Read, source, FileScope::Tree);
        if arguments.has("remove-source-files") && !lists {
            uses.add(FileUseMode::Delete, source, FileScope::Tree);
        }
    }
    if let Some(target) = target.filter(|target| !is_remote(target)) {
        uses.add(FileUseMode::Write, target, FileScope::Tree);
        let deletes = "delete delete-before delete-during delete-delay delete-after delete-excluded";
        if arguments.has(deletes) {
            uses.add(FileUseMode::Delete, target, FileScope::Tree);
        }
    }
    uses.complete &= !arguments.has("backup b B backup-dir T temp-dir partial-dir files-from read-batch");
}

/// Whether an operand is remote: `host:path`, `rsync://host/path`.
fn is_remote(item: &PlannedWord) -> bool {
    let prefix = item.prefix();
    let colon = memchr::memchr(b':', prefix);
    let slash = memchr::memchr(b'/', prefix).unwrap_or(prefix.len());
    colon.is_some_and(|at| at < slash || prefix.get(at + 1) == Some(&b'/'))
        || item.literal().is_none()
            && item
                .pieces
                .iter()
                .any(|piece| matches!(piece, WordPiece::Literal(text) if text.starts_with(b":")))
}

pub(super) fn scp(arguments: &ParsedArguments, uses: &mut FileUses) {
    let operands: Vec<&PlannedWord> = arguments.operands().collect();
    let Some((target, sources)) = operands.split_last() else { return };
    let tree = arguments.events.iter().any(|event| matches!(event, ParsedArgument::Option("r", _)));
    let scope = if tree { FileScope::Tree } else { FileScope::Exact };
    sources
        .iter()
        .filter(|source| !is_remote(source))
        .for_each(|source| uses.add(FileUseMode::Read, source, scope));
    if !is_remote(target) {
        uses.add(FileUseMode::Write, target, if tree { FileScope::Tree } else { FileScope::Inside });
    }
}
