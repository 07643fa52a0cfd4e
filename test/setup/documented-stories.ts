// Documented lines in the order in which a person would type them, with what happens between them.

export interface Step {
  /** A documented line, as it stands. */
  readonly line?: string
  /** Bash that is not documented: what is there already, and what has to come of it. `not COMMAND` fails where `! COMMAND` would go on. */
  readonly given?: string
  /** The line is settings, which stand in this file. */
  readonly file?: string
  /** The line runs on in the background; it has begun when it prints this (a regular expression). */
  readonly until?: string
  /** A word of the line that stands for something, and the variable that holds it. */
  readonly replaced?: Readonly<Record<string, string>>
  /** Answers that the person types at a terminal, each after its question. */
  readonly answers?: readonly (readonly [question: string, answer: string])[]
}

export interface Story {
  readonly title: string
  /** Programs that it needs. */
  readonly programs?: readonly string[]
  /** Default: the home folder. */
  readonly folder?: string
  readonly steps: readonly Step[]
}

export interface StoryOnDebian extends Story {
  /** ann may sudo, bob may not. */
  readonly user: 'ann' | 'bob'
}

const serve: Step = { line: 'docmount serve --data ~/documents --project acme', until: 'listens at' }
const aKey: Step = {
  given: 'service=http://127.0.0.1:8080/api; key=$(docmount keys create acme --data ~/documents | tail -n 1)',
}
const login: Step = {
  line: 'docmount login',
  answers: [
    ['Service', '$service'],
    ['key', '$key'],
  ],
}
const freePort =
  'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
const loggedIn: readonly Step[] = [serve, aKey, login]

const mountedByFstab: readonly Step[] = [
  ...loggedIn,
  { line: 'sudo ln -s "$(readlink -f "$(command -v docmount)")" /sbin/mount.docmount' },
  { line: 'sudo mkdir -p /mnt/acme' },
  {
    line: 'echo "acme:  /mnt/acme  docmount  allow_other,uid=$(id -u),gid=$(id -g),_netdev,nofail  0  0" | sudo tee -a /etc/fstab',
  },
  { line: 'sudo install -D -m 600 ~/.config/docmount/config.json /root/.config/docmount/config.json' },
  { line: 'sudo mount /mnt/acme' },
]

