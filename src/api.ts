import type { Contract } from './kernel/contract/endpoint.js';

/**
 * The whole API on one page, in the order of the API document. Each contract is the export of that
 * name, loaded when it is first needed: a client loads what it calls.
 */
const contractModules = {
  health: () => import('./system/health/contract.js'),
  overview: () => import('./system/overview/contract.js'),
  logs: () => import('./system/logs/contract.js'),
  doctor: () => import('./system/doctor/contract.js'),
  auth: () => import('./accounts/auth/contract.js'),
  logins: () => import('./accounts/loginsessions/contract.js'),
  tokens: () => import('./accounts/tokens/contract.js'),
  keys: () => import('./system/keys/contract.js'),
  totp: () => import('./accounts/totp/contract.js'),
  passkeys: () => import('./accounts/passkeys/contract.js'),
  receivers: () => import('./hooks/receivers/contract.js'),
  replays: () => import('./hooks/replays/contract.js'),
  executions: () => import('./hooks/executions/contract.js'),
  hooks: () => import('./hooks/contract.js'),
  agents: () => import('./agents/contract.js'),
  experts: () => import('./experts/contract.js'),
  pipelines: () => import('./pipelines/runs/contract.js'),
  templates: () => import('./pipelines/templates/contract.js'),
  documents: () => import('./documents/contract.js'),
  memories: () => import('./memories/contract.js'),
  knowledge: () => import('./knowledge/contract.js'),
  folders: () => import('./folders/contract.js'),
  chat: () => import('./agents/chat/contract.js'),
  approvals: () => import('./approvals/contract.js'),
  grants: () => import('./approvals/grants/contract.js'),
  permissions: () => import('./permissions/contract.js'),
  skills: () => import('./skills/contract.js'),
  sessions: () => import('./conversations/contract.js'),
  models: () => import('./models/contract.js'),
  clitools: () => import('./models/clitools/contract.js'),
  providers: () => import('./models/contract.js'),
  capabilities: () => import('./capabilities/contract.js'),
  reader: () => import('./reader/contract.js'),
  research: () => import('./research/contract.js'),
  tasks: () => import('./tasks/contract.js'),
  voice: () => import('./voice/contract.js'),
  mailaccounts: () => import('./email/accounts/contract.js'),
  mail: () => import('./email/messages/contract.js'),
  mailprocessing: () => import('./email/processing/contract.js'),
  sentmail: () => import('./email/sending/contract.js'),
  maildrafts: () => import('./email/drafts/contract.js'),
  operations: () => import('./operations/contract.js'),
  notifications: () => import('./outbound/notifications/contract.js'),
  channels: () => import('./channels/contract.js'),
  push: () => import('./channels/push/contract.js'),
  messengers: () => import('./channels/receivers/contract.js'),
  platforms: () => import('./channels/platforms/contract.js'),
  outbox: () => import('./outbound/messages/contract.js'),
  audit: () => import('./accounts/audit/contract.js'),
  backups: () => import('./system/backup/contract.js'),
  users: () => import('./accounts/users/contract.js'),
  vault: () => import('./vault/contract.js'),
  webhooks: () => import('./outbound/webhooks/contract.js'),
  resends: () => import('./outbound/resends/contract.js'),
  tunnel: () => import('./system/tunnel/contract.js'),
  recurring: () => import('./recurring/contract.js'),
  unbuilt: () => import('./system/unbuilt/contract.js'),
};

/** One line on each resource, for the API document. */
const about: Record<keyof ContractModules, string> = {
  health: 'Whether the daemon lives, is ready, and how it is',
  overview: 'How it stands and what needs you, in one call',
  logs: 'The newest lines of the daemon’s log (admin)',
  doctor: 'What is wrong, and what to do about it (admin)',
  auth: 'Your account: register, log in and out, password',
  logins: 'Where you are logged in',
  tokens: 'Personal access tokens, for programs of yours',
  keys: 'The keys that sign tokens (admin)',
  totp: 'Codes of an authenticator app as a second factor',
  passkeys: 'Log in without a password (WebAuthn)',
  receivers: 'Where webhooks are received, by a signature',
  replays: 'Failed runs of hooks, those of an outage at once',
  executions: 'Runs of all your hooks, and each by its id',
  hooks: 'What happens when a signed webhook arrives',
  agents: 'Runs of a model with tools, and their events',
  experts: 'Personas that agents take on',
  pipelines: 'Runs of pipelines, stage by stage',
  templates: 'Pipelines as they are written: stages, and what each needs',
  documents: 'Files, and the text that is read from them',
  memories: 'What assistants remember of you between conversations',
  knowledge: 'Texts that you keep, and the search in them',
  folders: 'Folders of the machine whose files are knowledge',
  chat: 'Conversations, answered at once, later, or as a stream',
  approvals: 'Calls of agents that wait for your approval',
  grants: 'Approvals that stand, for a conversation or a host',
  permissions: 'Which tools run, ask first, or never run',
  skills: 'What agents can use: tools, skills, MCP servers',
  sessions: 'Conversations and their messages',
  models: 'Which models answer, for what, and how they are',
  clitools: 'Models by claude, codex, gemini, opencode',
  providers: 'Which models a provider offers',
  capabilities: 'What this machine can run, and what is installed on it',
  reader: 'Pages of the web, read for you',
  research: 'Questions, answered from the web and your knowledge, with quotes',
  tasks: 'What you have to do, with reminders and a calendar',
  voice: 'Speech that becomes text, with its times',
  mailaccounts: 'Mailboxes of yours: their servers, logins, and a test of the whole way',
  mail: 'E-mails of yours, read and never changed',
  mailprocessing: 'New e-mails, each processed once',
  sentmail: 'E-mails that you send, each once, with what became of each recipient',
  maildrafts: 'E-mails that are not sent yet',
  operations: 'Long pieces of work: how far they are, and their end',
  notifications: 'What you were told',
  channels: 'The chats and addresses that are linked to you',
  push: 'Browsers that are told when something needs you',
  messengers: 'Where chat platforms send their requests',
  platforms: 'The chat platforms, set up for all (admin)',
  outbox: 'What leaves for others, and what failed (admin)',
  audit: 'Who did what; a changed entry shows (admin)',
  backups: 'Copies of everything: made, proved (admin)',
  users: 'Who has an account, and what they may (admin)',
  vault: 'Credentials that are used and that nobody reads',
  webhooks: 'Outgoing: signed events to addresses of yours',
  resends: 'What did not arrive, all of an outage at once',
  tunnel: 'How others reach this daemon (admin)',
  recurring: 'What is done at the times of a schedule',
  unbuilt: 'Answered with 501',
};

type ContractModules = typeof contractModules;

type Contracts = {
  [R in keyof ContractModules]: () => Promise<
    Awaited<ReturnType<ContractModules[R]>> extends Record<R, infer C extends Contract> ? C : never
  >;
};

const contractsOf = (): Contracts => {
  const contracts: Contracts = Object.create(null);
  for (const [name, load] of Object.entries(contractModules)) {
    Reflect.set(contracts, name, async () => Reflect.get(await load(), name));
  }
  return contracts;
};

/** The contract of each resource, by its name. */
export const contracts = contractsOf();

export interface ApiResource {
  name: string;
  contract: Contract;
  about: string;
}

/** Loads every contract. */
export const loadResources = (): Promise<ApiResource[]> =>
  Promise.all(
    Object.entries(about).map(async ([name, line]) => ({
      name,
      contract: await Reflect.get(contracts, name)(),
      about: line,
    })),
  );
