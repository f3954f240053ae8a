"""The default rules, as tables. The programs that have a table are judged by modules of their own."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import names

# Files -------------------------------------------------------------------------------------------

SECRET_FOLDERS: Final = (".ssh", ".aws", ".gnupg", ".azure", ".config/gcloud", ".password-store", ".kube")
SECRET: Final = (
    ".env",
    ".env.*",
    "*_rsa",
    "*_dsa",
    "*_ecdsa",
    "*_ed25519",
    "credentials",
    ".credentials*",
    "credentials.json",
    ".git-credentials",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    "opencode/auth.json",
    ".vault-token",
    "etc/shadow",
    "etc/gshadow",
    "etc/sudoers",
    "dev/tcp/*/*",
    "dev/udp/*/*",
    "proc/*/environ",
)
"""Names, or the last parts of a path, in lower case."""

NO_SECRETS: Final = ("*.pub", ".env.example", ".env.sample", ".env.template", ".env.dist")

PROTECTED_FOLDERS: Final = (
    ".git",
    ".claude/hooks",
    ".codex/hooks",
    ".gemini/hooks",
    ".opencode/plugin*",
    ".ssh",
)
PROTECTED: Final = (
    ".git",
    ".claude",
    ".codex",
    ".gemini",
    ".opencode",
    ".claude/settings*.json",
    ".claude.json",
    ".mcp.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".gemini/policies/*",
    "opencode.json",
    "opencode.jsonc",
)

# Commands ----------------------------------------------------------------------------------------

_VERBS: Final = (
    *("start", "stop", "checkin", "spawn", "order", "answer", "attach"),
    *("merge", "rebase", "delete", "archive", "retry"),
)
"""Verbs of our own commands that change something."""

DENIED: Final[dict[str, str]] = {
    **dict.fromkeys(("sudo", "su", "doas", "pkexec", "runuser"), "it acts as another user"),
    **dict.fromkeys(
        (
            "git push",
            "git send-pack",
            "git send-email",
            "git http-push",
            "git svn dcommit",
            "git subtree push",
        ),
        "only a person may send work away from this machine",
    ),
    **dict.fromkeys(
        ("git remote add", "git remote set-url", "git remote rename", "git remote set-head"),
        "it changes where work is sent",
    ),
    **dict.fromkeys(("git config --global", "git config --system"), "it changes git for all projects"),
    **dict.fromkeys(("ssh", "scp", "sftp", "sshfs", "mosh", "telnet"), "it reaches another machine"),
    **dict.fromkeys(("tmux", "screen"), "the terminals are the PM's"),
    **dict.fromkeys(
        (
            *(f"{program} {verb}" for program in ("task", "agent-orchestrator") for verb in _VERBS),
            *("task setup-agents", "task notify test", "agent-orchestrator daemon"),
            *(f"task daemon {verb}" for verb in ("run", "start", "stop", "install", "uninstall")),
            *("spawn_agent.sh", "spawn_pm.sh", "pm-check-in.sh"),
        ),
        "agents do not control other agents",
    ),
    **dict.fromkeys(
        ("kill", "pkill", "killall", "skill", "xkill"), "it may end processes that are not the agent's"
    ),
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff", "telinit", "init 0", "init 6"), "it stops the machine"
    ),
    **dict.fromkeys(("mkfs*", "fdisk", "parted", "wipefs", "mkswap", "mount", "umount"), "it changes disks"),
    **dict.fromkeys(
        ("crontab", "at", "batch", "systemctl", "service", "launchctl", "loginctl", "systemd-run"),
        "it changes what the machine runs",
    ),
}
"""Patterns in the form of rules, and the reason of each."""

LOOKED_FOR: Final[dict[str, str]] = DENIED | {
    f"rm {flag} {place}": "it deletes files that are not the agent's"
    for flag in ("-r", "-R", "--recursive")
    for place in ("/", "~", "~/")
}
"""The same, with commands that are denied because of their paths, for text whose words are not certain."""

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

RUNNERS: Final = names(
    "pytest py.test ruff mypy tox nox black isort flake8 pylint pyright basedpyright coverage python python3"
    " node tsc eslint"
    " prettier jest vitest mocha playwright make gmake ctest cmake gradle gradlew mvn mvnw gofmt rustfmt"
    " ipython pypy3 pypy bandit pyflakes pycodestyle pydocstyle vulture codespell autopep8 yapf pyupgrade"
    " autoflake doc8"
    " sphinx-build mkdocs jupyter nbstripout pre-commit hypothesis locust radon interrogate deptry ty pyre djlint"
    " ts-node tsx vue-tsc svelte-check vite webpack rollup esbuild parcel turbo nx lerna next nuxt astro remix"
    " ng vue-cli-service"
    " react-scripts babel swc stylelint biome oxlint knip depcheck madge typedoc karma ava tap c8 nyc cypress storybook"
    " tailwindcss postcss sass prisma drizzle-kit typeorm knex sequelize graphql-codegen openapi-typescript"
    " deno ruby rspec rake rubocop rails bin/rails php phpunit phpstan psalm php-cs-fixer pint pest artisan"
    " perl prove Rscript R julia lua luac luacheck busted elixir mix iex erl rebar3 ghc cabal stack runghc ocaml dune"
    " java javac jar kotlin kotlinc scala sbt ant groovy dotnet swift swiftc xcodebuild swiftlint zig nim crystal"
    " gcc g++ cc c++ clang clang++ ld ar ranlib strip clang-format clang-tidy cppcheck valgrind ninja meson"
    " bazel bazelisk buck"
    " scons autoconf automake autoreconf libtoolize pkg-config configure valgrind gcov lcov gcovr just tsort protoc"
    " flex bison m4 nasm as yasm rustc bindgen wasm-pack golangci-lint staticcheck goimports gotestsum gopls"
    " errcheck revive"
    " uvicorn gunicorn flask fastapi hypercorn daphne django-admin alembic celery streamlit http-server serve"
    " live-server"
    " hugo jekyll mdbook pandoc pdflatex xelatex latexmk bibtex typst plantuml mmdc asciidoctor markdownlint"
    " markdownlint-cli2"
    " vale hyperfine terraform-docs tflint actionlint shfmt bats jsonlint ajv buf sqlfluff sqlc dbt squawk"
    " convert magick optipng svgo gifsicle ffmpeg inkscape rsvg-convert gs qpdf pdftotext pdfinfo pdftoppm tesseract"
    " cmake-format ccache msgfmt xgettext diffoscope patchelf cython maturin virtualenv twigcs tsd size-limit"
    " commitlint lint-staged"
)
"""Programs of development, allowed with whatever they are given: they run what the agent wrote."""

RUN_BY: Final = frozenset({"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "bundle", "pixi"})
"""Programs that run others in the environment of the project by `run` or `exec`."""

SUBCOMMANDS: Final[dict[str, frozenset[str]]] = {
    "npm": names("test t tst run run-script start stop"),
    "pnpm": names("test t run start dev build lint typecheck format check tsc"),
    "yarn": names("test run lint build typecheck why list start dev format check tsc workspaces workspace"),
    "bun": names("test run build dev start"),
    "uv": names("build format"),
    "poetry": frozenset({"build"}),
    "hatch": names("build env version test fmt"),
    "cargo": names(
        "build b test t check c clippy fmt doc tree metadata run r bench nextest expand fetch add remove update"
        " generate-lockfile vendor clean fix locate-project pkgid verify-project search info machete audit deny"
        " outdated llvm-cov"
        " tarpaulin insta hack init new report rustc rustdoc version --version -V --list"
    ),
    "go": names("build test vet fmt list version run mod doc env generate tool clean work get help fix"),
    "rustup": names("show which --version"),
    "docker-compose": frozenset({"config", "version"}),
    "terraform": names("fmt validate version providers"),
    "helm": names("template lint version"),
    "kubectl": frozenset({"version"}),
    "flutter": names("test analyze build doctor pub --version format"),
    "dart": names("test analyze format run compile pub --version fix"),
    "opam": frozenset({"list", "show", "exec"}),
    "brew": names("list info --version --prefix config doctor deps search leaves"),
    "dpkg": names("-l -L -s -S --list --listfiles --status --search --version --print-architecture"),
    "rpm": names("-q -qa -ql -qi"),
    "apt": names("list show search policy"),
    "apt-cache": names("show search policy depends rdepends madison"),
    "apk": names("info list search"),
    "systemctl": names("status is-active is-enabled list-units list-unit-files show cat"),
    "journalctl": frozenset({"--version"}),
    "crontab": frozenset({"-l"}),
    "conda": names("list info search"),
    "nvm": names("ls list current use version which"),
    "pyenv": names("versions version which root prefix"),
    "rbenv": names("versions version which"),
    "volta": names("list which"),
    "gh": frozenset({"--version", "version"}),
    "git-lfs": frozenset({"version"}),
    "launchctl": frozenset({"list"}),
}
"""The first word after the program that is allowed."""

NEVER_WITH: Final[dict[str, tuple[str, ...]]] = {
    "npm": ("--script-shell", "--node-options", "-C", "--userconfig", "--globalconfig"),
    "pnpm": ("--script-shell", "--shell-emulator"),
    "yarn": ("--script-shell", "--use-yarnrc"),
    "cargo": ("--config", "-Z", "--registry", "--index", "--git", "--root"),
    "go": ("-exec", "-toolexec", "-vettool", "-modfile", "-overlay"),
    "make": ("--eval",),
    "gmake": ("--eval",),
    **dict.fromkeys(("gcc", "g++", "cc", "c++"), ("-wrapper",)),
}
"""Options with which there is no default: what they name would run, or it would happen elsewhere."""

ELSEWHERE: Final[dict[str, tuple[str, ...]]] = {
    "npm": ("--prefix",),
    "pnpm": ("--dir", "-C"),
    "yarn": ("--cwd",),
    "bun": ("--cwd",),
    "cargo": ("--manifest-path", "--target-dir", "-C"),
    "go": ("-C",),
    "make": ("-C", "--directory", "-f", "--file", "--makefile"),
    "gmake": ("-C", "--directory", "-f", "--file", "--makefile"),
    "uv": ("--project", "--directory"),
    "poetry": ("-C", "--directory"),
}
"""Options that name where something happens: that must lie in a folder of the run's."""

