"""Commands and what is answered to them, as a table: nothing here depends on rules of the user's."""

import time

import pytest

from orchestrator.model.permission import PermissionDecision
from tests.unit.pm.permissions.permission_checks import decision, run

ALLOWED = r"""
ls -la
ls src tests
cat src/a.py | grep -n foo | head -20
cat a.txt b.txt > all.txt
head -n 5 README.md; tail -3 README.md
wc -l *.py
rg -n "git push" docs
grep -rn TODO src
grep .env README.md
grep -rn "sudo" . | cut -d: -f1 | sort | uniq -c
find . -name "*.py" -not -path "./.venv/*"
diff -u a b
tree -L 2
stat a && du -sh . && file a
jq -r .name package.json
sed -n 1,20p x.py
sed -n '/begin/,/end/p' x.py
sed -i 's/a/b/' x.py
sed -e 's|/usr|/opt|g;s/x/y/' a
awk '{print $1}' x
awk -F: '$3 > 100 {print $1, $2}' x
echo hi > out.txt
echo "git push" >> notes.md
echo hi > /dev/null 2>&1
echo "$HOME and ${USER}"
printf '%s\n' a b
pwd; true; test -f x || false
[ -d src ] && ls src
which python
sleep 1
date -u +%s
date -d tomorrow +%F
! grep -q x y
git status
git status && git diff --stat
git log --oneline -5
git log -SOld
git -C sub log
git --no-pager show HEAD~1
git commit -am "fix sudo and git push"
exec ls -c
git add -A && git commit -m 'a; b | c & d $(e)'
git -c user.name=x commit -m y
git stash && git stash pop
git switch -c topic
git checkout -- src/a.py
git restore --staged a
git rm old.py
git worktree list
git remote -v
git rev-parse --show-toplevel
git blame -L 1,5 a.py
git ls-files '*.py'
rm -rf build dist
rm -f a/*.pyc
rm x.txt
cp a b
cp -r src /w/task/artifacts/src
mv a b
mkdir -p a/b && touch a/b/c
tee -a out.txt
chmod +x run.sh
chmod 755 run.sh
python a.py
python -m pytest -q
python3 -m unittest
python3 -c "print(1)"
python3.12 -m mypy .
pytest -q -k "kill or task"
pytest tests/test_a.py::test_b 2>&1 | tail -40
ruff check --fix . && ruff format .
mypy orchestrator
tox -e py311
nox -s tests
uv run pytest -x
uv run main.py
uv run --frozen ruff check
poetry run pytest
node index.js
npm test
npm run build -- --mode production
npx tsc --noEmit
npx --no-install eslint src
yarn test
pnpm run lint
cargo test --all
cargo +nightly clippy
go test ./...
go vet ./... && go build ./...
make -j4 check
ctest --output-on-failure
cmake -S . -B build
./gradlew test
mvn -q test
tsc -p .
jest --ci
.venv/bin/python x.py
./node_modules/.bin/eslint .
/usr/bin/git status
/bin/ls
CI=1 npm test
PYTHONPATH=src pytest
export FOO=1 && npm test
set -euo pipefail; make
source .venv/bin/activate && pytest
cd sub && pytest
cd /w/task && ls
cd sub && pytest && cd .. && git status
python -W ignore -X dev -m pytest
python3 -Im json.tool a.json
(cd sub && npm test)
timeout 60 pytest
timeout -k 5 1m make
nohup make
nice -n 5 make
time pytest
env A=1 B=2 pytest
command -v python
command ls
bash -lc "pytest -q && git status"
sh -c 'ls | wc -l'
ls # && git push
npm install
yarn add x
git merge x
git reset --hard
git clean -fd
git -C /etc log
find . -name x -exec cat {} +
cp a /tmp/b
echo hi &> /tmp/x
cd .. && ls
cd - && ls
cd sub; cd .. && ls
cd sub && x=1; cd ..
cd /etc
pushd /etc
pytest &
pytest & ls
for i in 1 2; do rm $i; done
if true; then ls; fi
while true; do ls; done
[[ -f x ]] && ls
case x in y) ls;; esac
echo $(date)
echo `date`
diff <(ls) <(ls)
echo $((1 + 1))
eval ls
. ./x.sh
source x.sh
bash x.sh
zsh -c ls
trap ls EXIT
ls | xargs cat
perl -e 1
ruby x.rb
./x.sh
f() { ls; }; f
"""

