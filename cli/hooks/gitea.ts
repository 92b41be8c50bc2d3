const REPOSITORY = 'https://gitea.example.org/octo/app';

const user = (login: string, id: number) => ({
  id,
  login,
  full_name: '',
  email: `${login}@example.org`,
  username: login,
});

const sender = user('mona', 7);

const repository = {
  id: 140,
  owner: user('octo', 3),
  name: 'app',
  full_name: 'octo/app',
  private: false,
  fork: false,
  html_url: REPOSITORY,
  clone_url: `${REPOSITORY}.git`,
  default_branch: 'main',
};

/** An `issues` event with the action `opened`, cut to what matters (Gitea docs: Webhooks). */
export const giteaIssueOpened: object = {
  action: 'opened',
  number: 412,
  issue: {
    id: 301,
    number: 412,
    url: 'https://gitea.example.org/api/v1/repos/octo/app/issues/412',
    html_url: `${REPOSITORY}/issues/412`,
    user: sender,
    title: 'Login loops back to the start page',
    body: 'Since 1.4.1 the login page sends me back to the start page.',
    labels: [],
    milestone: null,
    assignees: null,
    state: 'open',
    is_locked: false,
    comments: 0,
    created_at: '2026-11-20T14:03:19Z',
    updated_at: '2026-11-20T14:03:19Z',
    closed_at: null,
  },
  repository,
  sender,
};

const SHA = '9f2c1d7be1c04b1f0a8a3e7c5f1d2b6a4c8e0f13';
const author = { name: 'Mona', email: 'mona@example.org', username: 'mona' };

/** A `push` event (Gitea docs: Webhooks, event information). */
export const giteaPush: object = {
  ref: 'refs/heads/main',
  before: '4c1e8a02d97b5f36c0a1b9e2d8f47365a0b1c2d3',
  after: SHA,
  compare_url: `${REPOSITORY}/compare/4c1e8a02d97b...9f2c1d7be1c0`,
  commits: [
    {
      id: SHA,
      message: 'Keep the session after login\n',
      url: `${REPOSITORY}/commit/${SHA}`,
      author,
      committer: author,
      timestamp: '2026-11-20T15:12:44Z',
      added: [],
      removed: [],
      modified: ['src/login.ts', 'test/login.ts'],
    },
  ],
  total_commits: 1,
  repository,
  pusher: sender,
  sender,
};
