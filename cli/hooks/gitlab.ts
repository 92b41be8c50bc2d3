const PROJECT = 'https://gitlab.com/octo/app';

const user = {
  id: 41,
  name: 'Mona',
  username: 'mona',
  avatar_url: null,
  email: '[REDACTED]',
};

const project = {
  id: 15,
  name: 'app',
  description: '',
  web_url: PROJECT,
  namespace: 'octo',
  visibility_level: 20,
  path_with_namespace: 'octo/app',
  default_branch: 'main',
  git_http_url: `${PROJECT}.git`,
};

const repository = { name: 'app', url: `${PROJECT}.git`, description: '', homepage: PROJECT };

const COMMIT = {
  id: '9f2c1d7be1c04b1f0a8a3e7c5f1d2b6a4c8e0f13',
  message: 'Keep the session after login',
  title: 'Keep the session after login',
  timestamp: '2026-11-20T15:12:44+00:00',
  url: `${PROJECT}/-/commit/9f2c1d7be1c04b1f0a8a3e7c5f1d2b6a4c8e0f13`,
  author: { name: 'Mona', email: 'mona@example.org' },
};

/** An `Issue Hook`, cut to what matters to a reader (GitLab docs: Webhook events, issues). */
export const gitlabIssueOpened: object = {
  object_kind: 'issue',
  event_type: 'issue',
  user,
  project,
  object_attributes: {
    id: 301,
    iid: 412,
    title: 'Login loops back to the start page',
    description: 'Since 1.4.1 the login page sends me back to the start page.',
    author_id: user.id,
    assignee_ids: [],
    project_id: project.id,
    milestone_id: null,
    state: 'opened',
    confidential: false,
    severity: 'unknown',
    created_at: '2026-11-20 14:03:19 UTC',
    updated_at: '2026-11-20 14:03:19 UTC',
    url: `${PROJECT}/-/issues/412`,
    action: 'open',
    labels: [],
  },
  labels: [],
  changes: {},
  repository,
};

/** A `Push Hook` (GitLab docs: Webhook events, push). */
export const gitlabPush: object = {
  object_kind: 'push',
  event_name: 'push',
  before: '4c1e8a02d97b5f36c0a1b9e2d8f47365a0b1c2d3',
  after: COMMIT.id,
  ref: 'refs/heads/main',
  ref_protected: true,
  checkout_sha: COMMIT.id,
  user_id: user.id,
  user_name: user.name,
  user_username: user.username,
  project_id: project.id,
  project,
  commits: [{ ...COMMIT, added: [], modified: ['src/login.ts', 'test/login.ts'], removed: [] }],
  total_commits_count: 1,
  repository,
};

/** A `Merge Request Hook` (GitLab docs: Webhook events, merge requests). */
export const mergeRequestOpened: object = {
  object_kind: 'merge_request',
  event_type: 'merge_request',
  user,
  project,
  object_attributes: {
    id: 99,
    iid: 413,
    title: 'Keep the session after login',
    description: 'Closes #412.',
    source_branch: 'login-loop',
    target_branch: 'main',
    author_id: user.id,
    assignee_ids: [],
    reviewer_ids: [],
    source_project_id: project.id,
    target_project_id: project.id,
    state: 'opened',
    draft: false,
    detailed_merge_status: 'checking',
    created_at: '2026-11-20 15:14:02 UTC',
    updated_at: '2026-11-20 15:14:02 UTC',
    last_commit: COMMIT,
    url: `${PROJECT}/-/merge_requests/413`,
    action: 'open',
  },
  labels: [],
  changes: {},
  repository,
};
