# Functions of jq that are written in its own language.

def _assign(targets; $new): reduce path(targets) as $where (.; setpath($where; $new));

# The state is [value, paths to delete]. `$$$$` empties a variable, so that values are changed in place.
def _modify(targets; change):
  reduce path(targets) as $where ([., []];
    . as $state | null | label $done
    | ($state[0] | getpath($where)) as $old
    | (($$$$old | change | (., break $done)) as $new | $$$$state | setpath([0] + $where; $new)),
      ($$$$state | setpath([1, (.[1] | length)]; $where)))
  | . as $result | $result[0] | delpaths($result[1]);

def del(targets): delpaths([path(targets)]);
def map_values(change): .[] |= change;
def pick(targets): . as $all | reduce path(targets) as $where (null; setpath($where; $all | getpath($where)));
def paths: path(recurse) | select(length > 0);
def paths(wanted): path(recurse | select(wanted)) | select(length > 0);

def recurse: recurse(.[]?);
def recurse(next): def all: ., (next | all); all;
def recurse(next; wanted): def all: ., (next | select(wanted) | all); all;
def walk(change):
  def all: if type == "object" then map_values(all) elif type == "array" then map(all) else . end | change;
  all;

def while(condition; next): def all: if condition then ., (next | all) else empty end; all;
def until(condition; next): def all: if condition then . else next | all end; all;
def repeat(filter): def all: filter, all; all;
def range($from; $end; $step):
  if $step > 0 then $from | while(. < $end; . + $step)
  elif $step < 0 then $from | while(. > $end; . + $step)
  else empty end;

def first(outputs): label $done | outputs | ., break $done;
def last(outputs): reduce outputs as $item (null; $item);
def limit($count; outputs):
  if $count > 0 then label $done | foreach outputs as $item ($count; . - 1; $item, if . <= 0 then break $done else empty end)
  elif $count == 0 then empty
  else outputs end;
def nth($index; outputs):
  if $index < 0 then error("nth doesn't support negative indices")
  else label $done | foreach outputs as $item ($index + 1; . - 1; if . <= 0 then $item, break $done else empty end) end;
def first: .[0];
def last: .[-1];
def nth($index): .[$index];
def isempty(outputs): first((outputs | false), true);
def all(outputs; condition): isempty(outputs | condition and empty);
def any(outputs; condition): isempty(outputs | condition or empty) | not;
def all(condition): all(.[]; condition);
def any(condition): any(.[]; condition);
def all: all(.[]; .);
def any: any(.[]; .);

