x=$(ls | sort
echo $x
