// Documented lines in the order in which a person would type them, with what happens between them.

export interface Step {
  /** A documented line, as it stands. */
  readonly line?: string
  /** Bash that is not documented: what is there already, and what has to come of it. */
  readonly given?: string
  /** The line runs on in the background; it has begun when it prints this (a regular expression). */
  readonly until?: string
  /** A word of the line that stands for something, and the variable that holds it. */
  readonly replaced?: Readonly<Record<string, string>>
  /** What the person types at a terminal, after which question. */
  readonly answers?: readonly (readonly [question: string, answer: string])[]
}

export interface Story {
  readonly title: string
  /** Programs that it needs. */
  readonly programs?: readonly string[]
  readonly steps: readonly Step[]
}

const serve: Step = { line: 'docmount serve --data ~/documents --project acme', until: 'listens at' }
const aKey: Step = { given: 'key=$(docmount keys create acme --data ~/documents | tail -n 1)' }
const login: Step = {
  line: 'docmount login',
  answers: [
    ['Service', 'http://127.0.0.1:8080/api'],
    ['key', '$key'],
  ],
}
const loggedIn: readonly Step[] = [serve, aKey, login]

export const stories: readonly Story[] = [
  {
    title: 'the first use of a drive',
    programs: ['sudo', 'python3'],
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
      { given: '! mountpoint -q ~/acme' },
    ],
  },
  {
    title: 'a drive by WebDAV, for davfs2 and rclone',
    programs: ['sudo', 'python3', 'rclone', 'mount.davfs'],
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
    programs: ['sudo', 'python3'],
    steps: [
      ...loggedIn,
      { line: 'sudo ln -s "$(readlink -f "$(command -v docmount)")" /sbin/mount.docmount' },
      { line: 'sudo mkdir -p /mnt/acme' },
      {
        line: 'echo "acme:  /mnt/acme  docmount  allow_other,uid=$(id -u),gid=$(id -g),_netdev,nofail  0  0" | sudo tee -a /etc/fstab',
      },
      { line: 'sudo install -D -m 600 ~/.config/docmount/config.json /root/.config/docmount/config.json' },
      { line: 'sudo mount /mnt/acme' },
      {
        given:
          'echo fstab >/mnt/acme/fstab.txt; docmount get acme /fstab.txt - | grep -q fstab; sudo umount /mnt/acme',
      },
    ],
  },
  {
    title: 'a service of one machine, its keys and its backup',
    programs: ['sudo', 'python3'],
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
      { line: 'docmount projects rm invoices --data ~/documents' },
    ],
  },
]