/** In a copy of this machine, by ann, who may sudo. */
export const stories: readonly Story[] = [
  {
    title: 'the first use of a drive',
    programs: ['sudo', 'script'],
    steps: [
      { given: "echo '%PDF-1.4' >report.pdf" },
      ...loggedIn,
      { line: 'docmount doctor' },
      { line: 'docmount mount acme' },
      { given: 'mkdir ~/acme/reports' },
      { line: 'cp report.pdf ~/acme/reports/' },
      { given: 'docmount ls acme /reports | grep -q report.pdf' },
      { line: 'docmount status' },
      { line: 'docmount ui', until: 'http://127.0.0.1' },
      { line: 'docmount ui --no-open --port 4919', until: 'http://127.0.0.1:4919' },
      {
        given:
          'mkdir ~/acme/contracts ~/acme/scans; echo a >~/acme/contracts/a.txt; echo b >~/acme/scans/b.txt',
      },
      { line: 'docmount pin ~/acme/contracts --wait' },
      { line: 'docmount pins' },
      { given: 'grep -q contracts ~/said' },
      { line: 'docmount unpin ~/acme/contracts' },
      { line: 'docmount fetch ~/acme/scans' },
      { line: 'docmount cache' },
      { line: 'docmount unmount ~/acme' },
      { given: 'not mountpoint -q ~/acme' },
    ],
  },
  {
    title: 'a drive by WebDAV, for davfs2 and rclone',
    programs: ['sudo', 'script', 'rclone', 'mount.davfs'],
    steps: [
      ...loggedIn,
      { line: 'docmount webdav acme' },
      { given: 'password=$(cat ~/.local/state/docmount/acme-*/webdav-password)' },
      { line: 'sudo mkdir -p /mnt/acme' },
      {
        line: "echo 'http://127.0.0.1:4918/ docmount PASSWORD' | sudo tee -a /etc/davfs2/secrets >/dev/null",
        replaced: { PASSWORD: 'password' },
      },
      { line: "echo 'buf_size 256' | sudo tee -a /etc/davfs2/davfs2.conf >/dev/null" },
      { line: 'sudo mount -t davfs -o uid=$(id -u),gid=$(id -g) http://127.0.0.1:4918/ /mnt/acme' },
      {
        given: `echo davfs2 >/mnt/acme/davfs2.txt
sudo umount /mnt/acme
docmount ls acme / | grep -q davfs2.txt
mkdir -p ~/reports; echo rclone >~/reports/rclone.txt`,
      },
      {
        line: 'rclone config create acme webdav url=http://127.0.0.1:4918/ vendor=owncloud user=docmount pass=PASSWORD --obscure',
        replaced: { PASSWORD: 'password' },
      },
      { line: 'rclone sync ~/reports acme:reports' },
      { given: 'docmount get acme /reports/rclone.txt - | grep -q rclone' },
      { line: 'docmount status' },
      { line: 'docmount unmount http://127.0.0.1:4918/' },
    ],
  },
  {
    title: 'a drive of fstab',
    programs: ['sudo', 'script'],
    steps: [
      ...mountedByFstab,
      {
        given:
          'echo fstab >/mnt/acme/fstab.txt; docmount get acme /fstab.txt - | grep -q fstab; sudo umount /mnt/acme',
      },
    ],
  },
  {
    title: 'a drive that Samba shares on',
    programs: ['sudo', 'script', 'smbd', 'smbclient', 'smbcontrol'],
    steps: [
      ...mountedByFstab,
      {
        given: `
sudo mkdir -p /run/samba; sudo smbd -D
printf 'secret\\nsecret\\n' | sudo smbpasswd -s -a ann`,
      },
      {
        line: `sudo tee -a /etc/samba/smb.conf >/dev/null <<'END'
[acme]
  path = /mnt/acme
  read only = no
  # For Macs:
  vfs objects = catia fruit streams_xattr
END`,
      },
      { line: 'sudo smbcontrol smbd reload-config' },
      {
        given: `
echo samba >samba.txt
smbclient -U ann%secret //127.0.0.1/acme -c 'put samba.txt'
docmount get acme /samba.txt - | grep -q samba
sudo kill $(cat /run/samba/smbd.pid); sudo umount /mnt/acme`,
      },
    ],
  },
  {
    title: 'a service of one machine, its keys and its backup',
    programs: ['sudo', 'script'],
    steps: [
      serve,
      { line: 'docmount projects create invoices --data ~/documents' },
      { line: 'docmount projects list --data ~/documents' },
      { line: 'docmount keys create acme --name auditor --read-only --data ~/documents' },
      {
        line: 'docmount keys create acme invoices --name scanner --path /inbox --expires 90d --data ~/documents',
      },
      { line: 'docmount keys list --data ~/documents' },
      {
        given: "id=$(docmount keys list acme --data ~/documents | grep -oE '\\b[0-9a-f]{12}\\b' | head -n 1)",
      },
      {
        line: 'docmount keys rotate 1f0c2ab94d7e --overlap 2d --data ~/documents',
        replaced: { '1f0c2ab94d7e': 'id' },
      },
      {
        line: 'docmount keys revoke acme 1f0c2ab94d7e --data ~/documents',
        replaced: { '1f0c2ab94d7e': 'id' },
      },
      { given: 'sudo install -d -o ann /backups' },
      { line: 'docmount backup /backups/2026-11-22 --data ~/documents' },
      { line: 'docmount restore /backups/2026-11-22 --data ~/documents-again' },
      { line: 'docmount serve --check-database --data ~/documents' },
      { line: 'docmount check --data ~/documents' },
      {
        given: `DOCMOUNT_API_KEY=$(docmount keys create acme --data ~/documents) docmount tables create invoices \\
  --type reconcile --project acme --base-url http://127.0.0.1:8080/api`,
      },
      { line: 'docmount runs rm acme --older 90d --data ~/documents' },
      { line: 'docmount tables rm acme invoices --data ~/documents' },
      { line: 'docmount projects rm invoices --data ~/documents' },
    ],
  },
  {
    title: 'nodes on PostgreSQL, contents in S3, and a data folder that moves there',
    programs: ['sudo', 'openssl', 'psql', 'radosgw', 'ceph-mon', 'ceph-osd'],
    steps: [
      {
        given: `
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v docmount)")")")")
sudo install -d /srv/postgres /srv/s3; echo 5432 | sudo tee /srv/postgres/port >/dev/null
sudo "$root/scripts/engines" start /srv/postgres >/dev/null
sudo install -D -m 600 -o ann /srv/postgres/passfile /etc/docmount/pgpass
new_database() { PGPASSFILE=/etc/docmount/pgpass psql -qh 127.0.0.1 -U docmount postgres -c 'drop database if exists docmount' -c 'create database docmount'; }
new_database
sudo install -d -o ann /mnt/documents
over() { kill "$1"; wait "$1"; }`,
      },
      { line: 'export PGPASSFILE=/etc/docmount/pgpass' },
      {
        line: 'docmount serve --database postgres://docmount@db.example/docmount --data /mnt/documents --listen 0.0.0.0:8080',
        until: 'listens at',
      },
      { given: 'node=$!' },
      { line: 'docmount projects create acme --database postgres://docmount@db.example/docmount' },
      {
        given: `
export DOCMOUNT_BASE_URL=http://127.0.0.1:8080/api DOCMOUNT_API_KEY=$(tail -n 1 ~/said)
echo kept >kept.txt; docmount put acme kept.txt /; over $node
new_database
s3=$(sudo "$root/scripts/engines" start-s3 /srv/s3 | grep -oE '127.0.0.1:[0-9]+')
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout s3.key -out s3.pem -days 2 -subj /CN=s3.example -addext subjectAltName=DNS:s3.example
sudo node -e "
  const { readFileSync } = require('node:fs')
  require('node:tls').createServer({ key: readFileSync('s3.key'), cert: readFileSync('s3.pem') }, (client) => {
    const gateway = require('node:net').connect(\${s3#*:}, '127.0.0.1')
    for (const [from, to] of [[client, gateway], [gateway, client]]) from.on('error', () => to.destroy()).pipe(to)
  }).listen(443)" &
id=ID=docmount; secret=KEY=$(sudo cat /srv/s3/secret); endpoint=https://s3.example
export NODE_EXTRA_CA_CERTS=~/s3.pem`,
      },
      {
        line: 'export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…',
        replaced: { 'ID=…': 'id', 'KEY=…': 'secret' },
      },
      {
        line: `docmount serve --database postgres://docmount@db.example/docmount --listen 0.0.0.0:8080 \\
  --blobs 's3://documents/of-docmount?endpoint=https://s3.example&region=eu-central-1'`,
        until: 'listens at',
      },
      {
        given: `
node=$!
DOCMOUNT_API_KEY=$(docmount projects create acme --database postgres://docmount@db.example/docmount | tail -n 1)
head -c 1000000 /dev/urandom | base64 >large.txt; docmount put acme large.txt /
docmount get acme /large.txt - | cmp - large.txt; over $node
new_database`,
      },
      serve,
      aKey,
      {
        given: `
node=$!; DOCMOUNT_API_KEY=$key docmount put acme large.txt /
over $node`,
      },
      {
        line: "docmount migrate --data ~/documents --database postgres://docmount@db.example/docmount --blobs 's3://documents?endpoint=…'",
        replaced: { '…': 'endpoint' },
      },
      {
        given: `
docmount serve --database postgres://docmount@db.example/docmount --blobs 's3://documents?endpoint=https://s3.example' >/dev/null 2>&1 &
for _ in $(seq 100); do DOCMOUNT_API_KEY=$key docmount get acme /large.txt - 2>/dev/null | cmp - large.txt && exit; sleep 0.2; done
exit 1`,
      },
    ],
  },
]

