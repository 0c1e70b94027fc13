if true
 echo
fi
