import { memberAt } from '../../kernel/jsonvalue.js';
import { printableLine, quote, quoteUnlessName } from './quote.js';

const NAME_CHARACTERS = 100;

/** Most specific first. The fallback is the payload itself. */
const SUBJECTS = [
  'issue',
  'pull_request',
  'object_attributes',
  'release',
  'discussion',
  'workflow_run',
  'check_run',
  'check_suite',
  'deployment_status',
  'head_commit',
  'commits.0',
  'commonLabels',
  'incident',
  'alert',
  'data.object',
];
const EVENTS = ['object_kind', 'type', 'event', 'event_type', 'event_name', 'kind'];
const ACTIONS = ['action', 'object_attributes.action'];
const STATES = ['review.state', 'deployment_status.state', 'state'];
const PLACES = [
  'repository.full_name',
  'project.path_with_namespace',
  'repository.name',
  'project.name',
  'organization.login',
];
const ACTORS = [
  'sender.login',
  'sender.username',
  'user.username',
  'user_username',
  'user.login',
  'user_name',
  'user.name',
  'actor.login',
  'actor.name',
  'actor',
  'pusher.name',
  'username',
];
const TITLES = ['title', 'subject', 'alertname', 'name', 'message', 'summary', 'text'];
/** The `id` of the payload itself means nothing to a person. */
const SUBJECT_TITLES = [
  ...TITLES,
  'security_advisory.summary',
  'rule.description',
  'tag_name',
  'environment',
  'description',
  'number',
  'login',
  'id',
];
const OUTCOMES = ['conclusion', 'status', 'severity'];

/**
 * For example `issues.opened in octo/app: "Login loops" (#412) by ada`. Falls back to the event and
 * `otherwise`.
 */
export const headline = (payload: unknown, event: string | null, otherwise: string): string => {
  const subject = [event ?? '', ...SUBJECTS].map((path) => at(payload, path)).find(isObject);
  const place = word(payload, PLACES);
  const actor = word(payload, ACTORS);
  const title = findSubjectTitle(payload, subject);
  const marks = [...subjectMarks(subject), ...countMarks(payload)].filter((mark) => mark !== '');
  const parts = [
    place === '' ? '' : ` in ${quoteUnlessName(place)}`,
    title === '' || title === place ? '' : `: ${quote(title, NAME_CHARACTERS)}`,
    marks.length === 0 ? '' : ` (${marks.join(', ')})`,
    actor === '' ? '' : ` by ${quoteUnlessName(actor)}`,
  ].join('');
  return formatEventLabel(payload, event) + (parts || `: ${otherwise}`);
};

/** The header of GitLab is a phrase (`Push Hook`), so that its body is used. */
const formatEventLabel = (payload: unknown, event: string | null): string => {
  const header = printableLine(event ?? '', NAME_CHARACTERS);
  const isAlerts = Array.isArray(at(payload, 'alerts'));
  const eventName = word(payload, EVENTS) || (isAlerts ? 'alerts' : '');
  const what = (header.endsWith(' Hook') && eventName) || header || eventName || 'webhook';
  const action = word(payload, isAlerts ? ['status'] : ACTIONS);
  return action && !what.endsWith(`.${action}`)
    ? `${quoteUnlessName(what)}.${quoteUnlessName(action)}`
    : quoteUnlessName(what);
};

const findSubjectTitle = (payload: unknown, subject: unknown): string =>
  word(subject, SUBJECT_TITLES) || word(payload, subject ? TITLES : [...TITLES, 'ref']);

const subjectMarks = (subject: unknown): string[] => {
  const number = at(subject, 'number') ?? at(subject, 'iid');
  const sign = at(subject, 'target_branch') === undefined ? '#' : '!';
  return [
    typeof number === 'number' ? `${sign}${number}` : '',
    at(subject, 'merged') === true ? 'merged' : '',
    quoteUnlessName(word(subject, OUTCOMES)),
  ];
};

const countMarks = (payload: unknown): string[] => {
  const commits = toCount(at(payload, 'total_commits_count')) ?? toCount(at(payload, 'commits'));
  const branch = word(payload, ['ref']).replace(/^refs\/(heads|tags)\//, '');
  const alerts = toCount(at(payload, 'alerts'));
  return [
    quoteUnlessName(word(payload, STATES)),
    at(payload, 'deleted') === true ? 'deleted' : '',
    commits ? `${plural(commits, 'commit')}${branch && ` to ${quoteUnlessName(branch)}`}` : '',
    alerts === null ? '' : plural(alerts, 'alert'),
    Array.isArray(payload) ? plural(payload.length, 'item') : '',
  ];
};

const toCount = (value: unknown): number | null => {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'number' ? value : null;
};

const plural = (count: number, thing: string): string =>
  `${count} ${thing}${count === 1 ? '' : 's'}`;

const word = (value: unknown, paths: string[]): string => {
  const found = paths
    .map((path) => at(value, path))
    .find((text): text is string => typeof text === 'string' && text.trim() !== '');
  return printableLine(found?.trim().split('\n', 1)[0] ?? '', NAME_CHARACTERS);
};

const at = (value: unknown, path: string): unknown => memberAt(value, ...path.split('.'));

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
