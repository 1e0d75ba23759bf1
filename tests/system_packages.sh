#!/bin/sh
# What the tests need from the system: a Chromium, PostgreSQL's programs, and a Chinese font for the screenshots.
# As root on Debian or Ubuntu they are installed; otherwise the line to run is printed.
set -eu

find_chromium() {
    if [ -n "${TUNELEDGER_TEST_CHROMIUM:-}" ]; then
        [ -x "$TUNELEDGER_TEST_CHROMIUM" ] && return 0
        echo "TUNELEDGER_TEST_CHROMIUM=$TUNELEDGER_TEST_CHROMIUM is not a program." >&2
        exit 1
    fi
    command -v chromium >/dev/null
}

find_postgresql() {
    [ -n "${TEST_DATABASE_URL:-}" ] && return 0
    command -v initdb >/dev/null && return 0
    for folder in /usr/lib/postgresql/*/bin; do
        [ -x "$folder/initdb" ] && return 0
    done
    return 1
}

find_chinese_font() {
    command -v fc-list >/dev/null || return 1
    [ -n "$(fc-list :lang=zh file)" ]
}

missing=
find_chromium || missing="$missing chromium"
find_postgresql || missing="$missing postgresql"
find_chinese_font || missing="$missing fontconfig fonts-noto-cjk"
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    # shellcheck disable=SC2086 # a list of words
    apt-get -qq install --yes --no-install-recommends $missing >&2
    exit 0
fi

echo "The tests need$missing. Run:" >&2
echo "    sudo apt install --yes --no-install-recommends$missing" >&2
echo "or point TUNELEDGER_TEST_CHROMIUM at a Chromium and TEST_DATABASE_URL at an empty PostgreSQL database" >&2
echo "(postgresql+psycopg://user:password@host/name)." >&2
exit 1
