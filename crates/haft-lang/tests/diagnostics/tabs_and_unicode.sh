echo "é"	)
