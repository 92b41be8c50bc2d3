import { audit } from './accounts/audit/contract.js';
import { auth } from './accounts/auth/contract.js';
import { logins } from './accounts/loginsessions/contract.js';
import { passkeys } from './accounts/passkeys/contract.js';
import { tokens } from './accounts/tokens/contract.js';
import { totp } from './accounts/totp/contract.js';
import { users } from './accounts/users/contract.js';
import { chat } from './agents/chat/contract.js';
import { agents } from './agents/contract.js';
import { approvals } from './approvals/contract.js';
import { channels } from './channels/contract.js';
import { platforms } from './channels/platforms/contract.js';
import { messengers } from './channels/receivers/contract.js';
import { sessions } from './conversations/contract.js';
import { experts } from './experts/contract.js';
import { hooks } from './hooks/contract.js';
import { receivers } from './hooks/receivers/contract.js';
import type { Contract, Endpoint } from './kernel/contract/endpoint.js';
import { clitools } from './models/clitools/contract.js';
import { models } from './models/contract.js';
import { providers } from './models/providers/contract.js';
import { outbox } from './outbound/messages/contract.js';
import { notifications } from './outbound/notifications/contract.js';
import { webhooks } from './outbound/webhooks/contract.js';
import { permissions } from './permissions/contract.js';
import { skills } from './skills/contract.js';
import { backups } from './system/backup/contract.js';
import { doctor } from './system/doctor/contract.js';
import { health } from './system/health/contract.js';
import { keys } from './system/keys/contract.js';
import { logs } from './system/logs/contract.js';
import { overview } from './system/overview/contract.js';
import { tunnel } from './system/tunnel/contract.js';
import { unbuilt } from './system/unbuilt/contract.js';
import { vault } from './vault/contract.js';

interface ListedContract {
  name: string;
  contract: Contract;
  /** One line, for the API document. */
  about: string;
}

/** The whole API on one page: every contract, in the order of the API document. */
export const resources: ListedContract[] = [
  { name: 'health', contract: health, about: 'Whether the daemon lives, is ready, and how it is' },
  { name: 'overview', contract: overview, about: 'How it stands and what needs you, in one call' },
  { name: 'logs', contract: logs, about: 'The newest lines of the daemon’s log (admin)' },
  { name: 'doctor', contract: doctor, about: 'What is wrong, and what to do about it (admin)' },
  { name: 'auth', contract: auth, about: 'Your account: register, log in and out, password' },
  { name: 'logins', contract: logins, about: 'Where you are logged in' },
  { name: 'tokens', contract: tokens, about: 'Personal access tokens, for programs of yours' },
  { name: 'keys', contract: keys, about: 'The keys that sign tokens (admin)' },
  { name: 'totp', contract: totp, about: 'Codes of an authenticator app as a second factor' },
  { name: 'passkeys', contract: passkeys, about: 'Log in without a password (WebAuthn)' },
  { name: 'receivers', contract: receivers, about: 'Where webhooks are received, by a signature' },
  { name: 'hooks', contract: hooks, about: 'What happens when a signed webhook arrives' },
  { name: 'agents', contract: agents, about: 'Runs of a model with tools, and their events' },
  { name: 'experts', contract: experts, about: 'The parts that agents play' },
  { name: 'chat', contract: chat, about: 'Conversations, answered at once, later, or as a stream' },
  { name: 'approvals', contract: approvals, about: 'Calls of agents that wait for your word' },
  { name: 'permissions', contract: permissions, about: 'Which tools run, ask first, or never run' },
  { name: 'skills', contract: skills, about: 'What agents can use: tools, skills, MCP servers' },
  { name: 'sessions', contract: sessions, about: 'Conversations and their messages' },
  { name: 'models', contract: models, about: 'Which models answer, for what, and how they are' },
  { name: 'clitools', contract: clitools, about: 'Models by claude, codex, gemini, opencode' },
  { name: 'providers', contract: providers, about: 'Which models a provider offers' },
  { name: 'notifications', contract: notifications, about: 'What you were told' },
  { name: 'channels', contract: channels, about: 'The chats and addresses that are linked to you' },
  { name: 'messengers', contract: messengers, about: 'Where chat platforms send their requests' },
  { name: 'platforms', contract: platforms, about: 'The chat platforms, set up for all (admin)' },
  { name: 'outbox', contract: outbox, about: 'What leaves for others, and what failed (admin)' },
  { name: 'audit', contract: audit, about: 'Who did what; a changed entry shows (admin)' },
  { name: 'backups', contract: backups, about: 'Copies of everything: made, proved (admin)' },
  { name: 'users', contract: users, about: 'Who has an account, and what they may (admin)' },
  { name: 'vault', contract: vault, about: 'Credentials that are used and that nobody reads' },
  { name: 'webhooks', contract: webhooks, about: 'Outgoing: signed events to addresses of yours' },
  { name: 'tunnel', contract: tunnel, about: 'How others reach this daemon (admin)' },
  { name: 'unbuilt', contract: unbuilt, about: 'Answered with 501' },
];

export const endpoints: Endpoint[] = resources.flatMap(({ contract }) => Object.values(contract));
