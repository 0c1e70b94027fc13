f1() {
  cat <<E
x
E
  echo a
  echo b
  echo c
}
f2() {
  if true; then
    cat <<E
x
E
  fi
  echo z
}
f3() {
  cat <<E
x
E
}
f4() {
  { cat <<E
x
E
  }
  echo q
}
f5() {
  while a; do
    cat <<E
x
E
  done
  b
  c
}
f6() {
  case a in
    b) cat <<E
x
E
    ;;
    c) echo y;;
  esac
  d
}
f7() {
  echo a
  cat <<E | tr a b
x
E
  echo b
}
f8() {
  for i in a b; do echo $i; cat <<E; done
x
E
  echo b
}
f9() {
  ( cat <<E
x
E
  )
  x=$(cat <<E
y
E
)
  echo b
}
g1() {
  a || cat <<E
x
E
  echo b
  echo c
}
g2() {
  cat <<E && b
x
E
  c
  d
}
g3() {
  a
  cat <<E &
x
E
  c
}
g5() { a | cat <<E | c
x
E
}
g6() { 
  f() { cat <<E
x
E
}
  f
  g
}
h1() {
  if true; then
    cat <<E1
one
E1
    echo after
  fi
  { cat <<E2; echo z; } > /dev/null
two
E2
  while read l; do cat <<-E3 | tr a b
	three
	E3
  done <<E4
four
E4
  a && cat <<E5 || b
five
E5
  cat <<E6 <<E7 >x
six
E6
seven
E7
}
