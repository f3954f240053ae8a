"""Programs of development, and what of them is allowed."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import names

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
