#!/bin/sh
# Compiles the bot, and records the classes that its start takes: with the record it takes half the time.
set -eu
mvn --batch-mode --quiet -Dstyle.color=never -Dmaven.repo.local="$HOME/.m2/repository" compile jar:jar dependency:copy-dependencies
java -XX:ArchiveClassesAtExit=target/bot.jsa -XX:+UseSerialGC -Xlog:disable \
    -cp "target/bot.jar:target/dependency/*" bot.Rehearsal