def add: reduce .[] as $item (null; . + $item);
def abs: if . < 0 then -. else . end;
def unique: group_by(.) | map(.[0]);
def _unique_by_impl($keys): _group_by_impl($keys) | map(.[0]);
def reverse: [.[length - 1 - range(0; length)]];
def join($between):
  reduce .[] as $item (null;
    (if . == null then "" else . + $between end)
    + ($item | if type == "boolean" or type == "number" then tostring else . // "" end)) // "";
def _flatten($depth):
  reduce .[] as $item ([];
    if $item | type == "array" and $depth != 0 then . + ($item | _flatten($depth - 1)) else . + [$item] end);
def flatten: _flatten(-1);
def flatten($depth): if $depth < 0 then error("flatten depth must not be negative") else _flatten($depth) end;
def transpose: [range(0; map(length) | max // 0) as $column | [.[][$column]]];
def combinations: if length == 0 then [] else .[0][] as $head | (.[1:] | combinations) as $tail | [$head] + $tail end;
def combinations(count): . as $items | [range(count) | $items] | combinations;
def in(container): . as $key | container | has($key);
def inside(container): . as $part | container | contains($part);
def indices($wanted):
  if type == "array" and ($wanted | type) == "array" then .[$wanted]
  elif type == "array" then .[[$wanted]]
  elif type == "string" and ($wanted | type) == "string" then _strindices($wanted)
  else .[$wanted] end;
def index($wanted): indices($wanted) | .[0];
def rindex($wanted): indices($wanted) | .[-1:][0];
def bsearch($wanted): _bsearch($wanted);

def to_entries: [keys_unsorted[] as $name | {key: $name, value: .[$name]}];
def from_entries:
  map({(.key // .Key // .name // .Name): (if has("value") then .value else .Value end)}) | add | . //= {};
def with_entries(change): to_entries | map(change) | from_entries;

def isfinite: type == "number" and (isinfinite | not);
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def normals: select(isnormal);
def finites: select(isfinite);
def strings: select(type == "string");
def nulls: select(. == null);
def values: select(. != null);
def scalars: select(type | . != "array" and . != "object");

def ascii_downcase: explode | map(if 65 <= . and . <= 90 then . + 32 else . end) | implode;
def ascii_upcase: explode | map(if 97 <= . and . <= 122 then . - 32 else . end) | implode;

def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdate: fromdateiso8601;
def todate: todateiso8601;

# The arguments of a function for regular expressions, given as one value.
def _pattern($value):
  ($value | type) as $kind
  | if $kind == "string" then [$value, null]
    elif $kind == "array" and ($value | length) > 1 then [$value[0], $value[1]]
    elif $kind == "array" and ($value | length) > 0 then [$value[0], null]
    else error($kind + " not a string or array") end;
def match(pattern; flags): _match_impl(pattern; flags; false) | .[];
def match($value): _pattern($value) as [$pattern, $flags] | match($pattern; $flags);
def test(pattern; flags): _match_impl(pattern; flags; true);
def test($value): _pattern($value) as [$pattern, $flags] | test($pattern; $flags);
def _names: reduce (.captures[] | select(.name != null) | {(.name): .string}) as $pair ({}; . + $pair);
def capture(pattern; flags): match(pattern; flags) | _names;
def capture($value): _pattern($value) as [$pattern, $flags] | capture($pattern; $flags);
def scan($pattern; $flags):
  match($pattern; "g" + $flags) | if (.captures | length) > 0 then [.captures[].string] else .string end;
def scan($pattern): scan($pattern; null);
def _nwise($count): def all: if length <= $count then . else .[0:$count], (.[$count:] | all) end; all;
def _nwise(input; $count): input | _nwise($count);
def splits($pattern; flags):
  . as $text
  | [match($pattern; "g" + flags) | .offset, .offset + .length]
  | [0] + . + [$text | length]
  | _nwise(2)
  | $text[.[0]:.[1]];
def splits($pattern): splits($pattern; null);
def split($pattern; flags): [splits($pattern; flags)];
def sub($pattern; replacement; $flags):
  . as $text
  | (reduce match($pattern; $flags) as $found ({result: [], previous: 0};
        $text[.previous:($found | .offset)] as $gap
        | [$found | _names | replacement] as $texts
        | reduce range(0; $texts | length) as $index (.; .result[$index] += $gap + $texts[$index])
        | .previous = ($found | .offset + .length))
      | .result[] + $text[.previous:])
    // $text;
def sub($pattern; replacement): sub($pattern; replacement; "");
def gsub($pattern; replacement; flags): sub($pattern; replacement; flags + "g");
def gsub($pattern; replacement): sub($pattern; replacement; "g");

def inputs: def all: try repeat(input) catch if . == "break" then empty else error end; all;
def debug(messages): (messages | debug | empty), .;
def halt_error: halt_error(5);

def truncate_stream(events):
  . as $depth | null | events | . as $event
  | if (.[0] | length) > $depth then setpath([0]; $event[0][$depth:]) else empty end;
def fromstream(events):
  {value: null, done: false} as $empty
  | foreach events as $event ($empty;
      if .done then $empty else . end
      | if ($event | length) == 2
        then setpath(["done"]; ($event[0] | length) == 0) | setpath(["value"] + $event[0]; $event[1])
        else setpath(["done"]; ($event[0] | length) == 1) end;
      if .done then .value else empty end);
def tostream:
  path(def all: (.[]? | all), .; all) as $where
  | getpath($where)
  | reduce path(.[]?) as $last ([$where, .]; [$where + $last]);

def INDEX(rows; key): reduce rows as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
def JOIN($index; key): [.[] | [., $index[key]]];
def JOIN($index; rows; key): rows | [., $index[key]];
def JOIN($index; rows; key; change): rows | [., $index[key]] | change;
def IN(values): any(values == .; .);
def IN(source; values): any(source == values; .);
