const REPOSITORY = 'https://github.com/octo/app';

const user = (login: string, id: number) => ({ login, id, type: 'User', site_admin: false });

const sender = user('mona', 583_231);

const repository = {
  id: 35_129_377,
  name: 'app',
  full_name: 'octo/app',
  private: false,
  owner: user('octo', 6_811_672),
  html_url: REPOSITORY,
  default_branch: 'main',
  open_issues_count: 42,
};

/** An `issues.opened` event as GitHub sends it, cut to the fields that matter to a reader. */
export const githubIssueOpened: object = {
  action: 'opened',
  issue: {
    url: 'https://api.github.com/repos/octo/app/issues/412',
    html_url: `${REPOSITORY}/issues/412`,
    id: 2_713_300_412,
    number: 412,
    title: 'Login loops back to the start page',
    user: sender,
    labels: [{ id: 208_045_946, name: 'bug', color: 'd73a4a', default: true }],
    state: 'open',
    locked: false,
    assignees: [],
    milestone: null,
    comments: 0,
    created_at: '2026-11-20T14:03:19Z',
    updated_at: '2026-11-20T14:03:19Z',
    author_association: 'CONTRIBUTOR',
    body: [
      'Since 1.4.1 the login page sends me back to the start page.',
      '',
      '1. Open a private window',
      '2. Log in with any account',
      '3. The start page comes up again, and nobody is logged in',
      '',
      'Version 1.4.1, Firefox 133, no extensions.',
    ].join('\n'),
    reactions: { total_count: 0 },
  },
  repository,
  sender,
};

/** What GitHub sends when a webhook was entered. */
export const ping: object = {
  zen: 'Keep it logically awesome.',
  hook_id: 512_330_871,
  hook: { type: 'Repository', id: 512_330_871, name: 'web', active: true, events: ['issues'] },
  repository,
  sender,
};

const BRANCH = { ref: 'login-loop', sha: '9f2c1d7be1c04b1f0a8a3e7c5f1d2b6a4c8e0f13' };

export const pullRequestOpened: object = {
  action: 'opened',
  number: 413,
  pull_request: {
    html_url: `${REPOSITORY}/pull/413`,
    number: 413,
    title: 'Keep the session after login',
    user: sender,
    body: 'Closes #412.',
    state: 'open',
    draft: false,
    merged: false,
    head: BRANCH,
    base: { ref: 'main', sha: '4c1e8a02d97b5f36c0a1b9e2d8f47365a0b1c2d3' },
    additions: 14,
    deletions: 3,
    changed_files: 2,
  },
  repository,
  sender,
};

export const githubPush: object = {
  ref: 'refs/heads/main',
  before: '4c1e8a02d97b5f36c0a1b9e2d8f47365a0b1c2d3',
  after: BRANCH.sha,
  created: false,
  deleted: false,
  forced: false,
  compare: `${REPOSITORY}/compare/4c1e8a02d97b...9f2c1d7be1c0`,
  head_commit: {
    id: BRANCH.sha,
    message: 'Keep the session after login',
    timestamp: '2026-11-20T15:12:44Z',
    author: { name: 'Mona', email: 'mona@example.org', username: 'mona' },
    added: [],
    removed: [],
    modified: ['src/login.ts', 'test/login.ts'],
  },
  repository,
  pusher: { name: 'mona', email: 'mona@example.org' },
  sender,
};