VALUED: Final[dict[str, tuple[str, ...]]] = {
    "pnpm": ("--filter", "-F"),
    "npm": ("--workspace", "-w"),
    "yarn": ("--cwd",),
    "cargo": ("--color",),
    "docker-compose": ("-f", "-p"),
}
"""Options that take a word, ahead of the one that says what is done."""

PACKAGES: Final = RUNNERS - names(
    "python python3 node java ruby php perl R lua make gcc cc ld as ar"
) | names(
    "create-vite create-next-app npm-check-updates ncu npm-run-all concurrently cross-env rimraf tsc-watch ts-jest shx"
    " @biomejs/biome @angular/cli @playwright/test @storybook/cli electron-rebuild pyright license-checker"
    " sort-package-json"
    " eslint_d dpdm publint attw @arethetypeswrong/cli cspell linkinator broken-link-checker wait-on jsdoc tsup unbuild"
    " node-gyp esno vite-node jscpd plop hygen prettier-package-json json5 semver tree-sitter jest-cli mermaid-cli"
    " @mermaid-js/mermaid-cli json uglify-js terser html-validate pa11y expo-doctor npm-check"
)
"""What `npx` and its kind may run."""

ASSIGNED_FREELY: Final[dict[str, str]] = {
    "*PAGER": r"cat|true|",
    "*EDITOR": r"cat|true|:|",
    "GIT_AUTHOR_*": r"[^`]*",
    "GIT_COMMITTER_*": r"[^`]*",
    "GIT_TERMINAL_PROMPT": r"[01]",
    "GIT_OPTIONAL_LOCKS": r"[01]",
    "GIT_MERGE_AUTOEDIT": r"no",
    "GIT_CONFIG_NOSYSTEM": r"1",
    "GIT_CONFIG_GLOBAL": r"/dev/null",
    "GIT_TRACE*": r"[012]|true|false",
    "NODE_OPTIONS": r"(?:--(?:max-old-space-size=\d+|openssl-legacy-provider|(?:experimental|no|trace)-[a-z-]+)\s*)*",
    "MAKEFLAGS": r"-[jks][0-9]*",
    "IFS": r".*",
    "SHELL": r"/(?:usr/)?bin/(?:ba|z|da)?sh",
    "BROWSER": r"none|true|",
    "CC": r"(?:gcc|clang|cc)(?:-[0-9]+)?",
    "CXX": r"(?:g\+\+|clang\+\+|c\+\+)(?:-[0-9]+)?",
}
"""Variables that are allowed with some values only, as regular expressions."""

