#!/usr/bin/env bash
# Installs the peers' servers, for whoever wants to run bench/: Debian's PostgreSQL and Redis. The bench starts and stops its own
# instances on free ports; what Debian starts by itself is neither needed nor used.
set -eu
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y postgresql redis-server
