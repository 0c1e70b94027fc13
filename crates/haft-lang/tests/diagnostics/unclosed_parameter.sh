echo ${x:-y