OUTPUTS: Final = names(
    "-o -O -d --output --out --outfile --outdir --outDir --out-dir --output-dir --output-file --dest"
    " --destination --target-dir"
    " --build-dir --install-dir --prefix --coverprofile -coverprofile --html --xml --junitxml --junit-xml"
    " --report --log-file"
    " --basetemp --cov-report --save-to --write --directory --distpath --workpath --outputFile --output-path --export"
)
"""Options of programs of development that name where they write."""

BUILDERS: Final = names(
    "npm pnpm yarn bun make gmake rake just lerna nx turbo gradle gradlew mvn mvnw sbt ant dotnet mix bazel"
    " bazelisk ninja mage"
    " task composer poe invoke doit"
)
"""Programs that carry out what a project calls by a name."""

PUBLISHERS: Final = names(
    "twine vercel netlify gh-pages wrangler firebase surge serverless sls aws az gcloud heroku flyctl fly eas np"
    " release-it"
    " semantic-release changeset ansible ansible-playbook fab cdk pulumi sst railway gh glab hub supabase ntl now"
)
"""Programs that reach services by the user's login, wherever they lie."""

CONVERTERS: Final = names(
    "convert magick ffmpeg pandoc gs inkscape rsvg-convert pdftotext pdftoppm qpdf mmdc svgo optipng gifsicle msgfmt m4"
)
"""Programs of development of which the last word is a file that they write."""