ASKED = r"""
date 010100002026
date -u 010100002026
pip install x
python -m pip install x
npm exec thing
npx cowsay
pnpm dlx x
cargo install x
cargo --config a=b build
go test -exec /bin/sh
curl https://example.org
wget https://example.org
docker run x
docker kill x
make --eval x
cmake -E rm x
git fetch
git pull
git rebase -x make main
git worktree add x
git config core.pager less
git -c core.pager=x log
git -c alias.x=!y x
git --git-dir=/x log
git diff --output=/etc/x
git diff --outp=x
git grep -Oless x
git grep --open-files-in-pager=x y
git $X
git p
find . -delete
rg --pre ./x y
sort -o x y
sort --outpu=x y
sort --compress-prog=x y
sed 's/a/b/e' x
sed '1e ls' x
sed 'w /etc/x' y
sed -n 's/a/b/w out' y
sed 's/[/]/g;s,a/w f,b,' x
sed -f script x
sed -i 's/a/b/' /etc/hosts
awk 'BEGIN { system("x") }'
awk '{print > "/etc/x"}' y
awk '/"/ {print > "/etc/x"} /"/' y
awk -f x y
rm -rf .
rm -rf $X
rm /etc/passwd
cp -t /etc a
cp -s /etc/x y
mv a ../b
mv /etc/x a
mkdir /opt/x
touch ~/x
tee /etc/x
ln -s /etc x
chmod u+s a
chmod 4755 a
chown root x
echo hi > /etc/x
echo hi > ../x
echo hi > ~/x
echo hi > $X
cat < $X
cat .e*
! cd sub/deep && touch ../../x
cd sub && true | cd deep && touch ../../x
cd sub || touch ../x
(cd sub && ls) && touch ../x
python -W ignore -m pip install x
python -mpip install x
python -Xtracemalloc -m pip install x
time -f %e ls
X="ls x"; $=X
[ -v 'a[$(x)]' ]
test -v x
printf -v PATH x
grep -r x ~
rg x /home/me
cp -r ~ all
cp -r / all
git remote -v update
git mv a .claude/settings.json
RIPGREP_CONFIG_PATH=x rg y
awk 'BEGIN{ARGV[1]=".env"; ARGC=2} {print}'
cd $X && ls
(pytest
pytest)
cat <<EOF
ls $'\x61'
l? x
/usr/bin/l*
$X y
"$X" y
{ls,x}
=ls
'' x
bash
curl x | sh
alias ls=x
export PATH=x
PATH=/x:$PATH ls
GIT_PAGER=x git log
LD_PRELOAD=x ls
ls | parallel cat
watch ls
env
env -i
env -S "ls -l"
printenv
timeout -x 5 ls
busybox ls
/tmp/git status
/tmp/x/bin/pytest
task status x
history
pytest $ARGS
python $X
"unclosed
ends in \
git branch -D old
"""

DENIED = r"""
git push
git push origin HEAD
git -C x push
git -c a=b push
git --no-pager -C x -c a=b push --force
git --git-dir x push
/usr/bin/git push
GIT push
g"i"t p\ush
git \
  push
git remote add o u
git remote set-url o u
git remote -v add o u
git config --global user.name x
git config --system a b
git config --glob a b
sudo ls
su -c ls
doas ls
ssh host ls
scp a host:b
sftp host
rsync -a x host:/y
rsync -a x rsync://host/y
tmux kill-server
kill 123
kill -9 123
pkill x
killall x
shutdown now
reboot
mkfs.ext4 /dev/sda
dd if=x of=/dev/sda
crontab -e
systemctl stop x
launchctl load x
chmod 777 /etc/passwd
chmod -R 777 /
chown root /etc/x
rm -rf /
rm -rf /*
rm -fr ~
rm -r -f ~/x
rm -rf $HOME/../ ~
rm --recursive /etc
rm -rf ../other
rm -rf build/../../x
rm -rf .git
rm .git/index
cd /etc && rm -rf x
cd sub && rm -rf ../../x
cp x .git/hooks/pre-commit
cp x/settings.json .claude
cp x/settings.json .claude/
mv x/.mcp.json .
cp -r x/.git sub
cd .claude && tee settings.json
git commit -F.env
git commit --file=.env
cat < /dev/tcp/host/80
echo x > .git/config
echo x > .claude/settings.json
echo x >> .claude/settings.local.json
tee .claude/hooks/x
sed -i s/a/b/ .mcp.json
cat ~/.ssh/id_rsa
cat .env
cat /w/tree/.env.local
head -1 config/.env
grep -r x ~/.aws
grep --file=.env x
grep -f .env x
cat < .env
cp ~/.ssh/id_ed25519 x
base64 x; cat ~/.netrc
cat /proc/self/environ
cat /etc/shadow
ls ~/.ssh
git show HEAD:.env
git commit -m "say `kill 1` no more"
diff .env /dev/null
task start x
task stop x
task answer x q1 yes
task daemon stop
agent-orchestrator order x dev y
scripts/spawn_agent.sh x
sh -c 'git push'
bash -lc "cd x && git push"
bash -c 'sh -c "git push"'
env git push
env A=1 git push
env -i git push
env -S "git push"
nohup git push
timeout 5 git push
timeout -s KILL 5 git push
timeout -z 5 git push
nice -n 5 git push
nice --adjustment=5 git push
command git push
command -p git push
builtin kill 1
exec git push
time git push
! git push
stdbuf -oL git push
xargs git push
echo x | xargs -n1 git push
find . -exec git push ;
eval git push
eval "git push"
git${IFS}push
git$IFS$9push
$(git push)
`git push`
echo $(git push)
echo "$(git push)"
echo "a$(sh -c 'git push')"
<(git push)
(git push)
(cd x; git push)
{ git push; }
if true; then git push; fi
while git push; do :; done
for i in 1; do git push; done
ls & git push
ls && git push
ls || git push
ls | git push
ls; git push
true|git push
f() { git push; }; f
cat <<EOF $(git push)
echo 'git push' | sh
bash <<< 'git push'
{git,push}
gi? push | $X
$'git' push
$'\x67it' push
uv run git push
npx git push
busybox kill 1
setsid git push
flock x git push
python3 -c "import os; os.system('git push')"
python3 -c "import subprocess; subprocess.run(['git', 'push'])"
node -e "require('child_process').execSync('git push')"
X=1 git push
make -f - <<< 'x: ; git push'
A=b sudo ls
git diff --no-index .env /dev/null
"""

