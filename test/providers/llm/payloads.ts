/** Payloads in the shapes that the services document, shortened, with canaries where secrets lie. */

const api = 'https://api.github.test/repos/octo/app';
const page = 'https://github.test/octo/app';
const ada = {
  login: 'ada',
  id: 21,
  node_id: 'MDQ6VXNlcjIx',
  avatar_url: 'https://avatars.github.test/u/21',
  url: 'https://api.github.test/users/ada',
  html_url: 'https://github.test/ada',
  repos_url: 'https://api.github.test/users/ada/repos',
  type: 'User',
  site_admin: false,
};
const repository = {
  id: 186,
  node_id: 'MDEwOlJlcG9zaXRvcnkxODY=',
  name: 'app',
  full_name: 'octo/app',
  private: false,
  owner: { ...ada, login: 'octo', type: 'Organization' },
  html_url: page,
  description: null,
  url: api,
  issues_url: `${api}/issues{/number}`,
  open_issues: 3,
  default_branch: 'main',
};

export const issue = {
  action: 'opened',
  issue: {
    url: `${api}/issues/412`,
    labels_url: `${api}/issues/412/labels{/name}`,
    html_url: `${page}/issues/412`,
    id: 444500041,
    node_id: 'MDU6SXNzdWU0NDQ1MDAwNDE=',
    number: 412,
    title: 'Login loops',
    user: ada,
    labels: [
      { id: 1, url: `${api}/labels/bug`, name: 'bug', color: 'd73a4a', default: true },
      { id: 2, url: `${api}/labels/login`, name: 'login', color: 'ffffff', default: false },
    ],
    state: 'open',
    locked: false,
    assignees: [],
    milestone: null,
    comments: 0,
    created_at: '2026-01-15T15:20:18Z',
    updated_at: '2026-01-15T15:20:18Z',
    closed_at: null,
    author_association: 'OWNER',
    body: 'After the update I am sent back\r\nto the login page.',
    reactions: { url: `${api}/issues/412/reactions`, total_count: 0, '+1': 0 },
  },
  repository,
  sender: ada,
};

export const pullRequest = {
  action: 'closed',
  number: 7,
  pull_request: {
    url: `${api}/pulls/7`,
    html_url: `${page}/pull/7`,
    diff_url: `${page}/pull/7.diff`,
    number: 7,
    state: 'closed',
    title: 'Keep the session',
    user: ada,
    body: null,
    draft: false,
    merged: true,
    commits: 2,
    additions: 12,
    deletions: 4,
    changed_files: 3,
    head: { label: 'octo:fix', ref: 'fix', sha: 'ec26', repo: repository },
    base: { label: 'octo:main', ref: 'main', sha: 'f951', repo: repository },
    _links: { self: { href: `${api}/pulls/7` } },
  },
  repository,
  sender: ada,
};

const commit = (id: string, message: string) => ({
  id,
  message,
  timestamp: '2026-01-15T15:20:41Z',
  url: `${page}/commit/${id}`,
  author: { name: 'Ada L', email: 'ada@octo.test', username: 'ada' },
  added: ['README.md'],
  removed: [],
  modified: [],
});

export const push = {
  ref: 'refs/heads/main',
  before: '6113',
  after: '0a7c',
  repository,
  pusher: { name: 'ada', email: 'ada@octo.test' },
  sender: ada,
  created: false,
  deleted: false,
  forced: false,
  compare: `${page}/compare/6113...0a7c`,
  commits: [commit('1b2c', 'Keep the session\n\nIt was lost.'), commit('0a7c', 'Test it')],
  head_commit: commit('0a7c', 'Test it'),
};

export const mergeRequest = {
  object_kind: 'merge_request',
  event_type: 'merge_request',
  user: { id: 1, name: 'Ada L', username: 'ada', email: '[REDACTED]' },
  project: {
    id: 1,
    name: 'App',
    web_url: 'https://gitlab.test/group/app',
    git_ssh_url: 'git@gitlab.test:group/app.git',
    path_with_namespace: 'group/app',
  },
  object_attributes: {
    id: 99,
    iid: 7,
    target_branch: 'main',
    source_branch: 'retry',
    title: 'Add retry',
    state: 'opened',
    description: 'Retries on 503.',
    url: 'https://gitlab.test/group/app/-/merge_requests/7',
    action: 'open',
  },
  labels: [{ id: 206, title: 'API', color: '#ffffff' }],
  changes: { updated_by_id: { previous: null, current: 1 } },
};

export const invoice = {
  id: 'evt_1',
  object: 'event',
  api_version: '2024-06-20',
  created: 1767225600,
  livemode: true,
  type: 'invoice.payment_failed',
  request: { id: 'req_1', idempotency_key: 'canary-1' },
  data: {
    object: {
      id: 'in_1',
      object: 'invoice',
      number: 'INV-0042',
      status: 'open',
      amount_due: 2000,
      amount_paid: 0,
      currency: 'usd',
      customer_email: 'billing@acme.test',
      client_secret: 'canary-2',
      lines: { object: 'list', data: [{ id: 'il_1', amount: 2000, description: '1 × Pro' }] },
    },
  },
};

const alert = (instance: string) => ({
  status: 'firing',
  labels: { alertname: 'HighLatency', instance, severity: 'critical' },
  annotations: { summary: 'p99 over 2 s' },
  startsAt: '2026-01-01T00:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus.test/graph?g0.expr=up',
  fingerprint: 'a1b2',
});

export const alerts = {
  receiver: 'adjutant',
  status: 'firing',
  alerts: [alert('web-1'), alert('web-2')],
  groupLabels: { alertname: 'HighLatency' },
  commonLabels: { alertname: 'HighLatency', severity: 'critical' },
  commonAnnotations: { summary: 'p99 over 2 s' },
  externalURL: 'http://alertmanager.test',
  version: '4',
  groupKey: '{}:{alertname="HighLatency"}',
  truncatedAlerts: 0,
};
