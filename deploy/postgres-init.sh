#!/bin/sh
# Run once by the database's image: a login for the platform that is no superuser, and no password for the one that is.
set -eu
psql --no-psqlrc -v ON_ERROR_STOP=1 -U postgres -d postgres -v password="$POSTGRES_PASSWORD" <<'SQL'
create role troupe login createrole password :'password';
create database troupe owner troupe;
alter role postgres password null;
SQL
