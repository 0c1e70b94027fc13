#!/bin/bash
set -e
target = "/srv/app"
version=$(git describe)
if [ $1 == "prod" && -n $version ]; then
    cd $target
    rm -rf $target/*
fi
export token=$(cat ~/.token)
sudo echo "$version" > /etc/app-version
make release 2>1 | tee build.log
no-such-tool --deploy || exit failure
