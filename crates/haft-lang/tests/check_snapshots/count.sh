count=0
find . -name *.log | while read file; do
    count=$((count + 1))
    grep -E '(error|warn' "$file" > "$file"
done
echo "$count files"
for f in $(ls *.txt); do
    [[ $f =~ "^a.*" ]] && mv "$f" "~/archive" || rm $f
done
exit 0
echo "never"