/** One after the other on a bare Debian 13, each in a login of its user; `$service` and `$key` are a service's. */
export const storiesOnDebian: readonly StoryOnDebian[] = [
  {
    title: 'a clone is set up, shows its demo, and serves under systemd',
    user: 'ann',
    folder: '~/docmount',
    steps: [
      { line: 'scripts/setup' },
      {
        given: `
[ "$(scripts/setup)" = 'setup: nothing to do' ]
~/.local/bin/docmount --version
ctrl_c=$'\\x03'`,
      },
      { line: 'scripts/demo', answers: [['until Ctrl-C', '$ctrl_c']] },
      {
        given: `
grep -q unmounted ~/said
port=$(node -e '${freePort}')`,
      },
      { line: 'sudo install -d /opt/docmount' },
      { line: 'sudo cp -r --remove-destination dist node_modules package.json /opt/docmount/' },
      { line: 'sudo ln -sf /opt/docmount/dist/cli/main.js /usr/local/bin/docmount' },
      { line: 'sudo install -m 0644 scripts/host/docmount.service /etc/systemd/system/' },
      { line: 'sudo install -d -m 0700 /etc/docmount' },
      {
        line: `sudo tee /etc/docmount/serve.env >/dev/null <<'END'
DOCMOUNT_SERVE_LISTEN=127.0.0.1:8080
DOCMOUNT_SERVE_PUBLIC_URL=https://documents.example
DOCMOUNT_SERVE_TRUST_PROXY=127.0.0.1
DOCMOUNT_SERVE_PROJECT=acme
DOCMOUNT_SERVE_AUDIT_LOG=/var/log/docmount/audit.log
END`,
        // The network is that of the test's machine, where another may have it.
        replaced: { 8080: 'port' },
      },
      { line: 'sudo systemctl enable --now docmount' },
      { line: 'sudo docmount keys create acme --data /var/lib/docmount' },
      {
        given: `
export DOCMOUNT_API_KEY=$(tail -n 1 ~/said)
front=$(node -e '${freePort}')
sudo ln -s /dev/null /etc/systemd/system/nginx.service
sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes nginx-light`,
      },
      {
        line: `location /api/ {
    proxy_pass http://127.0.0.1:8080;
    proxy_http_version 1.1;
    proxy_request_buffering off;
    client_max_body_size 0;
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Host $host;
}`,
        file: '~/location.conf',
        replaced: { 8080: 'port' },
      },
      {
        given: `
echo "events {} http { server { listen 127.0.0.1:$front; include $HOME/location.conf; } }" >~/nginx.conf
sudo nginx -c ~/nginx.conf
head -c 3000000 /dev/urandom | base64 >large.txt
DOCMOUNT_BASE_URL=http://127.0.0.1:$front/api docmount put acme large.txt /
sudo grep -q large.txt /var/log/docmount/audit.log
sudo nginx -c ~/nginx.conf -s stop
sudo systemctl disable --now docmount
sudo rm -r /etc/systemd/system/docmount.service /etc/docmount /var/lib/docmount /var/lib/private/docmount /usr/local/bin/docmount ~/.local/bin/docmount`,
      },
    ],
  },
  {
    title: 'npm installs it, without root',
    user: 'bob',
    folder: '~/docmount',
    steps: [
      { line: 'npm pack && npm install -g --prefix ~/.local docmount-*.tgz' },
      {
        given: `
~/.local/bin/docmount --version
npm uninstall -g --prefix ~/.local docmount
[ -z "$(ls ~/.local/bin)" ]`,
      },
    ],
  },
  {
    title: 'the Debian package, and a drive at every login',
    user: 'ann',
    folder: '~/docmount',
    steps: [
      {
        line: 'scripts/package && sudo apt install ./docmount_*.deb',
        answers: [['[Y/n]', 'y']],
      },
      { given: 'not ls *.part' },
      login,
      { line: 'docmount service install acme' },
      { given: 'echo here >~/acme/here.txt' },
      { line: 'mkdir ~/documents' },
      { line: 'docmount service install acme ~/documents -- --close-wait 0' },
      { given: 'grep -q here ~/documents/here.txt; not mountpoint -q ~/acme' },
      { line: 'docmount service status' },
      { given: 'grep -q "docmount-acme.*active" ~/said' },
      { line: 'docmount service remove acme' },
      { given: 'not mountpoint -q ~/documents' },
      { line: 'docmount service status' },
      { given: 'not grep docmount-acme ~/said' },
    ],
  },
  {
    title: 'the drives of another machine in a web browser',
    user: 'ann',
    steps: [
      {
        // `office` is the same machine with a network of its own: nothing listens in that of the test's machine.
        given: `
sudo ln -s /dev/null /etc/systemd/system/ssh.service
sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes openssh-server
mkdir -m 700 ~/.ssh
ssh-keygen -qN '' -t ed25519 -f ~/.ssh/id_ed25519
cp ~/.ssh/id_ed25519.pub ~/.ssh/authorized_keys
cat >~/.ssh/config <<'END'
Host office
  ProxyCommand sudo unshare --user --map-users=all --map-groups=all --net bash -c 'mkdir -p /run/sshd; ip link set lo up; exec /usr/sbin/sshd -i'
  StrictHostKeyChecking no
END
ctrl_c=$'\\x03'
port=$(node -e '${freePort}')`,
      },
      {
        line: 'ssh -t -L 4919:127.0.0.1:4919 office docmount ui --no-open --port 4919',
        replaced: { 4919: 'port' },
        answers: [['token', '$ctrl_c']],
      },
      {
        given: `
running() { pgrep -af '^[^ ]*node [^ ]+ ui '; }
for _ in $(seq 100); do running >&2 || break; sleep 0.1; done
not running`,
      },
      {
        line: 'ssh -t -L 4919:127.0.0.1:4919 office docmount ui --no-open --port 4919',
        replaced: { 4919: 'port' },
        until: 'http://127.0.0.1',
      },
      {
        given: `
address=$(grep -oE 'http://127.0.0.1[^ ]+' ~/said | tr -d '\\r')
node -e 'fetch(process.argv[1], { redirect: "manual" }).then(({ headers }) => process.exit(headers.has("set-cookie") ? 0 : 1))' "$address"
kill $!
kill $(running | cut -d' ' -f 1)`,
      },
    ],
  },
]
