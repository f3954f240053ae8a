"""Programs of every shell: those that change nothing, those that read files, and those that write them."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import names

PLAIN: Final = names(
    "echo printf true false test [ : pwd whoami id uname arch nproc tty which type whereis basename dirname seq"
    " sleep expr exit return break"
    " continue wait jobs shift umask ulimit times bc cal uptime free lscpu lsblk lsof netstat ss hostname groups"
    " logname tput"
    " clear sync getconf locale factor numfmt pgrep pidof nvidia-smi vmstat w who users lsmod dmesg sw_vers vm_stat"
    " disown getopts fg bg yes sum b2sum compgen"
)
"""They change nothing and read no files, whatever their arguments."""

READERS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "zgrep", "cut", "nl", "tac", "rev"), ()
    ),
    **dict.fromkeys(
        (
            "tr",
            "od",
            "strings",
            "stat",
            "df",
            "du",
            "fold",
            "fmt",
            "paste",
            "join",
            "comm",
            "expand",
            "unexpand",
        ),
        (),
    ),
    **dict.fromkeys(
        (
            "md5sum",
            "sha1sum",
            "sha256sum",
            "sha512sum",
            "shasum",
            "cksum",
            "realpath",
            "readlink",
            "jq",
            "cmp",
        ),
        (),
    ),
    **dict.fromkeys(
        ("hexdump", "zcat", "bat", "batcat", "exa", "eza", "lsd", "tokei", "cloc", "scc", "namei"), ()
    ),
    **dict.fromkeys(
        ("ldd", "nm", "objdump", "size", "readelf", "otool", "getfacl", "lsattr", "mdls", "pwdx"), ()
    ),
    **dict.fromkeys(
        ("look", "iconv", "colordiff", "sdiff", "md5", "jaq", "gron", "ncdu", "tsort", "column"), ()
    ),
    "base64": ("-o",),
    "xxd": (),
    "man": ("-P", "-H", "--pager", "--html"),
    "info": ("-o",),
    "less": (),
    "more": (),
    "yq": ("-i", "--inplace", "-s", "--split-exp"),
    "diff": ("--to-file", "--from-file"),
    "ag": ("--pager",),
    "ack": ("--pager",),
    "rg": ("--pre", "--hostname-bin"),
    "sort": ("-o", "-T", "--output", "--compress-program", "--temporary-directory"),
    "file": ("-C", "--compile"),
    "tree": ("-o",),
    "date": ("-s", "--set"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "fdfind": ("-x", "-X", "--exec", "--exec-batch"),
    "find": ("-ok", "-okdir", "-fprint", "-fprintf", "-fls", "-fprint0", "-files0-from"),
    **dict.fromkeys(("zipinfo", "json_pp", "json_reformat", "jsonpp", "csvlook", "csvcut", "csvstat"), ()),
    "mediainfo": (),
    "identify": (),
    "ffprobe": (),
    "shellcheck": (),
    "hadolint": (),
    "yamllint": (),
    "xmllint": ("--output",),
    "dot": ("-o", "-O"),
}
"""They only read, unless one of these options is given."""

PATTERN_FIRST: Final = frozenset(
    {"grep", "egrep", "fgrep", "zgrep", "rg", "jq", "jaq", "yq", "tr", "ag", "ack", "fd", "fdfind"}
)
"""Their first operand is no file."""

WRITERS: Final[dict[str, str]] = {
    "mkdir": "pvm",
    "touch": "acm",
    "rmdir": "pv",
    "rm": "rRfidv",
    "unlink": "",
    "cp": "raRpfivnudPTHLxal",
    "mv": "fivnuT",
    "tee": "ai",
    "sponge": "a",
    "chmod": "Rvfc",
    "truncate": "c",
    "install": "dDvpC",
    "split": "ad",
    "ln": "sfnvrT",
    "gzip": "kfdvcqt123456789n",
    "gunzip": "kfvcqt",
    "bzip2": "kfdv",
    "xz": "kfdv",
    "zstd": "kfdq",
    "dos2unix": "qk",
    "unix2dos": "qk",
}
"""They write what they name, and these are the options with which they do no more than that."""

WRITER_WORDS: Final = names(
    "--recursive --force --verbose --parents --no-clobber --archive --append --update --interactive --symbolic"
    " --relative"
    " --no-dereference --preserve --mode --size --lines --keep --decompress --reflink --no-target-directory"
    " --exclude --target"
    " --dereference --no-preserve --quiet --backup"
) - {"--target", "--exclude"}

REMOTE_COPY: Final = "rsync"
