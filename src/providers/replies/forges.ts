import { memberAt, textAt } from '../../kernel/jsonvalue.js';
import { asText, type PlatformCallReply } from '../chat/call.js';
import type {
  PostedReply,
  ReplyCall,
  ReplyPlatform,
  ReplyTarget,
  ReportedComment,
} from './platform.js';
import { COMMIT, firstForm, formAt, NUMBER } from './read.js';
import { forgeText } from './text.js';

const REPOSITORY = /^(?!\.{1,2}\/)[\w.-]{1,100}\/(?!\.{1,2}$)[\w.-]{1,100}$/;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const postedComment = ({ body }: PlatformCallReply): PostedReply => ({
  id: String(body.id ?? ''),
  url: asText(body.html_url) || null,
});

/** Where GitHub and Gitea name an issue or a pull request, which share their numbers. */
const NUMBERS = ['issue.number', 'pull_request.number'];

/** The pull request of a check, unless it is one of a fork. */
const ownPullRequest = (body: unknown): string | null => {
  const repository = formAt(NUMBER, body, 'repository', 'id');
  for (const of of ['workflow_run', 'check_run', 'check_suite']) {
    const path = [of, 'pull_requests', '0'];
    const base = formAt(NUMBER, body, ...path, 'base', 'repo', 'id');
    if (base === repository) return formAt(NUMBER, body, ...path, 'number');
  }
  return null;
};
const COMMITS = [
  ...['after', 'sha', 'comment.commit_id', 'workflow_run.head_sha'],
  ...['check_run.head_sha', 'check_suite.head_sha', 'deployment.sha'],
];

const issueOrCommit = (body: unknown): ReplyTarget | null => {
  const repository = formAt(REPOSITORY, body, 'repository', 'full_name');
  if (repository === null) return null;
  const number = firstForm(NUMBER, body, NUMBERS) ?? ownPullRequest(body);
  if (number !== null) return { object: `${repository}#${number}`, place: { repository, number } };
  const commit = firstForm(COMMIT, body, COMMITS);
  return commit === null
    ? null
    : { object: `${repository}@${commit.slice(0, 12)}`, place: { repository, commit } };
};

const BOT = /(?:\[bot\]|^gitea-actions|^forgejo-actions)$/;

const reportedComment = (body: unknown): ReportedComment => ({
  text: textAt(body, 'comment', 'body') ?? textAt(body, 'review', 'body'),
  isBot:
    textAt(body, 'sender', 'type') === 'Bot' || BOT.test(textAt(body, 'sender', 'login') ?? ''),
});

const createComment = ({ place }: ReplyTarget, body: object): ReplyCall => {
  const { repository, number, commit } = place;
  const thing = number === undefined ? `commits/${commit}` : `issues/${number}`;
  return { method: 'POST', path: `/repos/${repository}/${thing}/comments`, body: { ...body } };
};

const updateComment = ({ place }: ReplyTarget, id: string, body: object): ReplyCall => {
  const kind = place.number === undefined ? '' : 'issues/';
  const path = `/repos/${place.repository}/${kind}comments/${id}`;
  return { method: 'PATCH', path, body: { ...body } };
};

/**
 * https://docs.github.com/rest/issues/comments, at most 65,536 characters. Signs that are added
 * after the text is fitted need up to a third.
 */
export const github: ReplyPlatform = {
  name: 'GitHub',
  service: 'https://api.github.com',
  apiPath: '/api/v3',
  headers: (token) => ({
    ...bearer(token),
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  }),
  target: issueOrCommit,
  comment: reportedComment,
  render: (markdown, ifCut) => ({ body: forgeText(markdown, ifCut, 48_000) }),
  create: createComment,
  update: updateComment,
  posted: postedComment,
};

/** https://docs.gitea.com/api: comments of issues and pull requests; commits have none. */
export const gitea: ReplyPlatform = {
  ...github,
  name: 'Gitea',
  service: null,
  apiPath: '/api/v1',
  headers: bearer,
  target: (body) => {
    const target = issueOrCommit(body);
    return target?.place.number === undefined ? null : target;
  },
};

const PROJECT = /^(?!.*\.\.)[\w.-]{1,255}(?:\/[\w.-]{1,255}){1,20}$/;
/** Users of project and group access tokens. */
const TOKEN_USER = /^(?:project|group)_\d+_bot/;
const MERGE_REQUESTS = ['merge_request.iid', 'object_attributes.iid'];

/** https://docs.gitlab.com/api/notes/, at most 1,000,000 characters. */
export const gitlab: ReplyPlatform = {
  name: 'GitLab',
  service: 'https://gitlab.com/api/v4',
  apiPath: '/api/v4',
  headers: bearer,
  target: (body) => {
    const project = formAt(NUMBER, body, 'project', 'id') ?? formAt(NUMBER, body, 'project_id');
    if (project === null) return null;
    const path = formAt(PROJECT, body, 'project', 'path_with_namespace');
    const name = path ?? `project ${project}`;
    const of = (kind: string, sign: string, id: string): ReplyTarget => ({
      object: `${name}${sign}${id}`,
      place: { project, kind, id, ...(path !== null && { path }) },
    });
    const type = textAt(body, 'object_kind');
    const isMerge = type === 'merge_request';
    const merge = firstForm(NUMBER, body, isMerge ? MERGE_REQUESTS : ['merge_request.iid']);
    const into = formAt(NUMBER, body, 'merge_request', 'target_project_id') ?? project;
    if (merge !== null && into === project) return of('merge_requests', '!', merge);
    const isIssue = type === 'issue' || type === 'work_item' || type === 'incident';
    const issue = firstForm(NUMBER, body, [
      'issue.iid',
      ...(isIssue ? ['object_attributes.iid'] : []),
    ]);
    if (issue !== null) return of('issues', '#', issue);
    const commit = firstForm(COMMIT, body, ['after', 'commit.id', 'commit.sha', 'sha']);
    return commit === null
      ? null
      : { ...of('commits', '@', commit), object: `${name}@${commit.slice(0, 12)}` };
  },
  comment: (body) => {
    const isNote = textAt(body, 'object_kind') === 'note';
    return {
      text: isNote ? textAt(body, 'object_attributes', 'note') : null,
      isBot: TOKEN_USER.test(textAt(body, 'user', 'username') ?? ''),
      isInternal:
        memberAt(body, 'object_attributes', 'internal') === true ||
        textAt(body, 'event_type') === 'confidential_note',
    };
  },
  render: (markdown, ifCut) => ({ body: forgeText(markdown, ifCut, 200_000) }),
  create: ({ place }, body) => {
    const { project, kind, id } = place;
    // A commit has no notes, but comments, which take the text by another name.
    return kind === 'commits'
      ? {
          method: 'POST',
          path: `/projects/${project}/repository/commits/${id}/comments`,
          body: { note: body.body },
        }
      : { method: 'POST', path: `/projects/${project}/${kind}/${id}/notes`, body };
  },
  update: ({ place: { project, kind, id: iid } }, id, body) => ({
    method: 'PUT',
    path: `/projects/${project}/${kind}/${iid}/notes/${id}`,
    body,
  }),
  posted: ({ body }, { place: { path, kind, id: iid } }, server) => {
    const id = String(body.id ?? '');
    const isShown = path !== undefined && kind !== 'commits' && id !== '';
    return { id, url: isShown ? `${server}/${path}/-/${kind}/${iid}#note_${id}` : null };
  },
};
