#!/bin/bash
# Fetches and builds one C subject: build.sh NAME FOLDER makes FOLDER/bin/NAME-O1 and NAME-O2.
# fresh/NAME is one of the subjects in fresh/, whose recipes are there.
# Sources are exact published versions, from the registries of their languages; none is kept here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
name=${1#fresh/}
[ "$name" = "$1" ] && set=$here || set=$here/fresh
mkdir -p "$2/bin" "$2/source"
out=$(cd "$2" && pwd)

get_crate() { # NAME VERSION
  source=$out/source/$1-$2
  [ -d "$source" ] && return
  local t
  t=$(mktemp -d "$out/source/fetch.XXXXXX")
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "l.rs"\n[workspace]\n[dependencies]\n%s = "=%s"\n' "$1" "$2" > "$t/Cargo.toml"
  touch "$t/l.rs"
  (cd "$t" && cargo vendor -q --versioned-dirs v > vendor.log)
  mv "$t/v/$1-$2" "$source"
  rm -rf "$t"
}
unpack() { # NAME-VERSION ARCHIVE SHA256
  echo "$3  $2" | sha256sum -c --quiet
  mkdir "$2.tree"
  tar xzf "$2" -C "$2.tree" --strip-components=1
  mv "$2.tree" "$out/source/$1"
}
get_npm() { # NAME VERSION SHA256
  source=$out/source/$1-$2
  [ -d "$source" ] && return
  local t
  t=$(mktemp -d "$out/source/fetch.XXXXXX")
  (cd "$t" && npm pack --silent "$1@$2" > pack.log)
  unpack "$1-$2" "$t/$1-$2.tgz" "$3"
  rm -rf "$t"
}
get_pypi() { # NAME VERSION SHA256: the source archive, without running what is in it
  source=$out/source/$1-$2
  [ -d "$source" ] && return
  local t
  t=$(mktemp -d "$out/source/fetch.XXXXXX")
  python3 -m venv "$t/venv"
  "$t/venv/bin/pip" install -q --disable-pip-version-check unearth
  "$t/venv/bin/unearth" --no-binary --download "$t" "$1==$2" > "$t/unearth.log"
  unpack "$1-$2" "$t/$1-$2.tar.gz" "$3"
  rm -rf "$t"
}
compile() { # FLAGS AND SOURCES: plain gcc, as a release would be built, with symbols
  gcc -O1 "${plain[@]}" -o "$out/bin/$name-O1.fresh" "$driver" "$@" &
  gcc -O2 "${plain[@]}" -o "$out/bin/$name-O2.fresh" "$driver" "$@"
  wait $!
  for o in O1 O2; do mv "$out/bin/$name-$o.fresh" "$out/bin/$name-$o"; done
}
files() { # FOLDER NAMES: those that exist
  local folder=$1 file
  shift
  for file in "$@"; do [ -f "$folder/$file.c" ] && echo "$folder/$file.c"; done
  true
}

driver=$set/c/$name/main.c
plain=(-g -w "-ffile-prefix-map=$out/source/=")
if [ "$set" != "$here" ]; then
  . "$set/recipes.sh"
  exit
fi
case $name in
  libxml2-dtd) # libxml2 2.9.0, CVE-2017-5969
    get_npm libxmljs 0.18.0 555012cd537e36522677f945da1d625f1d71a81543d6116764ecd1acc026cde6
    s=$source/vendor/libxml
    compile -D_REENTRANT -DHAVE_CONFIG_H -I"$s" -I"$s/include" $(files "$s" SAX SAX2 HTMLparser \
      HTMLtree buf c14n catalog chvalid debugXML dict encoding entities error globals hash legacy \
      list nanoftp nanohttp parser parserInternals pattern relaxng schematron threads tree uri valid \
      xinclude xlink xmlIO xmlmemory xmlmodule xmlreader xmlregexp xmlsave xmlschemas \
      xmlschemastypes xmlstring xmlunicode xmlwriter xpath xpointer DOCBparser) -lm -lpthread -ldl -lz ;;
  libyaml-assert | libyaml-uri-overflow) # libyaml 0.1.5, CVE-2014-9130 and CVE-2014-2525
    get_pypi ruamel.yaml 0.11.0 e55b5547d89dba782206489d2fbdcff2d0d7048272cf254eaf8af008193d0ee1
    s=$source/ext
    compile -DHAVE_CONFIG_H -I"$s" $(files "$s" api reader scanner parser loader) ;;
  lmdb-div0) # LMDB 0.9.21, CVE-2019-16228
    get_crate lmdb-sys 0.8.0
    s=$source/lmdb/libraries/liblmdb
    compile -I"$s" "$s/mdb.c" "$s/midl.c" -lpthread ;;
  lua-getlocal) # Lua 5.4.0, CVE-2020-24370
    get_crate lua-src 540.0.0
    s=$source/lua-5.4.0
    compile -DLUA_USE_POSIX -I"$s" "$s"/*.c -lm ;;
  onig-class) # Oniguruma 6.0.0, kkos/oniguruma issue 18
    get_crate onig_sys 1.0.0
    s=$source/oniguruma/src
    {
      for d in PROTOTYPES STRING_H STDARG_H STDARG_PROTOTYPES STDLIB_H LIMITS_H INTTYPES_H STDINT_H \
        SYS_TYPES_H ALLOCA_H; do echo "#define HAVE_$d 1"; done
      echo '#define STDC_HEADERS 1'
      for d in INT=4 SHORT=2 LONG=8 LONG_LONG=8 VOIDP=8 SIZE_T=8; do echo "#define SIZEOF_${d%=*} ${d#*=}"; done
    } > "$source/config.h"
    compile -DHAVE_CONFIG_H -I"$source" -I"$s" $(files "$s" regparse regcomp regexec regenc regerror \
      regsyntax regtrav regversion st unicode unicode_unfold_key unicode_fold1_key \
      unicode_fold2_key unicode_fold3_key ascii utf8 onig_init) ;;
  sqlite-div0) # SQLite 3.29.0, CVE-2019-16168
    get_crate libsqlite3-sys 0.16.0
    s=$source/sqlite3
    compile -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -I"$s" "$s/sqlite3.c" -lm ;;
  small-webserver | small-httpd) # after Castro et al., after ghttpd; their bugs are found by the canary
    compile -fstack-protector-all -U_FORTIFY_SOURCE ;;
  small-*) # our own re-creations of the papers' examples
    compile ;;
  *)
    echo "there is no recipe for $name" >&2
    exit 2 ;;
esac
