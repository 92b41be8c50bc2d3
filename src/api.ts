import type { Contract } from './kernel/contract/endpoint.js';

/**
 * In the order of the API document. Each contract is the export of that name, loaded on first use, so
 * that a client loads only what it calls.
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
  orgs: () => import('./orgs/contract.js'),
  sso: () => import('./orgs/sso/contract.js'),
  scim: () => import('./orgs/scim/contract.js'),
  vault: () => import('./vault/contract.js'),
  webhooks: () => import('./outbound/webhooks/contract.js'),
  resends: () => import('./outbound/resends/contract.js'),
  tunnel: () => import('./system/tunnel/contract.js'),
  recurring: () => import('./recurring/contract.js'),
};

const about: Record<keyof ContractModules, string> = {
  health: 'Health and readiness checks',
  overview: 'Overview of the daemon and items that need attention',
  logs: 'Log of the daemon (admin)',
  doctor: 'Diagnostics with recommended actions (admin)',
  auth: 'Registration, login and password',
  logins: 'Manage login sessions',
  tokens: 'Manage personal access tokens',
  keys: 'Manage token signing keys (admin)',
  totp: 'Two-factor authentication with an authenticator app',
  passkeys: 'Login without a password (WebAuthn)',
  receivers: 'Inbound webhooks',
  replays: 'Replay failed executions in bulk',
  executions: 'Executions of hooks',
  hooks: 'Manage hooks',
  agents: 'Run and control agents',
  experts: 'Manage experts, the personas of agents',
  pipelines: 'Run and control pipelines',
  templates: 'Manage pipeline templates',
  documents: 'Manage documents and their extracted text',
  memories: 'Manage memories that assistants keep',
  knowledge: 'Manage and search knowledge entries',
  folders: 'Manage indexed folders of the machine',
  chat: 'Chat with an assistant',
  approvals: 'Manage approvals of tool calls',
  grants: 'Manage standing approvals',
  permissions: 'Manage permission levels of tools',
  skills: 'Manage skills, tools and MCP servers',
  sessions: 'Manage conversations and their messages',
  models: 'Manage models and their routing',
  clitools: 'Manage command-line tools that serve as models',
  providers: 'Models that a provider offers',
  capabilities: 'Manage locally installed capabilities',
  reader: 'Read web pages',
  research: 'Run research jobs',
  tasks: 'Manage to-do tasks, reminders and the calendar',
  voice: 'Transcribe speech',
  mailaccounts: 'Manage mail accounts',
  mail: 'Read e-mail',
  mailprocessing: 'Process new e-mail',
  sentmail: 'Send and track e-mail',
  maildrafts: 'Manage e-mail drafts',
  operations: 'Track long-running operations',
  notifications: 'Notifications',
  channels: 'Manage linked channels',
  push: 'Manage push notifications of browsers',
  messengers: 'Inbound requests of chat platforms',
  platforms: 'Manage chat platforms (admin)',
  outbox: 'Outbound messages (admin)',
  audit: 'Audit log (admin)',
  backups: 'Manage backups (admin)',
  users: 'Manage users (admin)',
  orgs: 'Manage organizations and their members',
  sso: 'Single sign-on of organizations (SAML)',
  scim: 'User provisioning by identity providers (SCIM 2.0)',
  vault: 'Manage credentials',
  webhooks: 'Manage outgoing webhooks',
  resends: 'Resend failed messages in bulk',
  tunnel: 'Manage the tunnel to this daemon (admin)',
  recurring: 'Manage recurring tasks',
};

type ContractModules = typeof contractModules;

type Contracts = {
  [R in keyof ContractModules]: () => Promise<
    Awaited<ReturnType<ContractModules[R]>> extends Record<R, infer C extends Contract> ? C : never
  >;
};

const createContracts = (): Contracts => {
  const contracts: Contracts = Object.create(null);
  for (const [name, load] of Object.entries(contractModules)) {
    Reflect.set(contracts, name, async () => Reflect.get(await load(), name));
  }
  return contracts;
};

export const contracts = createContracts();

export interface ApiResource {
  name: string;
  contract: Contract;
  about: string;
}

export const loadResources = (): Promise<ApiResource[]> =>
  Promise.all(
    Object.entries(about).map(async ([name, line]) => ({
      name,
      contract: await Reflect.get(contracts, name)(),
      about: line,
    })),
  );
