for x in a b; echo $x; done
