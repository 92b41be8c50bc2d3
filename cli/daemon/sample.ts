const REPOSITORY = 'https://github.com/octo/app';

const user = (login: string, id: number) => ({ login, id, type: 'User', site_admin: false });

/** An `issues.opened` event as GitHub sends it, cut to the fields that matter to a reader. */
export const issueOpened: object = {
  action: 'opened',
  issue: {
    url: 'https://api.github.com/repos/octo/app/issues/412',
    html_url: `${REPOSITORY}/issues/412`,
    id: 2_713_300_412,
    number: 412,
    title: 'Login loops back to the start page',
    user: user('mona', 583_231),
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
  repository: {
    id: 35_129_377,
    name: 'app',
    full_name: 'octo/app',
    private: false,
    owner: user('octo', 6_811_672),
    html_url: REPOSITORY,
    default_branch: 'main',
    open_issues_count: 42,
  },
  sender: user('mona', 583_231),
};