UNSAFE_VARIABLES: Final = (
    *(
        "PATH",
        "IFS",
        "CDPATH",
        "ENV",
        "BASH_ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "HOME",
        "SHELL",
        "ZDOTDIR",
        "FPATH",
    ),
    *(
        "LD_*",
        "DYLD_*",
        "GIT_*",
        "*PAGER",
        "*EDITOR",
        "VISUAL",
        "*_COMMAND",
        "BROWSER",
        "LESSOPEN",
        "LESSCLOSE",
    ),
    *(
        "ORCHESTRATOR_*",
        "TMUX*",
        "SSH_*",
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "RUSTC_WRAPPER",
        "RUSTC",
    ),
    *(
        "RIPGREP_CONFIG_PATH",
        "MAKEFLAGS",
        "GOFLAGS",
        "GOPROXY",
        "GONOSUMDB",
        "GOINSECURE",
        "*_PROXY",
        "*_proxy",
        "PERL5OPT",
    ),
    *(
        "PERL5DB",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "CC",
        "CXX",
        "LD",
        "PIP_*",
        "UV_INDEX*",
        "UV_DEFAULT_INDEX",
    ),
    *(
        "UV_EXTRA_INDEX*",
        "npm_config_*",
        "NPM_CONFIG_*",
        "YARN_*",
        "CARGO_REGISTRIES_*",
        "CARGO_BUILD_RUSTC*",
        "DOCKER_*",
    ),
    *("KUBECONFIG", "PROMPT_*", "PS0", "HISTFILE", "MANPAGER", "LESS", "TAR_OPTIONS"),
    *(
        "GREP_OPTIONS",
        "SUDO_*",
        "CLAUDE_*",
        "CODEX_*",
        "GEMINI_CLI_*",
        "OPENCODE_*",
        "ANTHROPIC_*",
        "OPENAI_BASE*",
    ),
)
"""Set ahead of a command, they make it another one, make it run something else, or send it elsewhere."""

SECRET_VARIABLES: Final = (
    "*KEY",
    "*TOKEN*",
    "*SECRET*",
    "*PASSWORD*",
    "*PASSWD*",
    "*CREDENTIAL*",
    "*PRIVATE*",
)
"""What they hold is not to be printed."""

OWN_SCRIPTS: Final = (
    *(
        "~/.bashrc",
        "~/.zshrc",
        "~/.profile",
        "~/.bash_profile",
        "~/.zprofile",
        "~/.nvm/nvm.sh",
        "~/.cargo/env",
    ),
    *(
        "~/.sdkman/bin/sdkman-init.sh",
        "~/.rvm/scripts/rvm",
        "~/.asdf/asdf.sh",
        "/etc/profile",
        "/etc/bash.bashrc",
    ),
)
"""Scripts that set up a shell, as its user has them read anyway."""

REMOTE_COPY: Final = "rsync"


_OWN_WORDS: Final = names(
    "cd chdir pushd popd dirs export declare typeset local readonly read mapfile readarray set shopt unset hash"
    " let trap source ."
    " eval exec command builtin alias unalias env xargs timeout nohup nice time stdbuf sudo su doas kill sh bash"
    " dash zsh"
)
KNOWN: Final = (
    _OWN_WORDS
    | PLAIN
    | frozenset(READERS)
    | frozenset(WRITERS)
    | RUNNERS
    | frozenset(SUBCOMMANDS)
    | {"git", "sed", "awk", "curl"}
)
"""Programs of which something is known here: a function by such a name is not what it seems."""
