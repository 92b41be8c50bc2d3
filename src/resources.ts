import type { Contract, Endpoint } from './kernel/endpoint.js';
import { agents } from './resources/agents/contract.js';
import { approvals } from './resources/approvals/contract.js';
import { audit } from './resources/audit/contract.js';
import { auth } from './resources/auth/contract.js';
import { backups } from './resources/backups/contract.js';
import { channels } from './resources/channels/contract.js';
import { chat } from './resources/chat/contract.js';
import { clitools } from './resources/clitools/contract.js';
import { doctor } from './resources/doctor/contract.js';
import { experts } from './resources/experts/contract.js';
import { health } from './resources/health/contract.js';
import { hooks } from './resources/hooks/contract.js';
import { keys } from './resources/keys/contract.js';
import { logins } from './resources/logins/contract.js';
import { logs } from './resources/logs/contract.js';
import { messengers } from './resources/messengers/contract.js';
import { models } from './resources/models/contract.js';
import { notifications } from './resources/notifications/contract.js';
import { outbox } from './resources/outbox/contract.js';
import { overview } from './resources/overview/contract.js';
import { passkeys } from './resources/passkeys/contract.js';
import { permissions } from './resources/permissions/contract.js';
import { platforms } from './resources/platforms/contract.js';
import { providers } from './resources/providers/contract.js';
import { receivers } from './resources/receivers/contract.js';
import { sessions } from './resources/sessions/contract.js';
import { skills } from './resources/skills/contract.js';
import { tokens } from './resources/tokens/contract.js';
import { totp } from './resources/totp/contract.js';
import { tunnel } from './resources/tunnel/contract.js';
import { unbuilt } from './resources/unbuilt/contract.js';
import { users } from './resources/users/contract.js';
import { vault } from './resources/vault/contract.js';
import { webhooks } from './resources/webhooks/contract.js';

interface Listed {
  name: string;
  contract: Contract;
  /** One line, for the API document. */
  about: string;
}

/** The whole API on one page: every contract, in the order of the API document. */
export const resources: Listed[] = [
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
