#!/bin/sh
# Makes the virtual environment $VENV with $PYTHON, or with the newest suitable Python there is; says what to install.
set -eu

suits() {
    command -v "$1" >/dev/null 2>&1 && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

has_venv() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

candidates=${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}
without_venv=
for python in $candidates; do
    suits "$python" || continue
    if has_venv "$python"; then
        echo "Making $VENV with $("$python" --version)" >&2
        # Half a virtual environment would look like a whole one to the next call.
        "$python" -m venv "$VENV" || { rm -rf "$VENV"; exit 1; }
        exit 0
    fi
    without_venv=${without_venv:-$python}
done

if [ -n "$without_venv" ]; then
    version=$("$without_venv" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    package=python3-venv
    [ "$without_venv" = python3 ] || package=python$version-venv
    echo "Python $version is here, but it cannot make virtual environments. On Debian and Ubuntu:" >&2
    echo "    sudo apt install $package" >&2
else
    echo "Python 3.11 or newer is needed, and ${PYTHON:-python3} is not that. Install it, for example:" >&2
    echo "    sudo apt install python3 python3-venv" >&2
    echo "or name one: make setup PYTHON=/path/to/python3.11" >&2
fi
exit 1
