echo `ls