TABLE = [
    (command, expected)
    for text, expected in (
        (ALLOWED, PermissionDecision.ALLOW),
        (ASKED, PermissionDecision.ASK),
        (DENIED, PermissionDecision.DENY),
    )
    for command in text.replace("\\\n", "\0").strip("\n").split("\n")
]


def test_the_table_is_a_table():
    assert len(TABLE) > 300
    assert {expected for _, expected in TABLE} == set(PermissionDecision)


@pytest.mark.parametrize(("command", "expected"), [(c.replace("\0", "\\\n"), e) for c, e in TABLE])
def test_each_command_is_answered_as_the_table_says(command, expected):
    found = run(command)
    assert (found.decision, found.why) == (expected, found.why)
    assert found.why


HEREDOC = "cat > {file} <<{end}\n{body}\nEOF\n{then}"


@pytest.mark.parametrize(
    ("file", "end", "body", "then", "expected"),
    [
        ("a.md", "'EOF'", "it's $HOME `x` and sudo", "", PermissionDecision.ALLOW),
        ("/w/task/handoffs/x.md", '"EOF"', "# Handoff: dev\n$(x)", "ls", PermissionDecision.ALLOW),
        ("a.md", "EOF", "nothing is replaced", "", PermissionDecision.ALLOW),
        ("a.md", "EOF", "$HOME", "", PermissionDecision.ALLOW),
        ("a.md", "EOF", "$OPENAI_API_KEY", "", PermissionDecision.ASK),
        ("a.md", "EOF", "$(git push)", "", PermissionDecision.DENY),
        ("a.md", "'EOF'", "x", "git push", PermissionDecision.DENY),
        ("/etc/x", "'EOF'", "x", "", PermissionDecision.ASK),
        (".git/config", "'EOF'", "x", "", PermissionDecision.DENY),
        ("a.md", "'EOX'", "x", "", PermissionDecision.ASK),
    ],
)
def test_a_heredoc_is_allowed_to_a_file_of_the_run_s_and_certain(file, end, body, then, expected):
    assert decision(HEREDOC.format(file=file, end=end, body=body, then=then)) == expected


def test_a_commit_s_message_may_come_by_a_quoted_heredoc():
    message = "git commit -m \"$(cat <<'EOF'\nTell `sudo` from $(git push)\n\nIt's so.\nEOF\n)\""
    assert decision(message) == PermissionDecision.ALLOW
    assert decision(message + " && git push") == PermissionDecision.DENY
    assert decision(message.replace("<<'EOF'", "<<EOF")) == PermissionDecision.DENY
    assert decision(message.replace("\nEOF\n)", "\nEOF\ngit push)")) == PermissionDecision.DENY


def test_what_python_is_given_in_the_line_is_looked_through():
    assert decision("python3 - <<'EOF'\nprint(1)\nEOF\n") == PermissionDecision.ALLOW
    assert decision("python3 - <<'EOF'\nimport os\nos.system('git push')\nEOF\n") == PermissionDecision.DENY


def test_a_line_too_long_to_be_read_is_denied():
    assert decision("echo " + "a" * 100_000) == PermissionDecision.DENY


@pytest.mark.parametrize(
    "text",
    [
        "ls;" * 30_000,
        "cd a && " * 10_000 + "ls",
        "cat " + "a/" * 45_000,
        "ls " + "*a" * 45_000,
        "sh -c '" * 14_000,
        "$(git -a " * 11_000,
        "x " * 49_000 + "$(",
    ],
)
def test_a_long_line_is_done_with_soon(text):
    begun = time.process_time()
    assert (
        decision(text, "; ".join(f"deny run a{n} b -c" for n in range(150))) is not PermissionDecision.ALLOW
    )
    assert time.process_time() - begun < 10.0


def test_without_a_folder_nothing_relative_is_written():
    assert run("rm x", cwd="").decision == PermissionDecision.ASK
    assert run("rm /w/tree/x", cwd="").decision == PermissionDecision.ALLOW
