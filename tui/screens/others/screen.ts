import { absentPage, listedPage } from './listed.js';

const SLOW_MS = 30_000;
const MODELS_MS = 15_000;
const QUICK_MS = 5000;

export const inboxPage = listedPage({
  name: 'inbox',
  title: 'Inbox',
  noun: 'notifications',
  list: 'notifications',
  select: ({ lists }) => lists.notifications,
  line: ({ id, kind, title, body, readAt, createdAt }) => ({
    id,
    name: title,
    state: readAt === null ? 'new' : 'read',
    at: createdAt,
    more: `${kind}  ${body}`,
  }),
  empty: ['Nothing was told to you yet.', 'What hooks and agents tell you is kept here.'],
  everyMs: QUICK_MS,
});

export const vaultPage = listedPage({
  name: 'vault',
  title: 'Vault',
  noun: 'credentials',
  list: 'credentials',
  select: ({ lists }) => lists.credentials,
  line: ({ id, name, type, version, createdAt, expiresAt }) => ({
    id,
    name,
    state: type,
    at: createdAt,
    more: `version ${version}${expiresAt === null ? '' : `, expires ${expiresAt.slice(0, 10)}`}`,
  }),
  empty: ['No credentials yet.', '  a  put one in      adjutant vault create'],
  everyMs: SLOW_MS,
  leaves: (chosen) => ({
    add: ['vault', 'create'],
    ...(chosen && { edit: ['vault', 'update', chosen.id] }),
  }),
});

export const modelsPage = listedPage({
  name: 'models',
  title: 'Models',
  noun: 'models',
  list: 'models',
  select: ({ lists }) => lists.models,
  line: ({ name, provider, health, isDefault, topics }) => ({
    id: name,
    name,
    state: health.status,
    at: health.checkedAt,
    more: `${provider}${isDefault ? '  default' : ''}  ${topics.join(' ')}`,
  }),
  empty: ['No models yet.', '  a  add one      adjutant models create'],
  everyMs: MODELS_MS,
  leaves: (chosen) => ({
    add: ['models', 'create'],
    ...(chosen && { edit: ['models', 'update', chosen.id] }),
  }),
});

export const teamPage = listedPage({
  name: 'team',
  title: 'Team',
  noun: 'users',
  list: 'users',
  select: ({ lists }) => lists.users,
  line: ({ id, username, role, disabled, createdAt, email }) => ({
    id,
    name: username,
    state: disabled ? 'disabled' : role,
    at: createdAt,
    more: email ?? '',
  }),
  empty: ['Nobody but you.', '  a  ask somebody in      adjutant invite'],
  everyMs: SLOW_MS,
  leaves: () => ({ add: ['invite'] }),
});

export const tunnelPage = absentPage('tunnel', 'Tunnel', [
  'Not built yet: this daemon has no tunnel of its own.',
  'How webhooks reach it meanwhile: adjutant help webhooks',
]);

export const logsPage = absentPage('logs', 'Logs', [
  'Not built yet: the daemon does not give its log to the desk.',
  'On its machine: adjutant logs -f',
]);
